"""Reports for the tests of the renderers: the golden ones, and ways to damage them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hallcheck.types import Note, Report

FIXTURE = Path(__file__).resolve().parent.parent / "golden" / "report_fixture.json"
_PARTS: dict[str, dict[str, Any]] = json.loads(FIXTURE.read_text(encoding="utf-8"))
NAMES = tuple(_PARTS)


def parts(name: str = "prompt") -> dict[str, Any]:
    """A fresh copy of a golden report's parts, to be changed at will."""
    return copy.deepcopy(_PARTS[name])


def report(changed: dict[str, Any] | None = None, *, name: str = "prompt", **fields: Any) -> Report:
    """The report of `changed` parts (default: the golden one called `name`), with `fields` put in their place."""
    own = {**(changed or parts(name)), **fields}
    notes = tuple(note if isinstance(note, Note) else Note(**note) for note in own["notes"])
    return Report(**{**own, "notes": notes})


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """`value` with every leaf replaced by `change(leaf)`."""
    if isinstance(value, dict):
        return {key: mapped(one, change) for key, one in value.items()}
    if isinstance(value, list):
        return [mapped(one, change) for one in value]
    return change(value)


def markdown_tables(text: str) -> Iterator[list[list[str]]]:
    """The tables of a Markdown text as rows of raw cells, header first, without the rule."""
    table: list[list[str]] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("| "):
            cells = line[2:-2].replace("\\|", "\0").split(" | ")
            table.append([cell.replace("\0", "|") for cell in cells])
        elif table:
            yield [table[0], *table[2:]]
            table = []
