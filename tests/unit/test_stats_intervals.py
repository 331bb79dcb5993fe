"""Intervals for independent rows: against scipy, and by their coverage."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import binom, binomtest, ttest_1samp

from hallcheck.stats.intervals import (
    clopper_pearson,
    discrete_mean_interval,
    exact_lower,
    exact_upper,
    mean_interval,
    penalty_score_interval,
    wilson,
)
from hallcheck.stats.penalty import score_item

counts = st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
levels = st.sampled_from([0.5, 0.9, 0.95, 0.99])


@settings(deadline=None)
@given(kn=counts, level=levels)
def test_proportions_equal_scipy(kn: tuple[int, int], level: float) -> None:
    k, n = kn
    for ours, method in ((wilson, "wilson"), (clopper_pearson, "exact")):
        expected = binomtest(k, n).proportion_ci(level, method=method)
        assert ours(k, n, level) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert exact_lower(k, n, level) == pytest.approx(
        binomtest(k, n, alternative="greater").proportion_ci(level, method="exact").low, abs=1e-9
    )
    assert exact_upper(k, n, level) == pytest.approx(
        binomtest(k, n, alternative="less").proportion_ci(level, method="exact").high, abs=1e-9
    )


@pytest.mark.parametrize("interval", [wilson, clopper_pearson])
@pytest.mark.parametrize("n", [1, 10, 450])
def test_the_ends_are_exact_and_still_have_width(interval: object, n: int) -> None:
    low, high = interval(0, n)  # type: ignore[operator]
    assert low == 0.0
    assert 0 < high < 1
    mirrored = interval(n, n)  # type: ignore[operator]
    assert mirrored[1] == 1.0
    assert mirrored == pytest.approx((1 - high, 1.0))
    assert exact_lower(0, n) == 0.0
    assert exact_upper(n, n) == 1.0


def test_nothing_to_go_by_is_none() -> None:
    assert wilson(0, 0) is None
    assert clopper_pearson(0, 0) is None
    assert exact_lower(0, 0) is None
    assert exact_upper(0, 0) is None
    assert discrete_mean_interval([0, 1], [0, 0]) is None
    assert penalty_score_interval(0, 0, 0, 0.5) is None
    assert mean_interval([]) is None
    assert mean_interval([0.3]) is None


@pytest.mark.parametrize("interval", [wilson, clopper_pearson, exact_lower, exact_upper])
@pytest.mark.parametrize(
    ("k", "n", "level", "said"),
    [
        (3, 2, 0.95, "k must not exceed n: 3 of 2"),
        (-1, 2, 0.95, "k must be a whole number"),
        (0.5, 2, 0.95, "k must be a whole number"),
        (1, math.nan, 0.95, "n must be a whole number"),
        (1, math.inf, 0.95, "n must be a whole number"),
        (1, 2, 95, "level"),
        (0, 0, 1.0, "level"),
    ],
)
def test_counts_that_make_no_sense_are_refused(interval: object, k: float, n: float, level: float, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        interval(k, n, level)  # type: ignore[operator]


def _coverage(interval: object, n: int, share: float) -> float:
    """The exact probability that the interval from n rows holds `share`."""
    bounds = [interval(k, n) for k in range(n + 1)]  # type: ignore[operator]
    return sum(binom.pmf(k, n, share) for k, (low, high) in enumerate(bounds) if low <= share <= high)


@pytest.mark.parametrize("n", [20, 50, 200])
def test_wilson_covers_as_it_says_on_average_and_exact_never_less(n: int) -> None:
    shares = np.linspace(0.02, 0.98, 33)
    assert 0.94 <= np.mean([_coverage(wilson, n, share) for share in shares]) <= 0.96
    assert min(_coverage(clopper_pearson, n, share) for share in shares) >= 0.95
    one_sided = [
        sum(binom.pmf(k, n, share) for k in range(n + 1) if (exact_lower(k, n) or 0.0) <= share) for share in shares
    ]
    assert min(one_sided) >= 0.95


def test_wilson_loads_no_scipy() -> None:
    code = "import sys; from hallcheck.stats.intervals import wilson; wilson(3, 7); sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_t_interval_equals_scipy() -> None:
    values = np.random.default_rng(1).normal(size=40)
    for level in (0.8, 0.95):
        expected = ttest_1samp(values, 0).confidence_interval(level)
        assert mean_interval(values, level) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_no_spread_gives_no_t_interval_rather_than_certainty() -> None:
    assert mean_interval([1.0, 1.0, 1.0]) is None


@pytest.mark.parametrize("bad_values", [[1.0, math.nan], [1.0, -math.inf]])
def test_the_t_interval_refuses_what_is_not_finite(bad_values: list[float]) -> None:
    with pytest.raises(ValueError, match=r"values\[1\]"):
        mean_interval(bad_values)


@settings(deadline=None)
@given(kn=counts, level=levels)
def test_with_two_values_the_score_interval_is_wilsons(kn: tuple[int, int], level: float) -> None:
    k, n = kn
    assert discrete_mean_interval([0, 1], [n - k, k], level) == pytest.approx(wilson(k, n, level), abs=1e-9)
    assert discrete_mean_interval([1, -3], [k, n - k], level) == pytest.approx(
        tuple(4 * share - 3 for share in wilson(k, n, level) or ()), abs=1e-8
    )


three = st.tuples(*[st.integers(0, 60)] * 3).filter(lambda c: sum(c) > 0)


@settings(deadline=None, max_examples=20)
@given(seen=three, t=st.sampled_from([0.0, 0.5, 0.75, 0.9]))
def test_the_score_interval_is_the_range_of_means_that_chi_square_allows(seen: tuple[int, int, int], t: float) -> None:
    values = np.array([1.0, score_item(True, False, t), 0.0])
    interval = discrete_mean_interval(values.tolist(), seen)
    assert interval is not None
    share = np.array(seen) / sum(seen)
    limit = 1 + ndtri(0.975) ** 2 / sum(seen)
    steps = 500
    first, second = np.meshgrid(np.arange(steps + 1), np.arange(steps + 1), indexing="ij")
    inside = first + second <= steps
    p = np.stack([first[inside], second[inside], steps - first[inside] - second[inside]]) / steps
    spent = np.zeros(p.shape[1])
    for part, row in zip(share, p, strict=True):
        if part > 0:
            spent += np.divide(part**2, row, out=np.full(row.shape, np.inf), where=row > 0)
    means = values @ p[:, spent <= limit]
    assert interval == pytest.approx((means.min(), means.max()), abs=0.01 * np.ptp(values))


@settings(deadline=None)
@given(seen=three, t=st.sampled_from([0.0, 0.5, 0.9]))
def test_the_score_interval_holds_the_mean_and_stays_in_range(seen: tuple[int, int, int], t: float) -> None:
    interval = penalty_score_interval(*seen, t)
    assert interval is not None
    low, high = interval
    cost = score_item(True, False, t)
    mean = (seen[0] + cost * seen[1]) / sum(seen)
    assert min(cost, 0.0) - 1e-9 <= low <= mean + 1e-9
    assert mean - 1e-9 <= high <= 1 + 1e-9
    assert low < high


def test_all_correct_still_leaves_room_for_the_penalty() -> None:
    low, high = penalty_score_interval(50, 0, 0, 0.9) or (math.nan, math.nan)
    wrong = 1 - (wilson(50, 50) or (math.nan,))[0]
    assert high == pytest.approx(1.0)
    assert low == pytest.approx(1 - 10 * wrong)


def test_at_t_one_the_mean_score_has_no_interval() -> None:
    assert penalty_score_interval(5, 1, 3, 1.0) is None


@pytest.mark.parametrize("truth", [(0.5, 0.3, 0.2), (0.9, 0.02, 0.08), (0.3, 0.05, 0.65), (0.97, 0.01, 0.02)])
def test_the_score_interval_covers_as_it_says(truth: tuple[float, float, float]) -> None:
    rng = np.random.default_rng(17)
    mean = truth[0] - 3 * truth[1]
    drawn, times = np.unique(rng.multinomial(200, truth, size=4000), axis=0, return_counts=True)
    held = 0
    for row, repeated in zip(drawn, times, strict=True):
        low, high = penalty_score_interval(*(int(k) for k in row), 0.75) or (math.nan, math.nan)
        held += int(repeated) * (low <= mean <= high)
    assert 0.93 <= held / 4000 <= 0.975


def test_values_and_counts_must_match() -> None:
    with pytest.raises(ValueError, match="one length"):
        discrete_mean_interval([0, 1], [1, 2, 3])
    with pytest.raises(ValueError, match="finite"):
        discrete_mean_interval([0, -math.inf], [1, 2])
    with pytest.raises(ValueError, match="whole number"):
        discrete_mean_interval([0, 1], [1, -2])
