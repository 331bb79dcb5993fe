"""A user's own questions: CSV, TSV or JSON lines with `id, question, gold, unknown_ok`.

Optional columns: `category`, `group`, `choices`; every other column goes to `Item.meta`. Read strictly and refused
early: the first bad row raises DataError with file, row, line and column. The file is streamed, never held.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any

from hallcheck.datasets.rows import Row, json_kind, read_rows
from hallcheck.datasets.sampling import (
    check_limit,
    content_hash,
    letter,
    refuse_duplicates,
    sampled,
    unique_texts,
)
from hallcheck.types import Item, Note

MAX_CHOICES = 26
_COLUMNS = frozenset({"id", "question", "gold", "answers", "unknown_ok", "category", "group", "choices"})
_FLAGS = {"1": True, "1.0": True, "true": True, "yes": True, "y": True}
_FLAGS |= {"": False, "0": False, "0.0": False, "false": False, "no": False, "n": False}
_LETTER = re.compile(r"\(?([A-Za-z])[.):]?")


class TableDataset:
    """Questions from a delimited or JSON-lines file.

    `encoding`: None finds UTF-8 or a byte-order mark's. `limit`: that many rows, drawn by `seed`, in file order; all
    rows are checked all the same. `gold` may hold several accepted answers: separated by `|`, or a list in JSON (there
    also called `answers`). For a row with `choices` (a JSON list, or separated by `|`) it is the letter or the text of
    the right option. Blank ids are made from the content. `notes` (after a whole pass) says what was adapted.

    Iterating raises DataError; the constructor raises ConfigError.
    """

    name = "table"

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        encoding: str | None = None,
        limit: int | None = None,
        seed: int = 1234,
    ) -> None:
        check_limit(limit)
        self.path = Path(path)
        self.encoding = encoding
        self.limit = limit
        self.seed = seed
        self.notes: list[Note] = []
        self.settings: Mapping[str, Any] = {
            "path": str(path),
            "encoding": encoding,
            "limit": limit,
            "seed": seed,
        }

    def __iter__(self) -> Iterator[Item]:
        return sampled(self._items, self.limit, self.seed)

    def _items(self) -> Iterator[Item]:
        made = ignored = 0
        for row, item in refuse_duplicates(self._parsed):
            made += not row.text("id")
            ignored += item.unknown_ok and bool(_gold_texts(row))
            yield item
        self.notes = list(_notes(made, ignored))

    def _parsed(self) -> Iterator[tuple[Row, Item]]:
        for row in read_rows(self.path, self.encoding, (("question",), ("gold", "answers"))):
            yield row, parse_item(row)


def parse_item(row: Row) -> Item:
    """The item in a row of a table. Raises DataError naming the column at fault."""
    if "question" not in row.cells:
        raise row.missing("question")
    question = row.cells["question"]
    if question is not None and not isinstance(question, str):
        raise row.error(f"must be text, not {json_kind(question)}", "question")
    if not question or not question.strip():
        raise row.error("the question is blank", "question", "write the question, or delete the row")
    unknown_ok = _flag(row)
    choices = _choices(row)
    answers = () if unknown_ok else _answers(row, choices)
    names = row.names
    return Item(
        id=row.text("id") or content_hash(question, answers, choices, unknown_ok, digits=16),
        question=question,
        answers=answers,
        choices=choices,
        unknown_ok=unknown_ok,
        group=row.text("group") or None,
        category=row.text("category") or None,
        meta={names[name]: value for name, value in row.cells.items() if name not in _COLUMNS},
    )


def _flag(row: Row) -> bool:
    if "unknown_ok" not in row.cells:
        # A misspelt column would silently make every row answerable.
        near = [name for name in row.cells if name.startswith("unk")]
        if near and get_close_matches("unknown_ok", near, n=1, cutoff=0.8):
            raise row.missing("unknown_ok")
        return False
    value = row.cells["unknown_ok"]
    if isinstance(value, bool):
        return value
    if value in ("0", ""):
        return False
    if isinstance(value, (list, dict)):
        raise row.error(f"must be true or false, not {json_kind(value)}", "unknown_ok")
    text = row.text("unknown_ok").casefold()
    if text not in _FLAGS:
        raise row.error(
            f"{text[:40]!r} is neither true nor false",
            "unknown_ok",
            "write 1 or 0, true or false, yes or no; blank means 0",
        )
    return _FLAGS[text]


def _gold_column(row: Row) -> str:
    # `answers` is another name of `gold`, unless the row has both: then it must say nothing.
    return "answers" if "answers" in row.cells and "gold" not in row.cells else "gold"


def _gold_texts(row: Row) -> tuple[str, ...]:
    # The accepted answers as written, a cell not yet split at `|`.
    column = _gold_column(row)
    value = row.cells.get(column)
    if isinstance(value, str):
        value = value.strip()
        return (value,) if value else ()
    parts = value if isinstance(value, list) else [value]
    texts = []
    for part in parts:
        if isinstance(part, (list, dict)):
            raise row.error(f"must be text, a number or a list of these, not {json_kind(part)}", column)
        texts.append("" if part is None else json.dumps(part) if not isinstance(part, str) else part)
    return unique_texts(texts)


def _answers(row: Row, choices: tuple[str, ...] | None) -> tuple[str, ...]:
    column = _gold_column(row)
    if column not in row.cells:
        raise row.missing("gold")
    if column == "gold" and row.cells.get("answers") not in (None, "", []):
        raise row.error("both 'gold' and 'answers' are given", "answers", "keep one of the two columns")
    texts = _gold_texts(row)
    split = texts
    if len(texts) == 1 and "|" in texts[0] and not isinstance(row.cells[column], list):
        split = unique_texts(texts[0].split("|"))
    if not split:
        raise row.error(
            "the gold answer is blank", column, "write the right answer, or set unknown_ok=1 if no answer is right"
        )
    if choices is None:
        return split
    whole = _option(choices, texts[0]) if len(texts) == 1 else []
    # An option's own text may contain `|`, so the whole cell is tried before its parts.
    found = set(whole) if whole else {index for text in split for index in _option(choices, text) or [-1]}
    if len(found) == 1 and -1 not in found:
        return (letter(found.pop()),)
    listed = ", ".join(f"{letter(i)}={text[:30]!r}" for i, text in enumerate(choices[:6]))
    what = "is none of the options" if -1 in found else "fits more than one option"
    raise row.error(
        f"{'|'.join(texts)[:60]!r} {what} ({listed}{', …' if len(choices) > 6 else ''})",
        column,
        "give the letter of the right option, or its whole text (an index is ambiguous)",
    )


def _option(choices: tuple[str, ...], text: str) -> list[int]:
    # The options that `text` may mean: as a letter, and as an option's text.
    found = {index for index, choice in enumerate(choices) if choice == text}
    if not found:
        found = {index for index, choice in enumerate(choices) if _squash(choice) == _squash(text)}
    if match := _LETTER.fullmatch(text):
        index = ord(match[1].upper()) - ord("A")
        if index < len(choices):
            found.add(index)
    return sorted(found)


def _squash(text: str) -> str:
    return " ".join(text.casefold().split())


def _choices(row: Row) -> tuple[str, ...] | None:
    value = row.cells.get("choices")
    if isinstance(value, str):
        value = value.strip()
        if value.startswith("[") and value.endswith("]"):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError) as error:
                if "|" not in value:
                    raise row.error(
                        "begins like a JSON list and is none", "choices", 'write ["one", "two"] or one|two'
                    ) from error
        if isinstance(value, str):
            value = value.split("|") if value else None
    if value is None or value == []:
        return None
    if not isinstance(value, list):
        raise row.error(f"must be a list, not {json_kind(value)}", "choices", 'write ["one", "two"] or one|two')
    options = []
    for index, part in enumerate(value):
        if isinstance(part, (list, dict)) or part is None:
            raise row.error(f"option {letter(index % MAX_CHOICES)} is {json_kind(part)}, not text", "choices")
        options.append(part.strip() if isinstance(part, str) else json.dumps(part))
    if not 2 <= len(options) <= MAX_CHOICES:
        hint = "separate the options by |, or write a JSON list"
        raise row.error(f"{len(options)} option(s): there must be 2 to {MAX_CHOICES}", "choices", hint)
    if "" in options:
        raise row.error(f"option {letter(options.index(''))} is blank", "choices")
    return tuple(options)


def _notes(made: int, ignored: int) -> Iterator[Note]:
    if made:
        yield Note(
            code="ids_made",
            severity="info",
            message=f"{made} row(s) have no id; ids were made from their content",
            advice="add an `id` column so that ids outlive an edit of the text",
        )
    if ignored:
        yield Note(
            code="gold_ignored",
            severity="warning",
            message=f"{ignored} row(s) have both unknown_ok and a gold answer; the answer was ignored",
            advice="clear `unknown_ok` where the gold answer is right, or clear `gold` where no answer is",
        )
