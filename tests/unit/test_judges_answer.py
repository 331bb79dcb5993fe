"""Outcomes that are decided by more than the text, and the bounds on work."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hallcheck.judges.answer import judge_answer

SHAPES = ("Cube", "Cone", "Torus", "Prism")


def outcome(*args: object, **kwargs: object) -> tuple[str, str]:
    verdict = judge_answer(*args, **kwargs)  # type: ignore[arg-type]
    return verdict.outcome, verdict.reason


@pytest.mark.parametrize("choices", [None, SHAPES])
@pytest.mark.parametrize("unknown_ok", [False, True])
def test_finish_decides_where_there_is_no_text(choices: tuple[str, ...] | None, unknown_ok: bool) -> None:
    def of(output: str, finish: str) -> tuple[str, str]:
        return outcome(output, "A", choices=choices, unknown_ok=unknown_ok, finish=finish)

    assert of("", "stop") == ("unscored", "empty")
    assert of("", "length") == ("unscored", "truncated")
    assert of("", "content_filter") == ("unscored", "blocked")
    assert of("A", "content_filter") == ("unscored", "blocked")
    assert of("", "refusal") == ("abstained", "refusal")
    assert of("", "tool_calls") == ("unscored", "empty")
    assert of("<think>A", "stop") == ("unscored", "truncated")
    assert of("<think>A</think>", "stop") == ("unscored", "empty")


def test_gold_as_a_string_splits_and_as_a_sequence_does_not() -> None:
    assert outcome("b", "a|b")[0] == "correct"
    assert outcome("b", ["a|b"])[0] == "wrong"
    assert outcome("a|b", ["a|b"])[0] == "correct"
    assert outcome("", "a| |b") == ("unscored", "empty")


def test_an_answerable_item_without_a_gold_is_never_called_wrong() -> None:
    assert outcome("Lima", "") == ("unscored", "error")
    assert outcome("A", "Sphere", choices=SHAPES) == ("unscored", "error")
    assert outcome("IDK", "")[0] == "abstained"


def test_gold_of_a_choice_item_is_a_letter_or_a_text() -> None:
    for gold in ("C", "Torus", "torus", "C. Torus"):
        assert outcome("C", gold, choices=SHAPES)[0] == "correct"
        assert outcome("The answer is Torus.", gold, choices=SHAPES)[0] == "correct"
        assert outcome("A", gold, choices=SHAPES)[0] == "wrong"


def test_unknown_ok_takes_abstaining_and_rejecting_only() -> None:
    assert outcome("IDK", "", unknown_ok=True) == ("abstained", "idk")
    assert outcome("There is no such gadget.", "", unknown_ok=True) == ("abstained", "rejects_premise")
    assert outcome("It spins.", "", unknown_ok=True)[0] == "wrong"
    assert outcome("It spins and", "", unknown_ok=True, finish="length") == ("unscored", "truncated")
    assert outcome("None of them is right", "", choices=SHAPES, unknown_ok=True) == ("abstained", "rejects_premise")
    assert outcome("None of them is right", "A", choices=SHAPES) == ("unscored", "unparsed")


def test_the_verdict_names_its_judge_and_version() -> None:
    assert judge_answer("a", "a").judge == "exact"
    assert judge_answer("A", "A", choices=SHAPES).judge == "choice"
    assert judge_answer("a", "a").judge_version
    assert judge_answer("**Lima**.", "Lima").extracted == "Lima"


ADVERSARIAL = [
    "a", "IDK ", "[", "(", "$", "**", "<think>", "</think>", "<think></think>", '{"a":', "\\boxed{", "Answer: ", "A. ",
    "A or ", "\n", "A\n", "1,", "1", "not ", "\u200b", "no, ", "it is ", '"', "'", "`", "我不知道", "é", "²", "1²", "<",
    "therefore ", "\\frac{", "but i think ", "I don't know, but ", "there is no ", "> ", "answer -", "_", "&",
]  # fmt: skip


@pytest.mark.parametrize("unit", ADVERSARIAL)
def test_long_adversarial_replies_end(unit: str) -> None:
    # Quadratic work on 200,000 characters would take hours, so that this test ends is the assertion.
    text = unit * (200_000 // len(unit))
    for choices in (None, SHAPES):
        for finish in ("stop", "length"):
            assert judge_answer(text, "A", choices=choices, finish=finish).outcome
    assert judge_answer(text, "", unknown_ok=True).outcome


@settings(deadline=None)
@given(st.text(max_size=300), st.text(max_size=30), st.booleans(), st.sampled_from(["stop", "length", "", "other"]))
def test_never_raises_and_always_names_a_reason(text: str, gold: str, unknown_ok: bool, finish: str) -> None:
    for choices in (None, SHAPES):
        verdict = judge_answer(text, gold, choices=choices, unknown_ok=unknown_ok, finish=finish)
        assert bool(verdict.reason) == (verdict.outcome in ("abstained", "unscored"))
        assert not (unknown_ok and verdict.outcome == "correct")


@settings(deadline=None)
@given(
    st.sampled_from(["IDK", "I don't know", "Lima", "B", "No sé"]), st.sampled_from(["{}", " {}\n", "**{}**", '"{}"'])
)
def test_dressing_does_not_change_the_outcome(text: str, dressing: str) -> None:
    assert judge_answer(dressing.format(text), "Lima").outcome == judge_answer(text, "Lima").outcome


@pytest.mark.parametrize("space", [" ", "\n", "\t"])
@pytest.mark.parametrize("n", [3, 4500, 50_000])
def test_white_space_around_an_answer_of_any_length_is_no_part_of_it(space: str, n: int) -> None:
    for output in ("Au" + space * n, space * n + "Au"):
        assert judge_answer(output, "Au").outcome == "correct"


@pytest.mark.parametrize("output", ['{"answer": null}', '```json\n{"answer": null}\n```'])
def test_a_null_answer_is_no_answer(output: str) -> None:
    found = judge_answer(output, "Au")
    assert (found.outcome, found.reason) == ("unscored", "unparsed")
