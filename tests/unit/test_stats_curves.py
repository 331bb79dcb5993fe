"""Risk-coverage curves and areas: definitions, expectations over tie orders, invariances."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hallcheck.stats.curves import (
    augrc,
    augrc_rank_sum,
    aurc,
    aurc_optimal,
    aurc_steps,
    excess_aurc,
    risk_coverage,
)
from hallcheck.stats.detection import auroc, confusion

GRID = [0.0, 0.1, 0.1 + 2**-50, 0.5, 0.9, 1.0]
rows = st.lists(st.tuples(st.sampled_from(GRID), st.integers(0, 1)), min_size=1, max_size=40)
AREAS = [aurc, aurc_steps, excess_aurc, augrc, augrc_rank_sum]


def _split(pairs: list[tuple[float, int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([s for s, _ in pairs]), np.array([b for _, b in pairs])


def _mean_running_risk(ordered_bad: np.ndarray) -> float:
    return float(np.mean(np.cumsum(ordered_bad) / np.arange(1, ordered_bad.size + 1)))


def test_curve_by_hand() -> None:
    curve = risk_coverage([0.2, 0.9, 0.5, 0.5], [1, 0, 1, 0])
    assert curve.tau.tolist() == [0.9, 0.5, 0.2]
    assert curve.n_accepted.tolist() == [1, 3, 4]
    assert curve.n_bad.tolist() == [0, 1, 2]
    assert curve.coverage.tolist() == [0.25, 0.75, 1.0]
    assert curve.risk.tolist() == [0.0, 1 / 3, 0.5]


@settings(deadline=None)
@given(pairs=rows)
def test_each_point_is_what_the_threshold_itself_gives(pairs: list[tuple[float, int]]) -> None:
    score, bad = _split(pairs)
    curve = risk_coverage(score, bad)
    assert len(set(curve.tau)) == curve.tau.size == np.unique(score).size
    for tau, n_accepted, n_bad, coverage, risk in zip(*curve, strict=True):
        counts = confusion(score, bad, tau)
        assert (counts.n_accepted, counts.fn) == (n_accepted, n_bad)
        assert counts.coverage == pytest.approx(coverage)
        assert counts.risk == pytest.approx(risk)


def test_no_rows_have_no_curve_and_no_area() -> None:
    assert all(part.size == 0 for part in risk_coverage([], []))
    assert [area([], []) for area in AREAS] == [None] * len(AREAS)
    assert aurc_optimal([]) is None


def test_aurc_is_the_mean_over_every_order_of_the_ties() -> None:
    # Two tie groups: all orders inside each can be listed.
    top, low = [1, 0, 0, 1], [1, 0, 1]
    score, bad = [0.8] * 4 + [0.3] * 3, top + low
    orders = [
        _mean_running_risk(np.array(a + b)) for a in itertools.permutations(top) for b in itertools.permutations(low)
    ]
    assert aurc(score, bad) == pytest.approx(np.mean(orders), abs=1e-12)


def test_aurc_is_near_the_mean_over_random_tie_orders() -> None:
    rng = np.random.default_rng(11)
    score = np.round(rng.random(300), 1)
    bad = rng.random(300) > score
    areas = []
    for _ in range(2000):
        order = np.lexsort((rng.random(300), -score))
        areas.append(_mean_running_risk(bad[order]))
    standard_error = np.std(areas) / math.sqrt(len(areas))
    assert aurc(score, bad) == pytest.approx(np.mean(areas), abs=4 * standard_error)


def test_without_ties_aurc_is_the_plain_mean_risk() -> None:
    rng = np.random.default_rng(3)
    score = rng.permutation(np.linspace(0, 1, 500))
    bad = rng.random(500) > score
    plain = _mean_running_risk(bad[np.argsort(-score)])
    assert aurc(score, bad) == pytest.approx(plain, abs=1e-12)
    assert aurc_steps(score, bad) == pytest.approx(plain, abs=1e-12)


def test_constant_scores_have_the_base_rate_as_area() -> None:
    bad = [1, 0, 0, 1, 0]
    assert aurc([0.4] * 5, bad) == pytest.approx(0.4)
    assert aurc_steps([0.4] * 5, bad) == pytest.approx(0.4)


@settings(deadline=None)
@given(pairs=rows)
def test_optimal_is_reached_by_the_perfect_ranking_and_by_nothing_less(pairs: list[tuple[float, int]]) -> None:
    score, bad = _split(pairs)
    perfect = np.linspace(1, 0, bad.size)
    assert aurc(perfect, np.sort(bad)) == pytest.approx(aurc_optimal(bad), abs=1e-12)
    excess = excess_aurc(score, bad)
    assert excess is not None
    assert excess >= 0
    assert excess_aurc(perfect, np.sort(bad)) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("bad", "expected"), [([0, 0, 0], 0.0), ([1, 1, 1], 0.5)])
def test_augrc_of_one_class(bad: list[int], expected: float) -> None:
    assert augrc([0.1, 0.5, 0.9], bad) == expected


@settings(deadline=None)
@given(pairs=rows)
def test_both_forms_of_augrc_differ_by_half_a_row(pairs: list[tuple[float, int]]) -> None:
    score, bad = _split(pairs)
    assert augrc_rank_sum(score, bad) == pytest.approx(augrc(score, bad) + bad.mean() / (2 * bad.size), abs=1e-12)


def test_augrc_is_the_mean_joint_risk_over_coverages() -> None:
    rng = np.random.default_rng(5)
    score = rng.random(4000)
    bad = rng.random(4000) > score
    joint = np.cumsum(bad[np.argsort(-score)]) / bad.size
    assert augrc(score, bad) == pytest.approx(np.mean(joint), abs=1 / bad.size)
    ranking = auroc(score, bad)
    assert ranking is not None
    assert augrc(score, bad) == pytest.approx((1 - ranking) * bad.mean() * (1 - bad.mean()) + bad.mean() ** 2 / 2)


@settings(deadline=None)
@given(pairs=rows, seed=st.integers(0, 2**32 - 1))
def test_order_and_monotone_maps_change_no_area(pairs: list[tuple[float, int]], seed: int) -> None:
    score, bad = _split(pairs)
    order = np.random.default_rng(seed).permutation(score.size)
    ranks = np.searchsorted(np.unique(score), score) / 10
    for area in AREAS:
        expected = area(score, bad)
        assert area(score[order], bad[order]) == pytest.approx(expected, abs=1e-12)
        assert area(ranks, bad) == pytest.approx(expected, abs=1e-12)


@settings(deadline=None)
@given(pairs=rows, times=st.integers(2, 4))
def test_copies_of_the_rows_change_what_depends_on_shares_alone_not_at_all(
    pairs: list[tuple[float, int]], times: int
) -> None:
    score, bad = _split(pairs)
    copies = np.tile(score, times), np.tile(bad, times)
    assert aurc_steps(*copies) == pytest.approx(aurc_steps(score, bad), abs=1e-12)
    assert augrc(*copies) == pytest.approx(augrc(score, bad), abs=1e-12)
    assert np.allclose(risk_coverage(*copies).risk, risk_coverage(score, bad).risk)
