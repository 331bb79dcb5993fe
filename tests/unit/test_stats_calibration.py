"""Reliability, ECE, Brier and log loss, against hand computation and scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss
from sklearn.metrics import log_loss as sklearn_log_loss

from hallcheck.stats.calibration import Strategy, brier, ece, log_loss, mce, murphy, reliability_bins

GRID = [0.0, 0.05, 0.1, 0.3, 0.5, 0.7, 0.95, 1.0]
rows = st.lists(st.tuples(st.sampled_from(GRID) | st.floats(0, 1), st.integers(0, 1)), min_size=1, max_size=60)


def _split(pairs: list[tuple[float, int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([s for s, _ in pairs]), np.array([b for _, b in pairs])


def test_bins_by_hand_are_closed_on_the_right() -> None:
    score, bad = [0.0, 0.5, 0.51, 1.0], [1, 0, 1, 0]
    bins = reliability_bins(score, bad, n_bins=2)
    assert bins.low.tolist() == [0.0, 0.5]
    assert bins.high.tolist() == [0.5, 1.0]
    assert bins.n.tolist() == [2, 2]
    assert bins.mean_score.tolist() == pytest.approx([0.25, 0.755])
    assert bins.mean_good.tolist() == [0.5, 0.5]
    assert ece(score, bad, n_bins=2) == pytest.approx((0.25 + 0.255) / 2)
    assert mce(score, bad, n_bins=2) == pytest.approx(0.255)


def test_empty_bins_are_left_out() -> None:
    bins = reliability_bins([0.05, 0.95], [1, 0], n_bins=10)
    assert bins.n.tolist() == [1, 1]
    assert bins.low.tolist() == pytest.approx([0.0, 0.9])


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@settings(deadline=None)
@given(pairs=rows, n_bins=st.sampled_from([1, 2, 10, 15]))
def test_bins_equal_scikit_learn(strategy: Strategy, pairs: list[tuple[float, int]], n_bins: int) -> None:
    # Two more rows, for scikit-learn refuses data of one class.
    score, bad = _split([*pairs, (0.2, 1), (0.8, 0)])
    good, mean = calibration_curve(1 - bad, score, n_bins=n_bins, strategy=strategy)
    bins = reliability_bins(score, bad, n_bins, strategy)
    assert np.allclose(bins.mean_good, good)
    assert np.allclose(bins.mean_score, mean)
    assert bins.n.sum() == score.size


@settings(deadline=None)
@given(pairs=rows, n_bins=st.integers(1, 20))
def test_ece_never_exceeds_mce_and_both_lie_in_the_unit_interval(pairs: list[tuple[float, int]], n_bins: int) -> None:
    score, bad = _split(pairs)
    mean, worst = ece(score, bad, n_bins), mce(score, bad, n_bins)
    assert mean is not None
    assert worst is not None
    assert 0 <= mean <= worst + 1e-12 <= 1 + 2e-12


def test_calibrated_scores_have_no_error_and_shifted_ones_their_shift() -> None:
    score = np.repeat([0.2, 0.8], 10)
    bad = np.array([1] * 8 + [0] * 2 + [1] * 2 + [0] * 8)
    assert ece(score, bad) == pytest.approx(0, abs=1e-12)
    assert ece(score + 0.1, bad) == pytest.approx(0.1)


@settings(deadline=None)
@given(pairs=rows)
def test_brier_equals_scikit_learn_and_its_parts_add_up(pairs: list[tuple[float, int]]) -> None:
    score, bad = _split(pairs)
    expected = brier_score_loss(1 - bad, score, pos_label=1)
    assert brier(score, bad) == pytest.approx(expected, abs=1e-12)
    parts = murphy(score, bad)
    assert parts is not None
    assert parts.reliability - parts.resolution + parts.uncertainty == pytest.approx(expected, abs=1e-12)
    assert min(parts) >= 0


@settings(deadline=None)
@given(pairs=rows)
def test_log_loss_equals_scikit_learn(pairs: list[tuple[float, int]]) -> None:
    score, bad = _split(pairs)
    clipped = np.clip(score, 1e-6, 1 - 1e-6)
    expected = sklearn_log_loss(1 - bad, np.column_stack([1 - clipped, clipped]), labels=[0, 1])
    assert log_loss(score, bad, eps=1e-6) == pytest.approx(expected, abs=1e-9)


def test_log_loss_of_certain_and_wrong_is_finite_and_set_by_eps() -> None:
    assert log_loss([1.0], [1], eps=1e-6) == pytest.approx(-math.log(1e-6))
    assert log_loss([0.0], [0], eps=1e-6) == pytest.approx(-math.log(1e-6))
    assert log_loss([0.25], [1]) == pytest.approx(-math.log(0.75))


def test_no_rows_have_no_calibration() -> None:
    assert [f([], []) for f in (ece, mce, brier, murphy, log_loss)] == [None] * 5
    assert ece([], [], strategy="quantile") is None


@settings(deadline=None)
@given(pairs=rows, seed=st.integers(0, 2**32 - 1))
def test_order_and_copies_change_nothing(pairs: list[tuple[float, int]], seed: int) -> None:
    score, bad = _split(pairs)
    order = np.random.default_rng(seed).permutation(score.size)
    for figure in (ece, mce, brier, log_loss):
        expected = figure(score, bad)
        assert figure(score[order], bad[order]) == pytest.approx(expected, abs=1e-9)
        assert figure(np.tile(score, 2), np.tile(bad, 2)) == pytest.approx(expected, abs=1e-9)


def test_options_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="n_bins must be at least 1, not 0"):
        ece([0.5], [0], n_bins=0)
    with pytest.raises(ValueError, match="'uniform' or 'quantile', not 'equal'"):
        ece([0.5], [0], strategy="equal")  # type: ignore[arg-type]
    for eps in (0, 0.5, -1):
        with pytest.raises(ValueError, match="eps"):
            log_loss([0.5], [0], eps=eps)
