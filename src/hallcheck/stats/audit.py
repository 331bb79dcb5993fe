"""Does a model that was told "answer only if you are more than t confident" keep its word?

Conventions: among the answers given at t, k of n are correct; the claim audited is accuracy >= t. The bounds
are one-sided and exact (Clopper-Pearson), so that a verdict is wrong with probability at most 1 - level, for
independent answers. Answers that share a group are not independent: audit one per group, as `one_per_group`
selects. Source: the behavioural calibration of Kalai et al., arXiv 2509.04664, section 4.2.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from .arrays import as_level
from .intervals import exact_lower, exact_upper
from .penalty import check_t

AuditVerdict = Literal["meets", "overconfident", "inconclusive"]

SALT = "hallcheck one answer per group 1"
"""Fixed for good: trying several would let one pick the selection that pleases."""

MAX_N = 100_000
"""No larger sample than this is ever proposed."""


class Audit(NamedTuple):
    """The result at one t. `verdict` and the figures are None where nothing was answered.

    `lower`, `upper`: one-sided exact bounds of the accuracy, each at the level. `n_for_power`: only where
    inconclusive, the fewest answers with which the verdict would come with the power asked for (0.8), if the
    true accuracy is the one observed; None if it equals t or more than MAX_N would be needed.
    """

    verdict: AuditVerdict | None
    accuracy: float | None
    lower: float | None
    upper: float | None
    n_for_power: int | None


def audit_accuracy(k_correct: int, n_answered: int, t: float, *, level: float = 0.95, power: float = 0.8) -> Audit:
    """Judge "accuracy when answering >= t" from k_correct of n_answered.

    "meets" if the lower bound is >= t, "overconfident" if the upper bound is < t, else "inconclusive". Raises
    ValueError for t outside [0, 1] and for counts that make no sense.
    """
    t = check_t(t)
    lower, upper = exact_lower(k_correct, n_answered, level), exact_upper(k_correct, n_answered, level)
    if lower is None or upper is None:
        return Audit(None, None, None, None, None)
    accuracy = k_correct / n_answered
    if lower >= t:
        return Audit("meets", accuracy, lower, upper, None)
    if upper < t:
        return Audit("overconfident", accuracy, lower, upper, None)
    return Audit("inconclusive", accuracy, lower, upper, n_for_power(accuracy, t, level=level, power=power))


def n_for_power(accuracy: float, t: float, *, level: float = 0.95, power: float = 0.8) -> int | None:
    """The fewest answers with which the exact test tells a true `accuracy` from t with that power.

    Power is the probability of the verdict that is then true. None if accuracy equals t, or if more than MAX_N
    are needed. Power is not monotone in n (counts are whole): a slightly larger sample can have slightly less.
    """
    t, level, power = check_t(t), as_level(level), as_level(power)
    if not 0 <= accuracy <= 1:
        raise ValueError(f"accuracy must lie in [0, 1], not {accuracy}")
    if accuracy == t:
        return None
    if t == 0:
        return 1  # the bound of any outcome is at least 0
    if abs(accuracy - t) < 1e-6:
        return None  # beyond MAX_N whatever the two are
    # "Overconfident" is the same test for the share of wrong answers.
    rate, bar = (accuracy, t) if accuracy > t else (1 - accuracy, 1 - t)
    return _fewest(rate, bar, 1 - level, power)


def _fewest(rate: float, bar: float, error: float, power: float) -> int | None:
    """The least n at which P(exact lower bound >= bar) >= power, if successes come at `rate` > bar."""
    import numpy as np

    guess = _normal_guess(rate, bar, error, power)
    # No size below 0.4 of the guess can do (the guess is worst where one class is rare).
    start = max(1, int(0.4 * guess)) if guess < 2 * MAX_N else MAX_N + 1
    while start <= MAX_N:
        n = np.arange(start, min(start + 2048, MAX_N + 1))
        enough = np.flatnonzero(_power(n, rate, bar, error) >= power)
        if enough.size:
            return int(n[enough[0]])
        start += n.size
    return None


def _normal_guess(rate: float, bar: float, error: float, power: float) -> float:
    from statistics import NormalDist

    z_error, z_power = NormalDist().inv_cdf(1 - error), NormalDist().inv_cdf(power)
    spread = z_error * math.sqrt(bar * (1 - bar)) + z_power * math.sqrt(rate * (1 - rate))
    return (spread / (rate - bar)) ** 2


def _power(n: Any, rate: float, bar: float, error: float) -> Any:
    """P(K >= c) at `rate` for each n, with c the fewest successes whose exact lower bound is >= bar."""
    import numpy as np
    from scipy.special import betainc

    def tail(k: Any, p: float) -> Any:
        return np.where(k > n, 0.0, np.where(k <= 0, 1.0, betainc(np.maximum(k, 1), np.maximum(n - k + 1, 1), p)))

    # Start near the normal critical count; then step to the exact one, up, then down.
    c = np.clip(np.round(n * bar + 1.645 * np.sqrt(n * bar * (1 - bar))), 0, n + 1)
    while True:
        low = tail(c, bar) > error
        if not low.any():
            break
        c = c + low
    while True:
        spare = (c > 0) & (tail(c - 1, bar) <= error)
        if not spare.any():
            break
        c = c - spare
    return tail(c, rate)


def one_per_group(groups: Sequence[Any], ids: Sequence[Any]) -> list[int]:
    """One row of each group: the one with the least sha256 of "SALT|group|id". Row numbers, ascending.

    It depends on names alone, never on scores, order or the other rows, so that the same answers are picked
    at every threshold. A group of None is a row of its own. Raises ValueError for unequal lengths.
    """
    if len(groups) != len(ids):
        raise ValueError(f"groups has {len(groups)} rows and ids {len(ids)}: they must be of one length")
    alone: list[int] = []
    best: dict[Any, tuple[bytes, int]] = {}
    for row, (group, name) in enumerate(zip(groups, ids, strict=True)):
        if group is None:
            alone.append(row)
            continue
        digest = hashlib.sha256(f"{SALT}|{group}|{name}".encode("utf-8", "surrogatepass")).digest()
        best[group] = min(best.get(group, (digest, row)), (digest, row))
    return sorted(alone + [row for _, row in best.values()])
