"""What the other files of `stats` share: checking of their inputs, and the one sort.

Conventions: `score` in [0, 1], higher = safer; an item is accepted iff score >= tau, flagged iff score < tau;
`bad` is 1 for a hallucinated or wrong item and 0 for a good one; `groups` names what dependent rows share
(None: a row of its own). Every check raises ValueError with the position of the first offender.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class ByScore(NamedTuple):
    """Rows counted at each distinct score, ascending: the score, its rows, and the bad ones among them."""

    value: Floats
    n: Ints
    n_bad: Ints


def as_numbers(values: ArrayLike, name: str) -> Floats:
    """A one-dimensional float64 array of finite numbers. Text, None, NaN and infinities are refused."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, not of shape {array.shape}")
    if array.size and array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold numbers only (found values of type {array.dtype})")
    numbers = array.astype(np.float64)
    finite = np.isfinite(numbers)
    if not finite.all():
        row = int(np.argmin(finite))
        raise ValueError(f"{name}[{row}] is {numbers[row]}: every value must be finite")
    return numbers


def as_score(score: ArrayLike) -> Floats:
    """Scores: finite numbers in [0, 1]."""
    numbers = as_numbers(score, "score")
    outside = (numbers < 0) | (numbers > 1)
    if outside.any():
        row = int(np.argmax(outside))
        raise ValueError(f"score[{row}] is {numbers[row]}: scores lie in [0, 1], higher = safer")
    return numbers


def as_binary(values: ArrayLike, name: str) -> Bools:
    """Labels: 0 or 1 (or False and True), nothing else."""
    numbers = as_numbers(values, name)
    ones: Bools = numbers == 1
    strange = ~ones & (numbers != 0)
    if strange.any():
        row = int(np.argmax(strange))
        raise ValueError(f"{name}[{row}] is {numbers[row]:g}: labels are 0 or 1")
    return ones


def as_score_and_bad(score: ArrayLike, bad: ArrayLike) -> tuple[Floats, Bools]:
    """Scores and labels of the same rows."""
    scores, labels = as_score(score), as_binary(bad, "bad")
    if scores.size != labels.size:
        raise ValueError(f"score has {scores.size} rows and bad has {labels.size}: they must be of one length")
    return scores, labels


def as_tau(tau: float) -> float:
    """A finite threshold. It may lie just above 1: that flags everything."""
    number = float(tau)
    if not math.isfinite(number):
        raise ValueError(f"tau must be a finite number, not {number} (to flag everything take nextafter(1, 2))")
    return number


def as_level(level: float) -> float:
    """A confidence level, strictly between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie strictly between 0 and 1, such as 0.95, not {level}")
    return float(level)


def group_index(groups: Sequence[Any] | NDArray[Any] | None, n_rows: int) -> tuple[Ints, int]:
    """Number the groups: for each row the number of its group, and how many groups there are.

    `groups` None makes every row its own group, and so does a single None among them.
    """
    if groups is None:
        return np.arange(n_rows, dtype=np.int64), n_rows
    if len(groups) != n_rows:
        raise ValueError(f"groups has {len(groups)} rows, the data {n_rows}: they must be of one length")
    if isinstance(groups, np.ndarray) and groups.dtype.kind in "biu":
        distinct, index = np.unique(groups, return_inverse=True)
        return index.astype(np.int64).reshape(-1), distinct.size
    seen: dict[Any, int] = {}
    index = np.empty(n_rows, dtype=np.int64)
    for row, group in enumerate(groups):
        if group != group:
            raise ValueError(f"groups[{row}] is NaN: name the group, or give None for a row of its own")
        index[row] = seen.setdefault((row,) if group is None else group, len(seen))
    return index, len(seen)


def count_by_score(score: Floats, bad: Bools) -> ByScore:
    """Count rows and bad rows at each distinct score, ascending. One sort; checked arrays in."""
    if not score.size:
        nothing = np.empty(0, dtype=np.int64)
        return ByScore(np.empty(0), nothing, nothing)
    order = np.argsort(score)
    ordered = score[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    cumulative = np.concatenate(([0], np.cumsum(bad[order], dtype=np.int64)))
    ends = np.append(starts[1:], score.size)
    return ByScore(ordered[starts], (ends - starts).astype(np.int64), cumulative[ends] - cumulative[starts])
