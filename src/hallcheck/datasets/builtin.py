"""The questions that come with the package: written for it, so that a first run needs no file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.resources import as_file, files
from typing import Any

from hallcheck.datasets.sampling import check_limit, sampled
from hallcheck.datasets.table import TableDataset
from hallcheck.errors import ConfigError, DataError
from hallcheck.registry import suggest
from hallcheck.types import Item

SUBSETS = ("all", "demo")


class BuiltinDataset:
    """The package's own questions; `subset="demo"` is the short list of the demonstration.

    `limit` items are drawn by `seed`, in the set's order. The constructor raises ConfigError.
    """

    name = "builtin"

    def __init__(self, *, subset: str | None = None, limit: int | None = None, seed: int = 1234) -> None:
        subset = subset or "all"
        if subset not in SUBSETS:
            raise ConfigError(f"unknown subset {subset!r} of the built-in questions", hint=suggest(subset, SUBSETS))
        check_limit(limit)
        self.subset, self.limit, self.seed = subset, limit, seed
        self.settings: Mapping[str, Any] = {"subset": subset, "limit": limit, "seed": seed}

    def __iter__(self) -> Iterator[Item]:
        return sampled(self._items, self.limit, self.seed)

    def _items(self) -> Iterator[Item]:
        data = files("hallcheck.data")
        wanted = None
        if self.subset == "demo":
            listed = json.loads(data.joinpath("demo_ids.json").read_text(encoding="utf-8"))
            wanted = set(listed["ids"] if isinstance(listed, dict) else listed)
        found = 0
        with as_file(data.joinpath("questions.jsonl")) as path:
            for item in TableDataset(path):
                if wanted is None or item.id in wanted:
                    found += 1
                    yield item
        if wanted is not None and found < len(wanted):
            raise DataError(f"{len(wanted) - found} id(s) of the demonstration are no questions", path="demo_ids.json")
