"""The fixed order of a run's trials, and what is known of each.

A trial is one request: (item, threshold) for `prompt`, (item) for `verbal` and `logprob`, (item, repeat) for
`samples`, which has one slot more an item for the verdict on all its samples. Slots are item-major. A few bytes a
slot are all that is held in memory.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

from hallcheck.config import AskConfig
from hallcheck.errors import StoreError
from hallcheck.store.folder import JOURNAL
from hallcheck.store.journal import Journal

MISSING, REPLIED, DONE, UNSCORED = 0, 1, 2, 3
ASKED_AGAIN = ("error",)


class Plan:
    """State and journal offset of every slot. `loaded`: slots that were known when the run began."""

    def __init__(self, n_items: int, config: AskConfig, *, ask_missing: bool = True) -> None:
        self.n_items = n_items
        self.method = config.method
        self.thresholds = config.thresholds
        self.per_item = {"prompt": len(config.thresholds), "samples": config.samples + 1}.get(config.method, 1)
        self._retry_unscored = config.retry_unscored
        self._ask_missing = ask_missing
        n = n_items * self.per_item
        self.state = array("b", bytes(n))
        self.offset = array("q", [-1]) * n
        self.done = 0
        self.unscored = 0

    @property
    def n_slots(self) -> int:
        return len(self.state)

    def slot(self, index: int, part: int) -> int:
        """The slot of part `part` (threshold or repeat) of item number `index`."""
        return index * self.per_item + part

    def load(self, journal: Journal) -> None:
        """Take in what an earlier run left. Raises StoreError if the journal is not of this plan."""
        for offset, row in journal.load():
            self.take(offset, row)
        self.reopen()

    def reopen(self) -> None:
        """The verdict on an item's samples must be made again where a sample is missing, or newer than it."""
        if self.method != "samples":
            return
        for base in range(0, self.n_slots, self.per_item):
            last = base + self.per_item - 1
            incomplete = self._ask_missing and MISSING in self.state[base:last]
            if self.state[last] > REPLIED and (incomplete or max(self.offset[base:last]) > self.offset[last]):
                self._set(last, self.offset[last], MISSING)

    def take(self, offset: int, row: dict[str, Any]) -> None:
        """Take in one line of a journal. Raises StoreError if it is not of this plan."""
        slot = row["slot"]
        if not (isinstance(slot, int) and 0 <= slot < self.n_slots):
            raise StoreError(f"{JOURNAL}: slot {slot!r} is not of this run", hint="--fresh moves the folder aside")
        self._set(slot, offset, self._state_of(row))

    def add(self, slot: int, offset: int, outcome: str) -> None:
        """Note a record that was just appended."""
        self._set(slot, offset, REPLIED if outcome == "" else UNSCORED if outcome == "unscored" else DONE)

    def missing(self, slot: int) -> bool:
        """Whether the slot has no reply yet."""
        return self.state[slot] == MISSING

    def work(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """(item index, parts to do) of every unit of work that is left, in order."""
        per_item = self.per_item
        for index in range(self.n_items):
            base = index * per_item
            parts = tuple(p for p in range(per_item) if self.state[base + p] <= REPLIED)
            if not self._ask_missing:
                parts = tuple(p for p in parts if self._can_judge(base, p))
            if not parts:
                continue
            if self.method == "samples":
                yield index, parts
            else:
                for part in parts:
                    yield index, (part,)

    def _can_judge(self, base: int, part: int) -> bool:
        if self.method == "samples":
            return part == self.per_item - 1 and all(self.offset[base + p] >= 0 for p in range(part))
        return self.state[base + part] == REPLIED

    def remaining(self) -> int:
        """Slots without a final record."""
        return sum(1 for state in self.state if state <= REPLIED)

    def _set(self, slot: int, offset: int, state: int) -> None:
        before = self.state[slot]
        self.done += (state > REPLIED) - (before > REPLIED)
        self.unscored += (state == UNSCORED) - (before == UNSCORED)
        self.state[slot] = state
        self.offset[slot] = offset

    def _state_of(self, row: dict[str, Any]) -> int:
        outcome, reason = row.get("outcome", ""), row.get("reason", "")
        if outcome != "unscored":
            return DONE if outcome else REPLIED
        if reason in ASKED_AGAIN:
            return MISSING
        if reason == "judge_failed":
            return REPLIED
        return MISSING if self._retry_unscored else UNSCORED
