"""Names of plug-ins: tables of name -> "module:attribute", loaded when first used.

A third-party package adds to a table by an entry point in the group `hallcheck.<family>`.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from hallcheck.errors import ConfigError

# Each provider row is a factory: create(model, *, timeout_s, concurrency, env) -> Provider.
TABLES: dict[str, dict[str, str]] = {
    "providers": {
        "anthropic": "hallcheck.providers.anthropic:create",
        "google": "hallcheck.providers.google:create",
        "local": "hallcheck.providers.local:create",
        "openai": "hallcheck.providers.openai:create",
        "replay": "hallcheck.providers.replay:create",
    },
    "datasets": {
        "builtin": "hallcheck.datasets.builtin:BuiltinDataset",
        "mmlu": "hallcheck.datasets.mmlu:MMLUDataset",
        "simpleqa": "hallcheck.datasets.simpleqa:SimpleQADataset",
        "table": "hallcheck.datasets.table:TableDataset",
        "truthfulqa": "hallcheck.datasets.truthfulqa:TruthfulQADataset",
    },
    "judges": {
        "choice": "hallcheck.judges.choice:ChoiceJudge",
        "exact": "hallcheck.judges.exact:ExactJudge",
        "llm": "hallcheck.judges.llm:LLMJudge",
        "recorded": "hallcheck.judges.recorded:RecordedJudge",
    },
}


def load(family: str, name: str) -> Any:
    """The object behind a name of a family ("providers", "datasets", "judges"). Raises ConfigError if unknown."""
    table = TABLES[family]
    if name in table:
        module, _, attribute = table[name].partition(":")
        return getattr(import_module(module), attribute)
    for point in entry_points(group=f"hallcheck.{family}"):
        if point.name == name:
            return point.load()
    raise ConfigError(f"unknown {family[:-1]} {name!r}", hint=suggest(name, names(family)))


def names(family: str) -> list[str]:
    """All names of a family, third-party ones too."""
    return sorted({*TABLES[family], *(p.name for p in entry_points(group=f"hallcheck.{family}"))})


def suggest(name: str, known: Iterable[str]) -> str:
    """A hint for a mistyped name: the closest one, and what there is."""
    known = sorted(known)
    close = get_close_matches(name, known, n=1)
    listed = ", ".join(known)
    return f"did you mean {close[0]!r}? There are: {listed}" if close else f"there are: {listed}"


def split_model(model: str, option: str = "--model") -> tuple[str, str]:
    """`provider/name` -> (provider, name). A bare name that begins with "gemini-" or "gemma-" is Google's.

    Raises ConfigError where the provider cannot be told.
    """
    provider, slash, name = model.partition("/")
    if not slash:
        if model.startswith(("gemini-", "gemma-", "models/")):
            return "google", model
        if model in TABLES["providers"] and model == "local":
            return "local", ""
        raise ConfigError(
            f"{option} {model!r} does not say which provider serves it",
            hint=f"write PROVIDER/{model}, with one of: {', '.join(names('providers'))}",
        )
    if provider == "models":
        return "google", name
    if provider not in TABLES["providers"] and provider not in names("providers"):
        raise ConfigError(
            f"{option} {model!r}: unknown provider {provider!r}", hint=suggest(provider, names("providers"))
        )
    if not name and provider != "local":
        raise ConfigError(f"{option} {model!r} names no model", hint=f"write {provider}/NAME")
    return provider, name
