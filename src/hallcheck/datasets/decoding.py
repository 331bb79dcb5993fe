"""Bytes to text, for files that other programs wrote: encodings, byte-order marks, lines of bounded length.

UTF-8 unless a byte-order mark or the user says otherwise. A byte that the encoding does not have is never replaced
or dropped: it is refused, with its offset in the file.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from difflib import get_close_matches
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

from hallcheck.errors import ConfigError, DataError

MAX_FIELD = 10 * 1024 * 1024  # characters of one cell
MAX_LINE = 64 * 1024 * 1024  # characters of one line

# Longest first: the mark of UTF-16 begins that of UTF-32.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NOT_TEXT = (
    (b"PK\x03\x04", "a zip archive or an Excel workbook", "export the sheet as CSV (UTF-8)"),
    (b"\xd0\xcf\x11\xe0", "an Excel workbook", "export the sheet as CSV (UTF-8)"),
    (b"\x1f\x8b", "compressed with gzip", "unpack it first"),
    (b"PAR1", "a Parquet file", "convert it to CSV or JSON lines"),
)
_SURROGATE = re.compile("[\ud800-\udfff]")


def check_file(path: Path) -> None:
    """Raises DataError unless `path` is a regular, readable, non-empty file of text."""
    name = str(path)
    try:
        if path.is_dir():
            raise DataError("is a folder, not a file", path=name, hint="name the file inside it")
        if not path.exists():
            raise DataError("no such file", path=name, hint=_siblings(path))
        if not path.is_file():
            raise DataError("is not a regular file", path=name, hint="it is read twice: save it to disk first")
        with path.open("rb") as stream:
            head = stream.read(4)
    except (OSError, ValueError) as error:  # ValueError: a NUL inside the path
        raise DataError(f"cannot be opened: {_reason(error)}", path=name) from error
    if not head:
        raise DataError("the file is empty", path=name, hint="it needs a header line and at least one row")
    for mark, what, hint in _NOT_TEXT:
        if head.startswith(mark):
            raise DataError(f"is {what}, not text", path=name, hint=hint)


def find_encoding(path: Path, encoding: str | None = None) -> str:
    """The encoding to read `path` with: its byte-order mark's, else the given one, else UTF-8.

    Raises ConfigError for an encoding that Python does not know, DataError for UTF-16 without a mark.
    """
    if encoding is not None:
        try:
            "a".encode(encoding)
        except (LookupError, UnicodeError, ValueError) as error:
            raise ConfigError(f"--encoding {encoding!r}: no such encoding", hint=_encodings(encoding)) from error
    with path.open("rb") as stream:
        head = stream.read(4096)
    for mark, found in _MARKS:
        if head.startswith(mark):
            return found
    if encoding is None and head[1::2].count(0) + head[::2].count(0) > len(head) // 4:
        order = "utf-16-le" if head[1::2].count(0) > head[::2].count(0) else "utf-16-be"
        raise DataError(
            "every second byte is NUL: this looks like UTF-16 without a byte-order mark",
            path=str(path),
            hint=f"say so: --encoding {order}",
        )
    return encoding or "utf-8"


def open_text(path: Path, encoding: str) -> TextIO:
    """Open for reading; line ends are kept, and a byte that does not decode becomes a lone surrogate.

    So the reader goes on to the very cell that holds it, and `undecodable` can name that.
    """
    return TextIOWrapper(path.open("rb"), encoding=encoding, errors="surrogateescape", newline="")


def bounded_lines(stream: TextIO, path: Path) -> Iterator[str]:
    """The lines of `stream`. Raises DataError before one of them fills the memory."""
    number = 0
    while line := stream.readline(MAX_LINE):
        number += 1
        if len(line) == MAX_LINE:
            raise DataError(f"line {number} is longer than {MAX_LINE >> 20} million characters", path=str(path))
        yield line


def has_surrogate(text: str) -> bool:
    """Whether `text` holds half a surrogate pair: a byte that did not decode, or a broken JSON escape."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def undecodable(
    path: Path, encoding: str, *, row: int | None = None, line: int | None = None, column: str | None = None
) -> DataError:
    """The error for a file whose bytes are not in `encoding`: names the first such byte and its offset."""
    label = "UTF-8" if encoding in ("utf-8", "utf-8-sig") else encoding
    found = _first_bad_byte(path, encoding)
    if found is None:
        message = f"the text is not {label}"
    else:
        offset, value, at_line = found
        message = f"not {label}: byte 0x{value:02x} at byte offset {offset}"
        if row is None:
            message += f" (line {at_line})"
    hint = "save the file as UTF-8, or name the encoding it was written in: --encoding latin-1 (or cp1252, utf-16 …)"
    return DataError(message, path=str(path), row=row, line=line, column=column, hint=hint)


def _first_bad_byte(path: Path, encoding: str) -> tuple[int, int, int] | None:
    # (offset, byte, line) of the first byte that `encoding` does not have. The decoder of utf-8-sig counts from
    # behind the mark, hence plain UTF-8.
    decoder = codecs.getincrementaldecoder("utf-8" if encoding == "utf-8-sig" else encoding)("strict")
    offset, line = 0, 1
    with path.open("rb") as stream:
        while True:
            chunk = stream.read(1 << 16)
            pending = len(decoder.getstate()[0])
            try:
                line += decoder.decode(chunk, not chunk).count("\n")
            except UnicodeDecodeError as error:
                before = error.object[: error.start].decode(error.encoding, "ignore")
                return offset - pending + error.start, error.object[error.start], line + before.count("\n")
            offset += len(chunk)
            if not chunk:
                return None


def _siblings(path: Path) -> str:
    try:
        names = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    except OSError:
        names = []
    close = get_close_matches(path.name, names, n=1)
    return f"did you mean {str(path.with_name(close[0]))!r}?" if close else "check the path"


def _encodings(name: str) -> str:
    common = ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1250", "cp1251", "cp1252", "shift_jis", "gbk"]
    close = get_close_matches(name.lower(), common, n=1)
    return f"did you mean {close[0]!r}?" if close else f"for example: {', '.join(common)}"


def _reason(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error)
