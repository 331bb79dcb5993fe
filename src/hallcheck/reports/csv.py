"""results.csv: one line a row, written row by row into place.

The cells hold the data exactly. Text that begins with `=`, `+`, `-` or `@` is therefore not altered: a spreadsheet may
take such a cell for a formula, so open files of strangers' answers with the columns imported as text.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

from hallcheck.errors import StoreError

RESULT_COLUMNS = (
    "id", "t", "question", "gold", "unknown_ok", "pred", "abstained", "correct", "score",
    "outcome", "reason", "confidence", "category", "finish", "tokens", "latency_s",
)  # fmt: skip


def write_results(path: Path, rows: Iterable[Sequence[Any]]) -> None:
    """Write the header and `rows` (cells in the order of RESULT_COLUMNS) to `path`, memory flat in their number.

    UTF-8 without BOM, comma, `\\n` after each row, quotes only where needed (RFC 4180). None and NaN are an empty
    cell, a bool is 1 or 0, a float its shortest exact form, minus infinity `-inf`. A lone surrogate, which UTF-8
    cannot carry, is written as `\\udXXX`. The file appears whole or not at all: an older one stays until the new one
    is complete.

    Raises StoreError if the file cannot be written, ValueError for a row of another length.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        try:
            with temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
                _write(file, rows)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror or error}",
            hint="free some space or name another folder with --out; the answers are safe in run.jsonl",
        ) from error


class _UnixLines:
    """Ends rows with a newline alone, while csv takes both CR and LF for line ends and so quotes either.

    With `lineterminator="\\n"` Python before 3.13 leaves a lone CR bare, which no reader brings back.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, row: str) -> None:
        self._file.write(row[:-2] + "\n")


def _write(file: TextIO, rows: Iterable[Sequence[Any]]) -> None:
    writer = csv.writer(_UnixLines(file), lineterminator="\r\n")
    writer.writerow(RESULT_COLUMNS)
    width = len(RESULT_COLUMNS)
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            raise ValueError(f"row {number} has {len(row)} cells, results.csv has {width} columns")
        writer.writerow([_cell(value) for value in row])


def _cell(value: Any) -> Any:
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float):
        return "" if math.isnan(value) else float(value)
    return value
