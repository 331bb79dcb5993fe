"""The fixed order of trials, and what of them is left to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallcheck.config import AskConfig
from hallcheck.errors import StoreError
from hallcheck.store.journal import Journal
from hallcheck.types import AskRecord
from hallcheck.verbs.ask_plan import DONE, MISSING, REPLIED, UNSCORED, Plan

THREE = AskConfig(thresholds=(0.5, 0.75, 0.9))
SAMPLES = AskConfig(method="samples", samples=3)


def row(slot: int, outcome: str, reason: str = "") -> dict[str, Any]:
    return {"slot": slot, "outcome": outcome, "reason": reason}


def plan(n: int, config: AskConfig, *rows: dict[str, Any], **more: Any) -> Plan:
    made = Plan(n, config, **more)
    for offset, one in enumerate(rows):
        made.take(offset, one)
    made.reopen()
    return made


@pytest.mark.parametrize(
    ("config", "per_item"),
    [
        (THREE, 3),
        (AskConfig(method="verbal"), 1),
        (AskConfig(method="logprob"), 1),
        (AskConfig(method="samples", samples=10), 11),
    ],
)
def test_a_method_has_its_number_of_slots_an_item(config: AskConfig, per_item: int) -> None:
    assert Plan(7, config).n_slots == 7 * per_item


@given(st.integers(1, 20), st.integers(1, 5))
def test_slots_are_item_major_and_none_is_used_twice(n: int, k: int) -> None:
    made = Plan(n, AskConfig(thresholds=tuple(i / 10 for i in range(k))))
    slots = [made.slot(index, part) for index in range(n) for part in range(k)]
    assert slots == list(range(made.n_slots))
    units = list(made.work())
    assert units == [(index, (part,)) for index in range(n) for part in range(k)]
    assert made.remaining() == n * k


def test_samples_are_one_unit_an_item_with_the_verdict_last() -> None:
    assert list(Plan(2, SAMPLES).work()) == [(0, (0, 1, 2, 3)), (1, (0, 1, 2, 3))]


@pytest.mark.parametrize(
    ("outcome", "reason", "state"),
    [
        ("correct", "", DONE),
        ("wrong", "", DONE),
        ("abstained", "idk", DONE),
        ("", "", REPLIED),
        ("unscored", "judge_failed", REPLIED),
        ("unscored", "error", MISSING),
        ("unscored", "empty", UNSCORED),
        ("unscored", "truncated", UNSCORED),
        ("unscored", "blocked", UNSCORED),
        ("unscored", "unparsed", UNSCORED),
    ],
)
def test_what_an_earlier_run_left_decides_what_is_asked_again(outcome: str, reason: str, state: int) -> None:
    one = plan(2, AskConfig(thresholds=(0.5,)), row(0, outcome, reason))
    assert one.state[0] == state
    left = [(1, (0,))] if state > REPLIED else [(0, (0,)), (1, (0,))]
    assert list(one.work()) == left
    assert (one.done, one.unscored) == (int(state > REPLIED), int(state == UNSCORED))
    again = plan(2, AskConfig(thresholds=(0.5,), retry_unscored=True), row(0, outcome, reason))
    assert again.state[0] == (MISSING if state == UNSCORED else state)


def test_the_last_record_of_a_slot_wins() -> None:
    made = plan(1, THREE, row(0, "unscored", "error"), row(1, "wrong"), row(0, "correct"), row(1, ""))
    assert list(made.state) == [DONE, REPLIED, MISSING]
    assert list(made.offset) == [2, 3, -1]
    assert made.done == 1


@given(st.lists(st.tuples(st.integers(0, 8), st.sampled_from(["", "correct", "unscored"])), max_size=60))
def test_the_counts_are_those_of_the_states_whatever_the_order(records: list[tuple[int, str]]) -> None:
    made = Plan(3, THREE)
    for offset, (slot, outcome) in enumerate(records):
        made.add(slot, offset, outcome)
        assert made.done == sum(state > REPLIED for state in made.state)
        assert made.unscored == sum(state == UNSCORED for state in made.state)
        assert made.remaining() == made.n_slots - made.done


@pytest.mark.parametrize("slot", [-1, 6, 10**12, "0", None, 1.5])
def test_a_slot_of_another_run_is_refused(slot: Any) -> None:
    with pytest.raises(StoreError, match="not of this run"):
        Plan(2, THREE).take(0, row(slot, "correct"))


def test_only_replies_are_judged_where_nothing_may_be_asked() -> None:
    made = plan(2, THREE, row(0, ""), row(1, "correct"), row(4, "unscored", "error"), ask_missing=False)
    assert list(made.work()) == [(0, (0,))]


class TestSamples:
    """The verdict on an item's samples is made of all of them."""

    done = (row(0, "correct"), row(1, "correct"), row(2, "wrong"), row(3, "correct"))

    def test_an_item_with_its_verdict_is_done(self) -> None:
        assert list(plan(1, SAMPLES, *self.done).work()) == []

    def test_a_sample_that_failed_reopens_the_verdict(self) -> None:
        made = plan(1, SAMPLES, *self.done[:2], row(2, "unscored", "error"), self.done[3])
        assert list(made.work()) == [(0, (2, 3))]

    def test_a_sample_newer_than_the_verdict_reopens_it(self) -> None:
        made = plan(1, SAMPLES, *self.done, row(2, "correct"))
        assert list(made.work()) == [(0, (3,))]
        assert made.done == 3

    def test_where_nothing_may_be_asked_a_failed_sample_reopens_nothing(self) -> None:
        made = plan(1, SAMPLES, *self.done[:2], row(2, "unscored", "error"), self.done[3], ask_missing=False)
        assert list(made.work()) == []

    def test_where_nothing_may_be_asked_only_whole_items_are_judged(self) -> None:
        made = plan(2, SAMPLES, *self.done[:3], row(4, "correct"), ask_missing=False)
        assert list(made.work()) == [(0, (3,))]

    def test_loading_does_the_same(self, tmp_path: Path) -> None:
        with Journal(tmp_path / "run.jsonl") as journal:
            for slot in (0, 1, 2, 3, 2):
                journal.append(AskRecord(slot=slot, id="q", t=None, outcome="correct"))
        with Journal(tmp_path / "run.jsonl") as journal:
            made = Plan(1, SAMPLES)
            made.load(journal)
        assert list(made.work()) == [(0, (3,))]
