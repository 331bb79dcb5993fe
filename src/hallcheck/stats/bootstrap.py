"""Percentile bootstrap over whole groups, for what has no closed interval or whose rows depend on one
another.

Conventions: `groups` (n,) names what dependent rows share (None: a row of its own; no groups at all: rows are
resampled). A replicate draws as many groups as there are, with replacement; a row then counts as often as its
group was drawn, so that data are sorted once and never copied. One call draws one set of replicates for all
its statistics. A replicate in which a statistic is undefined is left out of it; if that happens in more than
half of them there is no interval. Seeded: equal input, equal interval. Sources: Efron and Tibshirani (1993),
chapter 13; Field and Welsh (2007), "Bootstrapping clustered data". Malformed arrays raise ValueError.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import Bools, Floats, Ints, as_level, as_numbers, as_score_and_bad, as_tau, group_index
from .intervals import discrete_mean_interval
from .penalty import penalty

Groups = Sequence[Any] | NDArray[Any] | None

FEW_GROUPS = 20
_CHUNK = 1 << 20  # counts held at once (8 MiB): bounds the memory whatever the number of replicates


class BootstrapInterval(NamedTuple):
    """An interval, or None and None with a `note` that says why there is none.

    `method`: "bootstrap" or "cluster bootstrap", or "score, by group" where no spread was seen; `n_groups`:
    groups (or rows) resampled; `n_replicates`: replicates in which the statistic was defined.
    """

    low: float | None
    high: float | None
    method: str
    n_groups: int
    n_replicates: int
    note: str = ""


class Ratio(NamedTuple):
    """A statistic that is sum(numerator) / sum(denominator) over rows: finite numbers, denominators >= 0.

    `low` and `high`: the least and the greatest value that a single group's ratio could have. They are used
    only where all groups agree (0% or 100%, say), where resampling shows no spread at all.
    """

    numerator: ArrayLike
    denominator: ArrayLike
    low: float = 0.0
    high: float = 1.0


class _Plan(NamedTuple):
    """How to resample: the group of each row, and the settings."""

    group_of: Ints
    n_groups: int
    dependent: bool
    level: float
    n_replicates: int
    seed: int

    @property
    def method(self) -> str:
        return "cluster bootstrap" if self.dependent else "bootstrap"

    def counts(self) -> Iterator[tuple[slice, Ints]]:
        """How often each group is drawn: for each chunk of replicates, (replicates of the chunk, groups)."""
        rng = np.random.default_rng(self.seed)
        step = max(1, _CHUNK // self.n_groups)
        for start in range(0, self.n_replicates, step):
            chunk = slice(start, min(start + step, self.n_replicates))
            times = np.empty((chunk.stop - start, self.n_groups), dtype=np.int64)
            for row in times:
                drawn = rng.integers(0, self.n_groups, size=self.n_groups)
                row[:] = np.bincount(drawn, minlength=self.n_groups)
            yield chunk, times

    def interval(self, replicates: Floats) -> BootstrapInterval:
        """The percentile interval of one statistic; NaN marks a replicate in which it is undefined."""
        defined = replicates[~np.isnan(replicates)]
        missing = self.n_replicates - defined.size
        if 2 * missing > self.n_replicates:
            why = f"undefined in {missing} of {self.n_replicates} replicates"
            return BootstrapInterval(None, None, self.method, self.n_groups, defined.size, why)
        notes = [f"undefined in {missing} of {self.n_replicates} replicates"] if missing else []
        if self.n_groups < FEW_GROUPS:
            unit = "groups" if self.dependent else "rows"
            notes.append(f"only {self.n_groups} {unit}: the interval is likely too narrow")
        low, high = np.quantile(defined, [(1 - self.level) / 2, (1 + self.level) / 2])
        if low == high:
            notes.append("no spread among the replicates")
        return BootstrapInterval(float(low), float(high), self.method, self.n_groups, defined.size, "; ".join(notes))

    def none(self, why: str) -> BootstrapInterval:
        return BootstrapInterval(None, None, self.method, self.n_groups, 0, why)

    @property
    def too_few(self) -> str:
        """Why nothing can be resampled, or ""."""
        if self.n_groups > 1:
            return ""
        unit = "group" if self.dependent else "row"
        return f"one {unit} only: nothing to resample" if self.n_groups else "no rows"


def clustered(groups: Groups) -> bool:
    """Whether any two rows share a group: then rows are dependent, and intervals must be resampled by group."""
    if groups is None:
        return False
    return group_index(groups, len(groups))[1] < len(groups)


def _plan(n_rows: int, groups: Groups, level: float, n_replicates: int, seed: int) -> _Plan:
    if n_replicates < 1:
        raise ValueError(f"n_replicates must be at least 1, not {n_replicates}")
    index, n_groups = group_index(groups, n_rows)
    return _Plan(index, n_groups, n_groups < n_rows, as_level(level), n_replicates, seed)


class _RatioSums(NamedTuple):
    """One ratio's sums by group, and the range that a group's ratio can have."""

    numerator: Floats
    denominator: Floats
    low: float
    high: float

    def agreed(self, plan: _Plan) -> BootstrapInterval | None:
        """Where all groups have one and the same ratio: the score interval that takes each group for one row."""
        held = self.denominator > 0
        n_held = int(np.count_nonzero(held))
        if not n_held:
            return plan.none("nothing to divide by")
        ratios = self.numerator[held] / self.denominator[held]
        if np.any(ratios != ratios[0]):
            return None
        value = float(ratios[0])
        bounds = discrete_mean_interval((self.low, value, self.high), (0, n_held, 0), plan.level)
        if bounds is None or not self.low <= value <= self.high:
            return None
        unit = "groups" if plan.dependent else "rows"
        why = f"all {n_held} {unit} agree: each is taken for one observation"
        method = "score, by group" if plan.dependent else "score"
        return BootstrapInterval(*bounds, method, n_held, 0, why)


def _sums(ratio: Ratio, plan: _Plan, name: str) -> _RatioSums:
    numerator = as_numbers(ratio.numerator, f"{name}: numerator")
    denominator = as_numbers(ratio.denominator, f"{name}: denominator")
    if not numerator.size == denominator.size == plan.group_of.size:
        raise ValueError(
            f"{name}: numerator has {numerator.size} rows, denominator {denominator.size}, the data "
            f"{plan.group_of.size}: they must be of one length"
        )
    if np.any(denominator < 0):
        raise ValueError(f"{name}: denominators must be >= 0")
    by_group = [
        np.bincount(plan.group_of, weights=part, minlength=plan.n_groups).astype(np.float64)
        for part in (numerator, denominator)
    ]
    return _RatioSums(by_group[0], by_group[1], ratio.low, ratio.high)


class _Pairs:
    """Weighted AUROC from positions found once: for each bad row, how many good rows score below and not above it."""

    def __init__(self, score: Floats, bad: Bools, group_of: Ints) -> None:
        order = np.argsort(score)
        labels, groups, scores = bad[order], group_of[order], score[order]
        self.good_group, self.bad_group = groups[~labels], groups[labels]
        good_scores, bad_scores = scores[~labels], scores[labels]
        self.first = np.searchsorted(good_scores, bad_scores, side="left")
        last = np.searchsorted(good_scores, bad_scores, side="right")
        self.last = last if np.any(last != self.first) else None

    def auroc(self, times: Ints) -> float:
        """AUROC where each group counts `times`; NaN where a class has no row left. Exact: integers until the end."""
        cumulative = np.zeros(self.good_group.size + 1, dtype=np.int64)
        np.cumsum(times[self.good_group], out=cumulative[1:])
        weight = times[self.bad_group]
        pairs = int(cumulative[-1]) * int(weight.sum())
        if not pairs:
            return float("nan")
        below = cumulative[self.first]
        twice = below + (below if self.last is None else cumulative[self.last])
        return 1 - int(weight @ twice) / (2 * pairs)


def _resample(plan: _Plan, ratios: Mapping[str, _RatioSums], pairs: _Pairs | None) -> tuple[dict[str, Floats], Floats]:
    """Every statistic in every replicate; NaN where undefined."""
    replicates = {name: np.full(plan.n_replicates, np.nan) for name in ratios}
    auroc = np.full(plan.n_replicates, np.nan)
    if not ratios and pairs is None:
        return replicates, auroc
    columns = [part for sums in ratios.values() for part in (sums.numerator, sums.denominator)]
    table = np.column_stack(columns) if columns else np.empty((plan.n_groups, 0))
    for chunk, counts in plan.counts():
        totals = counts.astype(np.float64) @ table if columns else np.empty((len(counts), 0))
        for column, values in enumerate(replicates.values()):
            below = totals[:, 2 * column + 1]
            np.divide(totals[:, 2 * column], below, out=values[chunk], where=below > 0)
        if pairs is not None:
            auroc[chunk] = [pairs.auroc(times) for times in counts]
    return replicates, auroc


def _intervals(plan: _Plan, ratios: Mapping[str, Ratio], pairs: _Pairs | None = None) -> dict[str, BootstrapInterval]:
    sums = {name: _sums(ratio, plan, name) for name, ratio in ratios.items()}
    if plan.too_few:
        return {name: plan.none(plan.too_few) for name in [*sums, *(["auroc"] if pairs else [])]}
    settled = {name: part.agreed(plan) for name, part in sums.items()}
    open_ratios = {name: sums[name] for name, interval in settled.items() if interval is None}
    replicates, auroc = _resample(plan, open_ratios, pairs)
    result = {
        name: interval if interval is not None else plan.interval(replicates[name])
        for name, interval in settled.items()
    }
    if pairs is not None:
        result["auroc"] = plan.interval(auroc)
    return result


def bootstrap_ratios(
    ratios: Mapping[str, Ratio],
    groups: Groups = None,
    *,
    level: float = 0.95,
    n_replicates: int = 2000,
    seed: int = 0,
) -> dict[str, BootstrapInterval]:
    """Intervals of statistics that are sums over rows divided by sums over rows, all from one set of
    replicates.

    Coverage is Ratio(answered, ones); accuracy when answering is Ratio(correct, answered); a mean is Ratio(x,
    ones, least, greatest). Rows are summed by group first: the cost is groups x replicates. Where all groups
    agree (0%, 100%) the bootstrap shows no spread: there the interval is the score interval that takes each
    group for one observation.
    """
    if not ratios:
        return {}
    n_rows = len(np.asarray(next(iter(ratios.values())).numerator))
    return _intervals(_plan(n_rows, groups, level, n_replicates, seed), ratios)


def bootstrap_auroc(
    score: ArrayLike,
    bad: ArrayLike,
    groups: Groups = None,
    *,
    level: float = 0.95,
    n_replicates: int = 2000,
    seed: int = 0,
) -> BootstrapInterval:
    """Interval of the AUROC of `score` (higher = safer) for `bad`, with ties counted half."""
    scores, labels = as_score_and_bad(score, bad)
    plan = _plan(scores.size, groups, level, n_replicates, seed)
    return _intervals(plan, {}, _Pairs(scores, labels, plan.group_of))["auroc"]


def bootstrap_detection(
    score: ArrayLike,
    bad: ArrayLike,
    tau: float,
    groups: Groups = None,
    *,
    t: float | None = None,
    level: float = 0.95,
    n_replicates: int = 2000,
    seed: int = 0,
) -> dict[str, BootstrapInterval]:
    """Intervals of f1, precision, recall (of flagging score < tau), coverage, risk, accuracy_accepted and
    auroc.

    With `t` also of penalty_score, the mean of +1 / -t/(1-t) / 0. tau is held fixed: the intervals say how
    far the figures would vary on other groups, not how far another fit would. Definitions: `detection`,
    `penalty`.
    """
    scores, labels = as_score_and_bad(score, bad)
    plan = _plan(scores.size, groups, level, n_replicates, seed)
    flagged = scores < as_tau(tau)
    accepted, rows = ~flagged, np.ones(scores.size)
    caught = flagged & labels
    ratios = {
        "f1": Ratio(2.0 * caught, 1.0 * flagged + labels),
        "precision": Ratio(caught, flagged),
        "recall": Ratio(caught, labels),
        "coverage": Ratio(accepted, rows),
        "risk": Ratio(accepted & labels, accepted),
        "accuracy_accepted": Ratio(accepted & ~labels, accepted),
    }
    unbounded = False
    if t is not None:
        cost = penalty(t)
        unbounded = np.isinf(cost)
        if not unbounded:
            gained = 1.0 * (accepted & ~labels) - cost * (accepted & labels)
            ratios["penalty_score"] = Ratio(gained, rows, -cost, 1.0)
    result = _intervals(plan, ratios, _Pairs(scores, labels, plan.group_of))
    if unbounded:
        result["penalty_score"] = plan.none("unbounded below at t = 1")
    return result
