"""Intervals for proportions and means of independent rows.

Conventions: k successes among n rows; `level` is the coverage aimed at, 0.95 by default; results are (low,
high), None where there is nothing to go by (n = 0). All of them are right at the ends: 0 of n and n of n give
intervals of positive width. Rows that share a source are not independent: see `bootstrap`. Sources: Wilson
(1927); Clopper and Pearson (1934); Brown, Cai and DasGupta (2001), "Interval estimation for a binomial
proportion". Malformed numbers raise ValueError.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from numpy.typing import ArrayLike

from .arrays import as_level
from .penalty import penalty

Bounds = tuple[float, float]


def _counts(k: int, n: int) -> tuple[int, int]:
    for name, value in (("k", k), ("n", n)):
        if not (math.isfinite(value) and value >= 0 and value == int(value)):
            raise ValueError(f"{name} must be a whole number >= 0, not {value}")
    if k > n:
        raise ValueError(f"k must not exceed n: {k} of {n}")
    return int(k), int(n)


def _normal_quantile(level: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf((1 + as_level(level)) / 2)


def wilson(k: int, n: int, level: float = 0.95) -> Bounds | None:
    """Wilson score interval for a proportion: close to the nominal coverage on average, within [0, 1]."""
    k, n = _counts(k, n)
    z2 = _normal_quantile(level) ** 2
    if n == 0:
        return None
    share = k / n
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 / n * (share * (1 - share) + z2 / (4 * n))) / (1 + z2 / n)
    low = 0.0 if k == 0 else max(centre - half, 0.0)
    high = 1.0 if k == n else min(centre + half, 1.0)
    return low, high


def clopper_pearson(k: int, n: int, level: float = 0.95) -> Bounds | None:
    """Exact two-sided interval for a proportion: coverage at least `level` for every true proportion."""
    one_sided = (1 + as_level(level)) / 2
    low, high = exact_lower(k, n, one_sided), exact_upper(k, n, one_sided)
    return None if low is None or high is None else (low, high)


def exact_lower(k: int, n: int, level: float = 0.95) -> float | None:
    """One-sided exact lower bound: below the true proportion with probability at least `level`. 0 at k = 0."""
    from scipy.special import betaincinv

    k, n = _counts(k, n)
    error = 1 - as_level(level)
    if n == 0:
        return None
    return 0.0 if k == 0 else float(betaincinv(k, n - k + 1, error))


def exact_upper(k: int, n: int, level: float = 0.95) -> float | None:
    """One-sided exact upper bound: above the true proportion with probability at least `level`. 1 at k = n."""
    from scipy.special import betaincinv

    k, n = _counts(k, n)
    level = as_level(level)
    if n == 0:
        return None
    return 1.0 if k == n else float(betaincinv(k + 1, n - k, level))


def mean_interval(values: ArrayLike, level: float = 0.95) -> Bounds | None:
    """Student's t interval for the mean of independent rows, any finite numbers.

    None for fewer than two rows, and where all are equal: no spread seen is no proof that there is none. For
    scores of known, few values (+1, 0, a penalty) `penalty_score_interval` is right there too, and better
    where one is rare.
    """
    import numpy as np
    from scipy.special import stdtrit

    from .arrays import as_numbers

    numbers = as_numbers(values, "values")
    level = as_level(level)
    if numbers.size < 2 or bool(np.all(numbers == numbers[0])):
        return None
    half = float(stdtrit(numbers.size - 1, (1 + level) / 2) * np.std(numbers, ddof=1) / math.sqrt(numbers.size))
    centre = float(np.mean(numbers))
    return centre - half, centre + half


def discrete_mean_interval(values: Sequence[float], counts: Sequence[int], level: float = 0.95) -> Bounds | None:
    """Score interval for the mean of independent rows that take a few known values; Wilson's for two values.

    `values`: all values that a row could take, seen or not, finite; `counts`: how often each was seen. The
    interval holds every mean of a distribution p on `values` that Pearson's chi-square does not reject: sum_i
    (counts_i - n p_i)^2 / (n p_i) <= z^2. None without rows.
    """
    if len(values) != len(counts):
        raise ValueError(f"values and counts must be of one length, not {len(values)} and {len(counts)}")
    if not all(math.isfinite(value) for value in values):
        raise ValueError("values must be finite")
    n = sum(_counts(count, count)[0] for count in counts)
    allowed = _normal_quantile(level) ** 2
    if n == 0:
        return None
    share = [count / n for count in counts]
    limit = 1 + allowed / n
    low = _least_mean([float(value) for value in values], share, limit)
    high = -_least_mean([-float(value) for value in values], share, limit)
    return low, high


def _least_mean(values: list[float], share: list[float], limit: float) -> float:
    """The least sum(p * values) over distributions p with sum(share^2 / p) <= limit.

    Lagrange: p_i is proportional to share_i / sqrt(values_i + mu) where share_i > 0; of the values never seen
    only the least can have mass, and then mu = -least.
    """
    seen = [(value, part) for value, part in zip(values, share, strict=True) if part > 0]
    least, least_seen = min(values), min(value for value, _ in seen)
    spread = max(value for value, _ in seen) - least_seen

    def tilt(shift: float) -> tuple[float, float, float]:
        roots = [math.sqrt(value - least_seen + shift) for value, _ in seen]
        up = sum(part * root for (_, part), root in zip(seen, roots, strict=True))
        down = sum(part / root for (_, part), root in zip(seen, roots, strict=True))
        mean = sum(part * value / root for (value, part), root in zip(seen, roots, strict=True))
        return up, down, mean

    gap = least_seen - least
    if gap > 0:
        up, down, mean = tilt(gap)
        if up * down <= limit:
            return mean * up / limit + least * (1 - up * down / limit)
    if spread == 0:
        return least_seen
    low, high = math.log(spread) - 100.0, math.log(spread) + 40.0
    for _ in range(120):
        middle = (low + high) / 2
        up, down, _ = tilt(math.exp(middle))
        low, high = (middle, high) if up * down > limit else (low, middle)
    _, down, mean = tilt(math.exp(high))
    return mean / down


def penalty_score_interval(
    n_correct: int, n_wrong: int, n_abstained: int, t: float, level: float = 0.95
) -> Bounds | None:
    """Interval for the mean score +1 / -t/(1-t) / 0 of independent rows (`discrete_mean_interval`).

    Right at the ends (all correct, none answered) and where wrong answers are rare and dear. None without
    rows, and at t = 1, where the mean is unbounded below. Raises ValueError for t outside [0, 1].
    """
    cost = penalty(t)
    if math.isinf(cost):
        return None
    return discrete_mean_interval((1.0, 0.0 - cost, 0.0), (n_correct, n_wrong, n_abstained), level)
