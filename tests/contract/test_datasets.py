"""What every registered data set keeps: JSON-able settings, unique ids, same seed same items, bad rows named."""

from __future__ import annotations

import csv
import json
import socket
from pathlib import Path

import pytest

from hallcheck.errors import ConfigError, DataError
from hallcheck.registry import TABLES, load
from hallcheck.types import Item


def write(path: Path, rows) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


# Name -> (header, a good row with its number, a bad row); None where the package holds the questions.
FIXTURES = {
    "table": (["id", "question", "gold", "unknown_ok"], lambda i: [i, f"q{i}?", f"a{i}", 0], ["x", " ", "a", 0]),
    "simpleqa": (["metadata", "problem", "answer"], lambda i: ["{}", f"q{i}?", f"a{i}"], ["{}", " ", "a"]),
    "truthfulqa": (
        ["Category", "Question", "Best Answer", "Correct Answers"],
        lambda i: ["c", f"q{i}?", f"a{i}", ""],
        ["c", " ", "a", ""],
    ),
    "mmlu": (
        ["question", "choice0", "choice1", "choice2", "choice3", "answer"],
        lambda i: [f"q{i}?", f"a{i}", f"b{i}", f"c{i}", f"d{i}", i % 4],
        [" ", "a", "b", "c", "d", 0],
    ),
    "builtin": None,
    "memory": None,
}
REGISTERED = sorted(TABLES["datasets"])
FROM_FILES = [name for name in REGISTERED if FIXTURES.get(name)]


def test_every_registered_set_has_a_fixture():
    assert set(REGISTERED) <= set(FIXTURES)


def make(name: str, folder: Path, *, bad: bool = False, **options):
    """The data set `name` on twelve good rows, with a bad one behind them if `bad`."""
    kind = load("datasets", name)
    fixture = FIXTURES[name]
    if fixture is None:
        return kind(**options)
    header, good, wrong = fixture
    path = write(folder / "anatomy_test.csv", [header, *[good(i) for i in range(12)], *([wrong] if bad else [])])
    return kind(path=folder if name == "mmlu" else path, **options)


NAMES = [*FROM_FILES, "builtin"]


@pytest.mark.parametrize("name", NAMES)
def test_items_and_ids(name, tmp_path):
    data = make(name, tmp_path)
    assert data.name == name
    items = list(data)
    assert all(isinstance(item, Item) for item in items)
    assert len({item.id for item in items}) == len(items) > 0
    assert all(item.question.strip() for item in items)
    assert all(bool(item.answers) != item.unknown_ok for item in items)
    assert items == list(data)
    assert iter(data) is not iter(data)
    json.dumps([dict(item.meta) for item in items])


@pytest.mark.parametrize("name", NAMES)
def test_settings_are_json(name, tmp_path):
    settings = dict(make(name, tmp_path, limit=5, seed=3).settings)
    assert json.loads(json.dumps(settings)) == settings
    assert (settings["limit"], settings["seed"]) == (5, 3)


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_items_in_the_order_of_the_file(name, tmp_path):
    every = list(make(name, tmp_path))
    some = list(make(name, tmp_path, limit=5, seed=3))
    assert some == list(make(name, tmp_path, limit=5, seed=3))
    assert len(some) == 5
    assert [every.index(item) for item in some] == sorted(every.index(item) for item in some)
    assert any(some != list(make(name, tmp_path, limit=5, seed=seed)) for seed in range(4, 8))
    assert list(make(name, tmp_path, limit=len(every) + 1)) == every


@pytest.mark.parametrize("name", NAMES)
def test_a_senseless_limit_is_refused_at_once(name, tmp_path):
    for limit in (0, -1, 1.5):
        with pytest.raises(ConfigError, match="--limit"):
            make(name, tmp_path, limit=limit)


@pytest.mark.parametrize("name", FROM_FILES)
def test_a_bad_row_is_named(name, tmp_path):
    for options in ({}, {"limit": 2}):
        with pytest.raises(DataError) as caught:
            list(make(name, tmp_path, bad=True, **options))
        assert (caught.value.row, caught.value.line) == (13, 14)
        assert "anatomy_test.csv" in str(caught.value)
        assert caught.value.column in ("question", "problem")


@pytest.mark.parametrize("name", FROM_FILES)
def test_a_file_that_is_not_there(name, tmp_path):
    data = load("datasets", name)(path=tmp_path / "none.csv")
    with pytest.raises(DataError, match=r"none\.csv"):
        list(data)


@pytest.mark.parametrize("name", NAMES)
def test_no_network(name, tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a data set opened a socket")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert list(make(name, tmp_path))
