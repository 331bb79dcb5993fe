"""From the journal to rows, in data-set order: one row for each item and threshold.

The rows are streamed; what is kept for the metrics is a few bytes a row (`Tally`).
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hallcheck.config import AskConfig
from hallcheck.errors import StoreError
from hallcheck.stats.penalty import score_item
from hallcheck.store.folder import JOURNAL
from hallcheck.store.items import read_items
from hallcheck.store.journal import JournalReader
from hallcheck.types import AskRecord, Item
from hallcheck.verbs.ask_plan import Plan

CORRECT, WRONG, ABSTAINED, UNSCORED = 0, 1, 2, 3
CODES = {"correct": CORRECT, "wrong": WRONG, "abstained": ABSTAINED, "unscored": UNSCORED}
EXAMPLES_EACH = 5
STATED_IDS_SHOWN = 20
ERRORS_KEPT = 1000
ASIDE = "restore the file, or --fresh moves the folder aside and starts anew"


@dataclass(slots=True)
class Tally:
    """What one threshold's metrics need, one entry a row that has a record.

    `outcome`: CODES. `unknown_ok`: 0/1. `category`, `group`: numbers given in order of appearance (-1: none).
    """

    outcome: array[int] = field(default_factory=lambda: array("b"))
    unknown_ok: array[int] = field(default_factory=lambda: array("b"))
    category: array[int] = field(default_factory=lambda: array("i"))
    group: array[int] = field(default_factory=lambda: array("i"))
    unscored: Counter[str] = field(default_factory=Counter)
    abstained: Counter[str] = field(default_factory=Counter)
    below_stated: list[str] = field(default_factory=list)
    n_below_stated: int = 0


@dataclass(slots=True)
class Confidences:
    """For the confidence methods: every item with a committed answer, and how many abstained by themselves."""

    score: array[float] = field(default_factory=lambda: array("d"))
    bad: array[int] = field(default_factory=lambda: array("b"))
    group: array[int] = field(default_factory=lambda: array("i"))
    n_abstained: int = 0


@dataclass(slots=True)
class Results:
    """Walks over a run's rows and gathers, on the way, all that metrics and reports need."""

    config: AskConfig
    plan: Plan
    items_path: Path
    journal_path: Path
    tallies: list[Tally] = field(default_factory=list)
    confidences: Confidences = field(default_factory=Confidences)
    categories: dict[str, int] = field(default_factory=dict)
    groups: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    model_version: str | None = None
    tokens: dict[str, int] = field(default_factory=lambda: {"input": 0, "output": 0})

    def rows(self) -> Iterator[dict[str, Any]]:
        """Every row of results.csv, in data-set order. Rows without a record (a partial run) are left out."""
        self._reset()
        with JournalReader(self.journal_path) as reader:
            for index, item in enumerate(read_items(self.items_path)):
                category = _number(self.categories, item.category)
                group = _number(self.groups, item.group)
                whole: AskRecord | None = None
                for place, t in enumerate(self.config.thresholds):
                    if self.config.method == "prompt" or place == 0:
                        whole = self._record(reader, index, place)
                        if whole is not None and whole.id != item.id:
                            raise StoreError(
                                f"{JOURNAL}: a reply to {whole.id!r} lies where {item.id!r} belongs", hint=ASIDE
                            )
                        if whole is not None:
                            self._count(whole, group)
                    if whole is None:
                        continue
                    outcome, reason = decide(whole, t, self.config.method)
                    row = result_row(item, whole, t, outcome, reason)
                    self._tally(self.tallies[place], item, whole, row, (category, group))
                    yield row

    def score_lines(self) -> Iterator[dict[str, Any]]:
        """scores.jsonl of a confidence method: a line for each scored item, in data-set order.

        `score`: the confidence in the committed answer; `bad`: 1 if that answer is wrong. Where the model itself
        abstained both are null.
        """
        with JournalReader(self.journal_path) as reader:
            for index, item in enumerate(read_items(self.items_path)):
                record = self._record(reader, index, 0)
                if record is None or record.outcome == "unscored":
                    continue
                committed = record.outcome != "abstained"
                yield {
                    "id": item.id,
                    "score": record.confidence if committed else None,
                    "bad": int(record.outcome == "wrong") if committed else None,
                    "abstained": not committed,
                    "group": item.group,
                    "category": item.category,
                }

    def _record(self, reader: JournalReader, index: int, place: int) -> AskRecord | None:
        part = {"prompt": place, "samples": self.config.samples}.get(self.config.method, 0)
        slot = self.plan.slot(index, part)
        offset = self.plan.offset[slot]
        if offset < 0:
            return None
        record = reader.read(offset)
        return record if record.outcome else None

    def _reset(self) -> None:
        self.tallies = [Tally() for _ in self.config.thresholds]
        self.confidences = Confidences()
        self.categories, self.groups, self.examples = {}, {}, {}
        self.errors = Counter()
        self.tokens = {"input": 0, "output": 0}

    def _count(self, record: AskRecord, group: int) -> None:
        self.model_version = record.model_version or self.model_version
        self.tokens["input"] += record.input_tokens or 0
        self.tokens["output"] += (record.output_tokens or 0) + (record.thinking_tokens or 0)
        if self.config.method == "prompt":
            return
        if record.outcome == "abstained":
            self.confidences.n_abstained += 1
        elif record.outcome != "unscored" and record.confidence is not None:
            self.confidences.score.append(record.confidence)
            self.confidences.bad.append(int(record.outcome == "wrong"))
            self.confidences.group.append(group)

    def _tally(
        self, tally: Tally, item: Item, record: AskRecord, row: Mapping[str, Any], numbers: tuple[int, int]
    ) -> None:
        outcome, reason, t = row["outcome"], row["reason"], row["t"]
        tally.outcome.append(CODES[outcome])
        tally.unknown_ok.append(item.unknown_ok)
        tally.category.append(numbers[0])
        tally.group.append(numbers[1])
        if outcome == "unscored":
            tally.unscored[reason] += 1
            if record.error is not None and (record.error in self.errors or len(self.errors) < ERRORS_KEPT):
                self.errors[record.error] += 1
        elif outcome == "abstained":
            tally.abstained[reason] += 1
        elif record.confidence is not None and record.confidence <= t:
            tally.n_below_stated += 1
            if len(tally.below_stated) < STATED_IDS_SHOWN:
                tally.below_stated.append(item.id)
        shown = self.examples.setdefault(outcome, [])
        if len(shown) < EXAMPLES_EACH and all(seen["id"] != item.id for seen in shown):
            shown.append(dict(row))


def decide(record: AskRecord, t: float, method: str) -> tuple[str, str]:
    """(outcome, reason) of a record at threshold t: a measured confidence must be above t."""
    if method == "prompt" or record.outcome not in ("correct", "wrong"):
        return record.outcome, record.reason
    if record.confidence is not None and record.confidence > t:
        return record.outcome, record.reason
    return "abstained", "below_threshold"


def result_row(item: Item, record: AskRecord, t: float, outcome: str, reason: str) -> dict[str, Any]:
    """One row of results.csv. What is undefined for an unscored row is None."""
    scored = outcome != "unscored"
    abstained = outcome == "abstained"
    correct = outcome == "correct" or (abstained and item.unknown_ok)
    tokens = [n for n in (record.input_tokens, record.output_tokens, record.thinking_tokens) if n is not None]
    return {
        "id": item.id,
        "t": t,
        "question": item.question,
        "gold": item.gold,
        "unknown_ok": int(item.unknown_ok),
        "pred": record.text,
        "abstained": int(abstained) if scored else None,
        "correct": int(correct) if scored else None,
        "score": score_item(not abstained, outcome == "correct", t) if scored else None,
        "outcome": outcome,
        "reason": reason,
        "confidence": record.confidence,
        "category": item.category,
        "finish": record.finish or None,
        "tokens": sum(tokens) if tokens else None,
        "latency_s": record.latency_s,
    }


def _number(numbers: dict[str, int], name: str | None) -> int:
    return -1 if name is None else numbers.setdefault(name, len(numbers))
