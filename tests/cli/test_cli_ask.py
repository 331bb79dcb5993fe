"""`hallcheck ask` at a terminal: exit codes, output, refusals before any request, dry run, cache, judging again."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from support.cli import check_exact, expected, metrics, run, write_questions
from support.fake_llm import FakeLLM


def ask(data: Path, out: Path, *more: str) -> list[str]:
    return ["ask", "--data", str(data), "--out", str(out), "--no-figures", *more]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["nan"], "not a number"),
        (["-0.5"], "[0, 1]"),
        (["1.5"], "[0, 1]"),
        (["75"], "did you mean 0.75"),
        (["50%"], "did you mean 0.5"),
        (["0.5", "0.50"], "twice"),
        (["half"], "not a number"),
        (["inf"], "[0, 1]"),
    ],
)
def test_bad_thresholds_are_refused_saying_what_was_meant(given: list[str], said: str, tmp_path: Path) -> None:
    data = write_questions(tmp_path / "q.csv", 3)
    with FakeLLM() as server:
        done = run([*ask(data, tmp_path / "out"), "--thresholds", *given], server.env)
    assert (done.returncode, server.requests) == (2, 0)
    assert said in done.stderr
    assert not (tmp_path / "out").exists()


def test_thresholds_are_shown_to_the_model_as_they_are_scored(tmp_path: Path) -> None:
    data = write_questions(tmp_path / "q.csv", 4)
    with FakeLLM() as server:
        done = run([*ask(data, tmp_path / "out"), "--thresholds", "0", "0.125", "0.995", "1.0"], server.env)
    assert done.returncode == 0, done.stderr
    shown = {re.search(r"Answer only if you are > (\S+) confident\.", json.dumps(body))[1] for body in server.bodies}  # type: ignore[index]
    assert shown == {"0", "0.125", "0.995", "1"}
    for t in (0.0, 0.125, 0.995):
        assert metrics(tmp_path / "out")[str(t)]["answered"] == expected(data, t)["answered"]
    assert metrics(tmp_path / "out")["1.0"]["answered"] == 0


MALFORMED = {
    "empty": b"",
    "header only": b"id,question,gold,unknown_ok\n",
    "no question column": b"id,gold,unknown_ok\n1,x,0\n",
    "blank question": b"id,question,gold,unknown_ok\n1, ,x,0\n",
    "blank gold": b"id,question,gold,unknown_ok\n1,Who?,,0\n",
    "duplicate id": b"id,question,gold,unknown_ok\n1,Who?,x,0\n1,What?,y,0\n",
    "short row": b"id,question,gold,unknown_ok\n1,Who?\n",
    "extra cells": b"id,question,gold,unknown_ok\n1,Who, me?,x,0\n",
    "latin-1": "id,question,gold,unknown_ok\n1,Où?,x,0\n".encode("latin-1"),
    "NUL": b"id,question,gold,unknown_ok\n1,Wh\0o?,x,0\n",
    "unknown_ok maybe": b"id,question,gold,unknown_ok\n1,Who?,x,maybe\n",
}


@pytest.mark.parametrize("kind", sorted(MALFORMED))
def test_malformed_data_is_refused_before_any_request(kind: str, tmp_path: Path) -> None:
    data = tmp_path / "my data:1.csv"
    data.write_bytes(MALFORMED[kind])
    with FakeLLM() as server:
        done = run(ask(data, tmp_path / "out"), server.env)
    assert (done.returncode, server.requests) == (2, 0)
    assert "my data:1.csv" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") <= 3


@pytest.mark.parametrize("data", ["missing.csv", "."])
def test_a_missing_file_or_a_folder_is_refused(data: str, tmp_path: Path) -> None:
    with FakeLLM() as server:
        done = run(ask(tmp_path / data, tmp_path / "out"), server.env)
    assert (done.returncode, server.requests) == (2, 0)


def test_well_formed_tables_of_every_kind_give_the_same_figures(tmp_path: Path) -> None:
    data = write_questions(tmp_path / "q.csv", 10)
    text = data.read_text(encoding="utf-8")
    kinds = {
        "bom.csv": b"\xef\xbb\xbf" + text.encode(),
        "utf16.csv": text.encode("utf-16"),
        "semicolon.csv": text.replace(",", ";").encode(),
        "tab.tsv": text.replace(",", "\t").encode(),
        "crlf.csv": text.replace("\n", "\r\n").encode(),
        "words.csv": text.replace(",0,", ",FALSE,").replace(",1,", ",yes,").encode(),
    }
    with FakeLLM() as server:
        for name, content in kinds.items():
            (tmp_path / name).write_bytes(content)
            done = run([*ask(tmp_path / name, tmp_path / f"out {name}"), "--thresholds", "0.5"], server.env)
            assert done.returncode == 0, (name, done.stderr)
            check_exact(tmp_path / f"out {name}", data, (0.5,))


def test_a_dry_run_counts_what_a_run_sends_and_sends_nothing(tmp_path: Path) -> None:
    data, out = write_questions(tmp_path / "q.csv", 10), tmp_path / "out"
    with FakeLLM() as server:
        done = run([*ask(data, out), "--dry-run", "--price-in", "1", "--price-out", "2"], server.env)
        assert (done.returncode, server.requests) == (0, 0)
        assert re.search(r"requests +30\n", done.stdout)
        assert "cost" in done.stdout
        assert not out.exists()
        assert run(ask(data, out), server.env).returncode == 0
        assert server.requests == 30
        done = run([*ask(data, out), "--dry-run"], server.env)
        assert re.search(r"requests +0\n", done.stdout)


def test_too_many_unscored_rows_are_exit_3(tmp_path: Path) -> None:
    data = write_questions(tmp_path / "q.csv", 10)
    with FakeLLM(lambda prompt, _a: "blocked" if "hall 3 " in prompt else None) as server:
        done = run(ask(data, tmp_path / "out"), server.env)
        assert done.returncode == 3
        assert "10.0%" in done.stderr
        assert run([*ask(data, tmp_path / "out"), "--max-unscored", "0.1"], server.env).returncode == 0


def test_json_prints_paths_and_quiet_prints_nothing(tmp_path: Path) -> None:
    data = write_questions(tmp_path / "q.csv", 3)
    with FakeLLM() as server:
        done = run([*ask(data, tmp_path / "out"), "--json"], server.env)
        paths = json.loads(done.stdout)
        assert all(Path(path).exists() for path in paths.values())
        assert {"results.csv", "metrics.json", "report.html", "run.jsonl"} <= set(paths)
        done = run([*ask(data, tmp_path / "out"), "--quiet"], server.env)
        assert (done.stdout, done.stderr) == ("", "")


def test_the_cache_serves_replies_across_runs_and_fresh_does_not_read_it(tmp_path: Path) -> None:
    data, cache = write_questions(tmp_path / "q.csv", 10), str(tmp_path / "cache")
    failing = {"on": True}
    with FakeLLM(lambda p, _a: "400" if failing["on"] and "hall 2 " in p else None) as server:
        run([*ask(data, tmp_path / "one"), "--cache", cache], server.env)
        first, failing["on"] = server.requests, False
        done = run([*ask(data, tmp_path / "two"), "--cache", cache], server.env)
        assert done.returncode == 0, done.stderr
        assert server.requests - first == 3  # a failure is never stored
        check_exact(tmp_path / "two", data, (0.5, 0.75, 0.9))
        before = server.requests
        run([*ask(data, tmp_path / "two"), "--cache", cache, "--fresh"], server.env)
        assert server.requests - before == 30


def test_stored_replies_are_judged_again_without_new_answers(tmp_path: Path) -> None:
    data, out = write_questions(tmp_path / "q.csv", 20), tmp_path / "out"
    with FakeLLM() as server:
        assert run(ask(data, out), server.env).returncode == 0
        before = server.requests
        done = run(["ask", "--rejudge", str(out), "--judge", "llm", "--no-figures"], server.env)
        assert done.returncode == 0, done.stderr
        asked = server.bodies[before:]
        assert asked
        assert all("Candidate answer: " in json.dumps(body) for body in asked)
        # Only committed answers to answerable items go to the judge.
        wanted = sum(expected(data, t)["answered"] for t in (0.5, 0.75, 0.9))
        assert len(asked) <= wanted
        check_exact(tmp_path / "out-judged-llm", data, (0.5, 0.75, 0.9))
        before = server.requests
        assert run(["ask", "--rejudge", str(out), "--judge", "llm", "--no-figures"], server.env).returncode == 0
        assert server.requests == before


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--model", "opnai/gpt"], "did you mean 'openai'"),
        (["--model", "gpt-4"], "PROVIDER/gpt-4"),
        (["--method", "logprob", "--model", "anthropic/x"], "--method verbal"),
        (["--concurrency", "0"], "--concurrency"),
        (["--max-retries", "-1"], "--max-retries"),
        (["--rpm-limit", "0"], "--rpm-limit"),
        (["--timeout", "nan"], "--timeout"),
        (["--idk-frac", "0.3"], "--dataset mmlu"),
        (["--limit", "0"], "--limit"),
        (["--method", "samples", "--temperature", "0"], "--temperature"),
        (["--shots", "99"], "--shots"),
        (["--no-such-option"], "--help"),
    ],
)
def test_options_that_make_no_sense_are_refused_by_name(more: list[str], said: str, tmp_path: Path) -> None:
    data = write_questions(tmp_path / "q.csv", 3)
    with FakeLLM() as server:
        done = run(
            [*ask(data, tmp_path / "out"), *more], {**server.env, "ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}
        )
    assert (done.returncode, server.requests) == (2, 0)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    done = run([*ask(tmp_path / "missing.csv", tmp_path / "out"), "--debug"], {"GOOGLE_API_KEY": "k"})
    assert "Traceback" in done.stderr
    assert done.returncode != 0


def test_help_names_every_group_and_has_an_example() -> None:
    done = run(["ask", "--help"])
    assert done.returncode == 0
    assert "hallcheck ask --data questions.csv" in done.stdout
    assert all(name in done.stdout for name in ("questions", "model and method", "requests", "output"))
