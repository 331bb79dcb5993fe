"""What all data sets share: limits, seeded samples, ids made from content.

Every draw comes from `random.Random(seed)`: the same seed gives the same items, on every machine.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hallcheck.errors import ConfigError, DataError
from hallcheck.types import Item


def check_limit(limit: int | None) -> None:
    """Raises ConfigError unless `limit` is None or a whole number of at least 1."""
    if limit is None:
        return
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise ConfigError(f"--limit {limit!r} is no number of items", hint="give a whole number of at least 1")


def check_fraction(name: str, value: float) -> None:
    """Raises ConfigError unless `value` lies in [0, 1] (NaN does not)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        hint = "give a share between 0 and 1"
        if isinstance(value, (int, float)) and 1 < value <= 100:
            hint += f": {value:g}% is {value / 100:g}"
        raise ConfigError(f"{name} {value!r} is no share", hint=hint)


def choose(total: int, limit: int | None, rng: random.Random) -> list[int]:
    """The indices, ascending, of `limit` of `total` items drawn without replacement; all of them if there are fewer."""
    if limit is None or limit >= total:
        return list(range(total))
    return sorted(rng.sample(range(total), limit))


def sampled(items: Callable[[], Iterator[Item]], limit: int | None, seed: int) -> Iterator[Item]:
    """`limit` items of the stream that `items()` opens, in their order. Opens it twice; holds the chosen indices only.

    The first pass reads all, so a bad item is refused wherever it stands.
    """
    if limit is None:
        yield from items()
        return
    total = sum(1 for _ in items())
    chosen = choose(total, limit, random.Random(seed))
    position = 0
    for index, item in enumerate(items()):
        if position == len(chosen):
            return
        if index == chosen[position]:
            position += 1
            yield item


def content_hash(*parts: Any, digits: int = 12) -> str:
    """Hex digits of the sha256 of `parts` (JSON-able) as canonical JSON; outer white space of texts does not count."""
    text = json.dumps([_stripped(p) for p in parts], ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]


def _stripped(part: Any) -> Any:
    if isinstance(part, str):
        return part.strip()
    if isinstance(part, (list, tuple)):
        return [_stripped(p) for p in part]
    return part


def numbered(ids: Counter[str], name: str) -> str:
    """`name` the first time, then `name-2`, `name-3`, …: exact duplicates in a published set stay apart.

    `ids` counts what was given out; the caller keeps it for one pass in file order.
    """
    ids[name] += 1
    return name if ids[name] == 1 else f"{name}-{ids[name]}"


def refuse_duplicates(
    items: Callable[[], Iterator[tuple[Any, Item]]], fingerprint: Callable[[str], int] = hash
) -> Iterator[tuple[Any, Item]]:
    """Pass on the (row, item) pairs of `items()`; raise DataError at the second item of an id.

    Holds one integer a row (some 100 bytes). Two ids may share a fingerprint: on a hit the stream is opened again
    and the ids themselves are compared, so no row is refused by mistake.
    """
    seen: set[int] = set()
    for count, (row, item) in enumerate(items()):
        mark = fingerprint(item.id)
        if mark in seen:
            for _, (earlier, other) in zip(range(count), items(), strict=False):
                if other.id == item.id:
                    raise _duplicate(row, item.id, earlier.number)
        seen.add(mark)
        yield row, item


def _duplicate(row: Any, name: str, earlier: int) -> DataError:
    made = not row.text("id")
    message = f"repeats row {earlier} and has no id" if made else f"duplicate id {name!r}, first used in row {earlier}"
    hint = "give both rows an id, or delete one" if made else "every row needs an id of its own"
    error: DataError = row.error(message, "id", hint)
    return error


def letter(index: int) -> str:
    """The letter of option `index`, counted from 0."""
    return chr(ord("A") + index)


def unique_texts(texts: Sequence[str]) -> tuple[str, ...]:
    """`texts` stripped, without blanks and repetitions, in order."""
    return tuple(dict.fromkeys(t for t in (text.strip() for text in texts) if t))
