"""report.md: the run for a reader of Markdown (GitHub's flavour)."""

from __future__ import annotations

import re

from hallcheck.reports import content, wording
from hallcheck.reports.content import Table
from hallcheck.types import Report

MOST_CATEGORIES = 20
# Square brackets make a link only before one of `([:`; a report is full of brackets that hold intervals.
_SPECIAL = re.compile(r"([\\`*_<>|~$&#]|\](?=[(\[:]))")


def escape(text: str, limit: int = 400) -> str:
    """`text` as inline Markdown that reads as it stands: one line, no markup, no HTML, no cell border."""
    return _SPECIAL.sub(r"\\\1", wording.clean(text, limit))


def render(report: Report) -> bytes:
    """The report as Markdown in UTF-8."""
    lines = [f"# {escape(report.title)}", ""]
    if report.partial:
        lines += [f"> **Partial run.** It was stopped before the end. {wording.RESUME}", ""]
    lines += [escape(wording.asked(report), 1000), ""]
    lines += _results(report)
    lines += _section("Is the accuracy when answering at least t?", _bullets(wording.audit(report)))
    lines += _section("Behaviour", _bullets(wording.behaviour(report)))
    lines += _section("Outcomes", _table(content.outcomes(report)) + _bounds(report))
    lines += _section("Answerable and unanswerable questions", _table(content.answerability(report)))
    lines += _section("Confidence", _table(content.confidence(report)))
    lines += _section("By category", _categories(report))
    lines += _section("Notes", _notes(report))
    lines += _section("Run", [f"- {escape(name)}: {escape(value)}" for name, value in wording.run_facts(report)])
    lines += _section("Files", [f"- `{name}`: {what}" for name, what in wording.files(report)])
    if report.partial:
        lines += _section("How to finish this run", [wording.RESUME])
    lines += _section("Source of the test", [f"{wording.CITATION} <{wording.CITATION_URL}>"])
    return ("\n".join(lines).rstrip("\n") + "\n").encode("utf-8")


def _section(title: str, body: list[str]) -> list[str]:
    return [f"## {title}", "", *body, ""] if body else []


def _results(report: Report) -> list[str]:
    body = _table(content.summary(report)) or ["No threshold was evaluated."]
    remarks = [*filter(None, [wording.intervals_caption(report)]), *wording.score_notes(report)]
    for remark in remarks:
        body += ["", escape(remark)]
    if wording.has_figure(report):
        body += ["", "![Accuracy when answering against coverage](rc_curve.png)"]
    return _section("Results", body)


def _bounds(report: Report) -> list[str]:
    table = content.bounds(report)
    if not table.rows:
        return []
    return ["", "Had every unscored row gone wrong, or right, the figures would lie here:", "", *_table(table)]


def _categories(report: Report) -> list[str]:
    table, rest = content.categories(report, MOST_CATEGORIES)
    if not table.rows:
        return []
    body = ["Accuracy when answering (answered/scored).", "", *_table(table)]
    return [*body, "", escape(rest)] if rest else body


def _notes(report: Report) -> list[str]:
    return [
        f"- **{escape(severity)}**: {escape(message, 1000)}{' ' + escape(advice, 1000) if advice else ''}"
        for severity, message, advice in wording.notes(report)
    ]


def _bullets(sentences: list[str]) -> list[str]:
    return [f"- {escape(sentence, 1000)}" for sentence in sentences]


def _table(table: Table) -> list[str]:
    if not table.rows:
        return []
    right = [name not in content.WORDS for name in table.header]
    return [
        "| " + " | ".join(escape(name) for name in table.header) + " |",
        "| " + " | ".join("---:" if is_right else "---" for is_right in right) + " |",
        *("| " + " | ".join(escape(cell) for cell in row) + " |" for row in table.rows),
    ]
