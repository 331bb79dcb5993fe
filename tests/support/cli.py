"""Run the command line as a user does: a process of its own."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from support.fake_llm import gold_of, share

KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI")


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment without keys and addresses of providers, plus `extra`."""
    kept = {k: v for k, v in os.environ.items() if k not in KEYS and not k.endswith("_BASE_URL")}
    return {**kept, **(extra or {})}


def start(
    arguments: Sequence[str],
    env: Mapping[str, str] | None = None,
    tool: str = "hallcheck",
    file_limit: int | None = None,
) -> Any:
    """Start `hallcheck` (or `gemhall`) with these arguments. `file_limit`: bytes that a file may have (a full disk)."""
    module = {"hallcheck": "hallcheck.cli.main", "gemhall": "hallcheck.cli.gemhall"}[tool]
    limit = []
    if file_limit is not None:
        # In the child, not by preexec_fn: the fake server's thread runs in this process.
        limit = [f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({file_limit},) * 2)"]
    code = "; ".join([*limit, "import runpy, sys", f"runpy.run_module({module!r}, run_name='__main__')"])
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(env),
    )


def run(
    arguments: Sequence[str],
    env: Mapping[str, str] | None = None,
    tool: str = "hallcheck",
    file_limit: int | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run to the end."""
    with start(arguments, env, tool, file_limit) as process:
        out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def write_questions(path: Path, n: int) -> Path:
    """A CSV of n questions that the fake server can answer; every tenth has no answer."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "question", "gold", "unknown_ok", "category"])
        for i in range(n):
            question = f"How many lamps hang in hall {i} of the palace?"
            unknown = i % 10 == 9
            writer.writerow([f"q{i}", question, "" if unknown else gold_of(question), int(unknown), f"c{i % 3}"])
    return path


def expected(path: Path, t: float) -> dict[str, Any]:
    """What a perfect tool reports at t for the fake server's answers to a file of `write_questions`."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    answered = correct = 0
    for row in rows:
        confidence = share("confidence", row["question"])
        if confidence > t:
            answered += 1
            correct += row["unknown_ok"] == "0" and share("right", row["question"]) < confidence
    wrong = answered - correct
    return {
        "n": len(rows),
        "answered": answered,
        "correct_answers": correct,
        "incorrect_answers": wrong,
        "abstentions": len(rows) - answered,
        "avg_expected_score": (correct - wrong * t / (1 - t)) / len(rows),
    }


def metrics(out: Path) -> dict[str, Any]:
    """metrics.json of a run's folder."""
    loaded: dict[str, Any] = json.loads((out / "metrics.json").read_bytes())
    return loaded


def check_exact(out: Path, data: Path, thresholds: Sequence[float]) -> None:
    """The run's figures are those of `expected`, at every threshold."""
    for t in thresholds:
        found, wanted = metrics(out)[str(t)], expected(data, t)
        assert abs(found["avg_expected_score"] - wanted.pop("avg_expected_score")) < 1e-9
        assert {name: found[name] for name in wanted} == wanted
        assert found["n_unscored"] == 0
