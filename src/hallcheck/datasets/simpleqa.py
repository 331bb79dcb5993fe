"""SimpleQA: short fact-seeking questions with one answer each. Source: Wei et al., arXiv 2411.04368.

The file is `simple_qa_test_set.csv`: `metadata` (a Python dict as text), `problem`, `answer`.
"""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from hallcheck.datasets.rows import Row, read_rows
from hallcheck.datasets.sampling import check_limit, content_hash, numbered, sampled
from hallcheck.types import Item


class SimpleQADataset:
    """The questions of a SimpleQA file (CSV, or JSON lines with the same names); category is the topic.

    Ids are `simpleqa:` and a content hash. An answer is one answer: `|` in it separates nothing. `limit` rows are
    drawn by `seed`, in file order. Iterating raises DataError; the constructor raises ConfigError.
    """

    name = "simpleqa"

    def __init__(self, path: str | PathLike[str], limit: int | None = None, seed: int = 1234) -> None:
        check_limit(limit)
        self.path, self.limit, self.seed = Path(path), limit, seed
        self.settings: Mapping[str, Any] = {"path": str(path), "limit": limit, "seed": seed}

    def __iter__(self) -> Iterator[Item]:
        return sampled(self._items, self.limit, self.seed)

    def _items(self) -> Iterator[Item]:
        ids: Counter[str] = Counter()
        for row in read_rows(self.path, None, (("problem",), ("answer",))):
            for column in ("problem", "answer"):
                if column not in row.cells:
                    raise row.missing(column)
                if not row.text(column):
                    raise row.error(f"the {column} is blank", column)
            question, answer = row.text("problem"), row.text("answer")
            meta = _metadata(row)
            topic = row.text("topic") or meta.pop("topic", None)
            yield Item(
                id=numbered(ids, f"simpleqa:{content_hash(question, answer)}"),
                question=question,
                answers=(answer,),
                category=None if topic is None else str(topic),
                meta=meta,
            )


def _metadata(row: Row) -> dict[str, Any]:
    value = row.cells.get("metadata")
    if isinstance(value, str):
        if not value.strip():
            return {}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)  # a backslash in a URL is no escape
                warnings.simplefilter("ignore", DeprecationWarning)
                value = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as error:
            raise row.error("is no Python dict", "metadata", "for example {'topic': 'Art'}") from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise row.error("is no Python dict", "metadata", "for example {'topic': 'Art'}")
    return dict(value)
