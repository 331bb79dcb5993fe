"""The table of the terminal: 80 columns, plain, true."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_cases import NAMES, mapped, parts, report

from hallcheck.reports.table import columns_of, cut, render, summary_lines, wrap
from hallcheck.types import Note


def test_widths_are_those_of_a_terminal() -> None:
    assert columns_of("abc") == 3
    assert columns_of("物理") == 4
    assert columns_of("e\u0301") == 1
    assert columns_of("ｆ") == 2


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"])), st.integers(1, 40))
def test_cut_text_fits_and_whole_text_stays(text: str, width: int) -> None:
    short = cut(text, width)
    assert columns_of(short) <= width
    assert short == text or short.endswith("…")


@given(st.text(alphabet=st.sampled_from("ab 物\u0301")), st.integers(12, 40))
def test_wrapped_text_fits_and_loses_nothing(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert all(columns_of(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_each_threshold_shows_its_metrics() -> None:
    own = parts()
    lines = summary_lines(report(own))
    start = next(i for i, line in enumerate(lines) if line.split()[:1] == ["t"])
    for line, (key, m) in zip(lines[start + 1 :], own["metrics"].items(), strict=False):
        cells = line.split()
        accuracy = "accuracy_conditioned_on_answering"
        assert cells[0] == key
        assert cells[1] == f"{m['answered']}/{m['n']}"
        assert cells[2] == f"{m['coverage']:.1%}"
        assert cells[3] == f"{m[accuracy]:.1%}"
        assert cells[4] == f"[{100 * m['intervals'][accuracy]['low']:.1f},"
        assert cells[6] == f"{m['hallucination_rate_among_answers']:.1%}"
        assert cells[7] == ("n/a" if key == "1.0" else f"{m['avg_expected_score']:+.3f}")
    verdicts = [row["verdict"] for row in own["behavior"]["audit"]]
    assert [line.split()[-1] for line in lines[start + 1 : start + 5]] == verdicts


def test_columns_line_up() -> None:
    lines = summary_lines(report())
    start = next(i for i, line in enumerate(lines) if line.split()[:1] == ["t"])
    assert len({columns_of(line) for line in lines[start : start + 5]}) == 1


def test_unscored_rows_are_told_once_where_all_thresholds_agree() -> None:
    own = parts("confidence")
    for key, m in own["metrics"].items():
        if key != "confidence":
            m |= {"n_unscored": 2, "unscored": {"unparsed": 2}}
    lines = summary_lines(report(own))
    assert [line for line in lines if "unscored" in line] == ["2 rows unscored (2 unparsed) at every t"]
    own["metrics"]["0.5"] |= {"n_unscored": 1, "unscored": {"blocked": 1}}
    lines = summary_lines(report(own))
    assert "1 row unscored (1 blocked) at t = 0.5" in lines
    assert "2 rows unscored (2 unparsed) at t = 0.0, 0.75, 0.9" in lines


def test_warnings_are_shown_and_remarks_are_not() -> None:
    notes = (
        Note(code="a", severity="warning", message="few rows", advice="ask more"),
        Note(code="b", severity="info", message="a remark"),
    )
    text = "\n".join(summary_lines(report(notes=notes)))
    assert "warning: few rows ask more" in text
    assert "a remark" not in text


def test_a_partial_run_says_so() -> None:
    assert any(line.startswith("PARTIAL") for line in summary_lines(report(partial=True)))


nasty = st.text(alphabet=st.one_of(st.sampled_from("物\x1b[\r\n\t\u202e\u0301 a"), st.characters()), max_size=300)


@settings(deadline=None, max_examples=60)
@given(nasty, nasty, st.lists(st.floats(0, 1), min_size=1, max_size=4, unique=True), st.integers(0, 10**9))
def test_no_line_is_wider_than_80_or_steers_the_terminal(title: str, message: str, ts: list[float], n: int) -> None:
    own = parts()
    m = own["metrics"]["0.5"] | {"n": n, "answered": n, "unscored": {message: n}, "n_unscored": n}
    metrics = {str(t): m for t in ts}
    note = Note(code="x", severity="warning", message=message, advice=title)
    lines = summary_lines(report(own, title=title, metrics=metrics, notes=(note,)))
    for line in lines:
        assert columns_of(line) <= 80
        assert not any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in line)
        assert "\u202e" not in line
    assert all(any(line.split()[:1] == [str(t)] for line in lines) for t in ts)


@pytest.mark.parametrize("name", NAMES)
def test_nulls_everywhere_and_nothing_at_all_are_survived(name: str) -> None:
    own = parts(name)
    own |= {key: mapped(own[key], lambda _: None) for key in ("metrics", "behavior", "run", "examples")}
    assert "None" not in "\n".join(summary_lines(report(own)))
    assert "No threshold was evaluated." in summary_lines(report(metrics={}, behavior={}, run={}))


def test_rendered_bytes_are_the_lines() -> None:
    assert render(report()).decode("utf-8").splitlines() == summary_lines(report())
