"""What a reply commits to, and anchored equality."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hallcheck.text.answers import commitment, golds, is_idk, matches, same_answer, shown
from hallcheck.text.commitments import statements
from hallcheck.text.dressing import layers, undress


@pytest.mark.parametrize(
    ("text", "core"),
    [
        ("**Lima**", "Lima"),
        ("$\\boxed{\\text{Lima}}$", "Lima"),
        ("```\nLima\n```", "Lima"),
        ('{"answer": "Lima"}', "Lima"),
        ("<answer>Lima</answer>", "Lima"),
        ('"Lima."', "Lima"),
        ("(Lima)", "Lima"),
        ("Guns N' Roses", "Guns N' Roses"),
        ("$5", "$5"),
        ("5!", "5!"),
        ("- 7", "- 7"),
    ],
)
def test_undress(text: str, core: str) -> None:
    assert undress(text) == core


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("Answer: Lima", "Lima"),
        ("The answer is Quito. Wait, no. The answer is Lima.", "Lima"),
        ("It lies on the Rímac.\n\nFinal answer: **Lima**\n\nReason: it just does.", "Lima"),
        ("Thinking aloud.\n\nSo we get \\boxed{Lima} in the end", "Lima"),
        ('Here: {"why": "x", "answer": "Lima"} as asked', "Lima"),
        ("Lima\n\nExplanation: the viceroys sat there.", "Lima"),
        ("I'm not sure, but I think it is Lima.", "it is Lima."),
    ],
)
def test_the_last_statement_is_the_commitment(reply: str, value: str) -> None:
    found = commitment(reply)
    assert found is not None
    assert found.abstains is None
    assert matches(found.value, golds(("Lima",)), stated=True)
    assert found.value.rstrip(".") == value.rstrip(".")


@pytest.mark.parametrize("cut", ["It lies on the", "Answer: Li", "Lima", "\\boxed{Li", '{"answer": "Li'])
def test_a_cut_reply_without_a_statement_commits_to_nothing(cut: str) -> None:
    assert commitment(cut, cut=True) is None


def test_statements_come_in_order() -> None:
    found = statements("Answer: a\nAnswer: b\nso \\boxed{c}")
    assert [s.value for s in found] == ["a", "b", "c"]
    assert [s.closed for s in found] == [True, True, True]


def test_gold_in_a_longer_sentence_is_not_the_answer() -> None:
    right = golds(("Lima",))
    for text in ("The capital is Lima, on the coast", "It is not Lima", "Lima or Quito", "Limassol"):
        assert not matches(text, right)


def test_dressing_of_the_gold_is_data() -> None:
    assert matches("__init__", golds(("__init__",)))
    assert not matches("init", golds(("__init__",)))


def test_same_answer_is_symmetric_on_text_and_numbers() -> None:
    assert same_answer("the Amazon", "Amazon")
    assert same_answer("1,000", "1000")
    assert not same_answer("50%", "50")


def test_shown_is_undressed_and_short() -> None:
    assert shown("**Lima**.") == "Lima"
    assert shown("a\nb") is None
    assert shown("x" * 5000) is None


@pytest.mark.parametrize("text", ["", "  ", "<think>I don't know", "Lima", "The Unknown Soldier"])
def test_is_idk_says_no(text: str) -> None:
    assert not is_idk(text)


@pytest.mark.parametrize("text", ["IDK", "**I don’t know**", "<think>x</think>No lo sé.", "I can't help with that."])
def test_is_idk_says_yes(text: str) -> None:
    assert is_idk(text)


@settings(deadline=None)
@given(st.from_regex(r"[A-Za-z][a-z]{2,12}( [A-Z][a-z]{2,12})?", fullmatch=True))
def test_an_answer_equals_itself_in_every_dressing(answer: str) -> None:
    right = golds((answer,))
    for text in (answer, f"**{answer}**", f'"{answer}."', f"\\boxed{{{answer}}}", f"The answer is {answer}."):
        assert matches(text, right)


@settings(deadline=None)
@given(st.text(max_size=300))
def test_layers_end_and_never_raise(text: str) -> None:
    assert len(list(layers(text))) <= 13
    is_idk(text)
    commitment(text, cut=True)
