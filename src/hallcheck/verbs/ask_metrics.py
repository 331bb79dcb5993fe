"""metrics.json and behavior.json from the tallies of a run.

Per threshold the names of the reference tool come first; everything else is added to them. Every proportion is over
scored rows, with a 95% interval: Wilson where rows are independent, percentile cluster bootstrap where groups exist.
Undefined is None.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from hallcheck.stats.audit import audit_accuracy, one_per_group
from hallcheck.stats.bootstrap import BootstrapInterval, Ratio, bootstrap_auroc, bootstrap_ratios
from hallcheck.stats.calibration import brier, ece, reliability_bins
from hallcheck.stats.curves import augrc, aurc, excess_aurc, risk_coverage
from hallcheck.stats.detection import auroc, average_precision
from hallcheck.stats.intervals import penalty_score_interval, wilson
from hallcheck.stats.penalty import penalty
from hallcheck.verbs.ask_results import ABSTAINED, CORRECT, UNSCORED, WRONG, Results, Tally

LEVEL = 0.95
N_BINS = 10
# scores.jsonl holds every score; the curve in metrics.json is for drawing.
MAX_CURVE_POINTS = 1000

Rows = np.ndarray[Any, np.dtype[np.bool_]]
Interval = dict[str, Any] | None


def run_metrics(results: Results) -> dict[str, Any]:
    """metrics.json: one entry a threshold, ascending; for a confidence method one more, `confidence`."""
    names = list(results.categories)
    order = sorted(range(len(results.tallies)), key=lambda i: results.config.thresholds[i])
    metrics: dict[str, Any] = {
        str(results.config.thresholds[i]): _at_threshold(
            results.tallies[i], results.config.thresholds[i], names, results.config.seed
        )
        for i in order
    }
    if results.config.method != "prompt":
        metrics["confidence"] = _confidence(results)
    return metrics


def _at_threshold(tally: Tally, t: float, categories: list[str], seed: int) -> dict[str, Any]:
    rows = _Table(tally, t, seed)
    n = rows.count(rows.scored)
    answered, correct = rows.count(rows.answered), rows.count(rows.correct)
    wrong = answered - correct
    mean, note = _mean_score(correct, wrong, n, t)
    metrics: dict[str, Any] = {
        "n": n,
        "coverage": _share(answered, n),
        "accuracy_conditioned_on_answering": _share(correct, answered),
        "hallucination_rate_among_answers": _share(wrong, answered),
        "avg_expected_score": mean,
        "answered": answered,
        "correct_answers": correct,
        "incorrect_answers": wrong,
        "abstentions": n - answered,
        "n_total": len(tally.outcome),
        "n_unscored": len(tally.outcome) - n,
        "unscored": dict(sorted(tally.unscored.items())),
        "abstained_by_reason": dict(sorted(tally.abstained.items())),
        "intervals": {
            "coverage": rows.interval(rows.answered, rows.scored),
            "accuracy_conditioned_on_answering": rows.interval(rows.correct, rows.answered),
            "hallucination_rate_among_answers": rows.interval(rows.wrong, rows.answered),
            "avg_expected_score": rows.score_interval(correct, wrong, n - answered),
        },
        "bounds_if_unscored": _bounds(rows, correct, wrong, n, t),
    }
    if note:
        metrics["avg_expected_score_note"] = note
    metrics |= _by_answerability(rows)
    metrics["by_category"] = {
        name: _category(rows, number, t) for number, name in sorted(enumerate(categories), key=lambda c: c[1])
    }
    return metrics


class _Table:
    """One threshold's rows as boolean columns, and the intervals over them."""

    def __init__(self, tally: Tally, t: float, seed: int) -> None:
        outcome = np.frombuffer(tally.outcome, dtype=np.int8) if tally.outcome else np.empty(0, np.int8)
        self.unknown_ok: Rows = np.array(tally.unknown_ok, dtype=bool)
        self.category = np.array(tally.category, dtype=np.int32)
        self.correct: Rows = outcome == CORRECT
        self.wrong: Rows = outcome == WRONG
        self.abstained: Rows = outcome == ABSTAINED
        self.unscored: Rows = outcome == UNSCORED
        self.scored: Rows = ~self.unscored
        self.answered: Rows = self.correct | self.wrong
        self._t = t
        self._seed = seed
        self.groups = _groups(tally.group)

    @staticmethod
    def count(rows: Rows) -> int:
        return int(np.count_nonzero(rows))

    def interval(self, part: Rows, whole: Rows) -> Interval:
        """Interval of count(part) / count(whole)."""
        if self.groups is None:
            n = self.count(whole)
            bounds = wilson(self.count(part & whole), n, LEVEL)
            return None if bounds is None else _interval(*bounds, "wilson")
        ratio = Ratio(part & whole, whole)
        return _from_bootstrap(bootstrap_ratios({"x": ratio}, self.groups, level=LEVEL, seed=self._seed)["x"])

    def score_interval(self, n_correct: int, n_wrong: int, n_abstained: int) -> Interval:
        """Interval of the mean score over scored rows; None at t = 1, where it has no lower end."""
        if self._t == 1:
            return None
        if self.groups is None:
            bounds = penalty_score_interval(n_correct, n_wrong, n_abstained, self._t, LEVEL)
            return None if bounds is None else _interval(*bounds, "score")
        gained = self.correct.astype(float) - penalty(self._t) * self.wrong
        ratio = Ratio(gained, self.scored, low=-penalty(self._t), high=1.0)
        return _from_bootstrap(bootstrap_ratios({"x": ratio}, self.groups, level=LEVEL, seed=self._seed)["x"])


def _by_answerability(rows: _Table) -> dict[str, Any]:
    answerable, unanswerable = rows.scored & ~rows.unknown_ok, rows.scored & rows.unknown_ok
    answered, correct = rows.answered & answerable, rows.correct & answerable
    abstained = rows.abstained & unanswerable
    return {
        "answerable": {
            "n": rows.count(answerable),
            "answered": rows.count(answered),
            "coverage": _share(rows.count(answered), rows.count(answerable)),
            "accuracy": _share(rows.count(correct), rows.count(answered)),
            "intervals": {
                "coverage": rows.interval(answered, answerable),
                "accuracy": rows.interval(correct, answered),
            },
        },
        "unanswerable": {
            "n": rows.count(unanswerable),
            "abstained": rows.count(abstained),
            "abstention_recall": _share(rows.count(abstained), rows.count(unanswerable)),
            "intervals": {"abstention_recall": rows.interval(abstained, unanswerable)},
        },
        "abstention_precision": _share(rows.count(abstained), rows.count(rows.abstained)),
        "abstention_precision_interval": rows.interval(abstained, rows.abstained),
    }


def _category(rows: _Table, number: int, t: float) -> dict[str, Any]:
    here = rows.category == number
    n = rows.count(here & rows.scored)
    answered, correct = rows.count(here & rows.answered), rows.count(here & rows.correct)
    return {
        "n": n,
        "answered": answered,
        "correct": correct,
        "coverage": _share(answered, n),
        "accuracy": _share(correct, answered),
        "avg_expected_score": _mean_score(correct, answered - correct, n, t)[0],
        "n_unscored": rows.count(here & rows.unscored),
    }


def _bounds(rows: _Table, correct: int, wrong: int, n: int, t: float) -> dict[str, list[float | None]]:
    """Each metric if every unscored row had gone wrong (an answer, and a wrong one) or right.

    Right means answered correctly, or abstained where no answer is right.
    """
    u = rows.count(rows.unscored)
    u_answerable = rows.count(rows.unscored & ~rows.unknown_ok)
    answered, total = correct + wrong, n + u
    return {
        "coverage": [_share(answered, total), _share(answered + u, total)],
        "accuracy_conditioned_on_answering": [
            _share(correct, answered + u),
            _share(correct + u_answerable, answered + u_answerable),
        ],
        "avg_expected_score": [
            _mean_score(correct, wrong + u, total, t)[0],
            _mean_score(correct + u_answerable, wrong, total, t)[0],
        ],
    }


def _confidence(results: Results) -> dict[str, Any]:
    """The part of metrics.json that no threshold is needed for: ranking and calibration of the confidence.

    Over items with a committed answer, except `coverage` of the curve, which is over all scored items.
    """
    c = results.confidences
    score = np.array(c.score, dtype=float)
    bad = np.array(c.bad, dtype=np.int8)
    n = len(score) + c.n_abstained
    groups = _groups(c.group)
    result: dict[str, Any] = {"n": n, "n_committed": len(score), "accuracy": None}
    names = ("auroc", "aurc", "excess_aurc", "augrc", "average_precision", "ece", "brier")
    result |= dict.fromkeys(names)
    result |= {"curve": [], "reliability": [], "intervals": {"auroc": None}}
    if not len(score):
        return result
    result["accuracy"] = 1 - float(bad.mean())
    for function in (auroc, aurc, excess_aurc, augrc, average_precision, brier):
        result[function.__name__] = function(score, bad)
    result["ece"] = ece(score, bad, N_BINS)
    result["curve"] = _curve(score, bad, n)
    result["reliability"] = _reliability(score, bad)
    if result["auroc"] is not None:
        interval = bootstrap_auroc(score, bad, groups, level=LEVEL, seed=results.config.seed)
        result["intervals"]["auroc"] = _from_bootstrap(interval)
    return result


def _curve(score: Any, bad: Any, n: int) -> list[dict[str, float]]:
    curve = risk_coverage(score, bad)
    points = len(curve.tau)
    kept = np.unique(np.linspace(0, points - 1, min(points, MAX_CURVE_POINTS)).astype(int))
    columns = (curve.tau[kept], curve.n_accepted[kept], curve.risk[kept])
    return [
        {"threshold": tau, "coverage": k / n, "risk": risk, "accuracy": 1 - risk}
        for tau, k, risk in zip(*(column.tolist() for column in columns), strict=True)
    ]


def _reliability(score: Any, bad: Any) -> list[dict[str, Any]]:
    bins = reliability_bins(score, bad, N_BINS)
    columns = (bins.low, bins.high, bins.n, bins.mean_score, bins.mean_good)
    return [
        {"low": low, "high": high, "n": n, "mean_confidence": mean, "accuracy": good}
        for low, high, n, mean, good in zip(*(column.tolist() for column in columns), strict=True)
    ]


def run_behavior(results: Results) -> dict[str, Any]:
    """behavior.json: is coverage falling as t rises, and is the accuracy when answering at least t?"""
    order = sorted(range(len(results.tallies)), key=lambda i: results.config.thresholds[i])
    thresholds = [results.config.thresholds[i] for i in order]
    coverage: list[float | None] = []
    audits, stated = [], []
    for i, t in zip(order, thresholds, strict=True):
        tally = results.tallies[i]
        rows = _Table(tally, t, results.config.seed)
        coverage.append(_share(rows.count(rows.answered), rows.count(rows.scored)))
        audits.append(_audit(rows, t))
        stated.append({"t": t, "count": tally.n_below_stated, "ids": list(tally.below_stated)})
    known = [c for c in coverage if c is not None]
    return {
        "thresholds": thresholds,
        "coverage": coverage,
        "monotonic_coverage_expected": True,
        "monotonicity_violations": sum(b > a + 1e-6 for a, b in pairwise(known)),
        "audit": audits,
        "answered_below_stated_confidence": stated,
    }


def _audit(rows: _Table, t: float) -> dict[str, Any]:
    """The exact test of "accuracy when answering >= t"; one answer a group: its rows are not independent."""
    answered = np.flatnonzero(rows.answered)
    if rows.groups is not None:
        kept = one_per_group([rows.groups[i] for i in answered], [int(i) for i in answered])
        answered = answered[kept]
    correct = rows.count(rows.correct[answered])
    audit = audit_accuracy(correct, len(answered), t, level=LEVEL)
    return {
        "t": t,
        "answered": len(answered),
        "correct": correct,
        "accuracy": audit.accuracy,
        "lower": audit.lower,
        "upper": audit.upper,
        "verdict": audit.verdict,
        "n_for_80_power": audit.n_for_power,
        "one_per_group": rows.groups is not None,
    }


def _groups(numbers: Any) -> list[int] | None:
    """Group numbers for the statistics; rows without a group are groups of their own. None if no two rows share one."""
    named = [number for number in numbers if number >= 0]
    if len(set(named)) == len(named):
        return None
    return [number if number >= 0 else -1 - place for place, number in enumerate(numbers)]


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _mean_score(correct: int, wrong: int, n: int, t: float) -> tuple[float | None, str]:
    if not n:
        return None, ""
    if wrong and t == 1:
        return None, "minus infinity: at t = 1 a wrong answer costs without bound"
    return (correct - (penalty(t) * wrong if wrong else 0.0)) / n, ""


def _interval(low: float, high: float, method: str) -> dict[str, Any]:
    return {"low": low, "high": high, "level": LEVEL, "method": method}


def _from_bootstrap(interval: BootstrapInterval) -> Interval:
    if interval.low is None or interval.high is None or math.isnan(interval.low):
        return None
    return _interval(interval.low, interval.high, interval.method)
