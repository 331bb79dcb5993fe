"""TruthfulQA: questions that people often answer wrongly. Source: Lin et al., arXiv 2109.07958.

Two layouts are read: the published CSV (`Question`, `Best Answer`, `Correct Answers`, `Incorrect Answers`, the lists
separated by `;`) and JSON lines (`question`, `best_answer`, `correct_answers`, `incorrect_answers`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from hallcheck.datasets.rows import Row, json_kind, read_rows
from hallcheck.datasets.sampling import check_limit, content_hash, numbered, sampled, unique_texts
from hallcheck.types import Item

_BEST = ("best answer", "best_answer")
_CORRECT = ("correct answers", "correct_answers")
_INCORRECT = ("incorrect answers", "incorrect_answers")


class TruthfulQADataset:
    """The questions of a TruthfulQA file; accepted are the best and the correct answers, `meta` has the incorrect ones.

    Ids are `truthfulqa:` and a content hash. `limit` rows are drawn by `seed`, in file order. Iterating raises
    DataError; the constructor raises ConfigError.
    """

    name = "truthfulqa"

    def __init__(self, path: str | PathLike[str], limit: int | None = None, seed: int = 1234) -> None:
        check_limit(limit)
        self.path, self.limit, self.seed = Path(path), limit, seed
        self.settings: Mapping[str, Any] = {"path": str(path), "limit": limit, "seed": seed}

    def __iter__(self) -> Iterator[Item]:
        return sampled(self._items, self.limit, self.seed)

    def _items(self) -> Iterator[Item]:
        ids: Counter[str] = Counter()
        for row in read_rows(self.path, None, (("question",), _BEST, _CORRECT)):
            if "question" not in row.cells:
                raise row.missing("question")
            question = row.text("question")
            if not question:
                raise row.error("the question is blank", "question")
            answers = unique_texts([*_list(row, _BEST, split=False), *_list(row, _CORRECT)])
            if not answers:
                raise row.error("no accepted answer", _BEST[1], "the row needs a best answer or correct answers")
            meta: dict[str, Any] = {"incorrect_answers": list(unique_texts(_list(row, _INCORRECT)))}
            meta |= {name: row.text(name) for name in ("type", "source") if row.text(name)}
            yield Item(
                id=numbered(ids, f"truthfulqa:{content_hash(question, answers)}"),
                question=question,
                answers=answers,
                category=row.text("category") or None,
                meta=meta,
            )


def _list(row: Row, names: tuple[str, ...], *, split: bool = True) -> list[str]:
    # The texts in the first of the columns `names` that the row has: a JSON list, or a cell split at `;`.
    column = next((name for name in names if name in row.cells), None)
    if column is None:
        return []
    value = row.cells[column]
    if isinstance(value, list):
        for part in value:
            if not isinstance(part, str):
                raise row.error(f"must be a list of texts, not with {json_kind(part)}", column)
        return value
    text = row.text(column)
    return text.split(";") if split else [text]
