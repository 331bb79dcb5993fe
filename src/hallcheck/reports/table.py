"""The short table that the command line prints: plain text, at most 80 columns."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Mapping

from hallcheck.reports.wording import (
    by_reason,
    clean,
    count,
    finite,
    notes,
    number_cell,
    part,
    percent,
    percent_cell,
    plural,
    points,
    score,
    sequence,
)
from hallcheck.types import Report

WIDTH = 80
_DROP_FIRST = ("halluc.", "answered", "audit", "mean score")  # where the columns do not fit


def summary_lines(report: Report) -> list[str]:
    """Title, one row a threshold, unscored rows, confidence figures, warnings: lines of at most 80 columns.

    The text holds no control character and no markup; give it to rich as `Text`, which takes no `[` for a style.
    """
    lines = [cut(clean(report.title), WIDTH)]
    if report.partial:
        lines.append("PARTIAL: stopped before the end; the same command goes on from here")
    lines += ["", *_grid(_columns(report))] if points(report) else ["", "No threshold was evaluated."]
    lines += _unscored(report)
    lines += _confidence(report)
    for severity, message, advice in notes(report):
        if severity != "info":
            text = f"{clean(severity)}: {clean(message, 500)}" + (f" {clean(advice, 500)}" if advice else "")
            lines += wrap(text, WIDTH)
    return lines


def render(report: Report) -> bytes:
    """`summary_lines` as UTF-8 text."""
    return ("\n".join(summary_lines(report)) + "\n").encode("utf-8")


def columns_of(text: str) -> int:
    """How many terminal columns `text` takes: wide East Asian characters two, combining marks none."""
    return sum(_width(char) for char in text)


def _width(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def cut(text: str, width: int) -> str:
    """`text` in at most `width` columns, ending in an ellipsis where something is missing."""
    if columns_of(text) <= width:
        return text
    kept, used = [], 1
    for char in text:
        used += _width(char)
        if used > width:
            break
        kept.append(char)
    return "".join(kept).rstrip() + "…"


def wrap(text: str, width: int) -> list[str]:
    """`text` in lines of at most `width` columns, the later ones indented by two."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        room = width if not lines else width - 2
        # Any piece may come to begin a later, indented line.
        pieces = textwrap.wrap(word, (width - 2) // 2) if columns_of(word) > width - 2 else [word]
        for piece in pieces:
            longer = f"{line} {piece}" if line else piece
            if columns_of(longer) <= room:
                line = longer
                continue
            lines.append(line)
            line, room = piece, width - 2
    lines.append(line)
    return [lines[0], *(f"  {later}" for later in lines[1:])]


def _columns(report: Report) -> dict[str, list[str]]:
    """Heading -> cells."""
    verdicts = {
        row.get("t"): row.get("verdict") or "n/a"
        for row in sequence(report.behavior, "audit")
        if isinstance(row, Mapping)
    }
    out: dict[str, list[str]] = {}
    for point in points(report):
        m = point.metrics
        accuracy = "accuracy_conditioned_on_answering"
        cells = {
            "t": point.label,
            "answered": f"{count(m.get('answered'))}/{count(m.get('n'))}",
            "coverage": percent(m.get("coverage")),
            "accuracy answering": percent_cell(m.get(accuracy), part(m, "intervals", accuracy)),
            "halluc.": percent(m.get("hallucination_rate_among_answers")),
            "mean score": score(m.get("avg_expected_score")),
            "audit": str(verdicts.get(point.t, "n/a")),
        }
        for name, cell in cells.items():
            out.setdefault(name, []).append(clean(cell, 40))
    return out


def _grid(columns: dict[str, list[str]]) -> list[str]:
    widths = {name: max(map(columns_of, [name, *cells])) for name, cells in columns.items()}
    for name in _DROP_FIRST:
        if sum(widths.values()) + 2 * (len(widths) - 1) > WIDTH:
            del widths[name]
    rows = zip(*(columns[name] for name in widths), strict=True)
    return [
        "  ".join(_pad(cell, width) for cell, width in zip(row, widths.values(), strict=True))
        for row in [tuple(widths), *rows]
    ]


def _pad(cell: str, width: int) -> str:
    return " " * (width - columns_of(cell)) + cell


def _unscored(report: Report) -> list[str]:
    """One line for the thresholds that agree: a confidence method has the same unscored rows at every t."""
    alike: dict[str, list[str]] = {}
    for point in points(report):
        if finite(point.metrics.get("n_unscored")):
            reasons = clean(by_reason(part(point.metrics, "unscored")))
            text = f"{plural(point.metrics['n_unscored'], 'row')} unscored" + (f" ({reasons})" if reasons else "")
            alike.setdefault(text, []).append(point.label)
    every = len(points(report))
    return [
        line
        for text, labels in alike.items()
        for line in wrap(
            f"{text} at every t" if len(labels) == every > 1 else f"{text} at t = {', '.join(labels)}", WIDTH
        )
    ]


def _confidence(report: Report) -> list[str]:
    c = part(report.metrics, "confidence")
    if not c:
        return []
    figures = (("AUROC", "auroc"), ("AURC", "aurc"), ("AUGRC", "augrc"), ("ECE", "ece"), ("Brier", "brier"))
    text = ", ".join(f"{name} {number_cell(c.get(key), part(c, 'intervals', key))}" for name, key in figures)
    return wrap(text, WIDTH)
