"""run.jsonl: every reply, appended as soon as it is known.

A line is written whole with one system call, so a killed process loses only what was in flight; `sync` brings it to
the disk. The last line of a slot wins. A torn last line (power cut, full disk) is dropped and asked again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import orjson

from hallcheck.errors import StoreError
from hallcheck.types import OUTCOMES, AskRecord


class Journal:
    """An append-only file of records. `append` returns the byte offset at which the record begins."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644)
        except OSError as error:
            raise StoreError(
                f"cannot write {str(path)!r}: {error.strerror or error}", hint="give another --out"
            ) from None
        self._end = os.fstat(self._fd).st_size
        self._dirty = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def load(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """(offset, record) of every whole line; then cuts off a torn last one. Raises StoreError as `scan` does."""
        end = 0
        for offset, after, record in scan(self.path):
            end = after
            yield offset, record
        if end < self._end:
            os.ftruncate(self._fd, end)
            self._end = end

    def append(self, record: AskRecord) -> int:
        """Write one record. Raises StoreError when the disk is full or gone; what was written before is kept."""
        line = _encode(record)
        offset = self._end
        try:
            written = os.write(self._fd, line)
            if written != len(line):
                os.ftruncate(self._fd, offset)
                raise OSError("the disk took only part of a line")
        except OSError as error:
            raise StoreError(
                f"cannot write {str(self.path)!r}: {error.strerror or error}",
                hint="free the disk, then run the same command again: what was paid for is kept",
            ) from None
        self._end = offset + written
        self._dirty = True
        return offset

    def sync(self) -> None:
        """Bring what was appended to the disk. Raises StoreError."""
        if self._dirty:
            self._dirty = False
            try:
                os.fsync(self._fd)
            except OSError as error:
                raise StoreError(
                    f"cannot bring {str(self.path)!r} to the disk: {error.strerror or error}",
                    hint="check the disk, then run the same command again: what was lost is asked again",
                ) from None

    def close(self) -> None:
        """Sync and close."""
        if self._fd >= 0:
            try:
                self.sync()
            finally:
                os.close(self._fd)
                self._fd = -1


def scan(path: Path) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """(offset, end, record) of every whole line. A torn last line is left out.

    Raises StoreError for a bad line that is not the last.
    """
    offset = 0
    bad = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if bad:
                raise StoreError(
                    f"{str(path)!r}, line {bad}: not a record of a run",
                    hint="restore the file, or --fresh moves the folder aside and starts anew",
                )
            record = _parse(line)
            if record is None:
                bad = number
                continue
            yield offset, offset + len(line), record
            offset += len(line)


class JournalReader:
    """Reads records back by their offsets."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._file.close()

    def read(self, offset: int) -> AskRecord:
        """The record that begins at `offset`."""
        if self._file.tell() != offset:
            self._file.seek(offset)
        return decode_record(orjson.loads(self._file.readline()))


def decode_record(row: dict[str, Any]) -> AskRecord:
    """The record of one parsed line. Raises StoreError if it is none."""
    try:
        return AskRecord(**row)
    except TypeError as error:
        raise StoreError(
            f"a record of the run is not of this version: {error}",
            hint="--fresh moves the folder aside and starts anew",
        ) from None


def _parse(line: bytes) -> dict[str, Any] | None:
    if not line.endswith(b"\n"):
        return None
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return row if isinstance(row, dict) and _is_record(row) else None


def _is_record(row: dict[str, Any]) -> bool:
    """Whether what decides the results has a value that a run can write."""
    confidence = row.get("confidence")
    return (
        isinstance(row.get("slot"), int)
        and isinstance(row.get("id"), str)
        and isinstance(row.get("text", ""), str)
        and row.get("outcome", "") in ("", *OUTCOMES)
        and (confidence is None or (isinstance(confidence, int | float) and 0 <= confidence <= 1))
    )


def _encode(record: AskRecord) -> bytes:
    try:
        return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        # Lone surrogates: JSON is UTF-8, which cannot carry them.
        row = {name: _well_formed(getattr(record, name)) for name in record.__slots__}
        return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def _well_formed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
