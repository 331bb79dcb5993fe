"""report.html: the run as one static page, to be read offline and sent by mail.

Nothing runs and nothing is loaded: no script, no outside resource, and a content security policy that forbids both.
Whatever came from a model or a data set is escaped text, isolated in its own writing direction and cut for display.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from hallcheck.reports import content, drawing, svg, wording
from hallcheck.reports.content import Table
from hallcheck.types import OUTCOMES, Report

MOST_CATEGORIES = 200
MOST_TEXT = 600  # characters of one text of an example
_LABELS = {"correct": "Right", "wrong": "Wrong", "abstained": "Abstained", "unscored": "Unscored"}
_FACTS = ("id", "t", "score", "reason", "confidence", "category", "finish", "tokens", "latency_s")

CSS = """
:root{color-scheme:light dark;--ground:#fff;--ink:#1d1d1f;--soft:#5f6368;--rule:#dcdfe3;--card:#f5f6f8;
--blue:#0072b2;--sky:#56b4e9;--red:#c24f00;--amber:#fff4dc;--amber-ink:#5c4300}
@media(prefers-color-scheme:dark){:root{--ground:#15171a;--ink:#e8eaed;--soft:#a3a9b1;--rule:#383c42;--card:#1e2125;
--blue:#56b4e9;--sky:#2f7fb0;--red:#f0883e;--amber:#3a2f14;--amber-ink:#ffe2a1}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:60rem;margin:0 auto;padding:2.2rem 1.2rem 4rem}
h1{font-size:1.7rem;line-height:1.25;margin:0 0 .4rem;overflow-wrap:anywhere}
h2{font-size:1.2rem;margin:2.4rem 0 .7rem}
p{margin:.5rem 0}
.soft{color:var(--soft);font-size:.92rem;overflow-wrap:anywhere}
.banner{background:var(--amber);color:var(--amber-ink);border-radius:.4rem;padding:.7rem 1rem;margin:0 0 1.2rem}
.scroll{overflow-x:auto;margin:.6rem 0}
table{border-collapse:collapse;width:100%;font-size:.92rem;font-variant-numeric:tabular-nums}
th,td{padding:.4rem .7rem;border-bottom:1px solid var(--rule);text-align:right;vertical-align:top}
thead th{color:var(--soft);font-weight:600;border-bottom-width:2px;vertical-align:bottom}
th:first-child,td:first-child,.left{text-align:left}
td:not(.left){white-space:nowrap}
tbody th{font-weight:600;overflow-wrap:break-word;max-width:22rem}
.interval{display:block;color:var(--soft);font-size:.85rem}
li{margin:.3rem 0;overflow-wrap:anywhere}
ul{padding-left:1.2rem}
figure{margin:1rem 0}
figcaption{color:var(--soft);font-size:.88rem}
.key{display:inline-block;width:1.1rem;height:.22rem;vertical-align:middle;margin:0 .35rem 0 .8rem;
background:var(--blue)}
.key.demand{background:var(--red)}
.key.dot{width:.6rem;height:.6rem;border-radius:50%}
svg.figure{width:100%;height:auto;font-size:13px;fill:var(--ink)}
svg .grid{stroke:var(--rule);stroke-width:1}
svg .axis{stroke:var(--soft);stroke-width:1}
svg .curve{fill:none;stroke:var(--blue);stroke-width:2;stroke-linejoin:round}
svg .faint{fill:none;stroke:var(--blue);stroke-width:1.2;opacity:.4}
svg .interval{stroke:var(--blue);stroke-width:1.6;opacity:.6}
svg .target{stroke:var(--red);stroke-width:3}
svg .ideal{stroke:var(--soft);stroke-width:1.3;stroke-dasharray:6 4}
svg .leader{stroke:var(--soft);stroke-width:.8}
svg .point{fill:var(--blue);stroke:var(--ground);stroke-width:1.4}
svg .bar{fill:var(--sky);opacity:.45;stroke:var(--ground)}
svg .count{fill:var(--soft);opacity:.6;stroke:var(--ground)}
svg .mid{text-anchor:middle}
svg .end{text-anchor:end}
svg .small{fill:var(--soft);font-size:12px}
svg .halo{paint-order:stroke;stroke:var(--ground);stroke-width:4px;stroke-linejoin:round}
details{border:1px solid var(--rule);border-radius:.4rem;margin:.6rem 0;padding:.5rem 1rem}
summary{cursor:pointer;font-weight:600}
article{background:var(--card);border-radius:.4rem;padding:.7rem 1rem;margin:.7rem 0}
article p{overflow-wrap:anywhere}
article b{color:var(--soft);font-weight:600}
dl{display:grid;grid-template-columns:minmax(8rem,max-content) 1fr;gap:.25rem 1.2rem;margin:.5rem 0;font-size:.92rem}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
@media print{details{border:0;padding:0}main{max-width:none}}
"""


def render(report: Report) -> bytes:
    """The report as an HTML document in UTF-8."""
    title = _esc(report.title)
    head = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n<style>{CSS}</style>\n</head>\n<body>\n<main>\n"
    )
    body = [f'<h1 dir="auto">{title}</h1>', f'<p class="soft">{_esc(wording.asked(report), 1000)}</p>']
    if report.partial:
        banner = f"<strong>Partial run.</strong> It was stopped before the end. {_esc(wording.RESUME)}"
        body.insert(0, f'<p class="banner">{banner}</p>')
    body += [
        _results(report),
        _section("Is the accuracy when answering at least t?", _bullets(wording.audit(report))),
        _section("Behaviour", _bullets(wording.behaviour(report))),
        _section("Outcomes", _table(content.outcomes(report)) + _bounds(report)),
        _section("Answerable and unanswerable questions", _table(content.answerability(report))),
        _confidence(report),
        _categories(report),
        _section("Examples", _examples(report)),
        _section("Notes", _notes(report)),
        _section("Run", _definitions(wording.run_facts(report))),
        _section("Files", _definitions(wording.files(report))),
        _section("Source of the test", f"<p>{_esc(wording.CITATION)} {_esc(wording.CITATION_URL)}</p>"),
    ]
    page = head + "\n".join(part for part in body if part) + "\n</main>\n</body>\n</html>\n"
    return page.encode("utf-8")


def _esc(value: Any, limit: int = 400) -> str:
    return html.escape(wording.clean(value, limit))


def _section(title: str, body: str) -> str:
    return f"<section>\n<h2>{title}</h2>\n{body}\n</section>" if body else ""


def _results(report: Report) -> str:
    body = _table(content.summary(report)) or "<p>No threshold was evaluated.</p>"
    remarks = [*filter(None, [wording.intervals_caption(report)]), *wording.score_notes(report)]
    body += "".join(f'\n<p class="soft">{_esc(remark)}</p>' for remark in remarks)
    keys = (
        '<span class="key dot"></span>at threshold t, with intervals'
        '<span class="key demand"></span>accuracy that t demands'
    )
    if drawing.curve(report):
        keys = '<span class="key"></span>every cut of the confidence' + keys
    rest = drawing.unanswered(report) if drawing.marks(report) else ""
    caption = f"<figcaption>{keys}{'. ' + _esc(rest) if rest else ''}</figcaption>"
    return _section("Results", f"{body}\n<figure>{svg.curve(report)}{caption}</figure>")


def _bounds(report: Report) -> str:
    table = content.bounds(report)
    if not table.rows:
        return ""
    return f"\n<p>Had every unscored row gone wrong, or right, the figures would lie here:</p>\n{_table(table)}"


def _confidence(report: Report) -> str:
    body = _table(content.confidence(report))
    if drawing.bins(report):
        caption = (
            '<figcaption><span class="key dot"></span>a bin: mean confidence and accuracy'
            '<span class="key demand"></span>gap to perfect calibration. Below: answers in each bin.</figcaption>'
        )
        body += f"\n<figure>{svg.reliability(report)}{caption}</figure>"
        numbers = _table(content.reliability(report))
        body += f"\n<details><summary>The bins as numbers</summary>{numbers}</details>"
    return _section("Confidence", body)


def _categories(report: Report) -> str:
    table, rest = content.categories(report, MOST_CATEGORIES)
    if not table.rows:
        return ""
    body = _table(table)
    if len(table.rows) > 25:
        body = f"<details><summary>{len(table.rows)} categories</summary>{body}</details>"
    rest = f'<p class="soft">{_esc(rest)}</p>' if rest else ""
    return _section("By category", f'<p class="soft">Accuracy when answering (answered/scored).</p>{body}{rest}')


def _examples(report: Report) -> str:
    outcomes = [*OUTCOMES, *(name for name in report.examples if name not in OUTCOMES)]
    return "\n".join(
        f"<details><summary>{_esc(_LABELS.get(outcome, outcome))}</summary>"
        + "".join(_example(row) for row in report.examples[outcome])
        + "</details>"
        for outcome in outcomes
        if report.examples.get(outcome)
    )


def _example(row: Mapping[str, Any]) -> str:
    gold = row.get("gold")
    if gold in (None, ""):
        gold = "none: abstaining is right" if row.get("unknown_ok") in (1, True, "1") else wording.NA
    texts = (("Question", row.get("question")), ("Gold", gold), ("Reply", row.get("pred")))
    lines = "".join(f'<p dir="auto"><b>{name}:</b> {_long(text)}</p>' for name, text in texts)
    facts = [(name, row[name]) for name in _FACTS if row.get(name) not in (None, "")]
    shown = " · ".join(f"{name} {_esc(value, 80)}" for name, value in facts)
    return f'<article>{lines}<p class="soft"><bdi>{shown}</bdi></p></article>'


def _long(value: Any) -> str:
    """A text of an example, saying where it was cut."""
    text = "" if value is None else str(value)
    if not text.strip():
        return '<span class="soft">(empty)</span>'
    cut = f' <span class="soft">(cut: {len(text):,} characters)</span>' if len(text) > MOST_TEXT else ""
    return f"<bdi>{_esc(text, MOST_TEXT)}</bdi>{cut}"


def _notes(report: Report) -> str:
    items = [
        f"<li><strong>{_esc(severity)}</strong>: {_esc(message, 1000)} {_esc(advice, 1000)}</li>"
        for severity, message, advice in wording.notes(report)
    ]
    return f"<ul>{''.join(items)}</ul>" if items else ""


def _bullets(sentences: list[str]) -> str:
    return f"<ul>{''.join(f'<li>{_esc(sentence, 1000)}</li>' for sentence in sentences)}</ul>" if sentences else ""


def _definitions(pairs: list[tuple[str, str]]) -> str:
    items = "".join(f'<dt dir="auto">{_esc(name)}</dt><dd dir="auto">{_esc(value)}</dd>' for name, value in pairs)
    return f"<dl>{items}</dl>" if items else ""


def _figure(cell: str) -> str:
    """A cell of figures, its interval on a line of its own."""
    value, bracket, interval = cell.partition(" [")
    return f'{_esc(value)} <span class="interval">[{_esc(interval)}</span>' if bracket else _esc(value)


def _table(table: Table) -> str:
    if not table.rows:
        return ""
    kinds = [' class="left"' if name in content.WORDS else "" for name in table.header]
    head = "".join(f'<th scope="col"{kind}>{_esc(name)}</th>' for name, kind in zip(table.header, kinds, strict=True))
    rows = "".join(
        f'<tr><th scope="row" dir="auto">{_esc(row[0])}</th>'
        + "".join(
            f"<td{kind}>{_esc(cell) if kind else _figure(cell)}</td>"
            for cell, kind in zip(row[1:], kinds[1:], strict=True)
        )
        + "</tr>"
        for row in table.rows
    )
    return f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
