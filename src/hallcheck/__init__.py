"""hallcheck: decide with evidence when a model's answer may go out and when "I don't know" is better."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Loaded when first used: `import hallcheck` and `hallcheck --help` stay light.
_PUBLIC = {
    "AskRun": "hallcheck.verbs.ask_run",
    "HallcheckError": "hallcheck.errors",
    "Item": "hallcheck.types",
    "Reply": "hallcheck.types",
    "Verdict": "hallcheck.types",
    "ask": "hallcheck.verbs.ask",
    "is_idk": "hallcheck.text.answers",
    "judge_answer": "hallcheck.judges.answer",
    "score_item": "hallcheck.stats.penalty",
}

if TYPE_CHECKING:
    from hallcheck.errors import HallcheckError
    from hallcheck.judges.answer import judge_answer
    from hallcheck.stats.penalty import score_item
    from hallcheck.text.answers import is_idk
    from hallcheck.types import Item, Reply, Verdict
    from hallcheck.verbs.ask import ask
    from hallcheck.verbs.ask_run import AskRun

__all__ = [
    "AskRun",
    "HallcheckError",
    "Item",
    "Reply",
    "Verdict",
    "__version__",
    "ask",
    "is_idk",
    "judge_answer",
    "score_item",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(import_module(_PUBLIC[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'hallcheck' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
