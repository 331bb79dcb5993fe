"""JSON that every parser reads: UTF-8, indent 2, keys in the order given, never NaN or Infinity.

A number that is not finite becomes null (RFC 8259 knows none of them). A lone surrogate, which UTF-8 cannot
carry, is written as its JSON escape, so that no text of a model's can make a file unreadable.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Mapping, Sequence, Set
from typing import Any

from hallcheck.types import Report

_SURROGATE = re.compile("[\ud800-\udfff]")


def dumps(value: Any) -> bytes:
    """`value` as JSON text in UTF-8, ending in a newline.

    Takes mappings (keys: str, numbers, bool or None, written as text), sequences, sets (sorted by their text),
    dataclasses, numpy arrays and scalars, str, int, float, bool and None. Raises TypeError for anything else and
    ValueError for two keys of one mapping that read alike once they are text.
    """
    text = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False, indent=2)
    text = _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)
    return text.encode("utf-8") + b"\n"


def render(report: Report) -> bytes:
    """The whole report as one JSON object: title, partial, run, metrics, behavior, notes, examples."""
    names = ("title", "partial", "run", "metrics", "behavior", "notes", "examples")
    return dumps({name: getattr(report, name) for name in names})


def _plain(value: Any) -> Any:
    """`value` in dict, list, str, int, float, bool and None alone."""
    if value is None or isinstance(value, bool | str):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return _plain_mapping(value)
    if isinstance(value, Set):
        return [_plain(one) for one in sorted(value, key=str)]
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return [_plain(one) for one in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if hasattr(value, "tolist"):  # numpy, without importing it
        return _plain(value.tolist())
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _plain_mapping(mapping: Mapping[Any, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in mapping.items():
        name = key if isinstance(key, str) else _key(key)
        if name in out:
            raise ValueError(f"two keys read {name!r} as JSON")
        out[name] = _plain(value)
    return out


def _key(key: Any) -> str:
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    if isinstance(key, int | float):
        return str(key)
    raise TypeError(f"a key of type {type(key).__name__} has no JSON form")
