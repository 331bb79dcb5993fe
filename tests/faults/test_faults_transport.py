"""Faults of the way: every one of them costs at most a retry, and no answer is lost or counted as something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hallcheck.calling import RetryPolicy
from hallcheck.config import AskConfig
from hallcheck.datasets.table import TableDataset
from hallcheck.engine import run_sync
from hallcheck.errors import RateLimited
from hallcheck.verbs.ask import run_ask
from hallcheck.verbs.ask_run import AskRun
from support.cli import check_exact, metrics, run, write_questions
from support.fake_llm import FakeLLM, share

PASSING = ("429", "500", "503", "reset", "close", "cut", "html")
QUICK = RetryPolicy(max_retries=6, base_s=0.002, max_s=0.02)


def ask(monkeypatch: Any, server: FakeLLM, data: Path, out: Path, **settings: Any) -> AskRun:
    """One run in this process, with short waits."""
    for name, value in server.env.items():
        monkeypatch.setenv(name, value)
    config = AskConfig(out=str(out), figures=False, **settings)
    return run_sync(run_ask(config, TableDataset(data), {"name": "table"}, retry=QUICK))


def test_a_mixture_of_passing_faults_leaves_the_figures_exact(tmp_path: Path, monkeypatch: Any) -> None:
    data = write_questions(tmp_path / "q.csv", 100)

    def faults(prompt: str, attempt: int) -> str | None:
        draw = share(prompt, attempt, "fault") * 20
        return PASSING[int(draw * len(PASSING))] if draw < 1 else None

    with FakeLLM(faults) as server:
        result = ask(monkeypatch, server, data, tmp_path / "out")
    check_exact(tmp_path / "out", data, (0.5, 0.75, 0.9))
    assert sum(server.answered.values()) == 300
    assert result.manifest["requests"]["retries"] == server.requests - 300 > 5


@pytest.mark.parametrize("fault", PASSING)
def test_each_passing_fault_is_retried(fault: str, tmp_path: Path, monkeypatch: Any) -> None:
    data = write_questions(tmp_path / "q.csv", 6)
    with FakeLLM(lambda _prompt, attempt: fault if attempt <= 2 else None) as server:
        ask(monkeypatch, server, data, tmp_path / "out", thresholds=(0.5,))
    check_exact(tmp_path / "out", data, (0.5,))
    assert set(server.attempts.values()) == {3}


@pytest.mark.parametrize(("retries", "tries"), [(0, 1), (2, 3)])
def test_max_retries_counts_tries_after_the_first(retries: int, tries: int, tmp_path: Path, monkeypatch: Any) -> None:
    data = write_questions(tmp_path / "q.csv", 3)
    policy = RetryPolicy(max_retries=retries, base_s=0.001)
    with FakeLLM(lambda _prompt, _attempt: "503") as server:
        for name, value in server.env.items():
            monkeypatch.setenv(name, value)
        config = AskConfig(out=str(tmp_path / "out"), thresholds=(0.5,), figures=False)
        result = run_sync(run_ask(config, TableDataset(data), {}, retry=policy))
    assert set(server.attempts.values()) == {tries}
    assert result.metrics["0.5"]["unscored"] == {"error": 3}
    assert result.metrics["0.5"]["n"] == 0
    assert result.metrics["0.5"]["coverage"] is None


def test_a_failed_request_is_asked_again_by_the_next_run(tmp_path: Path, monkeypatch: Any) -> None:
    data = write_questions(tmp_path / "q.csv", 20)
    down = True

    def faults(prompt: str, _attempt: int) -> str | None:
        return "500" if down and share(prompt) < 0.5 else None

    with FakeLLM(faults) as server:
        first = ask(monkeypatch, server, data, tmp_path / "out")
        failed = first.metrics["0.5"]["n_unscored"]
        assert 0 < failed < 20
        bounds = first.metrics["0.5"]["bounds_if_unscored"]["coverage"]
        assert bounds[0] < bounds[1]
        down = False
        before = server.requests
        ask(monkeypatch, server, data, tmp_path / "out")
        asked_again = server.requests - before
        check_exact(tmp_path / "out", data, (0.5, 0.75, 0.9))
        ask(monkeypatch, server, data, tmp_path / "out")
        assert server.requests == before + asked_again
    assert max(server.answered.values()) == 1


def test_a_quota_is_kept_to_and_every_item_answered(tmp_path: Path, monkeypatch: Any) -> None:
    data = write_questions(tmp_path / "q.csv", 90)
    with FakeLLM(quota=(30, 0.5)) as server:
        ask(monkeypatch, server, data, tmp_path / "out", thresholds=(0.5,), concurrency=16)
    check_exact(tmp_path / "out", data, (0.5,))
    # Three windows; in each, those in flight when it closed are refused once, not again and again.
    assert server.requests <= 90 + 3 * 16


def test_the_servers_delay_holds_every_worker_back(tmp_path: Path, monkeypatch: Any) -> None:
    data = write_questions(tmp_path / "q.csv", 40)
    with FakeLLM(lambda p, a: "429" if "hall 10 " in p and a == 1 else None, latency_s=0.01) as server:
        server.retry_delay = "0.6s"
        ask(monkeypatch, server, data, tmp_path / "out", thresholds=(0.5,), concurrency=4)
    check_exact(tmp_path / "out", data, (0.5,))
    gaps = [after - before for before, after in zip(server.arrivals, server.arrivals[1:], strict=False)]
    assert max(gaps) >= 0.5  # at least the delay, less what was in flight already
    assert sum(gap > 0.3 for gap in gaps) == 1


def test_a_delay_of_hours_stops_the_run_and_keeps_what_is_paid(tmp_path: Path, monkeypatch: Any) -> None:
    data = write_questions(tmp_path / "q.csv", 30)
    limited = True
    with FakeLLM(lambda _p, _a: "429" if limited and server.requests > 12 else None) as server:
        server.retry_delay = "7200s"
        with pytest.raises(RateLimited, match=r"2\.0 h") as caught:
            ask(monkeypatch, server, data, tmp_path / "out", thresholds=(0.5,), concurrency=2)
        assert "same command" in caught.value.hint
        assert metrics(tmp_path / "out")["0.5"]["n_total"] == 12
        limited = False
        ask(monkeypatch, server, data, tmp_path / "out", thresholds=(0.5,))
    check_exact(tmp_path / "out", data, (0.5,))
    assert max(server.answered.values()) == 1


@pytest.mark.parametrize(
    ("fault", "reason"),
    [("blocked", "blocked"), ("safety", "blocked"), ("thoughts", "truncated"), ("empty", "empty"), ("400", "error")],
)
def test_replies_without_an_answer_are_unscored_with_their_reason(
    fault: str, reason: str, tmp_path: Path, monkeypatch: Any
) -> None:
    data = write_questions(tmp_path / "q.csv", 20)
    with FakeLLM(lambda prompt, _a: fault if "hall 3 " in prompt or "hall 9 " in prompt else None) as server:
        result = ask(monkeypatch, server, data, tmp_path / "out", thresholds=(0.5,))
        assert result.metrics["0.5"]["unscored"] == {reason: 2}
        assert result.metrics["0.5"]["n"] == 18
        rows = {row["id"]: row for row in result.records}
        assert rows["q3"]["outcome"] == rows["q9"]["outcome"] == "unscored"
        assert rows["q9"]["correct"] is None
        assert rows["q9"]["score"] is None
        before = server.requests
        ask(monkeypatch, server, data, tmp_path / "out", thresholds=(0.5,))
        # Only errors count as missing; the others are asked again on request.
        assert server.requests - before == (2 if reason == "error" else 0)
        before = server.requests
        ask(monkeypatch, server, data, tmp_path / "out", thresholds=(0.5,), retry_unscored=True)
        assert server.requests - before == 2


def test_a_hanging_server_ends_by_the_timeout(tmp_path: Path, monkeypatch: Any) -> None:
    data = write_questions(tmp_path / "q.csv", 5)
    with FakeLLM(lambda prompt, attempt: "hang" if "hall 2 " in prompt and attempt == 1 else None) as server:
        ask(monkeypatch, server, data, tmp_path / "out", thresholds=(0.5,), timeout=0.3)
    check_exact(tmp_path / "out", data, (0.5,))
    assert server.requests == 6


@pytest.mark.parametrize("fault", ["403", "404"])
def test_a_refused_key_or_model_costs_one_request(fault: str, tmp_path: Path) -> None:
    data = write_questions(tmp_path / "q.csv", 50)
    with FakeLLM(lambda _p, _a: fault) as server:
        done = run(["ask", "--data", str(data), "--out", str(tmp_path / "out")], server.env)
    assert (done.returncode, server.requests) == (2, 1)
    assert "Traceback" not in done.stderr


def test_a_bad_key_costs_one_request_and_is_never_shown(tmp_path: Path) -> None:
    data = write_questions(tmp_path / "q.csv", 50)
    with FakeLLM() as server:
        env = {**server.env, "GOOGLE_API_KEY": "sk-not-this-one"}
        done = run(["ask", "--data", str(data), "--out", str(tmp_path / "out")], env)
    assert (done.returncode, server.requests) == (2, 1)
    assert "sk-not-this-one" not in done.stdout + done.stderr
    for path in (tmp_path / "out").rglob("*"):
        assert path.is_dir() or b"sk-not-this-one" not in path.read_bytes()


def test_no_key_costs_no_request(tmp_path: Path) -> None:
    data = write_questions(tmp_path / "q.csv", 5)
    with FakeLLM() as server:
        env = {"GOOGLE_GEMINI_BASE_URL": server.url}
        done = run(["ask", "--data", str(data), "--out", str(tmp_path / "out")], env)
    assert (done.returncode, server.requests) == (2, 0)
    assert "GOOGLE_API_KEY" in done.stderr


def test_settings_that_every_request_is_refused_for_cost_a_few_requests(tmp_path: Path) -> None:
    data = write_questions(tmp_path / "q.csv", 50)
    with FakeLLM(lambda _p, _a: "400") as server:
        done = run(["ask", "--data", str(data), "--out", str(tmp_path / "out"), "--concurrency", "2"], server.env)
    assert done.returncode == 2
    assert server.requests <= 4
    assert "status 400" in done.stderr
