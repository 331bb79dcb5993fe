"""Delimited text and JSON lines to rows: one reader for every data set, streaming, strict, with rows named.

Rows are counted from 1 without the header; blank lines are no rows. Column names are matched after strip and
casefold. Memory holds one row at a time (a `.json` list, which is no stream, excepted).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from hallcheck.datasets.decoding import (
    MAX_FIELD,
    bounded_lines,
    check_file,
    find_encoding,
    has_surrogate,
    open_text,
    undecodable,
)
from hallcheck.errors import DataError

DELIMITERS = ",;\t|"
Names = tuple[str, ...]
_JSON_LINES = (".jsonl", ".ndjson")

# Names that other tools give to the same columns: only ever suggested, never taken.
_SYNONYMS = {
    "question": ("prompt", "problem", "query", "input", "q", "text"),
    "gold": ("answer", "gold answer", "gold_answer", "target", "expected", "label", "solution", "reference", "a"),
    "unknown_ok": ("unknown", "unanswerable", "unknown ok", "idk_ok"),
}


class Record(NamedTuple):
    """One record of delimited text: its row (None for the header), the line it begins on, its cells."""

    row: int | None
    line: int
    cells: list[str]


class Row(NamedTuple):
    """One row. `cells`: folded column name -> value (text, or what JSON held); `names`: folded -> as written."""

    path: str
    number: int
    line: int | None
    cells: Mapping[str, Any]
    names: Mapping[str, str]

    def error(self, message: str, column: str | None = None, hint: str = "") -> DataError:
        """A DataError about this row, to be raised."""
        return DataError(message, path=self.path, row=self.number, line=self.line, column=column, hint=hint)

    def missing(self, column: str) -> DataError:
        """The error for a row of JSON without `column`."""
        hint = missing_hint(column, list(self.names.values()))
        return self.error(f"has no {column!r}", column, hint)

    def text(self, column: str) -> str:
        """The cell as text, outer white space removed; "" where it is absent, blank or null. Numbers as written.

        Raises DataError for a list, an object or a boolean.
        """
        value = self.cells.get(column)
        if value is None:
            return ""
        if isinstance(value, str):
            return value.strip()
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return str(value)
        raise self.error(f"must be text, not {json_kind(value)}", column)


@lru_cache(maxsize=1024)
def fold(name: str) -> str:
    """A column's name for comparison."""
    return name.strip().strip("\ufeff").strip().casefold()


def json_kind(value: Any) -> str:
    """What JSON calls the type of `value`, with its article."""
    kinds = {bool: "a boolean", int: "a number", float: "a number", str: "text", list: "a list", dict: "an object"}
    return kinds.get(type(value), "null")


def missing_hint(column: str, present: Sequence[str]) -> str:
    """Did-you-mean for a column that is not there."""
    folded = {fold(name): name for name in present}
    close = [s for s in _SYNONYMS.get(column, ()) if s in folded] or get_close_matches(column, list(folded), n=1)
    listed = ", ".join(repr(name.strip()) for name in present[:20])
    if close:
        return f"rename column {folded[close[0]].strip()!r} to {column!r}? The columns are: {listed}"
    return f"the columns are: {listed}"


def read_rows(path: Path, encoding: str | None, required: Sequence[Names]) -> Iterator[Row]:
    """Stream the rows of a CSV, TSV, JSON-lines or JSON file; the kind is told by extension and content.

    `required`: the columns that the header of delimited text must have, each by any of its (folded) names; the first
    column tells the delimiter. JSON rows are not checked for them. Raises DataError at the first row that cannot be
    read.
    """
    check_file(path)
    encoding = find_encoding(path, encoding)
    first = _first_character(path, encoding)
    if path.suffix.lower() in _JSON_LINES or first == "{":
        rows = _json_lines(path, encoding)
    elif first == "[":
        rows = _json_list(path, encoding)
    else:
        rows = _delimited(path, encoding, required)
    row = None
    for row in rows:
        yield row
    if row is None:
        raise DataError("no rows: the file holds no data", path=str(path), hint="add at least one row")


def csv_records(path: Path, encoding: str, delimiter: str, *, header: bool) -> Iterator[Record]:
    """The non-blank records of delimited text, quotes doubled inside quotes; the first is the header if `header`.

    Raises DataError for an open or stray quote, a cell over 10 MB, a NUL and bytes that do not decode.
    """
    # The limit is of the process: raised, never lowered, so that another reader's wish is kept.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_FIELD))
    row = None if header else 1
    names: list[str] = []
    with open_text(path, encoding) as stream:
        reader = csv.reader(bounded_lines(stream, path), delimiter=delimiter, strict=True, skipinitialspace=True)
        while True:
            line = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except UnicodeDecodeError as error:
                raise undecodable(path, encoding) from error
            except csv.Error as error:
                raise _csv_fault(path, error, row, line) from error
            if not cells or (len(cells) == 1 and not cells[0].strip()):
                continue
            if not _sound("".join(cells)):
                for index, cell in enumerate(cells):
                    if not _sound(cell):
                        column = names[index].strip() if index < len(names) else f"column {index + 1}"
                        raise _cell_fault(path, encoding, cell, row, line, column)
            yield Record(row, line, cells)
            if row is None:
                names, row = cells, 0
            row += 1


def _sound(text: str) -> bool:
    return len(text) <= MAX_FIELD and "\0" not in text and not has_surrogate(text)


def _csv_fault(path: Path, error: csv.Error, row: int | None, line: int) -> DataError:
    text = str(error)
    if "end of data" in text:
        message = "a quote is opened and never closed"
        hint = 'close it, or double every quote that belongs to the text: "" inside "…"'
    elif "field larger" in text:
        message = f"a cell is longer than {MAX_FIELD >> 20} MB"
        hint = "is a quote left open here?"
    elif "expected after" in text:
        message = "text follows a closing quote"
        hint = 'double every quote that belongs to the text: "" inside "…"'
    else:
        message, hint = f"is no valid CSV: {text}", ""
    if row is None:
        message += f" (header, line {line})"
    return DataError(message, path=str(path), row=row, line=line, hint=hint)


def _cell_fault(path: Path, encoding: str, text: str, row: int | None, line: int | None, column: str) -> DataError:
    if "\0" in text:
        message, hint = "holds a NUL character", "remove it: the file was damaged or is no text"
    elif len(text) > MAX_FIELD:
        message, hint = f"is longer than {MAX_FIELD >> 20} MB", ""
    else:
        return undecodable(path, encoding, row=row, line=line, column=column)
    return DataError(message, path=str(path), row=row, line=line, column=column, hint=hint)


def _first_character(path: Path, encoding: str) -> str:
    with open_text(path, encoding) as stream:
        try:
            for line in bounded_lines(stream, path):
                if text := line.strip().lstrip("\ufeff"):
                    return text[0]
        except UnicodeDecodeError as error:
            raise undecodable(path, encoding) from error
    raise DataError("the file is empty", path=str(path), hint="it needs a header line and at least one row")


def _delimited(path: Path, encoding: str, required: Sequence[Names]) -> Iterator[Row]:
    delimiter = _sniff(path, encoding, required[0])
    records = csv_records(path, encoding, delimiter, header=True)
    names = next(records).cells
    folded = _check_header(path, names, required)
    spelled = {key: name.strip() for key, name in zip(folded, names, strict=True)}
    for number, line, cells in records:
        assert number is not None
        row = Row(str(path), number, line, dict(zip(folded, cells, strict=False)), spelled)
        if len(cells) < len(folded):
            raise row.error(
                f"short row: {len(cells)} cells where the header has {len(folded)}",
                spelled[folded[len(cells)]],
                "add the missing cells (they may be blank)",
            )
        if len(cells) > len(folded) and any(cell.strip() for cell in cells[len(folded) :]):
            raise row.error(
                f"long row: {len(cells)} cells where the header has {len(folded)}",
                hint=f"put a cell that contains {delimiter!r} in double quotes",
            )
        yield row


def _sniff(path: Path, encoding: str, key: Names) -> str:
    # The delimiter whose header has the column `key`; among several, the one that makes most columns.
    best, most, fault = ",", 0, None
    for delimiter in DELIMITERS:
        try:
            cells = next(csv_records(path, encoding, delimiter, header=True)).cells
        except DataError as error:
            fault = fault or error
            continue
        # A header without `key` still shows best under the delimiter that splits it.
        count = len(cells) + (1000 if any(fold(cell) in key for cell in cells) else 0)
        if count > most:
            best, most = delimiter, count
    if most <= 1 and fault is not None:
        raise fault
    return best


def _check_header(path: Path, names: Sequence[str], required: Sequence[Names]) -> list[str]:
    folded = [fold(name) or f"column {index + 1}" for index, name in enumerate(names)]
    for index, name in enumerate(folded):
        if name in folded[:index]:
            raise DataError(
                "the header has this column twice", path=str(path), column=name, hint="rename or remove one of them"
            )
    for name, *others in required:
        if name not in folded and not any(other in folded for other in others):
            raise DataError("the header lacks this column", path=str(path), column=name, hint=missing_hint(name, names))
    return folded


class _DuplicateKeyError(ValueError):
    pass


def _json_lines(path: Path, encoding: str) -> Iterator[Row]:
    number = line = 0
    with open_text(path, encoding) as stream:
        lines = bounded_lines(stream, path)
        while True:
            try:
                text = next(lines, None)
            except UnicodeDecodeError as error:
                raise undecodable(path, encoding) from error
            if text is None:
                return
            line += 1
            text = text.strip().lstrip("\ufeff")
            if not text:
                continue
            number += 1
            if has_surrogate(text):
                raise undecodable(path, encoding, row=number, line=line)
            yield _json_row(path, encoding, number, line, _parse(path, text, number, line))


def _json_list(path: Path, encoding: str) -> Iterator[Row]:
    with open_text(path, encoding) as stream:
        try:
            text = stream.read().lstrip("\ufeff")
        except UnicodeDecodeError as error:
            raise undecodable(path, encoding) from error
    if has_surrogate(text):
        raise undecodable(path, encoding)
    for number, value in enumerate(_parse(path, text, None, None), 1):
        yield _json_row(path, encoding, number, None, value)


def _parse(path: Path, text: str, row: int | None, line: int | None) -> Any:
    try:
        return _JSON.decode(text)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        hint = "each line must be one whole JSON object" if row is not None else ""
        raise DataError(f"is no valid JSON: {reason}", path=str(path), row=row, line=line, hint=hint) from error


def _json_row(path: Path, encoding: str, number: int, line: int | None, value: Any) -> Row:
    if not isinstance(value, dict):
        message = f"must be a JSON object, not {json_kind(value)}"
        raise DataError(message, path=str(path), row=number, line=line, hint='for example {"question": …, "gold": …}')
    cells = {fold(name): cell for name, cell in value.items()}
    row = Row(str(path), number, line, cells, {fold(name): name for name in value})
    if len(cells) < len(value):
        raise row.error("has two keys that differ in case or white space only", hint="rename one of them")
    for column, cell in value.items():
        for text in _texts(cell):
            if "\0" in text or len(text) > MAX_FIELD:
                raise _cell_fault(path, encoding, text, number, line, column)
            if has_surrogate(text):
                raise row.error(r"holds half a surrogate pair (an escape such as \ud83d alone)", column)
    return row


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
    elif isinstance(value, dict):
        for key, part in value.items():
            yield key
            yield from _texts(part)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _DuplicateKeyError(f"key {next(k for k in keys if keys.count(k) > 1)!r} twice in one object")
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_JSON = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
