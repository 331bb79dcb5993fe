"""Where a run is kept, from the command line: odd paths, a mistaken first try, a fresh start, judging again."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hallcheck.cli import main as cli
from hallcheck.cli.console import guarded
from support.cli import check_exact, expected, run, write_questions
from support.fake_llm import FakeLLM


@pytest.fixture
def server(monkeypatch: Any) -> Any:
    with FakeLLM() as server:
        for name, value in server.env.items():
            monkeypatch.setenv(name, value)
        yield server


def ask(*arguments: object) -> int:
    return cli.main(["ask", "--no-figures", *map(str, arguments)])


@pytest.mark.parametrize("name", ["with spaces", "a:b", "ünïcødé 測試 🧪", "'quoted' & \"more\"", "-dash", "100%"])
def test_odd_paths_are_as_good_as_any(name: str, server: FakeLLM, tmp_path: Path, capsys: Any) -> None:
    (tmp_path / name).mkdir()
    data = write_questions(tmp_path / name / f"{name}.csv", 4)
    out = tmp_path / name / f"{name} out"
    assert ask("--data", data, "--out", out, "--thresholds", "0.5") == 0
    check_exact(out, data, (0.5,))
    assert str(out / "report.html") in capsys.readouterr().out
    before = server.requests
    assert ask("--data", data, "--out", out, "--thresholds", "0.5", "--json") == 0
    assert server.requests == before
    assert Path(json.loads(capsys.readouterr().out)["results.csv"]) == out / "results.csv"


def test_a_mistyped_model_can_be_corrected_in_the_same_folder(server: FakeLLM, tmp_path: Path, capsys: Any) -> None:
    data, out = write_questions(tmp_path / "q.csv", 4), tmp_path / "out"
    server.faults = lambda _prompt, _attempt: "404"
    assert ask("--data", data, "--out", out, "--model", "gemini-2.5-flsh") == 2
    assert server.requests == 1
    server.faults = lambda _prompt, _attempt: None
    assert ask("--data", data, "--out", out, "--model", "gemini-2.5-flash") == 0
    check_exact(out, data, (0.5, 0.75, 0.9))
    assert json.loads((out / "run.json").read_bytes())["config"]["model"] == "gemini-2.5-flash"
    assert "Traceback" not in capsys.readouterr().err


def test_fresh_leaves_a_folder_of_other_things_where_it_is(server: FakeLLM, tmp_path: Path) -> None:
    data, out = write_questions(tmp_path / "q.csv", 3), tmp_path / "papers"
    out.mkdir()
    (out / "thesis.tex").write_text("precious")
    assert ask("--data", data, "--out", out, "--fresh") == 0
    assert ask("--data", data, "--out", out) == 0
    assert (out / "thesis.tex").read_text() == "precious"
    assert server.requests == 9


def test_a_dry_run_of_judging_again_sends_and_writes_nothing(server: FakeLLM, tmp_path: Path, capsys: Any) -> None:
    data, out = write_questions(tmp_path / "q.csv", 20), tmp_path / "out"
    assert ask("--data", data, "--out", out) == 0
    before, there = server.requests, sorted(tmp_path.iterdir())
    capsys.readouterr()
    assert ask("--rejudge", out, "--judge", "llm", "--dry-run") == 0
    assert (server.requests, sorted(tmp_path.iterdir())) == (before, there)
    shown = capsys.readouterr().out
    assert re.search(r"^requests +0$", shown, re.MULTILINE)
    most = int(re.search(r"judge requests +(\d+) at most", shown)[1])  # type: ignore[index]
    assert ask("--rejudge", out, "--judge", "llm") == 0
    sent = server.requests - before
    assert 0 < sent <= most == 18 * 3


def test_judging_again_goes_where_it_is_told_and_never_into_the_run_itself(
    server: FakeLLM, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    data, out = write_questions(tmp_path / "q.csv", 5), tmp_path / "runs"
    assert ask("--data", data, "--out", out, "--thresholds", "0.5") == 0
    monkeypatch.chdir(tmp_path)
    assert ask("--rejudge", out, "--out", "outputs") == 0  # the default's name, but asked for
    check_exact(tmp_path / "outputs", data, (0.5,))
    assert ask("--rejudge", "outputs") == 0
    check_exact(tmp_path / "outputs-judged-exact", data, (0.5,))
    assert ask("--rejudge", out, "--out", out) == 2
    assert "--out" in capsys.readouterr().err
    assert server.requests == 5


@pytest.mark.parametrize("what", ["nothing", "no replies"])
def test_judging_a_folder_without_replies_is_refused(what: str, server: FakeLLM, tmp_path: Path, capsys: Any) -> None:
    source = tmp_path / "source"
    source.mkdir()
    if what == "no replies":
        (source / "run.json").write_text(
            json.dumps({"identity": {}, "config": {"thresholds": [0.5], "method": "prompt"}})
        )
    for more in ([], ["--dry-run"]):
        assert ask("--rejudge", source, *more) == 2
        assert str(source) in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["source"]
    assert server.requests == 0


def test_a_judge_can_be_changed_afresh_in_the_same_place(server: FakeLLM, tmp_path: Path, capsys: Any) -> None:
    data, out, again = write_questions(tmp_path / "q.csv", 6), tmp_path / "out", tmp_path / "again"
    assert ask("--data", data, "--out", out) == 0
    assert ask("--rejudge", out, "--judge", "llm", "--out", again) == 0
    assert ask("--rejudge", out, "--judge", "exact", "--out", again) == 2
    assert "judge" in capsys.readouterr().err
    assert ask("--rejudge", out, "--judge", "exact", "--out", again, "--fresh") == 0
    check_exact(again, data, (0.5, 0.75, 0.9))


@pytest.mark.parametrize("method", ["verbal", "samples"])
def test_a_dry_run_counts_for_every_method(method: str, server: FakeLLM, tmp_path: Path, capsys: Any) -> None:
    data, out = write_questions(tmp_path / "q.csv", 5), tmp_path / "out"
    arguments = ["--data", data, "--out", out, "--method", method, "--samples", "3", "--max-unscored", "1"]
    assert ask(*arguments, "--dry-run") == 0
    counted = int(re.search(r"^requests +(\d+)$", capsys.readouterr().out, re.MULTILINE)[1])  # type: ignore[index]
    assert counted == {"verbal": 5, "samples": 15}[method]
    assert ask(*arguments) == 0
    assert server.requests == counted


def test_dry_run_needs_no_key_but_a_provider_there_is(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    data = write_questions(tmp_path / "q.csv", 5)
    assert ask("--data", data, "--out", tmp_path / "out", "--dry-run") == 0
    assert ask("--data", data, "--out", tmp_path / "out", "--dry-run", "--model", "gogle/x") == 2
    assert "did you mean 'google'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cut.jsonl", '{"id": "1", "question": "Who?", "gold": "x"}\n{"id": "2", "ques'),
        ("array.jsonl", '["Who?", "x"]\n'),
        ("twice.jsonl", '{"id": "1", "question": "Who?", "gold": "x"}\n' * 2),
        ("no gold.jsonl", '{"id": "1", "question": "Who?"}\n'),
        ("empty.jsonl", "\n\n"),
    ],
)
def test_malformed_json_lines_are_refused_by_file_and_row(
    name: str, content: str, server: FakeLLM, tmp_path: Path, capsys: Any
) -> None:
    (tmp_path / name).write_text(content)
    assert ask("--data", tmp_path / name, "--out", tmp_path / "out") == 2
    shown = capsys.readouterr().err
    assert name in shown
    assert "Traceback" not in shown
    assert server.requests == 0


def test_an_error_of_ours_is_one_line_that_asks_for_a_report(capsys: Any) -> None:
    def broken() -> int:
        raise KeyError("lost")

    assert guarded(broken, prog="hallcheck ask", debug=False) == 1
    shown = capsys.readouterr().err
    assert shown.startswith("hallcheck ask: unexpected KeyError")
    assert "--debug" in shown
    assert "Traceback" not in shown
    with pytest.raises(KeyError):
        guarded(broken, prog="hallcheck ask", debug=True)


def test_an_interrupt_before_the_run_has_begun_is_exit_130(capsys: Any) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    assert guarded(interrupted, prog="hallcheck ask", debug=False) == 130
    assert "interrupted" in capsys.readouterr().err


def test_the_figures_of_answered_rows_are_those_of_the_truth(server: FakeLLM, tmp_path: Path) -> None:
    """Unanswerable rows among them, a JSONL in place of a CSV."""
    data = write_questions(tmp_path / "q.csv", 30)
    lines = data.read_text(encoding="utf-8").splitlines()
    names = lines[0].split(",")
    rows = [dict(zip(names, line.split(","), strict=True)) for line in lines[1:]]
    (tmp_path / "q.jsonl").write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    assert ask("--data", tmp_path / "q.jsonl", "--out", tmp_path / "out", "--quiet") == 0
    check_exact(tmp_path / "out", data, (0.5, 0.75, 0.9))
    assert expected(data, 0.5)["answered"] > 5


def test_changed_items_in_the_folder_are_refused(tmp_path: Path) -> None:
    data, out = write_questions(tmp_path / "q.csv", 3), tmp_path / "out"
    with FakeLLM() as server:
        command = ["ask", "--data", str(data), "--out", str(out), "--no-figures"]
        assert run(command, server.env).returncode == 0
        items = out / "items.jsonl"
        items.write_bytes(items.read_bytes().replace(b"palace", b"castle"))
        before = server.requests
        done = run(command, server.env)
    assert (done.returncode, server.requests) == (2, before)
    assert "items.jsonl" in done.stderr
