"""What the model is asked, to the character: the prompt is part of the measurement."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallcheck.config import MAX_SHOTS
from hallcheck.prompts import PROMPT_VERSION, VERBAL_RULE, build_messages, built_in_shots, question_text, threshold_rule
from hallcheck.stats.penalty import score_item
from hallcheck.types import Item

# version -> sha256 of the wording. A changed wording needs a new version: runs store it and cannot be mixed.
WORDINGS = {"ask-1": "a2b231236cf218ba9fe48170cfea1134fcf161213ec81154d9b89e1225b0aed8"}


def wording() -> str:
    plain = Item(id="a", question="Where?", answers=("Here",))
    options = Item(id="b", question="Which?", answers=("B",), choices=("one", "two", "three"))
    pair = Item(id="c", question="Which?", answers=("B",), choices=("one", "two"))
    said = [
        [[m.role, m.content] for m in build_messages(item, method=method, t=t, shots=shots)]
        for item in (plain, options, pair)
        for method, t in (("prompt", 0.0), ("prompt", 0.75), ("prompt", 1.0), ("verbal", None), ("samples", None))
        for shots in (0, 2, MAX_SHOTS)
    ]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def test_a_change_of_the_wording_has_a_new_version() -> None:
    assert PROMPT_VERSION in WORDINGS, f"add {PROMPT_VERSION!r}: {wording()!r} to WORDINGS"
    assert wording() == WORDINGS[PROMPT_VERSION], (
        f"the wording has changed: it needs a new PROMPT_VERSION, with {wording()!r}"
    )


@pytest.mark.parametrize(
    ("t", "shown"),
    [(0.0, "0"), (0.125, "0.125"), (0.5, "0.5"), (0.75, "0.75"), (0.9, "0.9"), (0.995, "0.995"), (1.0, "1")],
)
def test_the_rule_begins_with_the_threshold_as_it_is_scored(t: float, shown: str) -> None:
    content = build_messages(Item(id="a", question="Where?"), method="prompt", t=t)[0].content
    question, blank, rule = content.partition("\n\n")
    assert (question, blank) == ("Where?", "\n\n")
    assert rule.startswith(f"Answer only if you are > {shown} confident. ")


@given(st.floats(0, 1))
def test_the_threshold_reads_back_as_the_same_number(t: float) -> None:
    shown = threshold_rule(t).removeprefix("Answer only if you are > ").split(" confident.")[0]
    assert float(shown) == t


@pytest.mark.parametrize(
    ("t", "cost"),
    [(0.0, "0"), (0.125, "0.1428571429"), (0.5, "1"), (0.75, "3"), (0.9, "9"), (0.995, "199"), (0.9999999, "9999999")],
)
def test_the_rule_states_the_three_scores(t: float, cost: str) -> None:
    rule = threshold_rule(t)
    assert f"A correct answer scores +1 point, a wrong answer loses {cost} points, and 'IDK' scores 0." in rule
    assert float(cost) == pytest.approx(-score_item(True, False, t), rel=1e-9)


def test_at_1_the_cost_has_no_bound_and_no_number_is_claimed() -> None:
    assert "loses an unbounded number of points" in threshold_rule(1.0)
    assert "inf" not in threshold_rule(1.0)


def test_the_rule_says_how_to_abstain_and_asks_for_the_answer_alone() -> None:
    rule = threshold_rule(0.5)
    assert "reply EXACTLY 'IDK'" in rule
    assert rule.endswith("Output only the final answer, nothing else.")


@given(st.text(), st.sampled_from(["prompt", "verbal", "samples", "logprob"]))
def test_a_question_is_data(text: str, method: str) -> None:
    item = Item(id="a", question=text + "{t} {0} {{}} %s ${x}")
    content = build_messages(item, method=method, t=0.5 if method == "prompt" else None)[-1].content
    assert content.startswith(item.question + "\n\n")


def test_options_are_lettered_in_order() -> None:
    item = Item(id="a", question="Which?", answers=("C",), choices=("red {x}", "green", "A. blue"))
    assert question_text(item) == "Which?\n\nOptions:\nA. red {x}\nB. green\nC. A. blue\n\nReply with A, B, or C."


def test_two_options_and_ten() -> None:
    two = question_text(Item(id="a", question="?", choices=("x", "y")))
    ten = question_text(Item(id="a", question="?", choices=tuple("abcdefghij")))
    assert two.endswith("Reply with A or B.")
    assert ten.endswith("Reply with A, B, C, D, E, F, G, H, I, or J.")


def test_measured_confidence_is_asked_at_0_where_answering_is_best() -> None:
    for method in ("samples", "logprob"):
        assert "> 0 confident" in build_messages(Item(id="a", question="?"), method=method, t=None)[0].content


def test_verbal_asks_for_two_lines_and_states_no_threshold() -> None:
    content = build_messages(Item(id="a", question="?"), method="verbal", t=None)[0].content
    assert content == f"?\n\n{VERBAL_RULE}"
    assert "Answer only if" not in content


@pytest.mark.parametrize("method", ["prompt", "verbal", "samples"])
@pytest.mark.parametrize("n", [1, 2, 5, MAX_SHOTS])
def test_shots_are_turns_before_the_question_each_once(n: int, method: str) -> None:
    item = Item(id="a", question="Where {is} it?", choices=("x", "y"))
    t = 0.75 if method == "prompt" else None
    turns = [turn for turn in build_messages(item, method=method, t=t, shots=n) if turn.role != "system"]
    assert [turn.role for turn in turns] == ["user", "assistant"] * n + ["user"]
    assert turns[-1].content.startswith(question_text(item))
    left = dict(built_in_shots()[:n])
    assert len(left) == n
    for asked, answered in zip(turns[:-1:2], turns[1::2], strict=True):
        (question,) = [q for q in left if asked.content == q or asked.content.startswith(f"{q}\n\n")]
        answer = left.pop(question)
        assert answered.content == answer if method != "verbal" else answered.content.startswith(f"Answer: {answer}\n")
    assert left == {}


@pytest.mark.parametrize("n", [0, 1, MAX_SHOTS])
def test_the_threshold_that_is_scored_is_stated_whatever_the_shots(n: int) -> None:
    turns = build_messages(Item(id="a", question="?"), method="prompt", t=0.995, shots=n)
    stated = [turn for turn in turns if threshold_rule(0.995) in turn.content]
    assert len(stated) == 1
    assert stated[0] is turns[-1] or stated[0].role == "system"


def test_all_before_the_question_is_the_same_for_all_items() -> None:
    """A server computes what prompts share once."""
    first, second = (build_messages(Item(id="a", question=q), method="prompt", t=0.5, shots=4) for q in ("x", "y"))
    assert first[:-1] == second[:-1]
    assert first[-1] != second[-1]


def test_there_are_as_many_shots_as_may_be_asked_for_and_few_already_show_both_ways() -> None:
    assert len(built_in_shots()) >= MAX_SHOTS
    answers = [answer for _, answer in built_in_shots()[:8]]
    assert "IDK" in answers
    assert any(answer != "IDK" for answer in answers)


def test_verbal_shots_show_the_two_lines() -> None:
    turns = build_messages(Item(id="a", question="?"), method="verbal", t=None, shots=8)
    answers = [turn.content.split("\n") for turn in turns if turn.role == "assistant"]
    assert len(answers) == 8
    for answer, probability in answers:
        assert answer.startswith("Answer: ")
        assert 0 <= float(probability.removeprefix("Probability: ")) <= 1
        assert (probability == "Probability: 0") == (answer == "Answer: IDK")
