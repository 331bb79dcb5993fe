"""Items given from Python: Items, or mappings with the columns of a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from hallcheck.datasets.rows import Row, fold
from hallcheck.datasets.table import MAX_CHOICES, TableDataset, parse_item
from hallcheck.errors import DataError
from hallcheck.prompts import LETTERS
from hallcheck.types import Item


def as_items(items: str | Path | Iterable[Item | Mapping[str, Any]]) -> Iterable[Item]:
    """The same items, validated one by one as they are read. A path is a table; a data set is returned as it is.

    Raises DataError for a mapping that is no question, a duplicate id, or something else than these.
    """
    if isinstance(items, str | Path):
        return TableDataset(items)
    return cast("Iterable[Item]", items) if hasattr(items, "settings") else _checked(items)


def _checked(items: Iterable[Item | Mapping[str, Any]]) -> Iterator[Item]:
    seen: set[str] = set()
    for number, given in enumerate(items, start=1):
        if isinstance(given, Item):
            item = given
            _check(item, number)
        elif isinstance(given, Mapping):
            names = {fold(str(name)): str(name) for name in given}
            cells = {folded: _plain(given[name]) for folded, name in names.items()}
            item = parse_item(Row("items", number, None, cells, names))
        else:
            raise DataError(
                f"item {number} is a {type(given).__name__}", hint="give Items, or mappings with question and gold"
            )
        if item.id in seen:
            raise DataError(f"id {item.id!r} is given twice", path="items", row=number, column="id")
        seen.add(item.id)
        yield item


def _check(item: Item, number: int) -> None:
    """What a table would be refused for is refused here too."""
    where: Any = {"path": "items", "row": number}
    for column, value in (("id", item.id), ("question", item.question)):
        if not isinstance(value, str):
            raise DataError(f"must be text, not {type(value).__name__}", **where, column=column)
    for column, texts in (("answers", item.answers), ("choices", item.choices or ())):
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise DataError("must be a tuple of texts", **where, column=column)
    if not item.question.strip():
        raise DataError("the question is blank", **where, column="question")
    if not item.unknown_ok and not any(answer.strip() for answer in item.answers):
        raise DataError("has no answer", **where, column="answers", hint="set unknown_ok=True if no answer is right")
    if item.choices is not None and not 2 <= len(item.choices) <= MAX_CHOICES:
        raise DataError(f"has {len(item.choices)} choices: there must be 2 to {MAX_CHOICES}", **where, column="choices")
    if item.choices is not None and not set(item.answers) <= set(LETTERS[: len(item.choices)]):
        raise DataError(f"{item.answers!r} are not letters of the options", **where, column="answers")


def _plain(value: Any) -> Any:
    """A cell of a mapping as JSON would hold it: NaN (a blank cell of a data frame) is null, numpy is Python."""
    if not isinstance(value, str | bytes) and hasattr(value, "item") and hasattr(value, "dtype"):
        value = value.item() if value.ndim == 0 else value.tolist()
    if isinstance(value, float) and math.isnan(value):
        return None
    return list(value) if isinstance(value, tuple) else value
