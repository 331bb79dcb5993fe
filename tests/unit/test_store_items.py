"""items.jsonl: what is frozen comes back the same, and what cannot be frozen is refused."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hallcheck.errors import DataError, StoreError
from hallcheck.store.items import decode_item, encode_item, freeze_items, read_items
from hallcheck.types import Item

# All that UTF-8 can carry: newlines of all kinds, NUL, emoji; not lone surrogates.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
items = st.builds(
    Item,
    id=texts,
    question=texts,
    answers=st.lists(texts, max_size=3).map(tuple),
    choices=st.none() | st.lists(texts, max_size=4).map(tuple),
    unknown_ok=st.booleans(),
    group=st.none() | texts,
    category=st.none() | texts,
    meta=st.dictionaries(texts, texts | st.integers(-5, 5) | st.none(), max_size=3),
)


@given(items)
def test_an_item_comes_back_the_same(item: Item) -> None:
    line = encode_item(item)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert decode_item(line) == item
    assert encode_item(decode_item(line)) == line


@given(st.dictionaries(texts, texts, min_size=2, max_size=4))
def test_the_line_does_not_depend_on_the_order_of_keys(more: dict[str, str]) -> None:
    backwards = dict(reversed(more.items()))
    assert encode_item(Item(id="a", question="b", meta=more)) == encode_item(Item(id="a", question="b", meta=backwards))


@settings(deadline=None, max_examples=30)
@given(st.lists(items, min_size=1, max_size=20))
def test_a_file_of_items_comes_back_in_order(tmp_path_factory: Any, many: list[Item]) -> None:
    path = tmp_path_factory.mktemp("items") / "items.jsonl"
    frozen = freeze_items(iter(many), path)
    assert list(read_items(path)) == many
    assert frozen.n == len(many)
    assert frozen.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert frozen.has_groups == any(item.group is not None for item in many)
    assert freeze_items(many, None) == frozen


@pytest.mark.parametrize(
    "item",
    [
        Item(id="a", question="lone \ud800 surrogate"),
        Item(id="a", question="?", meta={"n": 2**70}),
        Item(id="a", question="?", meta={"x": object()}),
        Item(id="a", question="?", meta={1: "x"}),  # type: ignore[dict-item]
    ],
)
def test_what_json_cannot_hold_is_refused_by_the_items_name(item: Item) -> None:
    with pytest.raises(DataError, match="item 'a'"):
        encode_item(item)


def test_no_item_at_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no item"):
        freeze_items([], tmp_path / "items.jsonl")


def test_a_bad_item_leaves_no_file_behind(tmp_path: Path) -> None:
    def source() -> Iterator[Item]:
        yield Item(id="a", question="?")
        raise DataError("blank question", path="q.csv", row=2)

    with pytest.raises(DataError, match=r"q\.csv, row 2"):
        freeze_items(source(), tmp_path / "items.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"items\.jsonl"):
        freeze_items([Item(id="a", question="?")], tmp_path / "none" / "items.jsonl")


def test_items_are_read_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    freeze_items((Item(id=str(n), question="?") for n in range(3)), path)
    reading = read_items(path)
    assert next(reading).id == "0"
    reading.close()  # type: ignore[attr-defined]
