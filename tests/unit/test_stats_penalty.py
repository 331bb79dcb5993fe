"""The abstention test's score and the one conversion between t and tau."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hallcheck.stats.penalty import inclusive_threshold, mean_penalty_score, penalty, score_item


@pytest.mark.parametrize(("t", "cost"), [(0.0, 0.0), (0.5, 1.0), (0.75, 3.0), (0.9, 9.0), (0.95, 19.0), (0.995, 199.0)])
def test_a_wrong_answer_costs_what_the_prompt_announces(t: float, cost: float) -> None:
    assert penalty(t) == cost
    assert score_item(True, False, t) == -cost
    assert score_item(True, True, t) == 1.0
    assert score_item(False, False, t) == 0.0


def test_what_was_not_answered_scores_nothing_whatever_its_truth() -> None:
    assert score_item(False, True, 0.9) == 0.0
    assert score_item(False, False, 1.0) == 0.0


def test_at_t_one_a_wrong_answer_is_minus_infinity_and_a_right_one_still_counts() -> None:
    assert score_item(True, False, 1.0) == -math.inf
    assert score_item(True, True, 1.0) == 1.0
    assert penalty(1) == math.inf


@pytest.mark.parametrize("t", [0.0, -0.0])
def test_no_negative_zero_reaches_a_table(t: float) -> None:
    assert math.copysign(1, score_item(True, False, t)) == 1.0
    assert math.copysign(1, penalty(t)) == 1.0


@pytest.mark.parametrize(
    ("t", "said"),
    [
        (75, r"did you mean 0\.75"),
        (99.5, r"did you mean 0\.995"),
        (100, "did you mean 1"),
        (1.5, r"not 1\.5$"),
        (-0.1, r"not -0\.1$"),
        (math.nan, "not nan"),
        (math.inf, "not inf"),
        (101, r"not 101\.0$"),
        ("0.5", "must be a number"),
        (None, "must be a number"),
        (True, "must be a number"),
    ],
)
def test_a_t_that_makes_no_sense_is_refused_and_says_what_was_meant(t: object, said: str) -> None:
    for function in (penalty, inclusive_threshold):
        with pytest.raises(ValueError, match=said):
            function(t)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=said):
        score_item(False, False, t)  # type: ignore[arg-type]


@settings(deadline=None)
@given(t=st.floats(0, 0.999), share=st.floats(0, 1))
def test_answering_pays_exactly_where_the_answer_is_right_with_more_than_t(t: float, share: float) -> None:
    expected = share * score_item(True, True, t) + (1 - share) * score_item(True, False, t)
    assert penalty(t) == pytest.approx(t / (1 - t), rel=1e-9, abs=1e-300)
    if share > t + 1e-9:
        assert expected > 0
    if share < t - 1e-9:
        assert expected < 0


@settings(deadline=None)
@given(t=st.floats(0, 1), confidence=st.floats(0, 1))
def test_the_inclusive_threshold_accepts_exactly_the_confidences_above_t(t: float, confidence: float) -> None:
    assert (confidence >= inclusive_threshold(t)) == (confidence > t)


def test_the_threshold_of_one_is_finite_and_above_every_score() -> None:
    assert inclusive_threshold(1.0) == math.nextafter(1, 2) > 1.0
    assert inclusive_threshold(0.0) > 0.0


def test_mean_score_by_hand() -> None:
    score, bad = [0.9, 0.8, 0.6, 0.2, 0.1], [0, 1, 0, 1, 0]
    assert mean_penalty_score(score, bad, tau=0.5, t=0.75) == pytest.approx((1 - 3 + 1) / 5)
    assert mean_penalty_score(score, bad, tau=0.6, t=0.75) == pytest.approx((1 - 3 + 1) / 5)  # tau is inclusive
    assert mean_penalty_score(score, bad, tau=math.nextafter(0.6, 1), t=0.75) == pytest.approx((1 - 3) / 5)
    assert mean_penalty_score(score, bad, tau=math.nextafter(1, 2), t=0.75) == 0.0
    assert mean_penalty_score([], [], tau=0.5, t=0.5) is None


def test_mean_score_at_t_one_is_unbounded_only_where_a_bad_row_is_accepted() -> None:
    assert mean_penalty_score([0.9, 0.2], [0, 1], tau=0.1, t=1.0) == -math.inf
    assert mean_penalty_score([0.9, 0.2], [0, 1], tau=0.5, t=1.0) == 0.5


@settings(deadline=None)
@given(
    rows=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1)), min_size=1, max_size=30),
    tau=st.floats(0, 1),
    t=st.sampled_from([0.0, 0.3, 0.5, 0.9]),
)
def test_mean_score_is_the_mean_of_the_items_scores(rows: list[tuple[float, int]], tau: float, t: float) -> None:
    score, bad = zip(*rows, strict=True)
    by_item = [score_item(s >= tau, not b, t) for s, b in rows]
    assert mean_penalty_score(score, bad, tau, t) == pytest.approx(np.mean(by_item), abs=1e-12)


def test_importing_the_penalty_does_not_load_numpy() -> None:
    code = "import sys, hallcheck.stats.penalty as p; p.score_item(True, False, 0.9); sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
