"""items.jsonl: the items of a run, frozen in the folder, so that a run can be resumed, judged again and read alone."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from hallcheck.errors import DataError, StoreError
from hallcheck.types import Item

_ASIDE = "restore the file, or --fresh moves the folder aside and starts anew"


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenItems:
    """How many items there are, and the sha256 of their canonical lines."""

    n: int
    sha256: str
    has_groups: bool


def encode_item(item: Item) -> bytes:
    """One canonical line: sorted keys, UTF-8, without what is empty."""
    row: dict[str, Any] = {"id": item.id, "question": item.question, "answers": list(item.answers)}
    if item.choices is not None:
        row["choices"] = list(item.choices)
    if item.unknown_ok:
        row["unknown_ok"] = True
    if item.group is not None:
        row["group"] = item.group
    if item.category is not None:
        row["category"] = item.category
    if item.meta:
        row["meta"] = dict(item.meta)
    try:
        return orjson.dumps(row, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)
    except (TypeError, ValueError) as error:
        raise DataError(f"item {item.id!r} cannot be written as JSON: {error}") from None


def decode_item(line: bytes) -> Item:
    """The item of one line."""
    row = orjson.loads(line)
    choices = row.get("choices")
    return Item(
        id=row["id"],
        question=row["question"],
        answers=tuple(row["answers"]),
        choices=tuple(choices) if choices is not None else None,
        unknown_ok=row.get("unknown_ok", False),
        group=row.get("group"),
        category=row.get("category"),
        meta=row.get("meta", {}),
    )


def freeze_items(items: Iterable[Item], path: Path | None) -> FrozenItems:
    """Read every item once, which validates it, and write it to `path` (None: only count and hash).

    Raises DataError for the first bad one, and if there is none.
    """
    digest = hashlib.sha256()
    n = 0
    has_groups = False
    temporary = path.with_name(f".{path.name}.tmp") if path else None
    out = None
    try:
        out = temporary.open("wb") if temporary else None
        for item in items:
            line = encode_item(item)
            digest.update(line)
            if out:
                out.write(line)
            has_groups = has_groups or item.group is not None
            n += 1
        if out and path and temporary:
            out.flush()
            os.fsync(out.fileno())
            out.close()
            temporary.replace(path)
    except OSError as error:
        raise StoreError(
            f"cannot write {str(path)!r}: {error.strerror or error}", hint="give another folder with --out"
        ) from None
    finally:
        if out and not out.closed:
            out.close()
        if temporary:
            temporary.unlink(missing_ok=True)
    if not n:
        raise DataError("the data set holds no item", hint="check the file and the options that select from it")
    return FrozenItems(n=n, sha256=digest.hexdigest(), has_groups=has_groups)


def check_unchanged(path: Path, frozen: FrozenItems) -> None:
    """Raise StoreError unless the file holds exactly these items."""
    try:
        with path.open("rb") as file:
            same = hashlib.file_digest(file, "sha256").hexdigest() == frozen.sha256
    except OSError as error:
        raise StoreError(f"cannot read {str(path)!r}: {error.strerror or error}", hint=_ASIDE) from None
    if not same:
        raise StoreError(f"{str(path)!r} was changed since the run began", hint=_ASIDE)


def read_items(path: Path) -> Iterator[Item]:
    """The frozen items, in order, one at a time."""
    with path.open("rb") as file:
        for line in file:
            yield decode_item(line)
