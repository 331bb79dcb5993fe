"""The tables of a report as plain text, the same for Markdown and HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hallcheck.reports.wording import (
    NA,
    Point,
    by_reason,
    clean,
    count,
    finite,
    number,
    number_cell,
    part,
    percent,
    percent_cell,
    points,
    score,
    sequence,
)
from hallcheck.types import Report

WORDS = ("Category", "Figure", "Meaning", "Abstained", "Unscored")  # columns set flush left
MOST_THRESHOLDS = 5  # columns of the category table


class Table(NamedTuple):
    """Cells of text. The first column names the row; the others are figures."""

    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def summary(report: Report) -> Table:
    """The four headline metrics at each threshold, with their intervals."""
    rows = []
    for point in points(report):
        m = point.metrics
        rows.append(
            (
                point.label,
                f"{count(m.get('answered'))} of {count(m.get('n'))}",
                percent_cell(m.get("coverage"), part(m, "intervals", "coverage")),
                _share(m, "accuracy_conditioned_on_answering"),
                _share(m, "hallucination_rate_among_answers"),
                number_cell(m.get("avg_expected_score"), part(m, "intervals", "avg_expected_score"), signed=True),
            )
        )
    header = ("t", "Answered", "Coverage", "Accuracy when answering", "Hallucination rate", "Mean score")
    return Table(header, rows)


def _share(metrics: Mapping[str, Any], name: str) -> str:
    return percent_cell(metrics.get(name), part(metrics, "intervals", name))


def outcomes(report: Report) -> Table:
    """How many rows went which way, with the reasons."""
    rows = []
    for point in points(report):
        m = point.metrics
        rows.append(
            (
                point.label,
                count(m.get("n_total")),
                count(m.get("correct_answers")),
                count(m.get("incorrect_answers")),
                _with_reasons(m.get("abstentions"), part(m, "abstained_by_reason")),
                _with_reasons(m.get("n_unscored"), part(m, "unscored")),
            )
        )
    return Table(("t", "Rows", "Right", "Wrong", "Abstained", "Unscored"), rows)


def _with_reasons(n: Any, reasons: Mapping[str, Any]) -> str:
    present = {reason: many for reason, many in reasons.items() if many}
    return f"{count(n)} ({by_reason(present)})" if present else count(n)


def bounds(report: Report) -> Table:
    """What the metrics would be had every unscored row gone wrong, or right; only thresholds with such rows."""
    rows = []
    for point in points(report):
        if not point.metrics.get("n_unscored"):
            continue
        b = part(point.metrics, "bounds_if_unscored")
        rows.append(
            (
                point.label,
                _range(b, "coverage", percent),
                _range(b, "accuracy_conditioned_on_answering", percent),
                _range(b, "avg_expected_score", score),
            )
        )
    return Table(("t", "Coverage", "Accuracy when answering", "Mean score"), rows)


def _range(pairs: Mapping[str, Any], name: str, show: Any) -> str:
    pair = sequence(pairs, name)
    if len(pair) != 2 or (pair[0] is None and pair[1] is None):
        return NA
    return f"{show(pair[0])} to {show(pair[1])}"


def answerability(report: Report) -> Table:
    """Answerable and unanswerable questions apart."""
    rows = []
    for point in points(report):
        yes, no = part(point.metrics, "answerable"), part(point.metrics, "unanswerable")
        rows.append(
            (
                point.label,
                count(yes.get("n")),
                percent_cell(yes.get("coverage"), part(yes, "intervals", "coverage")),
                percent_cell(yes.get("accuracy"), part(yes, "intervals", "accuracy")),
                count(no.get("n")),
                percent_cell(no.get("abstention_recall"), part(no, "intervals", "abstention_recall")),
                percent(point.metrics.get("abstention_precision")),
            )
        )
    header = (
        "t",
        "Answerable",
        "Coverage",
        "Accuracy when answering",
        "Unanswerable",
        "Abstention recall",
        "Abstention precision",
    )
    return Table(header, rows)


def categories(report: Report, most: int) -> tuple[Table, str]:
    """Accuracy when answering and answered/scored, by category and threshold; and a word on what is left out.

    The `most` largest categories, at MOST_THRESHOLDS thresholds at most, spread over all of them.
    """
    shown = _spread(points(report))
    sizes: dict[str, float] = {}
    for point in points(report):
        for name in part(point.metrics, "by_category"):
            n = finite(part(point.metrics, "by_category", name).get("n")) or 0.0
            sizes[name] = max(sizes.get(name, 0.0), n)
    order = sorted(sizes, key=lambda name: -sizes[name])  # stable: equal sizes keep the order of the data
    rows = [
        (clean(name, 60) or "(none)", *(_category_cell(part(point.metrics, "by_category", name)) for point in shown))
        for name in order[:most]
    ]
    left_out = []
    if len(order) > most:
        left_out.append(f"the {count(len(order) - most)} smaller categories")
    if len(points(report)) > len(shown):
        left_out.append(f"the other {count(len(points(report)) - len(shown))} thresholds")
    rest = f"Not shown here: {' and '.join(left_out)}; metrics.json has them." if left_out else ""
    return Table(("Category", *(f"t = {point.label}" for point in shown)), rows), rest


def _category_cell(figures: Mapping[str, Any]) -> str:
    if not figures:
        return NA
    return f"{percent(figures.get('accuracy'))} ({count(figures.get('answered'))}/{count(figures.get('n'))})"


def _spread(every: list[Point]) -> list[Point]:
    """At most MOST_THRESHOLDS of them, first and last among them."""
    if len(every) <= MOST_THRESHOLDS:
        return every
    step = (len(every) - 1) / (MOST_THRESHOLDS - 1)
    return [every[round(i * step)] for i in range(MOST_THRESHOLDS)]


def confidence(report: Report) -> Table:
    """The figures that do not depend on a threshold; empty for the method `prompt`."""
    c = part(report.metrics, "confidence")
    if not c:
        return Table((), [])
    figures = (
        ("AUROC", "auroc", "right answers rank above wrong ones; 0.5 is chance, higher is better"),
        ("AURC", "aurc", "area under risk and coverage; lower is better"),
        ("Excess AURC", "excess_aurc", "AURC above that of a perfect ranking; 0 is best"),
        ("AUGRC", "augrc", "area under generalised risk and coverage; lower is better"),
        ("Average precision", "average_precision", "higher is better"),
        ("ECE", "ece", "mean gap between confidence and accuracy; 0 is best"),
        ("Brier score", "brier", "mean squared error of the confidence; 0 is best"),
    )
    committed = f"{count(c.get('n_committed'))} of {count(c.get('n'))}"
    rows = [
        ("Committed to an answer", committed, "scored rows that gave an answer, whatever its confidence"),
        ("Accuracy", _confidence_cell(c, "accuracy", share=True), "over the committed answers"),
    ]
    rows += [(name, _confidence_cell(c, key), meaning) for name, key, meaning in figures]
    return Table(("Figure", "Value", "Meaning"), rows)


def _confidence_cell(c: Mapping[str, Any], key: str, *, share: bool = False) -> str:
    interval = part(c, "intervals", key)
    return percent_cell(c.get(key), interval) if share else number_cell(c.get(key), interval)


def reliability(report: Report) -> Table:
    """The bins of the reliability diagram."""
    rows = [
        (
            f"{number(row.get('low'))} to {number(row.get('high'))}",
            count(row.get("n")),
            number(row.get("mean_confidence")),
            number(row.get("accuracy")),
        )
        for row in sequence(part(report.metrics, "confidence"), "reliability")
        if isinstance(row, Mapping) and row.get("n")
    ]
    return Table(("Confidence", "Answers", "Mean confidence", "Accuracy"), rows)
