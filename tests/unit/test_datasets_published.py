"""SimpleQA and TruthfulQA: both layouts, ids, and what is refused."""

from __future__ import annotations

import csv
import json

import pytest

from hallcheck.datasets.simpleqa import SimpleQADataset
from hallcheck.datasets.truthfulqa import TruthfulQADataset
from hallcheck.errors import ConfigError, DataError


def write(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


SIMPLE = [
    ["metadata", "problem", "answer"],
    ["{'topic': 'Music', 'answer_type': 'Person', 'urls': ['https://a.example/\\d']}", "Who sang it?", "Ann | Bob"],
    ["", "How many?", "1,000"],
    ["", "How many?", "1,000"],
]


def test_simpleqa(tmp_path):
    path = write(tmp_path / "s.csv", SIMPLE)
    first, second, third = SimpleQADataset(path)
    assert (first.question, first.answers, first.category) == ("Who sang it?", ("Ann | Bob",), "Music")
    assert first.meta == {"answer_type": "Person", "urls": ["https://a.example/\\d"]}
    assert (second.answers, second.category, second.meta) == (("1,000",), None, {})
    assert first.id.startswith("simpleqa:")
    assert third.id == f"{second.id}-2"


def test_simpleqa_json_lines(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps({"metadata": {"topic": "Art"}, "problem": "Q?", "answer": 1957}))
    (item,) = SimpleQADataset(path)
    assert (item.answers, item.category) == (("1957",), "Art")
    path.write_text(json.dumps({"problem": "Q?", "topic": "Sport", "target": "x"}))
    with pytest.raises(DataError, match=r"row 1 .*'answer'"):
        list(SimpleQADataset(path))


@pytest.mark.parametrize(
    ("row", "column"),
    [(["{}", " ", "a"], "problem"), (["{}", "q", ""], "answer"), (["{'topic':", "q", "a"], "metadata"),
     (["['topic']", "q", "a"], "metadata"), (["__import__('os')", "q", "a"], "metadata"),
     (["(" * 5000, "q", "a"], "metadata"), (["{[]: 1}", "q", "a"], "metadata")],
)  # fmt: skip
def test_simpleqa_refuses(row, column, tmp_path):
    path = write(tmp_path / "s.csv", [*SIMPLE[:3], row])
    with pytest.raises(DataError) as caught:
        list(SimpleQADataset(path))
    assert (caught.value.row, caught.value.column) == (3, column)


TRUTHFUL = [
    ["Type", "Category", "Question", "Best Answer", "Correct Answers", "Incorrect Answers", "Source"],
    ["Adversarial", "Myths", "Do bats see?", "Yes; well", "They see; Yes; well ;", "No; They are blind", "x.example"],
    ["Plain", "", "What now?", "", "Nothing", "", ""],
]


def test_truthfulqa_csv(tmp_path):
    first, second = TruthfulQADataset(write(tmp_path / "t.csv", TRUTHFUL))
    # The best answer is one text; only the lists are separated.
    assert first.answers == ("Yes; well", "They see", "Yes", "well")
    assert first.category == "Myths"
    assert first.meta == {
        "incorrect_answers": ["No", "They are blind"],
        "type": "Adversarial",
        "source": "x.example",
    }
    assert (second.answers, second.category) == (("Nothing",), None)
    assert first.id.startswith("truthfulqa:")


def test_truthfulqa_json_lines(tmp_path):
    path = tmp_path / "t.jsonl"
    row = {"question": "Q?", "best_answer": "b", "correct_answers": ["b", "c; d"], "incorrect_answers": ["e"]}
    path.write_text(json.dumps(row | {"category": "Law"}) + "\n" + json.dumps(row))
    first, second = TruthfulQADataset(path)
    assert (first.answers, first.category) == (("b", "c; d"), "Law")
    assert first.meta == {"incorrect_answers": ["e"]}
    assert second.id == f"{first.id}-2"


@pytest.mark.parametrize(
    ("row", "column"),
    [({"best_answer": "a"}, "question"), ({"question": " ", "best_answer": "a"}, "question"),
     ({"question": "q"}, "best_answer"), ({"question": "q", "correct_answers": [1]}, "correct_answers"),
     ({"question": "q", "best_answer": ["a", None]}, "best_answer")],
)  # fmt: skip
def test_truthfulqa_refuses(row, column, tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"question": "ok", "best_answer": "a"}\n' + json.dumps(row))
    with pytest.raises(DataError) as caught:
        list(TruthfulQADataset(path))
    assert (caught.value.row, caught.value.column) == (2, column)


@pytest.mark.parametrize("kind", [SimpleQADataset, TruthfulQADataset])
def test_limit_and_seed(kind, tmp_path):
    if kind is SimpleQADataset:
        rows = [SIMPLE[0], *[["", f"q{i}", f"a{i}"] for i in range(40)]]
    else:
        rows = [TRUTHFUL[0], *[["", "", f"q{i}", f"a{i}", "", "", ""] for i in range(40)]]
    path = write(tmp_path / "x.csv", rows)
    every = [i.id for i in kind(path)]
    some = [i.id for i in kind(path, limit=7)]
    assert some == [i.id for i in kind(path, 7, 1234)]
    assert some == sorted(some, key=every.index)
    assert len(set(some)) == 7
    assert some != [i.id for i in kind(path, limit=7, seed=2)]
    with pytest.raises(ConfigError):
        kind(path, limit=0)
    with pytest.raises(DataError, match="lacks this column"):
        list(kind(write(tmp_path / "y.csv", [["id", "text"], ["1", "a"]])))


@pytest.mark.shared
def test_the_real_files(shared):
    folder = shared / "data" / "closed_book"
    simple = list(SimpleQADataset(folder / "simple_qa_test_set.csv"))
    truthful = list(TruthfulQADataset(folder / "TruthfulQA.csv"))
    assert (len(simple), len(truthful)) == (4326, 790)
    assert len({i.id for i in simple}) == 4326
    assert len({i.id for i in truthful}) == 790
    assert all(i.category and len(i.answers) == 1 for i in simple)
    assert all(i.category and i.answers and i.meta["incorrect_answers"] for i in truthful)
    sample = shared / "data" / "recorded" / "truthfulqa_haiku_thresholds" / "truthfulqa_sample.jsonl"
    assert len(list(TruthfulQADataset(sample))) == 100
