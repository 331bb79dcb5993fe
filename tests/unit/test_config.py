"""Settings are checked before anything is read, written or sent, and the message says what was meant."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallcheck.config import AskConfig, check_thresholds, parse_threshold
from hallcheck.errors import ConfigError


@given(st.floats(0, 1))
def test_every_number_from_0_to_1_is_a_threshold_and_stays_what_it_is(t: float) -> None:
    assert parse_threshold(repr(t)) == t
    assert check_thresholds([t]) == (t,)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nan", "nan is not a number"),
        ("-0.5", "-0.5 is not in [0, 1]"),
        ("1.5", "1.5 is not in [0, 1]"),
        ("75", "did you mean 0.75?"),
        ("99.5", "did you mean 0.995?"),
        ("50%", "did you mean 0.5?"),
        ("99.5 %", "did you mean 0.995?"),
        ("0,75", "did you mean 0.75?"),
        ("inf", "not in [0, 1]"),
        ("101", "not in [0, 1]"),
        ("high", "give numbers from 0 to 1"),
        ("", "give numbers from 0 to 1"),
    ],
)
def test_what_is_no_threshold_is_refused_saying_what_was_meant(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_threshold(text)
    assert said in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize("bad", [math.nan, -0.1, 1.0001, 75, math.inf, True, None, "75%", [0.5]])
def test_thresholds_from_python_are_checked_alike(bad: Any) -> None:
    with pytest.raises(ConfigError):
        check_thresholds([0.5, bad])


@pytest.mark.parametrize("bad", [0.5, "0.5", 1])
def test_one_number_in_place_of_a_list_is_refused(bad: Any) -> None:
    with pytest.raises(ConfigError, match="must be a list"):
        check_thresholds(bad)


def test_numpy_numbers_and_texts_are_thresholds_too() -> None:
    assert check_thresholds([np.float64(0.5), np.float32(0.25), "0.75", 1]) == (0.5, 0.25, 0.75, 1.0)


def test_minus_zero_is_zero() -> None:
    assert math.copysign(1, check_thresholds([-0.0])[0]) == 1
    assert math.copysign(1, check_thresholds(["-0"])[0]) == 1


def test_a_threshold_given_twice_and_none_at_all_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"0\.5 is given twice"):
        check_thresholds([0.5, 0.9, 0.50])
    with pytest.raises(ConfigError, match="no threshold"):
        check_thresholds([])


def test_the_order_of_thresholds_is_kept() -> None:
    assert AskConfig(thresholds=(0.9, 0.1, 0.5)).thresholds == (0.9, 0.1, 0.5)


@pytest.mark.parametrize(
    ("setting", "value", "option"),
    [
        ("method", "votes", "--method"),
        ("judge", "gpt", "--judge"),
        ("concurrency", 0, "--concurrency"),
        ("concurrency", 2.5, "--concurrency"),
        ("concurrency", True, "--concurrency"),
        ("max_retries", -1, "--max-retries"),
        ("max_output_tokens", 0, "--max-output-tokens"),
        ("judge_votes", 0, "--judge-votes"),
        ("thinking_budget", -2, "--thinking-budget"),
        ("seed", 2**80, "--seed"),
        ("seed", "1", "--seed"),
        ("samples", 1, "--samples"),
        ("shots", -1, "--shots"),
        ("shots", 11, "--shots"),
        ("timeout", 0, "--timeout"),
        ("timeout", math.inf, "--timeout"),
        ("timeout", "fast", "--timeout"),
        ("rpm_limit", 0, "--rpm-limit"),
        ("rpm_limit", math.nan, "--rpm-limit"),
        ("tpm_limit", -5, "--tpm-limit"),
        ("max_unscored", 1.1, "--max-unscored"),
        ("max_unscored", math.nan, "--max-unscored"),
        ("max_unscored", None, "--max-unscored"),
        ("temperature", -0.1, "--temperature"),
        ("temperature", math.nan, "--temperature"),
        ("temperature", "hot", "--temperature"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_by_the_options_name(setting: str, value: Any, option: str) -> None:
    with pytest.raises(ConfigError) as caught:
        AskConfig(**{setting: value})
    assert str(caught.value).startswith(option)


def test_the_edges_of_settings_are_allowed() -> None:
    AskConfig(max_retries=0, thinking_budget=-1, seed=-1, temperature=2.0, max_unscored=0.0, shots=10, samples=2)


def test_samples_need_a_temperature_and_have_one_by_default() -> None:
    with pytest.raises(ConfigError, match="temperature above 0"):
        AskConfig(method="samples", temperature=0.0)
    assert AskConfig(method="samples").sampling_temperature == 0.7
    assert AskConfig(method="samples", temperature=1.0).sampling_temperature == 1.0
    assert AskConfig().sampling_temperature == 0.0


# What may differ between a run and its continuation; everything else decides the results.
FREE = {
    "concurrency": 3, "rpm_limit": 5.0, "tpm_limit": 5.0, "max_retries": 1, "timeout": 1.0, "cache": "x", "fresh": True,
    "retry_unscored": True, "max_unscored": 0.5, "out": "x", "figures": False,
}  # fmt: skip
DECIDING = {
    "model": "google/x", "thresholds": (0.1,), "method": "verbal", "judge": "llm", "shots": 1, "temperature": 0.5,
    "max_output_tokens": 5, "thinking_budget": 5, "seed": 5,
}  # fmt: skip


def test_the_identity_holds_what_decides_the_results_and_no_more() -> None:
    plain = AskConfig().identity()
    for name, value in FREE.items():
        assert AskConfig(**{name: value}).identity() == plain, name
    for name, value in DECIDING.items():
        assert AskConfig(**{name: value}).identity() != plain, name
    # Settings of a method or judge that is not in use decide nothing.
    for name, value in {"samples": 4, "judge_model": "google/y", "judge_votes": 3}.items():
        assert AskConfig(**{name: value}).identity() == plain, name
        used = {"samples": {"method": "samples"}}.get(name, {"judge": "llm"})
        assert AskConfig(**used, **{name: value}).identity() != AskConfig(**used).identity(), name
    names = {*FREE, *DECIDING, "samples", "judge_model", "judge_votes"}
    assert names == set(AskConfig.__slots__)
