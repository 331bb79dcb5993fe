"""The run is killed, stopped, or kept from its folder: what is paid for is kept, and nothing is asked twice."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

from support.cli import check_exact, metrics, run, start, write_questions
from support.fake_llm import FakeLLM

N = 60
THRESHOLDS = (0.5, 0.75, 0.9)
CONCURRENCY = 6


def command(data: Path, out: Path) -> list[str]:
    return ["ask", "--data", str(data), "--out", str(out), "--concurrency", str(CONCURRENCY), "--no-figures"]


@pytest.mark.parametrize(
    ("name", "after"),
    [("SIGKILL", n) for n in (1, 7, 40, 120, 175)] + [("SIGTERM", 1), ("SIGTERM", 60), ("SIGINT", 3), ("SIGINT", 150)],
)
def test_a_killed_run_goes_on_where_it_was(name: str, after: int, tmp_path: Path) -> None:
    data, out = write_questions(tmp_path / "q.csv", N), tmp_path / "out"
    with FakeLLM(latency_s=0.01) as server:
        process = start(command(data, out), server.env)
        while server.requests < after and process.poll() is None:
            time.sleep(0.001)
        process.send_signal(getattr(signal, name))
        _, err = process.communicate(timeout=60)
        if name == "SIGKILL":
            assert process.returncode == -signal.SIGKILL
        elif process.returncode != 0:  # 0: it was done before the signal came
            assert process.returncode == 130, err
            assert "same command" in err
            assert json.loads((out / "run.json").read_bytes())["partial"] is True
            assert metrics(out)["0.5"]["n_total"] <= N
        second = run(command(data, out), server.env)
        assert second.returncode == 0, second.stderr
        check_exact(out, data, THRESHOLDS)
        twice = sum(server.answered.values()) - len(server.answered)
        assert len(server.answered) == N * len(THRESHOLDS)
        assert twice <= (CONCURRENCY if name == "SIGKILL" else 0)
        before = server.requests
        third = run(command(data, out), server.env)
        assert (third.returncode, server.requests) == (0, before)
        check_exact(out, data, THRESHOLDS)


def test_a_second_interrupt_stops_at_once(tmp_path: Path) -> None:
    data, out = write_questions(tmp_path / "q.csv", N), tmp_path / "out"
    with FakeLLM(lambda _p, _a: "hang" if server.requests > 10 else None) as server:
        process = start(command(data, out), server.env)
        while server.requests < 12:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert process.poll() is None  # it waits for what is in flight
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=3)
        assert process.returncode == 130


def test_a_stop_while_the_server_asks_to_wait_does_not_wait(tmp_path: Path) -> None:
    data, out = write_questions(tmp_path / "q.csv", N), tmp_path / "out"
    with FakeLLM(lambda _p, _a: "429" if server.requests > 10 else None) as server:
        server.retry_delay = "200s"
        process = start(command(data, out), server.env)
        while server.requests < 12:
            time.sleep(0.005)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        assert process.returncode == 130
        assert metrics(out)["0.5"]["n_total"] >= 3


def test_a_torn_last_line_is_asked_again(tmp_path: Path) -> None:
    data, out = write_questions(tmp_path / "q.csv", N), tmp_path / "out"
    with FakeLLM() as server:
        assert run(command(data, out), server.env).returncode == 0
        journal = out / "run.jsonl"
        journal.write_bytes(journal.read_bytes()[:-25])
        before = server.requests
        assert run(command(data, out), server.env).returncode == 0
        assert server.requests - before == 1
        check_exact(out, data, THRESHOLDS)


def test_a_damaged_line_inside_is_refused_not_skipped(tmp_path: Path) -> None:
    data, out = write_questions(tmp_path / "q.csv", N), tmp_path / "out"
    with FakeLLM() as server:
        assert run(command(data, out), server.env).returncode == 0
        lines = (out / "run.jsonl").read_bytes().splitlines(keepends=True)
        lines[4] = b'{"slot": 4, "te\n'
        (out / "run.jsonl").write_bytes(b"".join(lines))
        before = server.requests
        done = run(command(data, out), server.env)
        assert (done.returncode, server.requests) == (2, before)
        assert "line 5" in done.stderr


def test_two_processes_in_one_folder_the_second_is_refused(tmp_path: Path) -> None:
    data, out = write_questions(tmp_path / "q.csv", N), tmp_path / "out"
    with FakeLLM() as server:
        server.held = True
        first = start(command(data, out), server.env)
        while server.requests < 1:
            time.sleep(0.005)
        second = run(command(data, out), server.env)
        assert second.returncode == 2
        assert "another process" in second.stderr
        fresh = run([*command(data, out), "--fresh"], server.env)
        assert fresh.returncode == 2
        server.held = False
        first.communicate(timeout=60)
        assert first.returncode == 0
    check_exact(out, data, THRESHOLDS)
    assert max(server.answered.values()) == 1


def test_another_configuration_is_refused_by_name_and_fresh_moves_aside(tmp_path: Path) -> None:
    data, out = write_questions(tmp_path / "q.csv", 10), tmp_path / "out"
    with FakeLLM() as server:
        assert run(command(data, out), server.env).returncode == 0
        before = server.requests
        changed = [*command(data, out), "--temperature", "0.5", "--thresholds", "0.5"]
        refused = run(changed, server.env)
        assert (refused.returncode, server.requests) == (2, before)
        assert "temperature: was 0.0, now 0.5" in refused.stderr
        assert "thresholds: was [0.5,0.75,0.9], now [0.5]" in refused.stderr
        other = write_questions(tmp_path / "other.csv", 11)
        refused = run(command(other, out), server.env)
        assert refused.returncode == 2
        assert "n_items: was 10, now 11" in refused.stderr
        assert run([*changed, "--fresh"], server.env).returncode == 0
    aside = [path for path in tmp_path.iterdir() if path.name.startswith("out.old-")]
    assert len(aside) == 1
    assert (aside[0] / "run.jsonl").exists()


def test_a_full_disk_stops_the_run_and_the_same_command_goes_on(tmp_path: Path) -> None:
    data, out = write_questions(tmp_path / "q.csv", N), tmp_path / "out"
    with FakeLLM() as server:
        full = run(command(data, out), server.env, file_limit=30_000)
        assert full.returncode == 2
        assert "run.jsonl" in full.stderr
        assert "same command" in full.stderr
        answered = len(server.answered)
        assert 0 < answered < N * len(THRESHOLDS)
        assert run(command(data, out), server.env).returncode == 0
        assert sum(server.answered.values()) - len(server.answered) <= CONCURRENCY
    check_exact(out, data, THRESHOLDS)


def test_an_output_path_that_cannot_be_written_is_refused_before_any_request(tmp_path: Path) -> None:
    data = write_questions(tmp_path / "q.csv", 5)
    (tmp_path / "file").write_text("here")
    with FakeLLM() as server:
        done = run(command(data, tmp_path / "file" / "out"), server.env)
        assert (done.returncode, server.requests) == (2, 0)
        assert "--out" in done.stderr
