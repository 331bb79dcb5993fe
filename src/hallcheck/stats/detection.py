"""Detection of bad items: counts at a threshold, and the quality of the ranking.

Conventions: `score` (n,) in [0, 1], higher = safer; `bad` (n,) of 0/1 is the positive class; flagged iff
score < tau. A ratio without a denominator is None. Precision, recall and F1 come from integer counts.
Sources: Fawcett (2006), "An introduction to ROC analysis"; average precision is the step-wise sum that
scikit-learn computes (no interpolation). Malformed arrays raise ValueError.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .arrays import as_score_and_bad, as_tau, count_by_score


def _ratio(numerator: int, denominator: int) -> float | None:
    return numerator / denominator if denominator else None


class Confusion(NamedTuple):
    """Counts at one threshold: tp = bad and flagged, fp = good and flagged, tn = good accepted, fn = bad
    accepted.
    """

    tp: int
    fp: int
    tn: int
    fn: int

    @property
    def n(self) -> int:
        """All rows."""
        return self.tp + self.fp + self.tn + self.fn

    @property
    def n_flagged(self) -> int:
        """Rows with score < tau."""
        return self.tp + self.fp

    @property
    def n_accepted(self) -> int:
        """Rows with score >= tau."""
        return self.tn + self.fn

    @property
    def precision(self) -> float | None:
        """Bad among the flagged, in [0, 1]; None if nothing is flagged."""
        return _ratio(self.tp, self.n_flagged)

    @property
    def recall(self) -> float | None:
        """Flagged among the bad, in [0, 1]; None if nothing is bad."""
        return _ratio(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall, 2tp / (2tp + fp + fn); None if nothing is bad and nothing
        flagged.
        """
        return _ratio(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    @property
    def coverage(self) -> float | None:
        """Accepted among all, in [0, 1]; None without rows."""
        return _ratio(self.n_accepted, self.n)

    @property
    def risk(self) -> float | None:
        """Bad among the accepted, in [0, 1], lower is better; None if nothing is accepted."""
        return _ratio(self.fn, self.n_accepted)

    @property
    def accuracy_accepted(self) -> float | None:
        """Good among the accepted, in [0, 1]; None if nothing is accepted."""
        return _ratio(self.tn, self.n_accepted)


def confusion(score: ArrayLike, bad: ArrayLike, tau: float) -> Confusion:
    """Count tp, fp, tn, fn where rows with score < tau are flagged and bad rows are the positives."""
    scores, labels = as_score_and_bad(score, bad)
    flagged = scores < as_tau(tau)
    n_flagged, n_bad = int(np.count_nonzero(flagged)), int(np.count_nonzero(labels))
    tp = int(np.count_nonzero(flagged & labels))
    fn, fp = n_bad - tp, n_flagged - tp
    return Confusion(tp=tp, fp=fp, tn=scores.size - tp - fp - fn, fn=fn)


def precision(score: ArrayLike, bad: ArrayLike, tau: float) -> float | None:
    """Bad among the flagged at tau, in [0, 1]; None if nothing is flagged."""
    return confusion(score, bad, tau).precision


def recall(score: ArrayLike, bad: ArrayLike, tau: float) -> float | None:
    """Flagged at tau among the bad, in [0, 1]; None if nothing is bad."""
    return confusion(score, bad, tau).recall


def f1(score: ArrayLike, bad: ArrayLike, tau: float) -> float | None:
    """F1 of flagging score < tau, in [0, 1]; None if nothing is bad and nothing is flagged."""
    return confusion(score, bad, tau).f1


def auroc(score: ArrayLike, bad: ArrayLike) -> float | None:
    """P(score of a bad row < score of a good row) + P(equal)/2, in [0, 1], higher is better; None for one
    class.

    It is the AUROC of -score for `bad`, and equally that of the score for being good. Counted in integers,
    hence exact with ties.
    """
    table = count_by_score(*as_score_and_bad(score, bad))
    n_bad, n = int(table.n_bad.sum()), int(table.n.sum())
    n_good = n - n_bad
    if not n_bad or not n_good:
        return None
    good = table.n - table.n_bad
    bad_at_or_below = np.cumsum(table.n_bad)
    twice = int(np.sum(good * (2 * bad_at_or_below - table.n_bad)))
    return twice / (2 * n_bad * n_good)


def average_precision(score: ArrayLike, bad: ArrayLike) -> float | None:
    """Area under the precision-recall curve of flagging low scores: sum of (R_i - R_{i-1}) P_i; None for one
    class.

    One step for each distinct score, from the lowest up. In (0, 1], higher is better; a random score gets the
    share of bad rows.
    """
    table = count_by_score(*as_score_and_bad(score, bad))
    n_bad = int(table.n_bad.sum())
    if not n_bad or n_bad == int(table.n.sum()):
        return None
    return float(np.sum(table.n_bad * (np.cumsum(table.n_bad) / np.cumsum(table.n))) / n_bad)
