"""One recorded answer: the cells of a row of a replay file, read strictly. See replay.py for the columns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from hallcheck.types import Reply, Usage

ANSWER = ("answer", "text", "output", "pred")
CORRECT = ("correct", "truthful")
_TRUE, _FALSE = ("true", "1", "1.0", "yes"), ("false", "0", "0.0", "no")


class BadCellError(ValueError):
    """A cell that cannot be read. `column` is its name, "" where the row as a whole is meant."""

    def __init__(self, column: str, message: str) -> None:
        super().__init__(message)
        self.column = column


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRow:
    """One recorded answer. `id` and `question` are "", `t` and `method` None where the row does not say."""

    id: str
    question: str
    t: float | None
    repeat: int
    method: str | None
    reply: Reply


def parse_row(cells: Mapping[str, Any]) -> RecordedRow:
    """The recorded answer in `cells` (column name in lower case -> text, or what JSON held). Pure.

    Raises BadCellError, which names the column.
    """
    item_id, question = _text(cells, "id").strip(), _text(cells, "question").strip()
    if not item_id and not question:
        raise BadCellError("id", "neither an id nor a question says which item was answered")
    answer = next((name for name in ANSWER if name in cells), None)
    if answer is None:
        raise BadCellError("answer", "the row has no answer")
    correct = next((name for name in CORRECT if name in cells), "correct")
    repeat = _number(cells, "repeat")
    if repeat is not None and (repeat < 0 or repeat != int(repeat) or repeat >= 2**31):
        raise BadCellError("repeat", f"must be a whole number from 0, not {cells['repeat']!r}")
    reply = Reply(
        text=_text(cells, answer),
        finish=_text(cells, "finish").strip() or "stop",
        usage=_usage(cells),
        logprobs=_logprobs(cells),
        model_version=_text(cells, "model_version").strip() or None,
        correct=_boolean(cells, correct),
        abstained=_boolean(cells, "abstained"),
        confidence=_share(cells, "confidence"),
    )
    return RecordedRow(
        id=item_id,
        question=question,
        t=_share(cells, "t"),
        repeat=int(repeat or 0),
        method=_text(cells, "method").strip() or None,
        reply=reply,
    )


def _text(cells: Mapping[str, Any], column: str) -> str:
    value = cells.get(column)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    raise BadCellError(column, f"must be text, not {type(value).__name__}")


def _number(cells: Mapping[str, Any], column: str) -> float | None:
    value = cells.get(column)
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        if isinstance(value, bool) or (isinstance(value, str) and "_" in value):
            raise ValueError
        number = float(value)
    except (TypeError, ValueError):
        raise BadCellError(column, f"must be a number, not {value!r}") from None
    if not math.isfinite(number):
        raise BadCellError(column, f"must be a finite number, not {value!r}")
    return number


def _share(cells: Mapping[str, Any], column: str) -> float | None:
    number = _number(cells, column)
    if number is not None and not 0 <= number <= 1:
        raise BadCellError(column, f"must be between 0 and 1, not {cells[column]!r}")
    return number


def _boolean(cells: Mapping[str, Any], column: str) -> bool | None:
    value = cells.get(column)
    word = str(value).strip().casefold() if isinstance(value, (str, bool, int, float)) else value
    if word is None or word == "":
        return None
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise BadCellError(column, f"must be true or false (or 1, 0, yes, no), not {value!r}")


def _json(cells: Mapping[str, Any], column: str) -> Any:
    value = cells.get(column)
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value) if value.strip() else None
    except ValueError as error:
        raise BadCellError(column, f"is no valid JSON: {error}") from None


def _usage(cells: Mapping[str, Any]) -> Usage:
    value = _json(cells, "usage")
    if value is None:
        return Usage()
    if not isinstance(value, dict):
        raise BadCellError("usage", "must be an object of token counts")
    counts = {name: value.get(name) for name in Usage.__slots__}
    if wrong := [name for name, n in counts.items() if n is not None and (type(n) is not int or n < 0)]:
        raise BadCellError("usage", f"{wrong[0]} must be a whole number from 0, not {counts[wrong[0]]!r}")
    return Usage(**counts)


def _logprobs(cells: Mapping[str, Any]) -> tuple[tuple[str, float], ...] | None:
    value = _json(cells, "logprobs")
    if value is None:
        return None
    message = "must be a list of [token, natural log of its probability], each log 0 or less"
    if not isinstance(value, list):
        raise BadCellError("logprobs", message)
    pairs = []
    for pair in value:
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
            raise BadCellError("logprobs", message)
        if type(pair[1]) not in (int, float) or pair[1] > 0:
            raise BadCellError("logprobs", message)
        pairs.append((pair[0], float(pair[1])))
    return tuple(pairs)
