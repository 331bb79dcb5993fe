"""report.md: every figure shown is the metric, and no text of a user's or a model's becomes markup."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_cases import NAMES, mapped, markdown_tables, parts, report

from hallcheck.reports.markdown import escape, render
from hallcheck.types import Note

ACCURACY = "accuracy_conditioned_on_answering"
HALLUCINATION = "hallucination_rate_among_answers"


def text_of(**kwargs: Any) -> str:
    return render(report(**kwargs)).decode("utf-8")


def close(shown: str, metric: float | None, *, percent: bool = True) -> bool:
    """Whether a shown figure is the metric to its last digit."""
    if metric is None:
        return shown == "n/a"
    shown = shown.replace("\\", "")
    if shown == "<0.1%":
        return 0 < metric < 0.0006
    if shown == ">99.9%":
        return 0.9994 < metric < 1
    value = float(shown.rstrip("%").replace(",", ""))
    return math.isclose(value, 100 * metric if percent else metric, abs_tol=0.0501 if percent else 0.000501)


def check_cell(cell: str, metric: float | None, interval: dict[str, float] | None, *, percent: bool = True) -> None:
    value, _, bracket = cell.partition(" [")
    assert close(value, metric, percent=percent), (cell, metric)
    if metric is not None and interval is not None:
        low, high = bracket.rstrip("]").split(", ")
        assert close(low, interval["low"], percent=percent)
        assert close(high, interval["high"], percent=percent)
    else:
        assert bracket == ""


def check_summary(markdown: str, metrics: dict[str, Any]) -> None:
    table = next(markdown_tables(markdown))
    assert table[0] == ["t", "Answered", "Coverage", "Accuracy when answering", "Hallucination rate", "Mean score"]
    points = [(key, m) for key, m in metrics.items() if key != "confidence"]
    assert len(table) == len(points) + 1
    for cells, (key, m) in zip(table[1:], points, strict=True):
        assert cells[0] == key
        assert cells[1] == f"{m['answered']:,} of {m['n']:,}"
        for cell, name in zip(cells[2:5], ("coverage", ACCURACY, HALLUCINATION), strict=True):
            check_cell(cell, m[name], m["intervals"][name])
        check_cell(cells[5], m["avg_expected_score"], m["intervals"]["avg_expected_score"], percent=False)


@pytest.mark.parametrize("name", NAMES)
def test_the_summary_shows_the_metrics(name: str) -> None:
    check_summary(text_of(name=name), parts(name)["metrics"])


share = st.none() | st.floats(0, 1)
figure = st.none() | st.floats(-1e4, 1)


@st.composite
def metrics_at(draw: st.DrawFn) -> dict[str, Any]:
    base = parts()["metrics"]["0.75"]
    whole = st.integers(0, 10**6)
    base |= {name: draw(share) for name in ("coverage", ACCURACY, HALLUCINATION)}
    base |= {name: draw(whole) for name in ("n", "answered", "correct_answers", "incorrect_answers", "n_total")}
    base["avg_expected_score"] = draw(figure)
    for name in base["intervals"]:
        of = figure if name == "avg_expected_score" else share
        low, high = draw(of), draw(of)
        whole_interval = low is not None and high is not None
        base["intervals"][name] = (
            {"low": low, "high": high, "level": 0.95, "method": "wilson"} if whole_interval else None
        )
    return base


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.floats(0, 1).map(str), metrics_at(), min_size=1, max_size=4))
def test_any_metrics_are_shown_as_they_are(metrics: dict[str, Any]) -> None:
    check_summary(text_of(metrics=metrics), metrics)


def test_a_share_that_is_neither_none_nor_all_is_not_rounded_to_either() -> None:
    changed = parts()
    changed["metrics"]["0.5"] |= {ACCURACY: 0.99997, HALLUCINATION: 0.00003}
    table = next(markdown_tables(render(report(changed)).decode()))
    assert table[1][3].startswith("\\>99.9%")
    assert table[1][4].startswith("\\<0.1%")


def test_the_audit_says_each_verdict_in_words_with_its_own_bound() -> None:
    rows = [
        {"t": 0.5, "answered": 40, "correct": 36, "accuracy": 0.9, "lower": 0.785, "upper": 0.965, "verdict": "meets"},
        {
            "t": 0.75, "answered": 30, "correct": 23, "accuracy": 0.7667, "lower": 0.606, "upper": 0.884,
            "verdict": "inconclusive", "n_for_80_power": 4321,
        },
        {
            "t": 0.9, "answered": 22, "correct": 11, "accuracy": 0.5, "lower": 0.31, "upper": 0.691,
            "verdict": "overconfident",
        },
        {"t": 1.0, "answered": 0, "correct": 0, "accuracy": None, "lower": None, "upper": None, "verdict": None},
    ]  # fmt: skip
    changed = parts()
    changed["behavior"]["audit"] = rows
    text = render(report(changed)).decode()
    assert "At t = 0.5 it answered 40 of 57 and was right 90.0% of the time (95% lower bound 78.5%): meets" in text
    assert "(one-sided 95% bounds 60.6% and 88.4%): inconclusive; 0.75 lies between them; about 4,321 answers" in text
    assert "(95% upper bound 69.1%): overconfident; accuracy when answering is below 0.9." in text
    assert "At t = 1.0 it answered none of 60: no verdict." in text


def test_the_audit_of_groups_says_that_one_answer_of_each_counts() -> None:
    changed = parts()
    changed["behavior"]["audit"] = [
        {
            "t": 0.5, "answered": 10, "correct": 9, "accuracy": 0.9, "lower": 0.6, "upper": 0.99, "verdict": "meets",
            "one_per_group": True,
        }
    ]  # fmt: skip
    text = render(report(changed)).decode()
    assert "counting one answer for each group, 9 of 10 answers were right (90.0%)" in text


def test_unscored_rows_come_with_reasons_and_bounds() -> None:
    text = text_of()
    metrics = parts()["metrics"]["0.5"]
    assert "3 (2 truncated, 1 empty)" in text
    bounds = [table for table in markdown_tables(text) if table[0][:2] == ["t", "Coverage"]]
    (table,) = bounds
    assert [cells[0] for cells in table[1:]] == ["0.5"]
    for cell, name in zip(table[1][1:3], ("coverage", ACCURACY), strict=True):
        low, high = cell.split(" to ")
        assert close(low, metrics["bounds_if_unscored"][name][0])
        assert close(high, metrics["bounds_if_unscored"][name][1])


def test_answerable_and_unanswerable_are_apart() -> None:
    (table,) = [table for table in markdown_tables(text_of()) if "Answerable" in table[0]]
    for cells, m in zip(table[1:], parts()["metrics"].values(), strict=True):
        assert (cells[1], cells[4]) == (str(m["answerable"]["n"]), str(m["unanswerable"]["n"]))
        check_cell(cells[2], m["answerable"]["coverage"], m["answerable"]["intervals"]["coverage"])
        check_cell(cells[3], m["answerable"]["accuracy"], m["answerable"]["intervals"]["accuracy"])
        recall = m["unanswerable"]["intervals"]["abstention_recall"]
        check_cell(cells[5], m["unanswerable"]["abstention_recall"], recall)
        check_cell(cells[6], m["abstention_precision"], None)


def test_of_many_categories_the_twenty_largest_are_shown() -> None:
    changed = parts()
    for m in changed["metrics"].values():
        m["by_category"] = {
            f"c{i}": {"n": i, "answered": i, "correct": i, "coverage": 1.0, "accuracy": 1.0} for i in range(1, 61)
        }
    text = render(report(changed)).decode()
    (table,) = [table for table in markdown_tables(text) if table[0][0] == "Category"]
    assert [cells[0] for cells in table[1:]] == [f"c{i}" for i in range(60, 40, -1)]
    assert table[1][1] == "100.0% (60/60)"
    assert "Not shown here: the 40 smaller categories; metrics.json has them." in text


def test_confidence_figures_are_shown_where_there_are_any() -> None:
    c = parts("confidence")["metrics"]["confidence"]
    (table,) = [table for table in markdown_tables(text_of(name="confidence")) if table[0][0] == "Figure"]
    shown = {cells[0]: cells[1] for cells in table[1:]}
    check_cell(shown["AUROC"], c["auroc"], c["intervals"]["auroc"], percent=False)
    for label, key in (("AURC", "aurc"), ("Excess AURC", "excess_aurc"), ("AUGRC", "augrc"), ("ECE", "ece")):
        check_cell(shown[label], c[key], None, percent=False)
    assert "scores.jsonl" in text_of(name="confidence")
    assert "scores.jsonl" not in text_of()


def test_a_partial_run_says_so_and_how_to_go_on() -> None:
    assert "**Partial run.**" in text_of(partial=True)
    assert "Run the same command again" in text_of(partial=True)
    assert "Partial" not in text_of(partial=False)


def test_without_figures_no_picture_is_promised() -> None:
    changed = parts()
    changed["run"]["config"]["figures"] = False
    assert "rc_curve.png" in text_of()
    assert "rc_curve.png" not in render(report(changed)).decode()


def test_notes_of_the_manifest_are_not_said_twice() -> None:
    note = Note(code="x", severity="warning", message="few rows", advice="ask more")
    changed = parts()
    changed["run"]["notes"] = [{"code": "x", "severity": "warning", "message": "few rows"}, "resumed once"]
    text = render(report(changed, notes=(note,))).decode()
    assert text.count("few rows") == 1
    assert "- **info**: resumed once" in text


HOSTILE = "a|b\n\n# head\r\n<script>x</script> [l](http://e) ![i](http://e) `c` *e* __u__ \x1b[31m \u202eback"


def test_hostile_text_stays_in_its_place() -> None:
    changed = parts()
    changed["metrics"]["0.5"]["by_category"] = {HOSTILE: {"n": 1, "answered": 1, "accuracy": 1.0}}
    changed["run"]["config"]["dataset"] = HOSTILE
    changed["run"]["adaptations"] = [HOSTILE]
    text = render(report(changed, title=HOSTILE, notes=(Note(code="n", severity="info", message=HOSTILE),))).decode()
    lines = text.splitlines()
    assert sum(line.startswith("# ") for line in lines) == 1
    assert not any(char in text for char in "\x1b\u202e\r")
    plain = text.replace("\\\\", "").replace("\\<", "").replace("\\]", "").replace("\\`", "").replace("\\*", "")
    assert "<script" not in plain
    assert "](http" not in plain
    assert "`c`" not in plain
    (table,) = [table for table in markdown_tables(text) if table[0][0] == "Category"]
    assert {len(cells) for cells in table} == {5}


@given(st.text())
def test_escaped_text_is_one_line_without_active_markup(text: str) -> None:
    escaped = escape(text)
    assert len(escaped.splitlines()) <= 1
    bare = escaped.replace("\\\\", "")
    for special in "|<>`*_":
        assert special not in bare.replace(f"\\{special}", "")


@pytest.mark.parametrize("name", NAMES)
def test_nulls_everywhere_are_survived(name: str) -> None:
    own = parts(name)
    own |= {key: mapped(own[key], lambda _: None) for key in ("metrics", "behavior", "run", "examples")}
    assert not re.search(r"\b(nan|None|null)\b", render(report(own)).decode())


def test_a_report_of_nothing_is_still_a_report() -> None:
    text = text_of(metrics={}, behavior={}, run={}, examples={}, notes=())
    assert "No threshold was evaluated." in text
