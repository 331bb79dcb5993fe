"""The committed option: by letter or by text; several, none and contradictions are no commitment."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hallcheck.text.choices import committed_option, option_of

LAKES = ("Como", "Garda", "Lugano", "Iseo", "Orta")


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("C", 2),
        ("(c)", 2),
        ("C. Lugano", 2),
        ("Lugano", 2),
        ("Lugano (C)", 2),
        ("The answer is A. No, it is C.", 2),
        ("정답은 C입니다", 2),
        ("C, not B", 2),
        ("E", 4),
        ("A or C", None),
        ("C. Garda", None),
        ("Garda (C)", None),
        ("F", None),
        ("A lake in the north", None),
        ("I like lakes", None),
        ("2", None),
        ("option 2", None),
        ("The answer is not C.", None),
    ],
)
def test_commitments(text: str, index: int | None) -> None:
    assert committed_option(text, LAKES) == index


def test_letters_follow_the_number_of_options() -> None:
    assert committed_option("E", LAKES[:4]) is None
    assert committed_option("I", [f"o{i}" for i in range(9)]) == 8
    assert committed_option("I", LAKES) is None


def test_a_longer_option_wins_over_the_one_in_it() -> None:
    options = ("York", "New York", "New York City")
    assert committed_option("New York City", options) == 2
    assert committed_option("The answer is New York.", options) == 1


def test_one_text_twice_prefers_the_right_one() -> None:
    assert committed_option("Como", ("Como", "Garda", "Como"), prefer=frozenset({2})) == 2
    assert committed_option("Como", ("Como", "Garda", "Como")) == 0


def test_a_letter_goes_before_a_text_and_a_small_one_is_ambiguous() -> None:
    assert committed_option("A", ("B", "A")) == 0
    assert committed_option("b", ("b", "a")) is None


@pytest.mark.parametrize(("text", "index"), [("B", 1), ("B. Gar", 1), ("Answer: B\n\nIt is", 1), ("A. Como is", None)])
def test_cut_replies(text: str, index: int | None) -> None:
    assert committed_option(text, LAKES, cut=True) == index


def test_option_of_a_gold() -> None:
    assert option_of("B", LAKES) == 1
    assert option_of("garda", LAKES) == 1
    assert option_of("", LAKES) is None
    assert option_of("Geneva", LAKES) is None


@settings(deadline=None)
@given(
    st.integers(0, 9),
    st.integers(2, 10),
    st.sampled_from(["{0}", "{0}.", "({0})", "**{0}**", "Answer: {0}", "答案是{0}"]),
)
def test_every_letter_in_every_dressing(index: int, count: int, dressing: str) -> None:
    options = [f"item {i}" for i in range(count)]
    expected = index if index < count else None
    assert committed_option(dressing.format(chr(65 + index)), options) == expected


@settings(deadline=None)
@given(st.text(max_size=200), st.lists(st.text(max_size=20), min_size=1, max_size=6))
def test_never_raises(text: str, options: list[str]) -> None:
    found = committed_option(text, options)
    assert found is None or 0 <= found < len(options)
