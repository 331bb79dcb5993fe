"""Everything that a run leaves in its folder, under the reference tool's names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import orjson

from hallcheck.config import AskConfig
from hallcheck.reports import json as report_json
from hallcheck.reports.csv import RESULT_COLUMNS, write_results
from hallcheck.store.folder import RunFolder
from hallcheck.types import Note, Report
from hallcheck.verbs.ask_metrics import run_behavior, run_metrics
from hallcheck.verbs.ask_results import Results

MANY_UNSCORED = 0.05
FEW_ANSWERS = 30


@dataclass(frozen=True, slots=True)
class Artifacts:
    """What was written: the report's parts, and artifact name -> path."""

    report: Report
    results: Results
    files: Mapping[str, Path]


def write_artifacts(
    folder: RunFolder,
    config: AskConfig,
    results: Results,
    manifest: Mapping[str, Any],
    notes: Sequence[Note],
    *,
    partial: bool,
) -> Artifacts:
    """Write results.csv, metrics.json, behavior.json, the reports and run.json. Raises StoreError."""
    write_results(folder.path / "results.csv", _cells(results))
    if config.method != "prompt":
        _write_scores(folder, results)
    metrics, behavior = run_metrics(results), run_behavior(results)
    run = dict(manifest)
    run["model_version"] = results.model_version or run.get("model_version")
    run["tokens"] = dict(results.tokens)
    run["partial"] = partial
    all_notes = (*notes, *_own_notes(metrics, results))
    run["notes"] = [_plain(note) for note in all_notes]
    report = Report(
        title=f"Abstention test: {config.model}",
        run=run,
        metrics=metrics,
        behavior=behavior,
        examples=results.examples,
        notes=all_notes,
        partial=partial,
    )
    folder.write("metrics.json", report_json.dumps(metrics))
    folder.write("behavior.json", report_json.dumps(behavior))
    if config.figures:
        folder.write("rc_curve.png", _render("plots", report))
    folder.write("report.md", _render("markdown", report))
    folder.write("report.html", _render("html", report))
    folder.write_manifest(run)
    return Artifacts(report, results, _files(folder.path))


def _cells(results: Results) -> Iterator[tuple[Any, ...]]:
    for row in results.rows():
        yield tuple(row[name] for name in RESULT_COLUMNS)


def _write_scores(folder: RunFolder, results: Results) -> None:
    lines = (orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in results.score_lines())
    folder.write_lines("scores.jsonl", lines)


def _render(name: str, report: Report) -> bytes:
    rendered: bytes = import_module(f"hallcheck.reports.{name}").render(report)
    return rendered


def _own_notes(metrics: Mapping[str, Any], results: Results) -> Iterator[Note]:
    """What a reader should know before believing the figures."""
    by_t = [(t, m) for t, m in metrics.items() if t != "confidence"]
    total = sum(m["n_total"] for _, m in by_t)
    unscored = sum(m["n_unscored"] for _, m in by_t)
    if total and unscored / total > MANY_UNSCORED:
        yield Note(
            code="many_unscored",
            severity="warning",
            message=f"{unscored} of {total} rows are unscored: the metrics are over the others.",
            advice="Look at the bounds, and at `reason` in results.csv; the same command asks failed requests again.",
        )
    for message, n in results.errors.most_common(3):
        yield Note(code="request_failed", severity="warning", message=f"{n} x {message}", advice="")
    for t, m in by_t:
        if 0 < m["answered"] < FEW_ANSWERS:
            yield Note(
                code="few_answers",
                severity="info",
                message=f"only {m['answered']} answers at t = {t}: the intervals are wide.",
                advice="Use more questions before deciding on this threshold.",
            )


def _plain(note: Note) -> dict[str, str]:
    return {"code": note.code, "severity": note.severity, "message": note.message, "advice": note.advice}


def _files(folder: Path) -> dict[str, Path]:
    names = (
        "report.html", "report.md", "results.csv", "metrics.json", "behavior.json", "rc_curve.png", "scores.jsonl",
        "run.json", "run.jsonl",
    )  # fmt: skip
    return {name: folder / name for name in names if (folder / name).exists()}
