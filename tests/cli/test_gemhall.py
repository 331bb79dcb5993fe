"""The reference tool's command lines, as users of it have them in their scripts."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from support.cli import check_exact, metrics, run, write_questions
from support.fake_llm import FakeLLM

REFERENCE_COLUMNS = ["id", "t", "question", "gold", "unknown_ok", "pred", "abstained", "correct", "score"]
REFERENCE_METRICS = {
    "n", "coverage", "accuracy_conditioned_on_answering", "hallucination_rate_among_answers", "avg_expected_score",
    "answered", "correct_answers", "incorrect_answers", "abstentions",
}  # fmt: skip
ARTIFACTS = ("results.csv", "metrics.json", "behavior.json", "rc_curve.png", "report.md")
THRESHOLDS = (0.5, 0.75, 0.9)


def write_mmlu(folder: Path, subjects: int = 3, n: int = 12) -> Path:
    """A raw-layout MMLU folder: SUBJECT_test.csv, six columns, no header."""
    (folder / "test").mkdir(parents=True)
    for s in range(subjects):
        with (folder / "test" / f"subject_{s}_test.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            for i in range(n):
                options = [f"{word} {s} {i}" for word in ("red", "blue", "green", "grey")]
                writer.writerow([f"Which colour has door {i} of house {s}?", *options, "ABCD"[i % 4]])
    return folder


def rows_of(out: Path) -> list[dict[str, str]]:
    with (out / "results.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_gemhall_run_as_written(tmp_path: Path) -> None:
    data, out = write_questions(tmp_path / "q.csv", 20), tmp_path / "out"
    with FakeLLM() as server:
        done = run(
            ["run", "--data", str(data), "--thresholds", "0.5", "0.75", "0.9", "--model", "gemini-2.5-flash-lite",
             "--progress", "--out", str(out)],
            server.env, tool="gemhall",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert all((out / name).stat().st_size > 0 for name in ARTIFACTS)
    check_exact(out, data, THRESHOLDS)
    rows = rows_of(out)
    assert list(rows[0])[: len(REFERENCE_COLUMNS)] == REFERENCE_COLUMNS
    # In data-set order, item by item and t by t, whatever the order of replies.
    assert [(row["id"], float(row["t"])) for row in rows] == [(f"q{i}", t) for i in range(20) for t in THRESHOLDS]
    found = metrics(out)
    assert list(found) == ["0.5", "0.75", "0.9"]
    assert all(set(found[t]) >= REFERENCE_METRICS for t in found)
    behavior = json.loads((out / "behavior.json").read_bytes())
    assert behavior["thresholds"] == list(THRESHOLDS)
    assert behavior["coverage"] == [found[str(t)]["coverage"] for t in THRESHOLDS]
    assert behavior["monotonicity_violations"] == 0


def test_gemhall_mmlu_as_written(tmp_path: Path) -> None:
    folder, out = write_mmlu(tmp_path / "mmlu"), tmp_path / "out"
    with FakeLLM() as server:
        done = run(
            ["mmlu", "--thresholds", "0.5", "0.75", "0.9", "--model", "gemini-2.5-flash-lite", "--split", "test",
             "--subjects", "all", "--limit", "20", "--judge", "llm", "--async", "--concurrency", "16", "--progress",
             "--out", str(out), "--idk-frac", "0.3", "--rpm-limit", "18000", "--max-retries", "8",
             "--max-unscored", "1", "--path", str(folder)],
            server.env, tool="gemhall",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert all((out / name).stat().st_size > 0 for name in ARTIFACTS)
    assert metrics(out)["0.5"]["n_total"] == 20
    unknown = [row for row in rows_of(out) if row["unknown_ok"] == "1" and row["t"] == "0.5"]
    assert len(unknown) == 6
    assert all(row["category"].endswith("|unanswerable") for row in unknown)
    config = json.loads((out / "run.json").read_bytes())["dataset"]
    assert config["idk_style"] == "duplicate"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["run", "--thresholds", "0.5"], "--data"),
        (["run", "--data", "x.csv"], "--thresholds"),
        (["mmlu"], "--thresholds"),
        (["mmlu", "--thresholds", "0.5", "--split", "tset", "--path", "MMLU"], "'test'"),
        (["mmlu", "--thresholds", "0.5", "--subjects", "subject_9", "--path", "MMLU"], "subject_0"),
    ],
)
def test_what_is_wrong_is_named(arguments: list[str], named: str, tmp_path: Path) -> None:
    folder = write_mmlu(tmp_path / "mmlu")
    arguments = [str(folder) if a == "MMLU" else a for a in arguments]
    with FakeLLM() as server:
        done = run([*arguments, "--out", str(tmp_path / "out")], server.env, tool="gemhall")
    assert (done.returncode, server.requests) == (2, 0)
    assert named in done.stderr
