"""The only home of defaults. A config is checked before anything is read, written or sent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hallcheck.errors import ConfigError

METHODS = ("prompt", "verbal", "logprob", "samples")
JUDGES = ("exact", "llm", "recorded")
MAX_SHOTS = 10
MAX_TOKENS = 10_000_000
MAX_SEED = 2**62  # JSON writers and providers take 64 bits, and repeats count up from the seed
# A longer wait than this is not sat out: the run stops, and the same command resumes it later.
MAX_SERVER_DELAY_S = 300.0


def parse_threshold(text: str) -> float:
    """A threshold as the user wrote it. Raises ConfigError that says what was probably meant."""
    try:
        value = float(text)
    except ValueError:
        raise ConfigError(f"threshold {text!r} is not a number", hint=_meant(text)) from None
    check_threshold(value)
    return value


def check_threshold(t: float) -> None:
    """Refuse what cannot be a threshold: NaN, negative, above 1."""
    if math.isnan(t):
        raise ConfigError("threshold nan is not a number", hint="give numbers from 0 to 1, such as 0.5 0.75 0.9")
    if 2 <= t <= 100:
        raise ConfigError(
            f"threshold {t:g} is above 1", hint=f"a threshold is a fraction: did you mean {t / 100:.12g}?"
        )
    if not 0 <= t <= 1:
        raise ConfigError(f"threshold {t!r} is not in [0, 1]", hint="give numbers from 0 to 1, such as 0.5 0.75 0.9")


def check_thresholds(thresholds: Iterable[float]) -> tuple[float, ...]:
    """The thresholds as floats, in the order given. Raises ConfigError for bad ones, none, or one given twice."""
    if isinstance(thresholds, int | float | str):
        raise ConfigError(f"thresholds must be a list, not {thresholds!r}", hint="for instance [0.5, 0.75, 0.9]")
    values = tuple(_as_threshold(t) for t in thresholds)
    if not values:
        raise ConfigError("no threshold given", hint="for instance --thresholds 0.5 0.75 0.9")
    twice = sorted({t for t in values if values.count(t) > 1})
    if twice:
        raise ConfigError(f"threshold {twice[0]:g} is given twice", hint="give each threshold once")
    return values


def _as_threshold(given: object) -> float:
    if isinstance(given, str):
        return parse_threshold(given) + 0.0
    try:
        value = float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        value = math.nan
    if isinstance(given, bool) or (math.isnan(value) and not isinstance(given, float)):
        raise ConfigError(f"threshold {given!r} is not a number", hint="for instance [0.5, 0.75, 0.9]")
    check_threshold(value)
    return value + 0.0  # -0.0 would print and score as a negative number


def _meant(text: str) -> str:
    number = text.strip().removesuffix("%").replace(",", ".")
    try:
        value = float(number) / (100 if "%" in text else 1)
    except ValueError:
        return "give numbers from 0 to 1, such as 0.5 0.75 0.9"
    return f"did you mean {value:.12g}?"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskConfig:
    """All settings of one abstention test but the data set. `identity()` is what a resumed run must share."""

    model: str = "gemini-2.5-flash"
    thresholds: tuple[float, ...] = (0.5, 0.75, 0.9)
    method: str = "prompt"
    judge: str = "exact"
    judge_model: str = "gemini-2.5-flash-lite"
    judge_votes: int = 1
    shots: int = 0
    samples: int = 10
    temperature: float | None = None
    max_output_tokens: int = 128
    thinking_budget: int = 0
    seed: int = 1234
    concurrency: int = 8
    rpm_limit: float | None = None
    tpm_limit: float | None = None
    max_retries: int = 6
    timeout: float = 120.0
    cache: str | None = None
    fresh: bool = False
    retry_unscored: bool = False
    max_unscored: float = 0.05
    out: str = "outputs"
    figures: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "thresholds", check_thresholds(self.thresholds))
        _one_of("--method", self.method, METHODS)
        _one_of("--judge", self.judge, JUDGES)
        _whole("--concurrency", self.concurrency, 1)
        _whole("--max-retries", self.max_retries, 0)
        _whole("--max-output-tokens", self.max_output_tokens, 1, MAX_TOKENS)
        _whole("--judge-votes", self.judge_votes, 1)
        _whole("--thinking-budget", self.thinking_budget, -1, MAX_TOKENS)
        _whole("--seed", self.seed, -MAX_SEED, MAX_SEED)
        _whole("--samples", self.samples, 2)
        _whole("--shots", self.shots, 0)
        if self.shots > MAX_SHOTS:
            raise ConfigError(f"--shots {self.shots}: there are {MAX_SHOTS} built-in examples", hint="give fewer")
        _above_zero("--timeout", self.timeout)
        for name, value in (("--rpm-limit", self.rpm_limit), ("--tpm-limit", self.tpm_limit)):
            if value is not None:
                _above_zero(name, value)
        if not (_is_number(self.max_unscored) and 0 <= self.max_unscored <= 1):
            raise ConfigError(f"--max-unscored {self.max_unscored} is not a share in [0, 1]", hint="for instance 0.05")
        if self.temperature is not None and not (_is_number(self.temperature) and 0 <= self.temperature <= 2):
            raise ConfigError(f"--temperature {self.temperature} is not in [0, 2]", hint="0.0 is the default")
        if self.method == "samples" and self.temperature == 0:
            raise ConfigError(
                "--method samples needs a temperature above 0: at 0 every sample is the same",
                hint="leave --temperature out (0.7), or give one above 0",
            )

    @property
    def sampling_temperature(self) -> float:
        """The temperature that is sent: as given, else 0, or 0.7 for repeated samples."""
        if self.temperature is not None:
            return self.temperature
        return 0.7 if self.method == "samples" else 0.0

    @property
    def repeats(self) -> int:
        """Requests an item and threshold."""
        return self.samples if self.method == "samples" else 1

    def identity(self) -> dict[str, Any]:
        """What decides the results: a run can be resumed only with the same."""
        same: dict[str, Any] = {
            "model": self.model,
            "method": self.method,
            "thresholds": list(self.thresholds),
            "judge": self.judge,
            "shots": self.shots,
            "temperature": self.sampling_temperature,
            "max_output_tokens": self.max_output_tokens,
            "thinking_budget": self.thinking_budget,
            "seed": self.seed,
        }
        if self.method == "samples":
            same["samples"] = self.samples
        if self.judge == "llm":
            same["judge_model"] = self.judge_model
            same["judge_votes"] = self.judge_votes
        return same


def _one_of(option: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ConfigError(f"{option} {value!r} is unknown", hint=f"one of: {', '.join(allowed)}")


def _whole(option: str, value: int, least: int, most: int | None = None) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigError(f"{option} {value!r} must be a whole number of at least {least}")
    if most is not None and value > most:
        raise ConfigError(f"{option} {value!r} must be at most {most}")


def _above_zero(option: str, value: float) -> None:
    if not (_is_number(value) and value > 0 and math.isfinite(value)):
        raise ConfigError(f"{option} {value} must be a number above 0")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
