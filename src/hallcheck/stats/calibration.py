"""Whether scores are probabilities: reliability, ECE, Brier score with its parts, log loss.

Conventions: `score` (n,) in [0, 1] is read as the probability of being good; the target is good = 1 - bad.
All losses: lower is better; None without rows. Bins are right-closed, (low, high], the first one holds 0 too.
Sources: Guo et al. (2017), arXiv 1706.04599 (ECE, MCE); Murphy (1973), "A new vector partition of the
probability score". Malformed arrays raise ValueError.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats, Ints, as_score_and_bad, count_by_score

Strategy = Literal["uniform", "quantile"]


class ReliabilityBins(NamedTuple):
    """The bins that hold rows, ascending: edges (low, high], rows, mean score and share of good rows. Equal
    lengths.
    """

    low: Floats
    high: Floats
    n: Ints
    mean_score: Floats
    mean_good: Floats


class Murphy(NamedTuple):
    """Parts of the Brier score: reliability - resolution + uncertainty. Reliability: lower is better;
    resolution: higher.
    """

    reliability: float
    resolution: float
    uncertainty: float


def reliability_bins(
    score: ArrayLike, bad: ArrayLike, n_bins: int = 10, strategy: Strategy = "uniform"
) -> ReliabilityBins:
    """Mean score against share of good rows, in bins of equal width or (about) equal numbers of rows.

    `strategy`: "uniform" (edges 0, 1/n_bins, ..., 1) or "quantile" (linear percentiles of the scores; ties
    may leave bins empty). Empty bins are left out. Raises ValueError for n_bins < 1 or another strategy.
    """
    scores, labels = as_score_and_bad(score, bad)
    if n_bins < 1:
        raise ValueError(f"n_bins must be at least 1, not {n_bins}")
    fractions = np.linspace(0.0, 1.0, n_bins + 1)
    if strategy == "uniform":
        edges = fractions
    elif strategy == "quantile":
        edges = np.percentile(scores, fractions * 100) if scores.size else fractions
    else:
        raise ValueError(f"strategy must be 'uniform' or 'quantile', not {strategy!r}")
    place = np.searchsorted(edges[1:-1], scores, side="left")
    n = np.bincount(place, minlength=n_bins)
    held = np.flatnonzero(n)
    total_score = np.bincount(place, weights=scores, minlength=n_bins)[held]
    good = np.bincount(place, weights=~labels, minlength=n_bins)[held]
    n = n[held]
    return ReliabilityBins(edges[held], edges[held + 1], n, total_score / n, good / n)


def ece(score: ArrayLike, bad: ArrayLike, n_bins: int = 10, strategy: Strategy = "uniform") -> float | None:
    """Expected calibration error: mean over rows of |share of good - mean score| in the row's bin; in [0, 1]."""
    bins = reliability_bins(score, bad, n_bins, strategy)
    if not bins.n.size:
        return None
    return float(np.sum(bins.n * np.abs(bins.mean_good - bins.mean_score)) / np.sum(bins.n))


def mce(score: ArrayLike, bad: ArrayLike, n_bins: int = 10, strategy: Strategy = "uniform") -> float | None:
    """Maximum calibration error: the largest |share of good - mean score| of any bin that holds rows; in [0,
    1].
    """
    bins = reliability_bins(score, bad, n_bins, strategy)
    if not bins.n.size:
        return None
    return float(np.max(np.abs(bins.mean_good - bins.mean_score)))


def brier(score: ArrayLike, bad: ArrayLike) -> float | None:
    """Brier score: the mean of (score - good)^2; in [0, 1]."""
    scores, labels = as_score_and_bad(score, bad)
    return float(np.mean((scores - ~labels) ** 2)) if scores.size else None


def murphy(score: ArrayLike, bad: ArrayLike) -> Murphy | None:
    """Murphy's parts of the Brier score over the distinct scores (no binning): they add up to it exactly."""
    table = count_by_score(*as_score_and_bad(score, bad))
    n = int(table.n.sum())
    if not n:
        return None
    good = (table.n - table.n_bad) / table.n
    base = 1 - int(table.n_bad.sum()) / n
    return Murphy(
        reliability=float(np.sum(table.n * (table.value - good) ** 2) / n),
        resolution=float(np.sum(table.n * (good - base) ** 2) / n),
        uncertainty=base * (1 - base),
    )


def log_loss(score: ArrayLike, bad: ArrayLike, eps: float = 1e-12) -> float | None:
    """Mean of -log(probability given to what happened), in nats, >= 0; scores are clipped to [eps, 1 - eps]
    first.

    Raises ValueError unless 0 < eps < 1/2.
    """
    scores, labels = as_score_and_bad(score, bad)
    if not 0 < eps < 0.5:
        raise ValueError(f"eps must lie strictly between 0 and 0.5, not {eps}")
    if not scores.size:
        return None
    clipped = np.clip(scores, eps, 1 - eps)
    return float(-np.mean(np.log(np.where(labels, 1 - clipped, clipped))))
