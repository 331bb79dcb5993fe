"""Numbers are compared by value, exactly, and only where one reading exists."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hallcheck.text.normalize import canonical
from hallcheck.text.numbers import number, same_number


def same(a: str, b: str) -> bool:
    x, y = number(canonical(a)), number(canonical(b))
    return x is not None and y is not None and same_number(x, y)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("3,000,000", "3000000"),
        ("1,23,45,678", "12345678"),
        ("3 000 000", "3000000"),
        ("3'000", "3000"),
        ("3.000.000", "3000000"),
        ("3.000,25", "3000.25"),
        ("€ 12", "12 eur"),
        ("-£3", "-3"),
        ("-3", "−3"),
        ("4e6", "4000000"),
        ("4 × 10^6", "4000000"),
        ("2/8", "0.25"),
        ("2 1/4", "2.25"),
        ("\\dfrac{3}{5}", "0.6"),
        ("9 %", "9 percent"),
        ("6.50 kg", "6.5kg"),
        ("1e999999999999", "10e999999999998"),
        ("0.0", "-0"),
    ],
)
def test_equal_values(a: str, b: str) -> None:
    assert same(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("9%", "9"),
        ("9%", "0.09"),
        ("3.000", "3000"),
        ("6 kg", "6"),
        ("6 kg", "6 g"),
        ("$6", "£6"),
        ("1/3", "0.333333333333"),
        ("1e999999999999", "1"),
        ("1e-99999999", "0"),
    ],
)
def test_different_values(a: str, b: str) -> None:
    assert not same(a, b)


@pytest.mark.parametrize(
    "text",
    ["nan", "inf", "-infinity", "3_000", "5-", "--5", "1,5", "0,500", "1,00", "٣", "３٣", "1/0", "1/2/2020", "1.2.3",
     "", "-", "1-2", "00e5", "e5", "0x1f", "1e", "9" * 5000 + "x"],
)  # fmt: skip
def test_no_number(text: str) -> None:
    found = number(text)
    assert found is None or found[2] not in ("", "%")


def test_a_superscript_alone_is_no_crash() -> None:
    assert number("²") is None


@settings(deadline=None)
@given(st.fractions(max_denominator=10**6), st.integers(2, 9))
def test_fractions_are_reduced(value: Fraction, k: int) -> None:
    sign = "-" if value < 0 else ""
    n, d = abs(value.numerator), value.denominator
    assert same(f"{sign}{n}/{d}", f"{sign}{n * k}/{d * k}")


@settings(deadline=None)
@given(st.integers(-(10**15), 10**15))
def test_separators_do_not_change_a_value(value: int) -> None:
    assert same(f"{value:,}", str(value))
    assert same(f"{value}.000", str(value)) is True
    assert not same(str(value), str(value + 1))


@settings(deadline=None)
@given(st.text(max_size=60))
def test_never_raises(text: str) -> None:
    number(canonical(text))
