"""Abstention is anchored: it must open or close the reply, or be its stated answer."""

from __future__ import annotations

import pytest

from hallcheck.text.abstention import abstention, guessed, opening
from hallcheck.text.answers import abstains
from hallcheck.text.foreign import plain_idk
from hallcheck.text.premise import rejects_options, rejects_premise


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("IDK", "idk"),
        ("I truly don't know who wrote it.", "idk"),
        ("I've never heard of it.", "idk"),
        ("I am not confident enough.", "hedge"),
        ("There is insufficient information.", "hedge"),
        ("I cannot answer that with enough confidence.", "hedge"),
        ("Sorry, I can't help with that.", "refusal"),
        ("I won't discuss this.", "refusal"),
    ],
)
def test_kinds(text: str, kind: str) -> None:
    found = abstention(text)
    assert found is not None
    assert found.kind == kind


@pytest.mark.parametrize(
    ("rest", "answer"),
    [
        (", but I think it is Lima", "it is Lima"),
        (". My best guess is Lima", "Lima"),
        (", but the capital is Lima", "the capital is Lima"),
        (", but you could look it up", None),
        (". The question is a hard one", None),
        (", but I would rather not guess", None),
        (". It is a quote often ascribed to a queen, but historians doubt it", None),
    ],
)
def test_an_answer_after_a_hedge(rest: str, answer: str | None) -> None:
    assert guessed(rest) == answer


def test_the_token_abstains_whatever_follows() -> None:
    found = opening("IDK, but I think it is Lima")
    assert found is not None
    assert found.token


def test_statements_that_may_be_right_answers_are_weak() -> None:
    for text in ("Cannot be determined", "N/A", "Nobody knows"):
        found = opening(text)
        assert found is not None
        assert found.weak, text
    for text in ("I don't know", "unknown", "IDK"):
        found = opening(text)
        assert found is not None
        assert not found.weak, text


@pytest.mark.parametrize(
    "text", ['"I don\'t know" by Ada', "He said: I don't know", "The Unknown Woman", "Passing Time"]
)
def test_speech_and_titles_are_answers(text: str) -> None:
    assert abstains(text) is None


@pytest.mark.parametrize(
    "text", ["No lo sé, pero creo que es Lima", "我不知道，但可能是利马", "Je ne sais pas, mais peut-être Lima"]
)
def test_foreign_hedges_with_an_answer(text: str) -> None:
    found = plain_idk(text)
    assert found is not None
    assert found[1]
    assert abstains(text) is None


def test_rejections() -> None:
    assert rejects_premise("The sea has no such island.")
    assert rejects_premise("No such island exists; perhaps you mean another one.")
    assert not rejects_premise("No such island exists, but it has nine lakes.")
    assert not rejects_premise("It has no effect.")
    assert not rejects_premise("Tides rise if no such wall exists.")
    assert not rejects_premise("The island does not", cut=True)
    assert rejects_options("None of the answers is right")
    assert not rejects_options("The first one")
