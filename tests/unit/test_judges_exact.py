"""Exact and choice: the sync and async ways agree, and equality of two answers follows the item."""

from __future__ import annotations

import asyncio

import pytest

from hallcheck.judges.choice import ChoiceJudge
from hallcheck.judges.exact import ExactJudge
from hallcheck.types import Item, Reply

FREE = Item(id="1", question="q", answers=("1000", "a thousand"))
CHOICE = Item(id="2", question="q", answers=("B",), choices=("Cube", "Cone"))


@pytest.mark.parametrize("judge", [ExactJudge(), ChoiceJudge()])
@pytest.mark.parametrize(
    ("item", "text", "outcome"),
    [
        (FREE, "1,000", "correct"),
        (FREE, "a thousand", "correct"),
        (FREE, "1,001", "wrong"),
        (CHOICE, "cone", "correct"),
        (CHOICE, "A", "wrong"),
        (CHOICE, "A or B", "unscored"),
    ],
)
def test_verdicts(judge: ExactJudge, item: Item, text: str, outcome: str) -> None:
    assert judge.verdict(item, Reply(text=text)).outcome == outcome
    assert asyncio.run(judge.judge(item, Reply(text=text))) == judge.verdict(item, Reply(text=text))


def test_same_follows_the_item() -> None:
    judge = ExactJudge()
    assert judge.same_now(FREE, "1000", "1,000")
    assert not judge.same_now(FREE, "1000", "1001")
    assert judge.same_now(CHOICE, "B", "Cone")
    assert not judge.same_now(CHOICE, "A", "Cone")
    assert asyncio.run(judge.same(CHOICE, "(b)", "The answer is Cone."))
