"""metrics.json and behavior.json against figures made by hand, numpy, scipy and scikit-learn."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

from hallcheck.config import AskConfig
from hallcheck.reports.json import dumps
from hallcheck.types import AskRecord, Item
from hallcheck.verbs.ask_metrics import run_behavior, run_metrics
from hallcheck.verbs.ask_plan import Plan
from hallcheck.verbs.ask_results import CODES, Confidences, Results, Tally, decide, result_row

RATES = ("coverage", "accuracy_conditioned_on_answering", "hallucination_rate_among_answers", "avg_expected_score")


class Row(NamedTuple):
    """One row of a run: an outcome, and what its item is."""

    outcome: str
    unknown_ok: bool = False
    category: str | None = None
    group: str | None = None


C, W, A, U = (Row(name) for name in ("correct", "wrong", "abstained", "unscored"))


def results(*by_threshold: list[Row], thresholds: tuple[float, ...] = (0.75,), **settings: Any) -> Results:
    """What a run with these rows, one list a threshold, has gathered."""
    config = AskConfig(thresholds=thresholds, **settings)
    made = Results(config=config, plan=Plan(0, config), items_path=Path("x"), journal_path=Path("x"))
    for rows in by_threshold:
        tally = Tally()
        for row in rows:
            tally.outcome.append(CODES[row.outcome])
            tally.unknown_ok.append(row.unknown_ok)
            for numbers, name, column in (
                (made.categories, row.category, tally.category),
                (made.groups, row.group, tally.group),
            ):
                column.append(-1 if name is None else numbers.setdefault(name, len(numbers)))
            if row.outcome == "unscored":
                tally.unscored["empty"] += 1
        made.tallies.append(tally)
    return made


def metrics(rows: list[Row], t: float = 0.75) -> dict[str, Any]:
    found: dict[str, Any] = run_metrics(results(rows, thresholds=(t,)))[str(t)]
    return found


def test_figures_made_by_hand() -> None:
    rows = [C, C, C, C, W, A, Row("abstained", unknown_ok=True), U]
    found = metrics(rows)
    assert {name: found[name] for name in ("n", "answered", "abstentions", "correct_answers", "incorrect_answers")} == {
        "n": 7, "answered": 5, "abstentions": 2, "correct_answers": 4, "incorrect_answers": 1,
    }  # fmt: skip
    assert (found["n_total"], found["n_unscored"], found["unscored"]) == (8, 1, {"empty": 1})
    assert found["coverage"] == pytest.approx(5 / 7)
    assert found["accuracy_conditioned_on_answering"] == pytest.approx(4 / 5)
    assert found["hallucination_rate_among_answers"] == pytest.approx(1 / 5)
    assert found["avg_expected_score"] == pytest.approx((4 - 3) / 7)
    assert found["answerable"]["n"] == 6
    assert found["answerable"]["coverage"] == pytest.approx(5 / 6)
    assert found["answerable"]["accuracy"] == pytest.approx(4 / 5)
    assert found["unanswerable"]["abstention_recall"] == 1.0
    assert found["abstention_precision"] == pytest.approx(1 / 2)


@pytest.mark.parametrize(("t", "score"), [(0.0, 1.0), (0.5, 0.0), (0.75, -2.0), (0.9, -8.0)])
def test_a_wrong_answer_costs_what_the_threshold_says(t: float, score: float) -> None:
    assert metrics([C, W], t)["avg_expected_score"] == pytest.approx(score / 2 if t else 0.5)


def test_at_1_a_wrong_answer_has_no_mean_score_and_a_note_says_why() -> None:
    found = metrics([C, W, A], 1.0)
    assert found["avg_expected_score"] is None
    assert "infinity" in found["avg_expected_score_note"]
    assert found["intervals"]["avg_expected_score"] is None
    assert found["bounds_if_unscored"]["avg_expected_score"] == [None, None]
    fine = metrics([C, A], 1.0)
    assert fine["avg_expected_score"] == 0.5
    assert "avg_expected_score_note" not in fine


@pytest.mark.parametrize("rows", [[], [U, U]])
def test_without_a_scored_row_every_figure_is_undefined_not_0(rows: list[Row]) -> None:
    found = metrics(rows)
    assert found["n"] == 0
    assert [found[name] for name in RATES] == [None] * 4
    assert set(found["intervals"].values()) == {None}
    assert found["answerable"]["coverage"] is None
    assert found["unanswerable"]["abstention_recall"] is None
    assert found["abstention_precision"] is None
    (audit,) = run_behavior(results(rows))["audit"]
    assert (audit["verdict"], audit["accuracy"], audit["lower"], audit["upper"]) == (None, None, None, None)


def test_where_nothing_was_answered_only_what_divides_by_answers_is_undefined() -> None:
    found = metrics([A, A])
    assert (found["coverage"], found["avg_expected_score"]) == (0.0, 0.0)
    assert found["accuracy_conditioned_on_answering"] is None
    assert found["hallucination_rate_among_answers"] is None
    assert found["intervals"]["coverage"]["high"] > 0.5  # 0 of 2 says little


kinds = st.builds(
    Row,
    st.sampled_from(["correct", "wrong", "abstained", "unscored"]),
    st.booleans(),
    st.sampled_from([None, "x", "y"]),
    st.none(),
)


@settings(deadline=None)
@given(st.lists(kinds, max_size=40), st.sampled_from([0.0, 0.5, 0.75, 0.9]))
def test_every_count_and_rate_is_what_numpy_says(rows: list[Row], t: float) -> None:
    outcome = np.array([row.outcome for row in rows])
    scored = outcome[outcome != "unscored"]
    answered = scored[scored != "abstained"]
    found = metrics(rows, t)
    assert (found["n"], found["answered"]) == (scored.size, answered.size)
    assert found["abstentions"] == scored.size - answered.size
    assert found["n_total"] == found["n"] + found["n_unscored"] == len(rows)
    assert found["answered"] == found["correct_answers"] + found["incorrect_answers"]
    if scored.size:
        gains = {"correct": 1.0, "wrong": -t / (1 - t), "abstained": 0.0}
        assert found["coverage"] == pytest.approx(answered.size / scored.size)
        assert found["avg_expected_score"] == pytest.approx(np.mean([gains[name] for name in scored]))
    if answered.size:
        accuracy = np.mean(answered == "correct")
        assert found["accuracy_conditioned_on_answering"] == pytest.approx(accuracy)
        assert found["hallucination_rate_among_answers"] == pytest.approx(1 - accuracy)
    parts = (found["answerable"], found["unanswerable"])
    assert parts[0]["n"] + parts[1]["n"] == scored.size
    for name, part in found["by_category"].items():
        alone = metrics([row for row in rows if row.category == name], t)
        assert part["n"] == alone["n"]
        assert part["n_unscored"] == alone["n_unscored"]
        assert part["coverage"] == alone["coverage"]
        assert part["accuracy"] == alone["accuracy_conditioned_on_answering"]
        assert part["avg_expected_score"] == alone["avg_expected_score"]


@settings(deadline=None)
@given(st.lists(kinds, min_size=1, max_size=30))
def test_every_figure_lies_in_its_interval_and_every_file_is_valid_json(rows: list[Row]) -> None:
    found = metrics(rows)
    for name in RATES:
        interval = found["intervals"][name]
        assert (interval is None) == (found[name] is None)
        if interval:
            assert interval["low"] <= found[name] <= interval["high"]
            assert interval["level"] == 0.95
    assert b"NaN" not in dumps(found)
    assert b"Infinity" not in dumps(found)


@pytest.mark.parametrize(("k", "n"), [(0, 5), (5, 5), (3, 10), (199, 200)])
def test_proportions_have_wilson_intervals(k: int, n: int) -> None:
    rows = [C] * k + [W] * (n - k)
    interval = metrics(rows)["intervals"]["accuracy_conditioned_on_answering"]
    wanted = binomtest(k, n).proportion_ci(0.95, method="wilson")
    assert (interval["low"], interval["high"]) == (pytest.approx(wanted.low), pytest.approx(wanted.high))
    assert interval["method"] == "wilson"


def grouped(n_groups: int, size: int) -> list[Row]:
    """Groups whose rows all go one way: as few independent facts as there are groups."""
    return [Row("correct" if g % 2 else "wrong", group=f"g{g}") for g in range(n_groups) for _ in range(size)]


def test_rows_that_share_a_group_are_resampled_by_group() -> None:
    together = metrics(grouped(30, 8))["intervals"]
    alone = metrics([row._replace(group=None) for row in grouped(30, 8)])["intervals"]
    for name in ("accuracy_conditioned_on_answering", "avg_expected_score"):
        assert together[name]["method"] == "cluster bootstrap"
        width, narrow = (x[name]["high"] - x[name]["low"] for x in (together, alone))
        # Eight copies of a row say what one says: the interval is about sqrt(8) times as wide.
        assert width == pytest.approx(narrow * math.sqrt(8), rel=0.25)


def test_groups_of_one_are_independent_rows() -> None:
    rows = [Row("correct" if n % 3 else "wrong", group=f"g{n}") for n in range(30)]
    plain = [row._replace(group=None) for row in rows]
    assert metrics(rows)["intervals"] == metrics(plain)["intervals"]
    assert not run_behavior(results(rows))["audit"][0]["one_per_group"]


def test_equal_input_gives_equal_intervals() -> None:
    assert metrics(grouped(10, 3)) == metrics(grouped(10, 3))


def test_bounds_say_what_unscored_rows_could_have_been() -> None:
    rows = [C, C, W, A, U, U, Row("unscored", unknown_ok=True)]
    found = metrics(rows)["bounds_if_unscored"]
    assert found["coverage"] == [pytest.approx(3 / 7), pytest.approx(6 / 7)]
    # Worst: all three answered and wrong. Best: two right, and the one without an answer abstained.
    assert found["accuracy_conditioned_on_answering"] == [pytest.approx(2 / 6), pytest.approx(4 / 5)]
    assert found["avg_expected_score"] == [pytest.approx((2 - 4 * 3) / 7), pytest.approx((4 - 3) / 7)]


@settings(deadline=None)
@given(st.lists(kinds, max_size=25), st.data())
def test_whatever_the_unscored_rows_turn_out_to_be_lies_within_the_bounds(rows: list[Row], data: st.DataObject) -> None:
    bounds = metrics(rows)["bounds_if_unscored"]
    settled = []
    for row in rows:
        if row.outcome == "unscored":
            # Where no answer is right, answering is wrong.
            fates = ["wrong", "abstained"] if row.unknown_ok else ["correct", "wrong", "abstained"]
            row = row._replace(outcome=data.draw(st.sampled_from(fates)))
        settled.append(row)
    truth = metrics(settled)
    for name in ("coverage", "avg_expected_score"):
        if truth[name] is not None:
            low, high = bounds[name]
            assert low - 1e-12 <= truth[name] <= high + 1e-12


def test_thresholds_come_ascending_whatever_their_order() -> None:
    made = results([A, A], [C, W], [C, A], thresholds=(0.9, 0.1, 0.5))
    assert list(run_metrics(made)) == ["0.1", "0.5", "0.9"]
    behavior = run_behavior(made)
    assert behavior["thresholds"] == [0.1, 0.5, 0.9]
    assert behavior["coverage"] == [1.0, 0.5, 0.0]
    assert [audit["t"] for audit in behavior["audit"]] == [0.1, 0.5, 0.9]


@pytest.mark.parametrize(
    ("coverages", "violations"),
    [((4, 3, 2), 0), ((2, 2, 2), 0), ((2, 3, 4), 2), ((4, 2, 3), 1), ((0, None, 1), 1)],
)
def test_coverage_that_rises_with_t_is_a_violation(coverages: tuple[int | None, ...], violations: int) -> None:
    rows = [[U] if k is None else [C] * k + [A] * (4 - k) for k in coverages]
    behavior = run_behavior(results(*rows, thresholds=(0.5, 0.75, 0.9)))
    assert behavior["monotonicity_violations"] == violations
    assert behavior["monotonic_coverage_expected"] is True


@pytest.mark.parametrize(
    ("k", "n", "verdict"), [(60, 60, "meets"), (10, 60, "overconfident"), (45, 60, "inconclusive")]
)
def test_the_audit_compares_accuracy_with_t(k: int, n: int, verdict: str) -> None:
    (audit,) = run_behavior(results([C] * k + [W] * (n - k) + [A] * 5))["audit"]
    assert (audit["verdict"], audit["answered"], audit["correct"]) == (verdict, n, k)
    low = binomtest(k, n, alternative="greater").proportion_ci(0.95, method="exact").low
    high = binomtest(k, n, alternative="less").proportion_ci(0.95, method="exact").high
    assert (audit["lower"], audit["upper"]) == (pytest.approx(low), pytest.approx(high))


def test_the_audit_takes_one_answer_of_each_group() -> None:
    behavior = run_behavior(results(grouped(20, 6)))
    (audit,) = behavior["audit"]
    assert (audit["answered"], audit["correct"], audit["one_per_group"]) == (20, 10, True)


def with_confidences(score: list[float], bad: list[int], n_abstained: int = 0, **more: Any) -> dict[str, Any]:
    made = results([], method="verbal")
    made.confidences = Confidences(n_abstained=n_abstained)
    for s, b in zip(score, bad, strict=True):
        made.confidences.score.append(s)
        made.confidences.bad.append(b)
        made.confidences.group.append(-1)
    found: dict[str, Any] = run_metrics(made)["confidence"]
    return found


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.floats(0, 1).map(lambda p: round(p, 2)), st.integers(0, 1)), min_size=2, max_size=60))
def test_ranking_and_calibration_are_what_scikit_learn_says(pairs: list[tuple[float, int]]) -> None:
    score, bad = [p for p, _ in pairs], [b for _, b in pairs]
    found = with_confidences(score, bad)
    good = 1 - np.array(bad)
    assert found["brier"] == pytest.approx(brier_score_loss(good, score, labels=[0, 1]))
    assert found["accuracy"] == pytest.approx(good.mean())
    if len(set(bad)) == 2:
        assert found["auroc"] == pytest.approx(roc_auc_score(good, score))
        assert found["average_precision"] == pytest.approx(average_precision_score(bad, 1 - np.array(score)))
        interval = found["intervals"]["auroc"]
        assert interval is None or interval["low"] <= interval["high"]
    else:
        assert found["auroc"] is None
        assert found["intervals"]["auroc"] is None


@settings(deadline=None, max_examples=50)
@given(st.lists(st.booleans(), min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_areas_of_distinct_scores_are_sums_over_the_ranking(right: list[bool], random: Any) -> None:
    n = len(right)
    score = [(i + 1) / (n + 1) for i in range(n)]
    random.shuffle(score)
    bad = np.array([not r for r in right], dtype=int)
    errors = np.cumsum(bad[np.argsort(score)[::-1]])
    found = with_confidences(score, bad.tolist())
    assert found["aurc"] == pytest.approx(np.mean(errors / np.arange(1, n + 1)))
    share = bad.mean()
    assert found["augrc"] == pytest.approx(np.sum(errors) / n**2 - share / (2 * n))
    assert found["excess_aurc"] >= 0


def test_calibration_error_by_hand() -> None:
    # Ten answers at 0.85, six right; ten at 0.25, two right: 0.25 and 0.05 off, half the rows each.
    found = with_confidences([0.85] * 10 + [0.25] * 10, [0] * 6 + [1] * 4 + [0] * 2 + [1] * 8)
    assert found["ece"] == pytest.approx((0.25 + 0.05) / 2)
    filled = [(row["n"], row["mean_confidence"], row["accuracy"]) for row in found["reliability"] if row["n"]]
    assert filled == [(10, pytest.approx(0.25), 0.2), (10, pytest.approx(0.85), 0.6)]


def test_items_that_abstained_by_themselves_count_in_the_coverage_of_the_curve() -> None:
    found = with_confidences([0.9, 0.8, 0.8, 0.3], [0, 0, 1, 1], n_abstained=4)
    assert (found["n"], found["n_committed"]) == (8, 4)
    assert [(p["threshold"], p["coverage"], p["risk"]) for p in found["curve"]] == [
        (0.9, 1 / 8, 0.0),
        (0.8, 3 / 8, pytest.approx(1 / 3)),
        (0.3, 4 / 8, pytest.approx(1 / 2)),
    ]
    assert all(p["accuracy"] == pytest.approx(1 - p["risk"]) for p in found["curve"])


def test_a_curve_of_many_scores_is_drawn_by_few_points_with_both_ends() -> None:
    n = 5000
    found = with_confidences([i / n for i in range(n)], [int(i % 2) for i in range(n)])
    assert len(found["curve"]) <= 1000
    assert found["curve"][0]["threshold"] == (n - 1) / n
    assert found["curve"][-1]["coverage"] == 1.0


def test_without_a_committed_answer_the_confidence_part_is_undefined() -> None:
    found = with_confidences([], [], n_abstained=3)
    assert (found["n"], found["n_committed"]) == (3, 0)
    assert {found[name] for name in ("auroc", "aurc", "augrc", "ece", "brier", "accuracy")} == {None}
    assert found["curve"] == found["reliability"] == []


def test_the_prompt_method_has_no_confidence_part() -> None:
    assert list(run_metrics(results([C]))) == ["0.75"]


@pytest.mark.parametrize(
    ("confidence", "t", "wanted"),
    [
        (0.76, 0.75, ("correct", "")),
        (0.75, 0.75, ("abstained", "below_threshold")),
        (0.0, 0.0, ("abstained", "below_threshold")),
        (1.0, 1.0, ("abstained", "below_threshold")),
        (math.nextafter(0.75, 1), 0.75, ("correct", "")),
    ],
)
def test_t_is_exclusive(confidence: float, t: float, wanted: tuple[str, str]) -> None:
    record = AskRecord(slot=0, id="a", t=None, outcome="correct", confidence=confidence)
    assert decide(record, t, "verbal") == wanted
    assert decide(record, t, "prompt") == ("correct", "")


@pytest.mark.parametrize(
    ("outcome", "unknown_ok", "wanted"),
    [
        ("correct", False, (0, 1, 1.0)),
        ("wrong", False, (0, 0, -3.0)),
        ("abstained", False, (1, 0, 0.0)),
        ("abstained", True, (1, 1, 0.0)),
        ("wrong", True, (0, 0, -3.0)),
        ("unscored", False, (None, None, None)),
        ("unscored", True, (None, None, None)),
    ],
)
def test_one_row_of_results(outcome: str, unknown_ok: bool, wanted: tuple[Any, ...]) -> None:
    item = Item(id="a", question="?", answers=() if unknown_ok else ("x", "y"), unknown_ok=unknown_ok)
    record = AskRecord(slot=0, id="a", t=0.75, outcome=outcome, input_tokens=3, thinking_tokens=4)
    row = result_row(item, record, 0.75, outcome, "")
    assert (row["abstained"], row["correct"], row["score"]) == wanted
    assert row["gold"] == ("" if unknown_ok else "x|y")
    assert row["tokens"] == 7
