"""The recorded judge takes the verdict that a replay carries, and asks its inner judge for the rest."""

from __future__ import annotations

import asyncio

from hallcheck.judges.exact import ExactJudge
from hallcheck.judges.recorded import RecordedJudge
from hallcheck.types import Item, Reply

ITEM = Item(id="1", question="q", answers=("Lima",))


def test_what_is_recorded_wins_over_the_text() -> None:
    judge = RecordedJudge(ExactJudge())
    assert judge.verdict(ITEM, Reply(text="Quito", correct=True)).outcome == "correct"
    assert judge.verdict(ITEM, Reply(text="Lima", correct=False)).outcome == "wrong"
    assert judge.verdict(ITEM, Reply(text="Lima", correct=True, abstained=True)).outcome == "abstained"
    assert judge.verdict(ITEM, Reply(text="Lima", correct=False, abstained=False)).judge == "recorded"


def test_without_a_record_the_inner_judge_decides() -> None:
    judge = RecordedJudge(ExactJudge())
    assert judge.verdict(ITEM, Reply(text="Lima")).outcome == "correct"
    assert judge.verdict(ITEM, Reply(text="Lima")).judge == "exact"
    assert asyncio.run(judge.judge(ITEM, Reply(text="Quito"))).outcome == "wrong"
    assert asyncio.run(judge.same(ITEM, "lima", "Lima."))


def test_without_an_inner_judge_an_answer_stays_unparsed() -> None:
    judge = RecordedJudge()
    assert judge.verdict(ITEM, Reply(text="Lima")).reason == "unparsed"
    assert judge.verdict(ITEM, Reply(text="")).reason == "empty"
    assert judge.verdict(ITEM, Reply(text="IDK")).outcome == "abstained"
    assert judge.verdict(ITEM, Reply(text="x", finish="content_filter")).reason == "blocked"
