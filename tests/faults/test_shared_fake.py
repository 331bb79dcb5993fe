"""The maintainers' fake server, question generator and recorded answers: figures equal to the known truth."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.cli import environment, metrics, run

pytestmark = pytest.mark.shared


def fake(
    shared: Path, settings: list[str], arguments: list[str], *, port: int, key: str = "good-key"
) -> dict[str, Any]:
    """One command against a fresh fake server; its row of figures."""
    command = [sys.executable, str(shared / "tools" / "run_against_fake.py"), "--port", str(port), "--key", key]
    command += ["--set", *settings, "--", sys.executable, "-m", "hallcheck.cli.main", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment(), check=True)
    row: dict[str, Any] = json.loads(done.stdout)
    return row


def questions(shared: Path, path: Path, n: int) -> Path:
    tool = str(shared / "tools" / "gen_questions.py")
    subprocess.run([sys.executable, tool, str(n), str(path)], check=True)
    return path


def truth(shared: Path, data: Path, thresholds: list[str]) -> dict[str, Any]:
    tool = str(shared / "tools" / "gen_questions.py")
    done = subprocess.run(
        [sys.executable, tool, "--truth", str(data), *thresholds], capture_output=True, text=True, check=True
    )
    loaded: dict[str, Any] = json.loads(done.stdout)
    return loaded


def check_truth(shared: Path, data: Path, out: Path, thresholds: list[str]) -> None:
    for t, wanted in truth(shared, data, thresholds).items():
        found = metrics(out)[t]
        assert found["n"] == wanted["n"]
        assert found["correct_answers"] == wanted["correct"]
        assert found["incorrect_answers"] == wanted["wrong"]
        assert found["abstentions"] == wanted["idk"] + wanted["refusal"]
        assert found["coverage"] == pytest.approx(wanted["coverage"], abs=1e-12)
        assert found["accuracy_conditioned_on_answering"] == pytest.approx(wanted["acc"], abs=1e-12)
        assert found["avg_expected_score"] == pytest.approx(wanted["avg_score"], abs=1e-9)


def arguments(data: Path, out: Path, *more: str) -> list[str]:
    return ["ask", "--data", str(data), "--model", "gemini-2.5-flash", "--out", str(out), "--no-figures", *more]


def test_five_thousand_questions_give_exactly_the_truth(shared: Path, tmp_path: Path) -> None:
    data, out = questions(shared, tmp_path / "q.csv", 5000), tmp_path / "out"
    row = fake(shared, [], arguments(data, out, "--concurrency", "16"), port=8801)
    assert (row["exit"], row["requests"]) == (0, 15_000), row["tail"]
    check_truth(shared, data, out, ["0.5", "0.75", "0.9"])


@pytest.mark.parametrize("fault", ["p429", "p500", "p503", "preset", "pclose", "pmalformed", "phtml502"])
def test_three_hundred_of_three_hundred_under_one_percent_of(fault: str, shared: Path, tmp_path: Path) -> None:
    data, out = questions(shared, tmp_path / "q.csv", 300), tmp_path / "out"
    settings = [f"{fault}=0.01", "retry_delay=0.2"]
    row = fake(shared, settings, arguments(data, out, "--thresholds", "0.5"), port=8802)
    assert row["exit"] == 0, row["tail"]
    assert row["by"]["ok"] == 300 < row["requests"]
    check_truth(shared, data, out, ["0.5"])


@pytest.mark.parametrize(
    ("fault", "reason"), [("pblock", "blocked"), ("psafety", "blocked"), ("pmaxtok", "truncated"), ("pempty", "empty")]
)
def test_replies_without_an_answer_are_unscored(fault: str, reason: str, shared: Path, tmp_path: Path) -> None:
    data, out = questions(shared, tmp_path / "q.csv", 100), tmp_path / "out"
    row = fake(shared, [f"{fault}=0.2"], arguments(data, out, "--thresholds", "0.5"), port=8803)
    assert row["exit"] == 3
    found = metrics(out)["0.5"]
    assert found["unscored"] == {reason: row["by"][fault[1:]]}
    assert found["n"] + found["n_unscored"] == 100


@pytest.mark.parametrize("auth", ["1", "401"])
def test_a_bad_key_costs_one_request(auth: str, shared: Path, tmp_path: Path) -> None:
    data = questions(shared, tmp_path / "q.csv", 50)
    row = fake(shared, [f"auth={auth}"], arguments(data, tmp_path / "out"), port=8804, key="bad-key")
    assert (row["exit"], row["requests"]) == (2, 1)
    assert "bad-key" not in row["tail"]


@pytest.mark.slow
def test_a_quota_of_120_a_minute_is_used_to_the_full(shared: Path, tmp_path: Path) -> None:
    data, out = questions(shared, tmp_path / "q.csv", 300), tmp_path / "out"
    row = fake(shared, ["quota_rpm=120"], arguments(data, out, "--thresholds", "0.5"), port=8805)
    assert row["exit"] == 0, row["tail"]
    assert row["wall_s"] <= 140  # the least possible is 120: three windows of a minute
    check_truth(shared, data, out, ["0.5"])


def test_recorded_answers_of_a_real_model_give_the_published_scores(shared: Path, tmp_path: Path) -> None:
    items: dict[str, dict[str, Any]] = {}
    answers = []
    for percent in (50, 70, 90):
        path = shared / "data" / "recorded" / "truthfulqa_haiku_thresholds" / f"threshold_{percent}_results.json"
        for row in json.loads(path.read_bytes())["results"]:
            items[row["question"]] = {"question": row["question"], "gold": "judged", "category": row["category"]}
            answer = {"question": row["question"], "t": percent / 100, "answer": row["answer"] or "IDK"}
            answer |= {"confidence": row["confidence"], "abstained": row["abstained"]}
            answers.append(answer | {"correct": bool(row["truthful"])})
    data, recorded, out = tmp_path / "items.jsonl", tmp_path / "answers.jsonl", tmp_path / "out"
    data.write_text("\n".join(map(json.dumps, items.values())), encoding="utf-8")
    recorded.write_text("\n".join(map(json.dumps, answers)), encoding="utf-8")
    done = run(
        ["ask", "--data", str(data), "--model", f"replay/{recorded}", "--judge", "recorded", "--out", str(out),
         "--thresholds", "0.5", "0.7", "0.9", "--no-figures"]
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = metrics(out)
    assert [found[t]["coverage"] for t in ("0.5", "0.7", "0.9")] == [0.78, 0.68, 0.60]
    scores = [found[t]["avg_expected_score"] for t in ("0.5", "0.7", "0.9")]
    assert scores == pytest.approx([0.46, 0.2133, -0.40], abs=1e-4)
    stated = json.loads((out / "behavior.json").read_bytes())["answered_below_stated_confidence"]
    assert [row["count"] for row in stated] == [0, 0, 4]


def test_real_mmlu_and_unanswerable_items_load_the_same_way_twice(shared: Path, tmp_path: Path) -> None:
    folder = shared / "data" / "closed_book" / "mmlu"
    command = ["ask", "--dataset", "mmlu", "--path", str(folder), "--limit", "100", "--idk-frac", "0.3", "--dry-run"]
    done = run([*command, "--model", "gemini-2.5-flash"], {"GOOGLE_API_KEY": "k"})
    assert done.returncode == 0, done.stderr
    assert "300" in done.stdout
