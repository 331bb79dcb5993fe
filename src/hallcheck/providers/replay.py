"""Recorded answers in place of a model: `replay/FILE.jsonl` or `replay/FILE.csv`.

Columns (names in any case; others are ignored):
- `id` and/or `question`: which item was answered. An id decides; else the question, white space collapsed.
- `answer` (or `text`, `output`, `pred`: the first of these that is there): the raw reply. Blank is an empty reply.
- `t`: the threshold that the prompt stated; blank = the answer holds at any t. `repeat`: which sample, from 0.
- `method`: how it was asked; blank = any.
- `finish` (default "stop"), `confidence` (in [0, 1]), `abstained`, `correct` (or `truthful`), `model_version`.
- `logprobs`: a list of [token, ln p]; `usage`: an object of input_tokens, output_tokens, thinking_tokens. In CSV,
  both are JSON texts.

The whole file is checked when the provider is made. Memory then holds where each row lies, not the row.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
from array import array
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from hallcheck.errors import BadRequest, ConfigError, DataError
from hallcheck.providers.recorded import ANSWER, BadCellError, RecordedRow, parse_row
from hallcheck.types import Provider, Reply, Request, Retry

T_TOLERANCE = 1e-9
_DELIMITERS = ",;\t|"
_MARK = b"\xef\xbb\xbf"
_MAX_CELL = 10 * 1024 * 1024


def create(model: str, *, timeout_s: float, concurrency: int, env: Mapping[str, str]) -> ReplayProvider:  # noqa: ARG001
    """A provider that answers from the file `model`. Raises ConfigError for another kind of file, DataError."""
    path = Path(model).expanduser()
    if path.suffix.lower() not in (".jsonl", ".csv"):
        raise ConfigError(
            f"replay reads .jsonl and .csv files, not {model!r}", hint="write replay/FILE.jsonl or replay/FILE.csv"
        )
    return ReplayProvider(path)


class ReplayProvider:
    """Answers from a file, found by the item that a request is about, never by its prompt."""

    name = "replay"
    changes: tuple[str, ...] = ()

    def __init__(self, path: Path) -> None:
        self.path = path
        index = _Index(path)
        self.endpoint = f"file:{index.sha256[:12]}"
        # Token probabilities, or the confidence measured from them; a file without is refused before the first item.
        self.supports = frozenset({"seed", "temperature"} | ({"logprobs"} if index.has_confidence else set()))
        self._index = index

    def __len__(self) -> int:
        """The number of recorded answers."""
        return len(self._index.starts)

    def __repr__(self) -> str:
        return f"<ReplayProvider {self.path}>"

    def lookup(
        self, item_id: str, question: str, t: float | None, repeat: int = 0, *, method: str | None = None
    ) -> Reply | None:
        """The recorded reply, or None. A row for exactly this t (within 1e-9) goes before one for any t.

        With `method`, rows of another method are left out. Raises BadRequest where several rows fit equally well,
        DataError where the file was changed meanwhile.
        """
        found = self._matches(item_id, question, t, repeat, method)
        exact = [row for row in found if row.t is not None] or found
        exact = [row for row in exact if row.method is not None] or exact
        if len(exact) > 1:
            raise BadRequest(
                f"{self.path} holds {len(exact)} answers to {_name(item_id, question)}, and nothing tells them apart",
                hint="give the rows the ids of the items, or one method",
            )
        return exact[0].reply if exact else None

    async def replay(
        self, item_id: str, question: str, t: float | None, repeat: int = 0, *, method: str | None = None
    ) -> Reply:
        """As `lookup`, but raises BadRequest, naming the item, where nothing was recorded."""
        reply = self.lookup(item_id, question, t, repeat, method=method)
        if reply is None:
            at = "" if t is None else f" at t = {t!r}"
            sample = f", sample {repeat}" if repeat else ""
            raise BadRequest(f"no recorded answer to {_name(item_id, question)}{at}{sample} in {self.path}")
        return reply

    async def complete(self, request: Request) -> Reply:
        """The recorded answer to the item that the request is about. Raises BadRequest where there is none."""
        return await self.replay(request.item_id, request.question, request.t, request.repeat)

    def classify(self, error: BaseException) -> Retry:  # noqa: ARG002
        """Asking a file again never helps."""
        return Retry(kind="no")

    def adapt(self, error: BaseException) -> Provider | None:  # noqa: ARG002
        """Nothing is sent, so nothing can be left out."""
        return None

    async def close(self) -> None:
        """Nothing to release."""

    def _matches(
        self, item_id: str, question: str, t: float | None, repeat: int, method: str | None
    ) -> list[RecordedRow]:
        index = self._index
        question = _collapse(question)
        for key, is_it in (
            (_digest("id", item_id), lambda row: row.id == item_id),
            (_digest("question", question), lambda row: _collapse(row.question) == question),
        ):
            near = (i for i in index.rows(key) if index.repeats[i] == repeat and _same_t(index.ts[i], t))
            rows = [row for row in map(index.read, near) if is_it(row) and (not method or row.method in (None, method))]
            if rows:
                return rows
        return []


class _Raw(NamedTuple):
    # A row's bytes: where they lie, on which line of the file they begin, and what they hold.
    start: int
    end: int
    line: int
    cells: Mapping[str, Any]


class _Index:
    """Where each row lies, by the digests of its id and of its question. Building it checks every row."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_csv = path.suffix.lower() == ".csv"
        self.starts, self.ends, self.lines = array("q"), array("q"), array("q")
        self.ts, self.repeats = array("d"), array("i")
        self.has_confidence = False
        self.sha256 = ""
        self._places: dict[int, int | list[int]] = {}
        self._columns: list[str] = []
        self._delimiter = ","
        try:
            with path.open("rb") as file:
                self.sha256 = hashlib.file_digest(file, "sha256").hexdigest()
                file.seek(0)
                self._build(file)
        except OSError as error:
            raise DataError(f"cannot be opened: {error.strerror or error}", path=str(path)) from error
        if not self.starts:
            raise DataError("the file holds no recorded answer", path=str(path))

    def rows(self, key: int) -> list[int]:
        """Numbers (from 0) of the rows under a digest."""
        place = self._places.get(key, [])
        return [place] if isinstance(place, int) else place

    def read(self, number: int) -> RecordedRow:
        """Row `number`, read from the file again."""
        start, end = self.starts[number], self.ends[number]
        try:
            with self.path.open("rb") as file:
                file.seek(start)
                return parse_row(self._cells(file.read(end - start)))
        except (OSError, ValueError) as error:
            raise DataError(
                f"changed while it was replayed: {error}", path=str(self.path), row=number + 1, line=self.lines[number]
            ) from None

    def _build(self, file: io.BufferedReader) -> None:
        seen: dict[int, int] = {}
        for number, raw in enumerate(self._raw_csv(file) if self.is_csv else self._raw_jsonl(file)):
            try:
                row = parse_row(raw.cells)
            except BadCellError as error:
                raise self._error(str(error), number, raw.line, error.column) from None
            question = _collapse(row.question)
            same = (
                row.id or question,
                bool(row.id),
                row.method,
                row.repeat,
                None if row.t is None else round(row.t, 9),
            )
            first = seen.setdefault(_digest(*map(repr, same)), raw.line)
            if first != raw.line:
                at = "" if row.t is None else f" at t = {row.t!r}"
                message = f"a second answer to {_name(row.id, question)}{at} (the first is on line {first})"
                raise self._error(message, number, raw.line, None, "number repeated samples in a column `repeat`")
            self.starts.append(raw.start)
            self.ends.append(raw.end)
            self.lines.append(raw.line)
            self.ts.append(math.nan if row.t is None else row.t)
            self.repeats.append(row.repeat)
            self.has_confidence |= row.reply.logprobs is not None or row.reply.confidence is not None
            for kind, name in (("id", row.id), ("question", question)):
                if name:
                    self._place(_digest(kind, name), number)

    def _place(self, key: int, number: int) -> None:
        # Most items have one row: a bare number then, since a list of one takes three times the memory.
        place = self._places.setdefault(key, number)
        if isinstance(place, list):
            place.append(number)
        elif place != number:
            self._places[key] = [place, number]

    def _raw_jsonl(self, file: io.BufferedReader) -> Iterator[_Raw]:
        start = number = 0
        for line, data in enumerate(file, 1):
            end = start + len(data)
            if data.removeprefix(_MARK).strip():
                try:
                    cells = self._cells(data)
                except ValueError as error:
                    raise self._error(f"is no JSON object: {error}", number, line) from None
                yield _Raw(start, end, line, cells)
                number += 1
            start = end

    def _raw_csv(self, file: io.BufferedReader) -> Iterator[_Raw]:
        csv.field_size_limit(max(csv.field_size_limit(), _MAX_CELL))
        place = [0, 0]  # bytes and lines taken so far

        def lines() -> Iterator[str]:
            for data in file:
                try:
                    text = (data.removeprefix(_MARK) if not place[0] else data).decode()
                except UnicodeDecodeError:
                    raise DataError(f"line {place[1] + 1} is not UTF-8", path=str(self.path)) from None
                place[0] += len(data)
                place[1] += 1
                yield text

        taken = lines()
        header = next(taken, "")
        self._delimiter = max(_DELIMITERS, key=header.count)
        self._columns = [name.strip().casefold() for name in next(csv.reader([header], delimiter=self._delimiter), [])]
        self._check_header()
        reader = csv.reader(taken, delimiter=self._delimiter, strict=True)
        number = 0
        while True:
            start, line = place[0], place[1] + 1
            try:
                values = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise self._error(f"is no valid CSV: {error}", number, line) from None
            if not any(map(str.strip, values)):
                continue
            if len(values) != len(self._columns):
                message = f"has {len(values)} cells where the header has {len(self._columns)}"
                raise self._error(message, number, line)
            yield _Raw(start, place[0], line, dict(zip(self._columns, values, strict=True)))
            number += 1

    def _check_header(self) -> None:
        columns = self._columns
        if not {"id", "question"}.intersection(columns):
            raise DataError("the header lacks this column", path=str(self.path), column="id", hint="or `question`")
        if not set(ANSWER).intersection(columns):
            hint = f"or one of: {', '.join(ANSWER[1:])}"
            raise DataError("the header lacks this column", path=str(self.path), column="answer", hint=hint)
        if twice := [name for name in columns if columns.count(name) > 1]:
            raise DataError("the header has this column twice", path=str(self.path), column=twice[0])

    def _cells(self, data: bytes) -> Mapping[str, Any]:
        data = data.removeprefix(_MARK)
        if self.is_csv:
            reader = csv.reader(io.StringIO(data.decode(), newline=""), delimiter=self._delimiter, strict=True)
            return dict(zip(self._columns, next(reader, []), strict=True))
        value = orjson.loads(data)
        if not isinstance(value, dict):
            raise ValueError("each line must be one {...}")
        return {name.strip().casefold(): cell for name, cell in value.items()}

    def _error(self, message: str, number: int, line: int, column: str | None = None, hint: str = "") -> DataError:
        return DataError(message, path=str(self.path), row=number + 1, line=line, column=column or None, hint=hint)


def _digest(*parts: str) -> int:
    """64 bits that stand for the parts: no text is kept in memory."""
    text = "\0".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest())


def _collapse(text: str) -> str:
    return " ".join(text.split())


def _same_t(recorded: float, asked: float | None) -> bool:
    return math.isnan(recorded) or (asked is not None and abs(recorded - asked) <= T_TOLERANCE)


def _name(item_id: str, question: str) -> str:
    short = question if len(question) <= 60 else question[:59] + "…"
    return f"item {item_id!r}" if item_id else f"the question {short!r}"
