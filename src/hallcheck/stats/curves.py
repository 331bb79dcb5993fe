"""Risk-coverage curves of selective prediction and the areas under them.

Conventions: `score` (n,) in [0, 1], higher = safer; `bad` (n,) of 0/1; accepted iff score >= tau; coverage =
accepted / n; risk = bad among accepted / accepted. All areas: lower is better; None without rows. Rows of
equal score are accepted together, so that an area is an exact expectation over the orders within a tie, not
one arbitrary order. Sources: AURC and its excess, Geifman, Uziel and El-Yaniv (2019), arXiv 1805.08206;
AUGRC, Traub et al. (2024), arXiv 2407.01032. Malformed arrays raise ValueError.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats, Ints, as_binary, as_score_and_bad, count_by_score
from .detection import auroc


class RiskCoverage(NamedTuple):
    """The curve, one point for each distinct score, from the strictest threshold to the loosest.

    `tau`: the score itself, as the threshold; `n_accepted` and `n_bad`: rows accepted there, and the bad ones
    among them; `coverage` in (0, 1]; `risk` in [0, 1]. Five arrays of one length (empty without rows).
    """

    tau: Floats
    n_accepted: Ints
    n_bad: Ints
    coverage: Floats
    risk: Floats


def risk_coverage(score: ArrayLike, bad: ArrayLike) -> RiskCoverage:
    """The risk-coverage curve of accepting score >= tau, for every distinct score as tau, descending."""
    table = count_by_score(*as_score_and_bad(score, bad))
    n_accepted = np.cumsum(table.n[::-1])
    n_bad = np.cumsum(table.n_bad[::-1])
    n = int(table.n.sum())
    return RiskCoverage(
        tau=table.value[::-1].copy(),
        n_accepted=n_accepted,
        n_bad=n_bad,
        coverage=n_accepted / n if n else np.empty(0),
        risk=n_bad / n_accepted,
    )


def _expected_bad(curve: RiskCoverage) -> Floats:
    """Expected number of bad rows among the first 1, 2, ..., n rows, over all orders within the ties."""
    size = np.diff(curve.n_accepted, prepend=0)
    errors = np.diff(curve.n_bad, prepend=0)
    rank = np.arange(1, int(curve.n_accepted[-1]) + 1)
    within: Floats = np.repeat(errors / size, size) * (rank - np.repeat(curve.n_accepted - size, size))
    within += np.repeat(curve.n_bad - errors, size)
    return within


def aurc(score: ArrayLike, bad: ArrayLike) -> float | None:
    """Area under the risk-coverage curve: the mean risk over coverages 1/n, 2/n, ..., 1; in [0, 1].

    (1/n) * sum over tie groups by descending score of sum_{j=1..g} (K0 + e*j/g) / (N0 + j), with g rows and e
    bad ones in the group, after N0 rows with K0 bad ones: the exact expectation over the orders within ties.
    """
    curve = risk_coverage(score, bad)
    if not curve.tau.size:
        return None
    expected = _expected_bad(curve)
    return float(np.mean(expected / np.arange(1, expected.size + 1)))


def aurc_steps(score: ArrayLike, bad: ArrayLike) -> float | None:
    """Area under the risk-coverage curve as a step function through its reachable points only; in [0, 1].

    Each point's risk counts for the share of rows that its tie group adds. Equals `aurc` where no scores tie.
    """
    curve = risk_coverage(score, bad)
    if not curve.tau.size:
        return None
    size = np.diff(curve.n_accepted, prepend=0)
    return float(np.sum(size * curve.risk) / curve.n_accepted[-1])


def aurc_optimal(bad: ArrayLike) -> float | None:
    """AURC of a perfect ranking, all good rows before all bad ones: (1/n) * sum_{j=1..m} j / (n - m + j), m
    bad rows.
    """
    labels = as_binary(bad, "bad")
    if not labels.size:
        return None
    j = np.arange(1, int(np.count_nonzero(labels)) + 1)
    return float(np.sum(j / (labels.size - j.size + j)) / labels.size)


def excess_aurc(score: ArrayLike, bad: ArrayLike) -> float | None:
    """AURC above that of a perfect ranking, >= 0: the part that the score, not the model's accuracy, is to
    blame for.
    """
    area, optimal = aurc(score, bad), aurc_optimal(bad)
    if area is None or optimal is None:
        return None
    return max(area - optimal, 0.0)


def augrc(score: ArrayLike, bad: ArrayLike) -> float | None:
    """Area under the generalised risk-coverage curve: mean over coverages of P(bad and accepted); in [0,
    1/2].

    (1 - AUROC) * acc * (1 - acc) + (1 - acc)^2 / 2, with acc the share of good rows. One class: 0 if all are
    good, 1/2 if all are bad.
    """
    _, labels = as_score_and_bad(score, bad)
    if not labels.size:
        return None
    errors = int(np.count_nonzero(labels)) / labels.size
    ranking = auroc(score, bad)
    mixed = 0.0 if ranking is None else (1 - ranking) * (1 - errors) * errors
    return mixed + errors**2 / 2


def augrc_rank_sum(score: ArrayLike, bad: ArrayLike) -> float | None:
    """The generalised risk averaged over the coverages 1/n, ..., 1 of the sample: AUGRC's finite-sample form.

    (1/n) * sum_k (expected bad rows among the first k) / n; it exceeds `augrc` by (1 - acc) / (2n).
    """
    curve = risk_coverage(score, bad)
    if not curve.tau.size:
        return None
    expected = _expected_bad(curve)
    return float(np.sum(expected) / expected.size**2)
