"""Recorded answers: finding them, reading rows strictly, and a foreign recording turned into a replay file."""

from __future__ import annotations

import asyncio
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hallcheck.errors import BadRequest, ConfigError, DataError
from hallcheck.providers.recorded import BadCellError, parse_row
from hallcheck.providers.replay import ReplayProvider, create
from hallcheck.types import Message, Request, Usage


def opened(path: Path) -> ReplayProvider:
    return create(str(path), timeout_s=1, concurrency=1, env={})


def jsonl(folder: Path, *rows: dict[str, Any]) -> ReplayProvider:
    path = folder / "recorded.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return opened(path)


def table(folder: Path, text: str) -> ReplayProvider:
    path = folder / "recorded.csv"
    path.write_bytes(text.encode())
    return opened(path)


def text_of(provider: ReplayProvider, *place: Any, **more: Any) -> str | None:
    reply = provider.lookup(*place, **more)
    return None if reply is None else reply.text


def test_an_id_goes_before_the_question(tmp_path: Path) -> None:
    provider = jsonl(
        tmp_path,
        {"id": "a", "question": "How deep?", "answer": "by id"},
        {"id": "b", "question": "How wide?", "answer": "by question"},
    )
    assert len(provider) == 2
    assert text_of(provider, "a", "How wide?", None) == "by id"
    assert text_of(provider, "elsewhere", " How \n wide? ", None) == "by question"
    assert text_of(provider, "elsewhere", "how wide?", None) is None
    assert text_of(provider, "How wide?", "a", None) is None


def test_the_threshold_is_matched_and_a_row_without_one_holds_at_any(tmp_path: Path) -> None:
    provider = jsonl(
        tmp_path,
        {"id": "a", "t": 0.1 + 0.2, "answer": "told 0.3"},
        {"id": "a", "answer": "told nothing"},
        {"id": "b", "t": 0.5, "answer": "told 0.5"},
    )
    assert text_of(provider, "a", "", 0.3) == "told 0.3"
    assert text_of(provider, "a", "", 0.300001) == "told nothing"
    assert text_of(provider, "a", "", None) == "told nothing"
    assert text_of(provider, "b", "", 0.9) is None
    assert text_of(provider, "b", "", None) is None


def test_repeats_and_methods_tell_rows_apart(tmp_path: Path) -> None:
    provider = jsonl(
        tmp_path,
        {"id": "a", "answer": "first"},
        {"id": "a", "repeat": 1, "answer": "second"},
        {"id": "b", "method": "verbal", "answer": "v"},
        {"id": "b", "method": "logprob", "answer": "l"},
    )
    assert [text_of(provider, "a", "", 0.5, repeat) for repeat in range(3)] == ["first", "second", None]
    assert text_of(provider, "b", "", None, 0, method="logprob") == "l"
    assert text_of(provider, "b", "", None, 0, method="samples") is None
    with pytest.raises(BadRequest, match="holds 2 answers to item 'b'"):
        provider.lookup("b", "", None)


def test_one_question_under_two_ids_is_found_by_id_only(tmp_path: Path) -> None:
    rows = [{"id": name, "question": "Who?", "answer": name} for name in ("a", "b")]
    provider = jsonl(tmp_path, *rows)
    assert text_of(provider, "b", "Who?", None) == "b"
    with pytest.raises(BadRequest, match=r"2 answers to item 'c'.*nothing tells them apart"):
        provider.lookup("c", "Who?", None)


def test_a_missing_answer_names_the_item_and_where(tmp_path: Path) -> None:
    provider = jsonl(tmp_path, {"id": "a", "t": 0.5, "answer": "x"})
    assert asyncio.run(provider.replay("a", "", 0.5, 0)).text == "x"
    with pytest.raises(BadRequest, match=r"item 'zed' at t = 0\.5, sample 3 in .*recorded\.jsonl"):
        asyncio.run(provider.replay("zed", "", 0.5, 3))
    with pytest.raises(BadRequest, match="the question 'Which one"):
        asyncio.run(provider.replay("", "Which one?", None, 0))
    assert provider.classify(BadRequest("x")).kind == "no"


def test_a_request_is_answered_by_the_item_that_it_is_about(tmp_path: Path) -> None:
    provider = jsonl(tmp_path, {"id": "a", "t": 0.5, "answer": "x"})
    prompt = (Message(role="user", content="a"),)
    about = Request(provider="replay", endpoint="", model="", messages=prompt, item_id="a", t=0.5)
    assert asyncio.run(provider.complete(about)).text == "x"
    nothing = Request(provider="replay", endpoint="", model="", messages=prompt)
    with pytest.raises(BadRequest, match="no recorded answer"):
        asyncio.run(provider.complete(nothing))


def test_every_column_reaches_the_reply(tmp_path: Path) -> None:
    row = {
        "id": 7,
        "answer": "Paris",
        "finish": "length",
        "confidence": 0.25,
        "abstained": False,
        "truthful": 1,
        "logprobs": [["Par", -0.5], ["is", 0]],
        "usage": {"input_tokens": 5, "output_tokens": 2, "else": "x"},
        "model_version": "m-1",
        "a column of no interest": {"deep": [1]},
    }
    reply = jsonl(tmp_path, row).lookup("7", "", 0.5)
    assert reply is not None
    assert (reply.text, reply.finish, reply.confidence) == ("Paris", "length", 0.25)
    assert (reply.abstained, reply.correct, reply.model_version) == (False, True, "m-1")
    assert reply.logprobs == (("Par", -0.5), ("is", 0.0))
    assert reply.usage == Usage(input_tokens=5, output_tokens=2)


def test_what_the_row_does_not_say_is_none() -> None:
    reply = parse_row({"id": "a", "answer": None, "correct": "", "confidence": " "}).reply
    assert (reply.text, reply.finish) == ("", "stop")
    assert reply.correct is reply.abstained is reply.confidence is reply.logprobs is reply.model_version is None


def test_logprobs_are_supported_only_where_the_file_has_them(tmp_path: Path) -> None:
    assert "logprobs" not in jsonl(tmp_path, {"id": "a", "answer": "x"}).supports
    with_them = jsonl(tmp_path, {"id": "a", "answer": "x"}, {"id": "b", "answer": "x", "logprobs": [["x", -1]]})
    assert "logprobs" in with_them.supports


def test_the_endpoint_changes_with_the_content(tmp_path: Path) -> None:
    first = jsonl(tmp_path, {"id": "a", "answer": "x"}).endpoint
    assert jsonl(tmp_path, {"id": "a", "answer": "y"}).endpoint != first
    assert jsonl(tmp_path, {"id": "a", "answer": "x"}).endpoint == first


@pytest.mark.parametrize(
    ("word", "value"), [("false", False), ("TRUE", True), ("1.0", True), ("no", False), (0, False)]
)
def test_booleans_are_read_not_guessed(word: Any, value: bool) -> None:
    assert parse_row({"id": "a", "pred": "x", "abstained": word, "correct": word}).reply.abstained is value
    assert parse_row({"id": "a", "pred": "x", "correct": word}).reply.correct is value


@pytest.mark.parametrize(
    ("cells", "column"),
    [
        ({"answer": "x"}, "id"),
        ({"id": "  ", "question": None, "answer": "x"}, "id"),
        ({"id": "a"}, "answer"),
        ({"id": "a", "answer": ["x"]}, "answer"),
        ({"id": True, "answer": "x"}, "id"),
        ({"id": "a", "answer": "x", "correct": "maybe"}, "correct"),
        ({"id": "a", "answer": "x", "truthful": 2}, "truthful"),
        ({"id": "a", "answer": "x", "abstained": []}, "abstained"),
        ({"id": "a", "answer": "x", "confidence": 85}, "confidence"),
        ({"id": "a", "answer": "x", "confidence": "nan"}, "confidence"),
        ({"id": "a", "answer": "x", "t": "1_0"}, "t"),
        ({"id": "a", "answer": "x", "t": True}, "t"),
        ({"id": "a", "answer": "x", "t": 50}, "t"),
        ({"id": "a", "answer": "x", "repeat": -1}, "repeat"),
        ({"id": "a", "answer": "x", "repeat": 1.5}, "repeat"),
        ({"id": "a", "answer": "x", "logprobs": [["x", 0.1]]}, "logprobs"),
        ({"id": "a", "answer": "x", "logprobs": [["x"]]}, "logprobs"),
        ({"id": "a", "answer": "x", "logprobs": {"x": -1}}, "logprobs"),
        ({"id": "a", "answer": "x", "logprobs": "[["}, "logprobs"),
        ({"id": "a", "answer": "x", "usage": {"input_tokens": -1}}, "usage"),
        ({"id": "a", "answer": "x", "usage": [1]}, "usage"),
    ],
)
def test_a_bad_cell_is_refused_by_name(cells: dict[str, Any], column: str) -> None:
    with pytest.raises(BadCellError) as caught:
        parse_row(cells)
    assert caught.value.column == column


def test_errors_name_file_row_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"id": "a", "answer": "x"}\n\n{"id": "b", "answer": "x", "abstained": "perhaps"}\n')
    with pytest.raises(DataError, match=r"bad\.jsonl, row 2 \(line 3\), column 'abstained': must be true or false"):
        opened(path)
    path.write_text('{"id": "a", "answer": "x"}\n["b"]\n')
    with pytest.raises(DataError, match=r"row 2 \(line 2\): is no JSON object"):
        opened(path)
    path.write_text('{"id": "a", "answer": NaN}\n')
    with pytest.raises(DataError, match=r"row 1 \(line 1\)"):
        opened(path)


@pytest.mark.parametrize(
    "second",
    [
        {"id": "a", "t": 0.5},
        {"id": "a", "t": 0.5 + 1e-12, "question": "other words"},
        {"id": "a", "t": "0.50", "repeat": 0},
    ],
)
def test_the_same_place_twice_is_refused(tmp_path: Path, second: dict[str, Any]) -> None:
    with pytest.raises(DataError, match=r"row 2 \(line 2\): a second answer to item 'a' at t = .*first is on line 1"):
        jsonl(tmp_path, {"id": "a", "t": 0.5, "answer": "x"}, {**second, "answer": "y"})


def test_the_same_question_twice_without_ids_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a second answer to the question 'Who is it"):
        jsonl(tmp_path, {"question": "Who is it?", "answer": "x"}, {"question": " Who  is it?", "answer": "y"})


def test_csv_with_mark_semicolons_and_quoted_newlines(tmp_path: Path) -> None:
    text = (
        "\ufeffID;Question;T;Pred;abstained;logprobs;note\r\n"
        'a;"Which\r\nsong?";0.5;"first ""line""\r\nnaïve; second";false;"[[""x"", -0.5]]";n\r\n'
        "\r\n"
        "b;Who?;;IDK;true;;n\r\n"
    )
    provider = table(tmp_path, text)
    first = provider.lookup("a", "", 0.5)
    assert first is not None
    assert first.text == 'first "line"\r\nnaïve; second'
    assert first.abstained is False
    assert first.logprobs == (("x", -0.5),)
    assert text_of(provider, "?", "Which song?", 0.5) == first.text
    last = provider.lookup("b", "", 0.9)
    assert last is not None
    assert (last.text, last.abstained, last.logprobs) == ("IDK", True, None)


def test_csv_faults_name_the_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"row 2 \(line 4\): has 1 cells where the header has 2"):
        table(tmp_path, 'id,answer\na,"two\nlines"\nb\n')
    with pytest.raises(DataError, match=r"row 1 \(line 2\), column 'confidence'"):
        table(tmp_path, "id,answer,confidence\na,x,high\n")
    with pytest.raises(DataError, match=r"row 2 \(line 3\): is no valid CSV"):
        table(tmp_path, 'id,answer\na,x\nb,"open\n')
    with pytest.raises(DataError, match="column 'answer': the header lacks this column"):
        table(tmp_path, "id,reply\na,x\n")
    with pytest.raises(DataError, match="column 'id': the header lacks this column"):
        table(tmp_path, "name,answer\na,x\n")
    with pytest.raises(DataError, match="column 'answer': the header has this column twice"):
        table(tmp_path, "id,answer,Answer\na,x,y\n")
    path = tmp_path / "latin.csv"
    path.write_bytes(b"id,answer\na,caf\xe9\n")
    with pytest.raises(DataError, match="line 2 is not UTF-8"):
        opened(path)


def test_files_that_cannot_be_replayed(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"\.jsonl and \.csv"):
        opened(tmp_path / "answers.parquet")
    with pytest.raises(DataError, match="cannot be opened"):
        opened(tmp_path / "absent.jsonl")
    for name, content in (("empty.jsonl", ""), ("header.csv", "id,answer\n")):
        (tmp_path / name).write_text(content)
        with pytest.raises(DataError, match="holds no recorded answer"):
            opened(tmp_path / name)


def test_a_file_that_changes_meanwhile_is_noticed(tmp_path: Path) -> None:
    provider = jsonl(tmp_path, {"id": "a", "answer": "x"}, {"id": "b", "answer": "y"})
    provider.path.write_text('{"id"')
    with pytest.raises(DataError, match=r"row 2 \(line 2\): changed while it was replayed"):
        provider.lookup("b", "", None)


@settings(deadline=None, max_examples=60)
@given(answers=st.lists(st.text(st.characters(blacklist_categories=("Cs",)), max_size=30), min_size=1, max_size=12))
def test_every_answer_comes_back_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, answers: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("replay")
    rows = [{"id": f"item {i // 2}", "t": (0.5, 0.9)[i % 2], "answer": text} for i, text in enumerate(answers)]
    provider = jsonl(folder, *rows)
    for row in reversed(rows):
        assert text_of(provider, row["id"], "", row["t"]) == row["answer"]


def threshold_files_to_rows(files: list[Path]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(items, replay rows) from one file a threshold: {"summary": {"threshold"}, "results": [{"question", ...}]}.

    An item's id is its place in the first file; the same questions must be in all. Gold answers are not recorded there:
    an item's is a stand-in, since the recording carries its own verdicts.
    """
    items: dict[str, dict[str, Any]] = {}
    rows = []
    for path in files:
        recorded = json.loads(path.read_text(encoding="utf-8"))
        for result in recorded["results"]:
            question = result["question"]
            item = {"id": f"q{len(items):03d}", "question": question, "gold": "(recorded verdict)"}
            item = items.setdefault(question, item | {"category": result["category"]})
            kept = {name: result[name] for name in ("question", "answer", "confidence", "abstained", "truthful")}
            rows.append({"id": item["id"], "t": recorded["summary"]["threshold"], **kept})
    return list(items.values()), rows


@pytest.mark.shared
def test_a_recorded_run_at_three_thresholds_replays_to_its_own_summary(shared: Path, tmp_path: Path) -> None:
    folder = shared / "data" / "recorded" / "truthfulqa_haiku_thresholds"
    files = [folder / f"threshold_{t}_results.json" for t in (50, 70, 90)]
    items, rows = threshold_files_to_rows(files)
    provider = jsonl(tmp_path, *rows)
    assert len(rows) == len(items) * len(files)
    for path in files:
        summary = json.loads(path.read_text(encoding="utf-8"))["summary"]
        replies = [
            asyncio.run(provider.replay(item["id"], item["question"], summary["threshold"], 0)) for item in items
        ]
        assert len(replies) == summary["total"]
        assert sum(reply.abstained is True for reply in replies) == summary["abstained"]
        assert sum(reply.correct is True for reply in replies) == summary["truthful"]
        wrong = sum(reply.correct is False for reply in replies)
        assert wrong == summary["hallucinated"]
        answered = summary["total"] - summary["abstained"]
        assert math.isclose(wrong / answered, summary["hallucination_rate_on_answered"], abs_tol=1e-4)
        by_question = [provider.lookup("", item["question"], summary["threshold"]) for item in items]
        assert by_question == replies
