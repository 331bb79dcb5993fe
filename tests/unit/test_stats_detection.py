"""Counts and ranking, against hand computation and scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, confusion_matrix, f1_score, roc_auc_score

from hallcheck.stats.detection import Confusion, auroc, average_precision, confusion, f1, precision, recall

# Few distinct scores, so that ties abound, and both classes.
GRID = [0.0, 0.05, 0.25, 0.5, 0.5000000000000001, 0.95, 1.0]
rows = st.lists(st.tuples(st.sampled_from(GRID), st.integers(0, 1)), min_size=2, max_size=60)
both = rows.filter(lambda r: len({bad for _, bad in r}) == 2)


def _split(pairs: list[tuple[float, int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([s for s, _ in pairs]), np.array([b for _, b in pairs])


def test_the_threshold_is_inclusive() -> None:
    score, bad = [0.2, 0.5, 0.5, 0.9], [1, 1, 0, 0]
    assert confusion(score, bad, 0.5) == Confusion(tp=1, fp=0, tn=2, fn=1)
    assert confusion(score, bad, math.nextafter(0.5, 1)) == Confusion(tp=2, fp=1, tn=1, fn=0)
    assert confusion(score, bad, math.nextafter(1, 2)).n_flagged == 4


def test_figures_by_hand() -> None:
    counts = confusion([0.1, 0.2, 0.3, 0.6, 0.7, 0.8, 0.9], [1, 1, 0, 0, 1, 0, 0], 0.5)
    assert counts == Confusion(tp=2, fp=1, tn=3, fn=1)
    assert (counts.n, counts.n_flagged, counts.n_accepted) == (7, 3, 4)
    assert counts.precision == pytest.approx(2 / 3)
    assert counts.recall == pytest.approx(2 / 3)
    assert counts.f1 == pytest.approx(4 / 6)
    assert counts.coverage == pytest.approx(4 / 7)
    assert counts.risk == 0.25
    assert counts.accuracy_accepted == 0.75


def test_a_figure_without_a_denominator_is_none_not_zero() -> None:
    nothing_flagged = confusion([0.9, 0.8], [1, 0], 0.1)
    assert nothing_flagged.precision is None
    assert nothing_flagged.recall == 0.0
    assert nothing_flagged.f1 == 0.0
    all_flagged = confusion([0.1, 0.2], [0, 0], 0.5)
    assert all_flagged.risk is None
    assert all_flagged.accuracy_accepted is None
    assert all_flagged.recall is None
    assert f1([0.9], [0], 0.5) is None
    empty = confusion([], [], 0.5)
    assert (empty.n, empty.coverage, empty.f1) == (0, None, None)


@settings(deadline=None)
@given(pairs=rows, tau=st.sampled_from([*GRID, 0.3, math.nextafter(1, 2)]))
def test_counts_equal_scikit_learn(pairs: list[tuple[float, int]], tau: float) -> None:
    score, bad = _split(pairs)
    tn, fp, fn, tp = confusion_matrix(bad, score < tau, labels=[0, 1]).ravel()
    assert confusion(score, bad, tau) == Confusion(tp=tp, fp=fp, tn=tn, fn=fn)
    ours = f1(score, bad, tau)
    assert (0.0 if ours is None else ours) == pytest.approx(f1_score(bad, score < tau, zero_division=0))
    assert (precision(score, bad, tau) is None) == (tp + fp == 0)
    assert (recall(score, bad, tau) is None) == (tp + fn == 0)


@settings(deadline=None)
@given(pairs=both)
def test_ranking_equals_scikit_learn_with_ties(pairs: list[tuple[float, int]]) -> None:
    score, bad = _split(pairs)
    assert auroc(score, bad) == pytest.approx(roc_auc_score(bad, -score), abs=1e-12)
    assert average_precision(score, bad) == pytest.approx(average_precision_score(bad, -score), abs=1e-12)


def test_ranking_equals_scikit_learn_on_continuous_scores() -> None:
    rng = np.random.default_rng(7)
    score = rng.random(5000)
    bad = rng.random(5000) > score
    assert auroc(score, bad) == pytest.approx(roc_auc_score(bad, -score), abs=1e-12)
    assert average_precision(score, bad) == pytest.approx(average_precision_score(bad, -score), abs=1e-12)


@pytest.mark.parametrize("bad", [[0, 0, 0], [1, 1, 1]])
def test_one_class_has_no_ranking(bad: list[int]) -> None:
    assert auroc([0.1, 0.2, 0.3], bad) is None
    assert average_precision([0.1, 0.2, 0.3], bad) is None


def test_no_rows_have_no_ranking() -> None:
    assert auroc([], []) is None
    assert average_precision([], []) is None


def test_the_ends_of_the_auroc() -> None:
    assert auroc([0.1, 0.2, 0.8, 0.9], [1, 1, 0, 0]) == 1.0
    assert auroc([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1]) == 0.0
    assert auroc([0.5] * 6, [1, 0, 1, 0, 0, 0]) == 0.5


@settings(deadline=None)
@given(pairs=both, seed=st.integers(0, 2**32 - 1))
def test_order_copies_and_monotone_maps_change_nothing(pairs: list[tuple[float, int]], seed: int) -> None:
    score, bad = _split(pairs)
    order = np.random.default_rng(seed).permutation(score.size)
    ranks = np.searchsorted(np.unique(score), score) / 10
    for figure in (auroc, average_precision):
        expected = figure(score, bad)
        assert figure(score[order], bad[order]) == pytest.approx(expected, abs=1e-12)
        assert figure(np.tile(score, 3), np.tile(bad, 3)) == pytest.approx(expected, abs=1e-12)
        assert figure(ranks, bad) == pytest.approx(expected, abs=1e-12)


@settings(deadline=None)
@given(pairs=both)
def test_turning_the_labels_round_turns_the_auroc_round(pairs: list[tuple[float, int]]) -> None:
    score, bad = _split(pairs)
    forward, backward = auroc(score, bad), auroc(score, 1 - bad)
    assert forward is not None
    assert backward == pytest.approx(1 - forward, abs=1e-12)
