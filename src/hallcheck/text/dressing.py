"""Dressing around an answer: Markdown, LaTeX, quotes, brackets, tags, JSON, closing punctuation.

Works on folded text (see `normalize.fold`). Every pattern looks at a bounded stretch.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from hallcheck.text.normalize import fold

LONGEST = 2000
"""An answer longer than this is compared as it stands."""

ANSWER_KEYS: tuple[str, ...] = (
    "answer",
    "final_answer",
    "finalanswer",
    "final answer",
    "answer_letter",
    "choice",
    "letter",
    "option",
)
ANSWER_KEYS += ("prediction", "result", "response", "output")

_FENCE = re.compile(r"(```|~~~)[\w+-]{0,20}\s*\n?(.*?)\n?\s*\1", re.DOTALL)
_TAG = re.compile(r"<([a-z_]{1,20})>(.*)</\1>", re.DOTALL | re.IGNORECASE)
_LATEX = re.compile(
    r"\\(?:boxed|fbox|text|textbf|textit|textrm|texttt|mathrm|mathbf|mathit|mathsf|emph|operatorname)\s*\{(.*)\}",
    re.DOTALL,
)
_LINE_START = re.compile(r"(?:#{1,6}\s+|>\s*|[*•·-]\s+(?!\d)|[*•·]\s+(?=\d))+")
_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_MARKS = ("**", "__", "~~", "*", "_", "`", "$$", "$")
_STOPS = ".,;:!?"


def trim(text: str) -> str:
    """Without white space and closing punctuation; what consists of punctuation alone stays, and so does `5!`."""
    text = text.strip()
    short = text.rstrip(_STOPS + " ")
    if not short or len(short) == len(text):
        return text
    if short[-1].isdigit() and text[len(short)] == "!":
        return text
    return short


def _balanced(inner: str, opening: str, closing: str) -> bool:
    depth = 0
    for c in inner:
        if c == opening:
            depth += 1
        elif c == closing:
            depth -= 1
            if depth < 0:
                return False
    return depth == 0


def _unwrap(s: str) -> str:
    """One layer less, or `s`."""
    first, last = s[0], s[-1]
    if first == '"' and last == '"' and '"' not in s[1:-1]:
        return s[1:-1]
    if first == "'" and last == "'" and " '" not in s[1:-1] and "' " not in s[1:-1]:
        return s[1:-1]
    for mark in _MARKS:
        n = len(mark)
        if s.startswith(mark) and s.endswith(mark) and len(s) > 2 * n and mark not in s[n:-n]:
            return s[n:-n]
    for pattern in (_FENCE, _TAG, _LATEX):
        if (m := pattern.fullmatch(s)) and (pattern is not _LATEX or _balanced(m[1], "{", "}")):
            return m[m.lastindex or 0]
    if s.startswith((r"\(", r"\[")) and s.endswith((r"\)", r"\]")):
        return s[2:-2]
    if first in _PAIRS and last == _PAIRS[first] and first not in s[1:-1] and last not in s[1:-1]:
        return s[1:-1]
    if (m := _LINE_START.match(s)) and m.end() < len(s):
        return s[m.end() :]
    return s


def json_answer(text: str) -> str | None:
    """The answer of a JSON object (or of a list of one) with a usual key; None if `text` is none."""
    if not text.startswith(("{", "[")) or len(text) > 5 * LONGEST:
        return None
    try:
        found = json.loads(text, parse_float=str, parse_int=str, parse_constant=str, strict=False)
    except (ValueError, RecursionError):
        return None
    if isinstance(found, list) and len(found) == 1:
        found = found[0]
    if not isinstance(found, dict):
        return None
    lower = {str(k).casefold(): v for k, v in found.items()}
    for key in ANSWER_KEYS:
        if key in lower:
            value = lower[key]
            if isinstance(value, list) and len(value) == 1:
                value = value[0]
            return fold(value) if isinstance(value, str) else "" if value is None else str(value)
    return None


def layers(text: str) -> Iterator[str]:
    """`text`, then the same with ever less dressing. Bounded: at most 12 layers, none for very long text."""
    s = text.strip()
    yield s
    if len(s) > LONGEST:
        return
    for _ in range(12):
        if not s:
            return
        inner = json_answer(s)
        if inner is None:
            inner = _unwrap(s)
            if inner == s:
                inner = trim(s)
                while inner and ord(inner[-1]) > 0x2190 and not inner[-1].isalnum():
                    # A closing emoji or symbol is decoration.
                    inner = inner[:-1].rstrip()
                inner = inner or s
        inner = inner.strip()
        if inner == s:
            return
        s = inner
        yield s


def undress(text: str) -> str:
    """The innermost layer."""
    s = ""
    for s in layers(text):  # noqa: B007
        pass
    return s
