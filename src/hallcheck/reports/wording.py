"""Numbers and facts of a report in plain words: what the Markdown, HTML and terminal renderers share.

All functions return plain text, to be escaped by whoever places it. Whatever is undefined reads "n/a".
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from hallcheck.types import Report

NA = "n/a"
CITATION = "Adam Tauman Kalai, Ofir Nachum, Santosh S. Vempala, Edwin Zhang: Why Language Models Hallucinate (2025)."
CITATION_URL = "https://arxiv.org/abs/2509.04664"
RESUME = "Run the same command again, with the same output folder: only what is missing is asked."


class Point(NamedTuple):
    """The metrics at one threshold. `label` is t exactly as metrics.json spells it."""

    label: str
    t: float
    metrics: Mapping[str, Any]


def points(report: Report) -> list[Point]:
    """The thresholds of the report, in the order of metrics.json (ascending)."""
    keys = [key for key in report.metrics if key != "confidence"]
    return [Point(key, float(key), part(report.metrics, key)) for key in keys]


def part(mapping: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """The mapping under `keys`, or an empty one where any of them is missing or null."""
    found: Any = mapping
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def sequence(mapping: Mapping[str, Any], key: str) -> Sequence[Any]:
    """The list under `key`, or an empty one where it is missing or null."""
    found = mapping.get(key)
    return found if isinstance(found, Sequence) and not isinstance(found, str) else ()


def finite(value: Any) -> float | None:
    """`value` as a float, or None where it is no finite number."""
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    return None


def percent(value: Any) -> str:
    """A share with one decimal; one that is neither 0 nor 1 is never shown as 0% or 100%."""
    share = finite(value)
    if share is None:
        return NA
    shown = f"{100 * share:.1f}%"
    if shown == "0.0%" and share > 0:
        return "<0.1%"
    if shown == "100.0%" and share < 1:
        return ">99.9%"
    return shown


def score(value: Any) -> str:
    """A mean score with its sign and three decimals."""
    if isinstance(value, float) and math.isinf(value):
        return "+∞" if value > 0 else "-∞"
    number = finite(value)
    return NA if number is None else f"{number:+.3f}"


def number(value: Any) -> str:
    """A figure with three decimals."""
    figure = finite(value)
    return NA if figure is None else f"{figure:.3f}"


def count(value: Any) -> str:
    """A whole number with thousands separators."""
    figure = finite(value)
    return NA if figure is None else f"{figure:,.0f}"


def percent_cell(value: Any, interval: Mapping[str, Any]) -> str:
    """A share with its interval: `68.3% [55.8, 78.7]`."""
    low, high = finite(interval.get("low")), finite(interval.get("high"))
    if finite(value) is None or low is None or high is None:
        return percent(value)
    return f"{percent(value)} [{100 * low:.1f}, {100 * high:.1f}]"


def number_cell(value: Any, interval: Mapping[str, Any], *, signed: bool = False) -> str:
    """A figure with its interval: `+0.317 [+0.100, +0.533]`."""
    show = score if signed else number
    low, high = finite(interval.get("low")), finite(interval.get("high"))
    if finite(value) is None or low is None or high is None:
        return show(value)
    return f"{show(value)} [{show(low)}, {show(high)}]"


def clean(value: Any, limit: int = 200) -> str:
    """`value` as one line that moves nothing around it, cut to `limit` characters for display.

    White space collapses to single blanks. Control characters (terminal escapes among them), bidirectional overrides,
    lone surrogates and unassigned code points become U+FFFD.
    """
    text = str(value)
    length = len(text)
    text = " ".join(text[: 4 * limit].split())
    text = "".join(_visible(char) for char in text)
    if len(text) > limit or length > 4 * limit:
        return text[: limit - 1].rstrip() + "…"
    return text


_JOINERS = {"\u200c", "\u200d", "\u200e", "\u200f", "\u00ad", "\u2060", "\ufeff"}


def _visible(char: str) -> str:
    if char < "\x7f" and char >= " ":
        return char
    category = unicodedata.category(char)
    if category in ("Cc", "Cs", "Cn", "Zl", "Zp") or (category == "Cf" and char not in _JOINERS):
        return "\ufffd"
    return char


def by_reason(reasons: Mapping[str, Any]) -> str:
    """`3 truncated, 2 empty`, most frequent first."""
    pairs = sorted(reasons.items(), key=lambda pair: -(finite(pair[1]) or 0))
    return ", ".join(f"{count(n)} {reason.replace('_', ' ')}" for reason, n in pairs)


def plural(n: Any, word: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{count(n)} {word}" if n == 1 else f"{count(n)} {word}s"


def describe(value: Any) -> str:
    """A setting in words: lists joined, mappings as `name (key value, ...)`."""
    if value is None or value == "":
        return NA
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        rest = [
            f"{key.replace('_', ' ')} {describe(one)}"
            for key, one in value.items()
            if key != "name" and one is not None
        ]
        name = describe(value["name"]) if value.get("name") else ""
        return f"{name} ({', '.join(rest)})" if name and rest else name or ", ".join(rest) or NA
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ", ".join(describe(one) for one in value) or NA
    return str(value)


def asked(report: Report) -> str:
    """What was asked, in one line."""
    config = part(report.run, "config")
    model = describe(config.get("model"))
    version = report.run.get("model_version")
    if version and version != model and not model.endswith(f"/{version}"):
        model += f" ({version})"
    thresholds = ", ".join(point.label for point in points(report)) or NA
    return (
        f"Model {model}, data {describe(config.get('dataset'))}, method {describe(config.get('method'))}, "
        f"judge {describe(config.get('judge'))}, thresholds {thresholds}."
    )


def intervals_caption(report: Report) -> str:
    """What the brackets of the tables hold: level and methods, as metrics.json names them."""
    found = [
        interval
        for point in points(report)
        for interval in part(point.metrics, "intervals").values()
        if isinstance(interval, Mapping)
    ]
    levels = {finite(interval.get("level")) for interval in found} - {None}
    methods = dict.fromkeys(str(interval["method"]) for interval in found if interval.get("method"))
    if not levels:
        return ""
    shown = " and ".join(f"{100 * level:g}%" for level in sorted(level for level in levels if level))
    how = f" ({', '.join(methods)})" if methods else ""
    return f"In brackets: {shown} intervals{how}."


def score_notes(report: Report) -> list[str]:
    """Why a mean score is undefined, for each threshold that says so."""
    return [
        f"Mean score at t = {point.label}: {point.metrics['avg_expected_score_note']}"
        for point in points(report)
        if point.metrics.get("avg_expected_score_note")
    ]


def audit(report: Report) -> list[str]:
    """One sentence a threshold: is the accuracy when answering at least t?"""
    scored = {point.t: point.metrics.get("n") for point in points(report)}
    rows = [
        row
        for row in sequence(report.behavior, "audit")
        if isinstance(row, Mapping) and finite(row.get("t")) is not None
    ]
    return [_audit_sentence(row, scored) for row in rows]


def _audit_sentence(row: Mapping[str, Any], scored: Mapping[float, Any]) -> str:
    t, answered = row.get("t"), row.get("answered")
    start = f"At t = {t} it answered "
    of = scored.get(t) if t is not None else None
    total = f" of {count(of)}" if finite(of) is not None else ""
    verdict = row.get("verdict")
    if not answered or verdict is None:
        return f"{start}{'none' if not answered else count(answered)}{total}: no verdict."
    share = f"{start}{count(answered)}{total} and was right {percent(row.get('accuracy'))} of the time"
    if row.get("one_per_group"):
        share = (
            f"At t = {t}, counting one answer for each group, "
            f"{count(row.get('correct'))} of {count(answered)} answers were right "
            f"({percent(row.get('accuracy'))})"
        )
    lower, upper = percent(row.get("lower")), percent(row.get("upper"))
    if verdict == "meets":
        return f"{share} (95% lower bound {lower}): meets; accuracy when answering is at least {t}."
    if verdict == "overconfident":
        return f"{share} (95% upper bound {upper}): overconfident; accuracy when answering is below {t}."
    needed = row.get("n_for_80_power")
    more = f"; about {plural(needed, 'answer')} would settle it (80% power)" if needed else ""
    return f"{share} (one-sided 95% bounds {lower} and {upper}): inconclusive; {t} lies between them{more}."


def behaviour(report: Report) -> list[str]:
    """Whether coverage falls as t rises, and who answered below its own stated confidence."""
    out = []
    violations = report.behavior.get("monotonicity_violations")
    if len(points(report)) > 1 and violations is not None:
        times = "once" if violations == 1 else f"{count(violations)} times"
        out.append(
            "Coverage never rises as t rises, as it should."
            if violations == 0
            else f"Coverage should not rise as t rises; it did so {times}."
        )
    for row in sequence(report.behavior, "answered_below_stated_confidence"):
        if isinstance(row, Mapping) and row.get("count"):
            shown = [clean(one, 40) for one in sequence(row, "ids")[:5]]
            which = f" ({', '.join(shown)}{', …' if row['count'] > len(shown) else ''})" if shown else ""
            out.append(
                f"At t = {row.get('t')}, {plural(row['count'], 'row')} answered "
                f"though the confidence stated was not above t{which}."
            )
    return out


def run_facts(report: Report) -> list[tuple[str, str]]:
    """(name, value) of the run: configuration, versions, times, requests, tokens."""
    run = report.run
    facts: list[tuple[str, Any]] = [("tool", run.get("tool")), ("model version", run.get("model_version"))]
    facts += [(key.replace("_", " "), value) for key, value in part(run, "config").items()]
    facts += [(f"adapted ({i})", one) for i, one in enumerate(sequence(run, "adaptations"), start=1)]
    facts += [(key, run.get(key)) for key in ("started", "finished")]
    for what in ("requests", "tokens"):
        facts += [
            (f"{what}, {key.replace('_', ' ')}", count(value) if finite(value) is not None else value)
            for key, value in part(run, what).items()
        ]
    return [(name, describe(value)) for name, value in facts if value is not None and value != ""]


def notes(report: Report) -> list[tuple[str, str, str]]:
    """(severity, message, advice) of every note; those of the manifest that the report does not already hold."""
    out: list[tuple[str, str, str]] = [(note.severity, note.message, note.advice) for note in report.notes]
    known = {message for _, message, _ in out}
    for note in sequence(report.run, "notes"):
        fields = note if isinstance(note, Mapping) else {"message": note}
        message = str(fields.get("message") or "")
        if message and message not in known:
            known.add(message)
            out.append((str(fields.get("severity") or "info"), message, str(fields.get("advice") or "")))
    return out


def has_figure(report: Report) -> bool:
    """Whether rc_curve.png is drawn; the configuration may say `figures: false`."""
    return part(report.run, "config").get("figures") is not False


def files(report: Report) -> list[tuple[str, str]]:
    """(name, what it holds) of the files that lie beside the report."""
    out = [
        ("results.csv", "every row: question, answer, outcome, score"),
        ("metrics.json", "the figures of this report, all of them"),
        ("behavior.json", "coverage by threshold, the audit, ids that answered below their stated confidence"),
        ("run.json", "configuration, versions, hashes, seed"),
        ("run.jsonl", "the journal: every reply as it came"),
        ("report.md", "this report as Markdown"),
        ("report.html", "this report as one page, with examples"),
    ]
    if has_figure(report):
        out.append(("rc_curve.png", "the curve"))
    if part(report.metrics, "confidence"):
        out.append(("scores.jsonl", "confidence and outcome of every row, for hallcheck calibrate"))
    return out
