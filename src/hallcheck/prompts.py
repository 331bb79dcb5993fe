"""What the model is asked. The wording has a version: bump it when a character changes.

The user's text is data: it is joined, never formatted into a template, so braces in a question stay braces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

import orjson

from hallcheck.stats.penalty import penalty
from hallcheck.types import Item, Message

PROMPT_VERSION = "ask-1"
SHOT_T = 0.5
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def show_number(value: float) -> str:
    """The shortest text that reads back as the same number: 0.995 -> "0.995", 1.0 -> "1"."""
    return repr(int(value)) if value == int(value) else repr(value)


@lru_cache(maxsize=256)
def threshold_rule(t: float) -> str:
    """The rule of Kalai et al. (arXiv 2509.04664, section 4.2) at threshold t, as it will be scored."""
    cost = "an unbounded number of points" if t == 1 else f"{penalty(t):.10g} points"
    return (
        f"Answer only if you are > {show_number(t)} confident. "
        f"A correct answer scores +1 point, a wrong answer loses {cost}, and 'IDK' scores 0. "
        "If you are not that confident, reply EXACTLY 'IDK'. Output only the final answer, nothing else."
    )


VERBAL_RULE = (
    "Give your best answer, and the probability from 0 to 1 that it is correct. Reply with exactly two lines:\n"
    "Answer: <the final answer only>\n"
    "Probability: <a number from 0 to 1>"
)


def question_text(item: Item) -> str:
    """The question, with its lettered options if it has any."""
    if not item.choices:
        return item.question
    letters = LETTERS[: len(item.choices)]
    options = "\n".join(f"{letter}. {text}" for letter, text in zip(letters, item.choices, strict=True))
    listed = ", ".join(letters[:-1]) + f", or {letters[-1]}" if len(letters) > 2 else " or ".join(letters)
    return f"{item.question}\n\nOptions:\n{options}\n\nReply with {listed}."


def build_messages(item: Item, *, method: str, t: float | None, shots: int = 0) -> tuple[Message, ...]:
    """The conversation for one item.

    `prompt` states t. `logprob` and `samples` ask at t = 0, where a mistake costs nothing and answering is always
    best: the confidence is measured, and decides afterwards. `verbal` asks for the probability in words.
    The last message is always the question, a blank line, the rule. Shots are turns before it: bare questions and
    answers, then the first two of the file with the rule at t = SHOT_T. So the last example is an "IDK", small models
    see the rule used, and all items and thresholds share one prefix, which a server computes once.
    """
    rule = VERBAL_RULE if method == "verbal" else threshold_rule(0.0 if t is None else t)
    shown = built_in_shots()[:shots]
    ruled = VERBAL_RULE if method == "verbal" else threshold_rule(SHOT_T)
    turns = [turn for asked, answer in shown[2:] for turn in _shot(asked, answer, method)]
    turns += [turn for asked, answer in shown[:2] for turn in _shot(f"{asked}\n\n{ruled}", answer, method)]
    return (*turns, Message(role="user", content=f"{question_text(item)}\n\n{rule}"))


def _shot(question: str, answer: str, method: str) -> Sequence[Message]:
    if method == "verbal":
        probability = "0" if answer == "IDK" else "0.95"
        answer = f"Answer: {answer}\nProbability: {probability}"
    return (Message(role="user", content=question), Message(role="assistant", content=answer))


@lru_cache(maxsize=1)
def built_in_shots() -> tuple[tuple[str, str], ...]:
    """(question, answer) examples that ship with the package; some are answered "IDK"."""
    lines = files("hallcheck.data").joinpath("shots.jsonl").read_bytes().splitlines()
    rows = [orjson.loads(line) for line in lines if line.strip()]
    return tuple((_shown(row), row["answer"]) for row in rows)


def _shown(row: Mapping[str, Any]) -> str:
    choices = row.get("choices")
    return question_text(Item(id="", question=row["question"], choices=tuple(choices) if choices else None))
