"""What every judge must do: all four outcomes, nothing guessed, a name and a version, no exception for what is said."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

import pytest

from hallcheck.judges.choice import ChoiceJudge
from hallcheck.judges.exact import ExactJudge
from hallcheck.judges.llm import LLMJudge
from hallcheck.judges.recorded import RecordedJudge
from hallcheck.registry import TABLES, load
from hallcheck.types import OUTCOMES, UNSCORED_REASONS, Item, Judge, Message, Reply


async def _equal(messages: tuple[Message, ...], repeat: int) -> Reply:
    text = messages[-1].content
    gold, said = (
        re.findall(rf"^{label}: (.*)$", text, re.MULTILINE)[0] for label in ("Gold answer", "Candidate answer")
    )
    return Reply(text="YES" if gold.casefold() == said.casefold() else "NO")


MAKERS: dict[str, Callable[[], Judge]] = {
    "exact": ExactJudge,
    "choice": ChoiceJudge,
    "llm": lambda: LLMJudge(_equal),
    "recorded": lambda: RecordedJudge(ExactJudge()),
}
FREE = Item(id="1", question="Which city?", answers=("Lima",))
OPTIONS = Item(id="2", question="Which shape?", answers=("B",), choices=("Cube", "Cone"))
OPEN = Item(id="3", question="What does frob do?", unknown_ok=True)

each = pytest.mark.parametrize("name", sorted(MAKERS))


def judged(name: str, item: Item, text: str, finish: str = "stop") -> tuple[str, str]:
    verdict = asyncio.run(MAKERS[name]().judge(item, Reply(text=text, finish=finish)))
    return verdict.outcome, verdict.reason


def test_every_registered_judge_is_under_contract() -> None:
    assert set(TABLES["judges"]) == set(MAKERS)
    for name in MAKERS:
        assert load("judges", name).name == name


@each
@pytest.mark.parametrize(
    ("item", "text", "finish", "expected"),
    [
        (FREE, "Lima", "stop", ("correct", "")),
        (FREE, "Answer: Lima", "stop", ("correct", "")),
        (FREE, "Quito", "stop", ("wrong", "")),
        (FREE, "IDK", "stop", ("abstained", "idk")),
        (FREE, "", "refusal", ("abstained", "refusal")),
        (FREE, "", "stop", ("unscored", "empty")),
        (FREE, "", "length", ("unscored", "truncated")),
        (FREE, "", "content_filter", ("unscored", "blocked")),
        (OPTIONS, "B", "stop", ("correct", "")),
        (OPTIONS, "A", "stop", ("wrong", "")),
        (OPTIONS, "A or B", "stop", ("unscored", "unparsed")),
        (OPEN, "IDK", "stop", ("abstained", "idk")),
        (OPEN, "It frobs.", "stop", ("wrong", "")),
        (OPEN, "There is no such function.", "stop", ("abstained", "rejects_premise")),
        (OPEN, "", "stop", ("unscored", "empty")),
    ],
)
def test_outcomes(name: str, item: Item, text: str, finish: str, expected: tuple[str, str]) -> None:
    assert judged(name, item, text, finish) == expected


@each
@pytest.mark.parametrize("text", ["\x00", "²", "\ud800", "{" * 500, "$" * 500, "IDK" * 300, "\u202e", "%s %d {0}"])
def test_nothing_a_model_says_raises(name: str, text: str) -> None:
    for item in (FREE, OPTIONS, OPEN):
        verdict = asyncio.run(MAKERS[name]().judge(item, Reply(text=text)))
        assert verdict.outcome in OUTCOMES
        assert verdict.outcome != "unscored" or verdict.reason in UNSCORED_REASONS


@each
def test_the_verdict_says_who_judged(name: str) -> None:
    judge: Any = MAKERS[name]()
    verdict = asyncio.run(judge.judge(FREE, Reply(text="Quito")))
    assert judge.name == name
    assert judge.version
    assert verdict.judge
    assert verdict.judge_version


@each
def test_same(name: str) -> None:
    judge = MAKERS[name]()
    assert asyncio.run(judge.same(FREE, "Lima", "lima."))
    assert not asyncio.run(judge.same(FREE, "Lima", "Quito"))
    assert asyncio.run(judge.same(OPTIONS, "B", "Cone"))
