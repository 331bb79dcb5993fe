"""The package's own questions: their shape, their spread, and every gold that code can work out again."""

from __future__ import annotations

import calendar
import csv
import json
import math
import operator
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

ANSWERABLE = ("plain", "lesser", "arithmetic", "choice")
UNANSWERABLE = ("made_up", "false_premise")
KEYS = {"id", "question", "answers", "choices", "unknown_ok", "category", "tier"}
CATEGORIES = {
    "arithmetic", "art", "counting", "geography", "history", "language", "literature", "mathematics", "science",
    "technology",
}  # fmt: skip
NO_ANSWER_CATEGORIES = {
    f"unanswerable/{kind}" for kind in ("event", "function", "person", "place", "premise", "science", "work")
}
WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
DAYS = list(calendar.day_name)
MONTHS = list(calendar.month_name)
UNITS = {
    ("minutes", "hours"): 60,
    ("seconds", "hours"): 3600,
    ("hours", "days"): 24,
    ("days", "weeks"): 7,
}
OPERATORS: dict[str, Callable[[int, int], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def load() -> list[dict[str, Any]]:
    text = files("hallcheck.data").joinpath("questions.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


ITEMS = load()
BY_ID = {item["id"]: item for item in ITEMS}
DEMO = json.loads(files("hallcheck.data").joinpath("demo_ids.json").read_text(encoding="utf-8"))


def of(*tiers: str) -> list[dict[str, Any]]:
    return [item for item in ITEMS if item["tier"] in tiers]


def words(text: str) -> list[str]:
    """`text` as an equality judge may see it: folded, articles and punctuation gone, diacritics kept."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return [word for word in re.findall(r"\w+", folded) if word not in ("a", "an", "the")]


def contains(inside: list[str], part: list[str]) -> bool:
    return any(inside[start : start + len(part)] == part for start in range(len(inside) - len(part) + 1))


def is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, number))


def roman(numerals: str) -> int:
    values = [dict(zip("IVXLCDM", (1, 5, 10, 50, 100, 500, 1000), strict=True))[sign] for sign in numerals]
    following = [*values[1:], 0]
    return sum(-now if now < after else now for now, after in zip(values, following, strict=True))


def weekday(name: str, days: str) -> str:
    return DAYS[(DAYS.index(name) + int(days)) % 7]


def exact(value: float) -> int:
    assert value == int(value), "a question's result must be a whole number"
    return int(value)


NUMBER_TAIL = r"(?: Answer with a number\.)?"
# Each form of an arithmetic question, and how its answer is worked out from the question's own text.
FORMS: list[tuple[str, Callable[..., int | str]]] = [
    (r"What is (\d+) ([-+*/]) (\d+)\?", lambda a, sign, b: exact(OPERATORS[sign](int(a), int(b)))),
    (r"What is the remainder when (\d+) is divided by (\d+)\?", lambda a, b: int(a) % int(b)),
    (r"What is (\d+) to the power of (\d+)\?", lambda a, b: int(a) ** int(b)),
    (r"What is (\d+) factorial\?", lambda a: math.factorial(int(a))),
    (r"What is the positive square root of (\d+)\?", lambda a: exact(math.sqrt(int(a)))),
    (r"What is the greatest common divisor of (\d+) and (\d+)\?", lambda a, b: math.gcd(int(a), int(b))),
    (r"What is the least common multiple of (\d+) and (\d+)\?", lambda a, b: math.lcm(int(a), int(b))),
    (r"What is (\d+)% of (\d+)\?", lambda a, b: exact(int(a) * int(b) / 100)),
    (
        r"What is the sum of the whole numbers from (\d+) to (\d+), both included\?",
        lambda a, b: sum(range(int(a), int(b) + 1)),
    ),
    (
        r"How many prime numbers are greater than (\d+) and less than (\d+)\?",
        lambda a, b: sum(is_prime(n) for n in range(int(a) + 1, int(b))),
    ),
    (
        r"What is the smallest prime number greater than (\d+)\?",
        lambda a: next(n for n in range(int(a) + 1, 2 * int(a) + 2) if is_prime(n)),
    ),
    (r"Which number do the Roman numerals ([IVXLCDM]+) stand for\? Answer with digits\.", roman),
    (r"Write the decimal number (\d+) in binary\.", lambda a: format(int(a), "b")),
    (r"Which decimal number is the binary number ([01]+)\?", lambda a: int(a, 2)),
    (r"Write the decimal number (\d+) in hexadecimal\.", lambda a: format(int(a), "X")),
    (r"Which decimal number is the hexadecimal number (\w+)\?", lambda a: int(a, 16)),
    (
        r"How many (\w+) are there in (\d+) (\w+)\?",
        lambda small, count, large: int(count) * UNITS[small, large],
    ),
    (
        r"How many days are there in the month of (\w+)\?",
        lambda month: calendar.monthrange(2023, MONTHS.index(month))[1],
    ),
    (
        r"How many days did February have in the year (\d+) of the Gregorian calendar\?",
        lambda year: 29 if calendar.isleap(int(year)) else 28,
    ),
    (r"If today is (\w+), which day of the week will it be (\d+) days from now\?", weekday),
    (
        r'How many times does the letter "(\w)" occur in the word "(\w+)"\?',
        lambda letter, word: word.count(letter),
    ),
    (r'How many letters are there in the word "(\w+)"\?', len),
    (
        r'How many vowels \(a, e, i, o, u\) are there in the word "(\w+)", repeats counted\?',
        lambda word: sum(letter in "aeiou" for letter in word),
    ),
    (r'Spell the word "(\w+)" backwards\.', lambda word: word[::-1]),
    (r"What is the (\d+)th letter of the English alphabet\?", lambda nth: chr(ord("A") + int(nth) - 1)),
]


def work_out(question: str) -> int | str:
    if match := re.fullmatch(r"Write (\d+) in Roman numerals\.", question):
        # No second converter: the gold is right if it reads back, which the caller checks through `roman`.
        return int(match[1])
    for pattern, compute in FORMS:
        if match := re.fullmatch(pattern + NUMBER_TAIL, question):
            return compute(*match.groups())
    raise AssertionError(f"no form fits {question!r}")


def test_every_line_is_an_object_of_the_stated_shape() -> None:
    for item in ITEMS:
        assert set(item) == KEYS, item
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", item["id"]), item["id"]
        assert item["question"] == " ".join(item["question"].split())
        assert item["question"][-1] in "?."
        assert isinstance(item["answers"], list)
        assert isinstance(item["unknown_ok"], bool)
        assert item["tier"] in ANSWERABLE + UNANSWERABLE
        assert item["unknown_ok"] == (item["tier"] in UNANSWERABLE)
        assert item["category"] in (NO_ANSWER_CATEGORIES if item["unknown_ok"] else CATEGORIES)
        assert (item["category"] == "unanswerable/premise") == (item["tier"] == "false_premise")


def test_counts() -> None:
    counts = Counter(item["tier"] for item in ITEMS)
    assert counts["plain"] >= 45
    assert counts["lesser"] >= 40
    assert counts["arithmetic"] >= 40
    assert counts["choice"] >= 45
    assert sum(counts[tier] for tier in ANSWERABLE) >= 160
    assert sum(counts[tier] for tier in UNANSWERABLE) >= 64
    kinds = Counter(item["category"] for item in of(*UNANSWERABLE))
    assert all(kinds[kind] >= 8 for kind in NO_ANSWER_CATEGORIES), kinds


def test_ids_and_questions_are_unique() -> None:
    assert len(BY_ID) == len(ITEMS)
    assert len({" ".join(words(item["question"])) for item in ITEMS}) == len(ITEMS)


def test_answers_can_be_compared() -> None:
    for item in of(*ANSWERABLE):
        assert item["answers"], item["id"]
        assert len(set(item["answers"])) == len(item["answers"]), item["id"]
        for answer in item["answers"]:
            assert answer == answer.strip()
            # `|` separates answers in a gold column; an article alone is nothing to a judge.
            assert "|" not in answer
            assert item["choices"] or words(answer), f"{item['id']}: {answer!r} folds to nothing"


def test_no_answer_stands_in_its_own_question() -> None:
    for item in of("plain", "lesser", "arithmetic"):
        for answer in item["answers"]:
            assert not contains(words(item["question"]), words(answer)), (item["id"], answer)


def test_unanswerable_items_have_no_answer() -> None:
    for item in of(*UNANSWERABLE):
        assert item["answers"] == []
        # "None" would be a true answer to "how many".
        assert not item["question"].startswith("How many"), item["id"]
    assert sum(item["choices"] is not None for item in of(*UNANSWERABLE)) >= 6


def test_choices() -> None:
    assert all(item["choices"] is None for item in of("plain", "lesser", "arithmetic"))
    assert all(item["choices"] for item in of("choice"))
    for item in ITEMS:
        if item["choices"] is None:
            continue
        assert 3 <= len(item["choices"]) <= 5, item["id"]
        for option in item["choices"]:
            assert option == option.strip()
            assert len(option) > 1 or option.isdigit(), "an option's text must not look like a letter"
            assert not re.search(r"\b(all|none|both|neither) of\b", option.casefold())
            others = [other for other in item["choices"] if other is not option]
            # A reply that names one option must not name another one by the way.
            if not re.fullmatch(r"-?\d+", option):
                assert not any(contains(words(other), words(option)) for other in others), item["id"]
        assert len(set(item["choices"])) == len(item["choices"])


def test_right_letters_are_valid_and_spread() -> None:
    letters: Counter[str] = Counter()
    for item in of("choice"):
        (letter,) = item["answers"]
        assert letter in "ABCDE"[: len(item["choices"])], item["id"]
        letters[letter] += 1
    total = sum(letters.values())
    assert all(0.15 * total <= letters[letter] <= 0.3 * total for letter in "ABCD"), letters
    assert letters["E"] >= 3
    # Neither the first nor the last place gives the answer away, whatever the number of options.
    for size in (3, 4, 5):
        places = Counter(item["answers"][0] for item in of("choice") if len(item["choices"]) == size)
        assert len(places) == size
        assert max(places.values()) - min(places.values()) <= 1, (size, places)


@pytest.mark.parametrize("item", of("arithmetic"), ids=lambda item: item["id"])
def test_arithmetic_is_right(item: dict[str, Any]) -> None:
    expected = work_out(item["question"])
    first, *others = item["answers"]
    if item["question"].endswith("in Roman numerals."):
        assert roman(first) == expected
        assert not re.search(r"([IXCM])\1{3}|([VLD])\2|VX|I[LCDM]|X[DM]", first)
        assert others == []
        return
    assert first == str(expected)
    for other in others:
        squeezed = other.replace(" ", "").casefold()
        units = re.fullmatch(r"(\d+) (?:minutes|hours|days|seconds)", other)
        spelled = {"twenty-eight": 28, "twenty-nine": 29, "thirty": 30, "thirty-one": 31}
        spelled |= {word: number for number, word in enumerate(WORDS)}
        prefixed = {f"0b{expected}".casefold(), f"0x{expected}".casefold(), str(expected).casefold()}
        assert spelled.get(other) == expected or (units and int(units[1]) == expected) or squeezed in prefixed


def test_choice_golds_that_code_can_check() -> None:
    def right(name: str) -> str:
        item = BY_ID[f"choice-{name}"]
        return str(item["choices"]["ABCDE".index(item["answers"][0])])

    assert [o for o in BY_ID["choice-prime"]["choices"] if is_prime(int(o))] == [right("prime")]
    assert [o for o in BY_ID["choice-palindrome"]["choices"] if o == o[::-1]] == [right("palindrome")]

    def ratio(text: str) -> float:
        above, below = text.split("/")
        return int(above) / int(below)

    assert max(BY_ID["choice-largest-fraction"]["choices"], key=ratio) == right("largest-fraction")


def test_options_without_a_right_one_that_code_can_check() -> None:
    squares = BY_ID["premise-choice-perfect-square"]["choices"]
    assert all(math.isqrt(int(option)) ** 2 != int(option) for option in squares)
    assert str(12 * 12) not in BY_ID["premise-choice-twelve-squared"]["choices"]
    assert not any(is_prime(number) for number in range(12, 20, 2))
    assert not set("aeiou") & set("rhythm")


def test_demonstration_is_stratified() -> None:
    assert set(DEMO) == {"ids"}
    ids = DEMO["ids"]
    assert len(ids) == len(set(ids)) == 40
    chosen = [BY_ID[name] for name in ids]
    tiers = Counter(item["tier"] for item in chosen)
    assert [tiers[tier] for tier in ANSWERABLE] == [7, 7, 7, 7]
    assert sum(tiers[tier] for tier in UNANSWERABLE) == 12
    assert all(tiers[tier] >= 5 for tier in UNANSWERABLE)
    assert {item["category"] for item in chosen if item["unknown_ok"]} == NO_ANSWER_CATEGORIES
    assert len({item["answers"][0] for item in chosen if item["tier"] == "choice"}) >= 4
    assert any(item["choices"] for item in chosen if item["unknown_ok"])


def test_page_states_the_true_counts(root: Path) -> None:
    page = (root / "docs" / "question-set.md").read_text(encoding="utf-8")
    stated = {tier: int(count) for tier, count in re.findall(r"^\| `(\w+)` \| (\d+) \|", page, re.MULTILINE)}
    assert stated == Counter(item["tier"] for item in ITEMS)
    total = re.search(r"(\d+) questions: (\d+) with an answer, (\d+) without", page)
    assert total
    without = len(of(*UNANSWERABLE))
    assert [int(n) for n in total.groups()] == [len(ITEMS), len(ITEMS) - without, without]


def test_toy_file(root: Path) -> None:
    with (root / "examples" / "toy.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        assert reader.fieldnames == ["id", "question", "gold", "unknown_ok"]
        count, fact, made_up = list(reader)
    match = re.search(r'letter "(\w)" occur in the word "(\w+)"', count["question"])
    assert match
    assert count["gold"] == str(match[2].count(match[1]))
    assert (fact["gold"], fact["unknown_ok"]) == ("Oslo", "0")
    assert (made_up["gold"], made_up["unknown_ok"]) == ("", "1")
    assert not {row["question"] for row in (count, fact, made_up)} & {item["question"] for item in ITEMS}
