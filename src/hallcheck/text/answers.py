"""The answer that a reply commits to, and whether it equals an accepted one.

Equality is anchored: an accepted answer inside a longer sentence is not the answer. No part of an answer are: a
leading "The answer is", "Answer:", "It is", an article, an opening "I think", Markdown, LaTeX, quotes, JSON, and
closing punctuation. Numbers are compared by value (see `numbers`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from hallcheck.text.abstention import Abstention, abstention, guessed, opening
from hallcheck.text.commitments import Statement, statements, window
from hallcheck.text.dressing import LONGEST, layers, trim, undress
from hallcheck.text.normalize import canonical, fold, strip_reasoning
from hallcheck.text.numbers import Number, number, same_number

_ARTICLE = re.compile(r"(?:the|an?) (?=.)")
_LEAD = re.compile(
    r"(?:(?:i (?:would |'d |do |still )?(?:think|believe|guess|say|suspect|suppose)|i'd say)(?: that)?|i(?:'m|"
    r" am) (?:fairly |pretty |quite |very |reasonably |almost |absolutely )?(?:sure|confident|certain)(?:"
    r" that)?|if i (?:had|have|must|were) to (?:guess|answer|choose|pick)[,:]?(?: (?:i'd|i would) (?:say|guess"
    r"|go with))?|(?:most |very )?(?:probably|perhaps|maybe|likely|presumably|possibly)|so|therefore|thus|hence"
    r"|sure[!,.]|certainly[!,.]|well,|yes,|okay,|ok,)[,:]? "
    r"|(?:it|this|that|they|these|those|he|she|there)(?:'s|'re| is| was| are| were| would be| must be| should"
    r" be| might be| may be| could be)(?: (?:most likely|probably|likely|called|known as|named))? "
    r"|(?:so )?(?:(?:my|the|your) )?(?:(?:final|correct|right|best|most likely|short) ){0,2}(?:answer|guess"
    r"|solution|result|response)(?: to (?:the|this) question)?(?: is| would be| was|:| =)+(?:(?: most)? likely|"
    r" probably)?:? "
)
_BACKWARDS = re.compile(r"(.{1,200}) is (?:the|my) (?:final |correct |right |best )?answer")
_REASON = re.compile(r",? (?:because|since|as it|due to|which is) ")
_DOUBT = re.compile(
    r"(?:[,.;(-]\s*|\s)(?:but |though |although |however,? )?(?:i(?:'m| am) (?:not|un)[^.\n]{0,60}|(?:i'm |i am"
    r" )?\d{1,3} ?% (?:confident|sure|certain)|(?:not )?(?:entirely |completely |fairly |pretty )?(?:sure"
    r"|certain|confident)|i (?:think|believe|guess|suppose)|probably|maybe|perhaps|most likely|possibly)\)?$"
    r"|\s*[,;(\n]?\s*(?:confidence|probability|certainty)\s*[:=]\s*[\d.]+ ?%?\)?$"
)
_STOP = re.compile(r"[.!?][\"')]?(?=\s+[A-Z\"'(*]|\s*$)")
_ABBREVIATION = re.compile(
    r"(?:^|[\s.(])(?:[A-Za-z]|st|mr|mrs|ms|dr|jr|sr|vs|no|mt|ft|prof|gen|col|sgt|lt|rev|hon|capt|inc|ltd|co"
    r"|corp|approx|ca|etc|al|fig|vol|op|ed|e\.g|i\.e|u\.s|u\.k|ph\.d|a\.d|b\.c)$",
    re.IGNORECASE,
)
_CLOSING_TOKEN = re.compile(
    r"[,;:.-]\s*(?:(?:so|thus|therefore|hence),? )?(?:(?:i(?:'ll| will| must| have to)? (?:answer|say|respond"
    r"|reply)(?: with)?|(?:my|the) answer is):? )?idk[.!]*$",
    re.IGNORECASE,
)
_CONCEDING = re.compile(r"\s*(?:although|though|while|even though)\s+[^,\n]{1,200},\s*(?:but\s+)?", re.IGNORECASE)
_EXTRACTED = 500
_SHORT = 120


@dataclass(frozen=True, slots=True)
class Golds:
    """Accepted answers, ready for comparison."""

    texts: frozenset[str]
    numbers: tuple[Number, ...]
    longest: int


@dataclass(frozen=True, slots=True)
class Committed:
    """What a reply commits to: `value`, or (where `abstains`) not to answer. `stated`: it said so in so many words."""

    value: str
    stated: bool
    abstains: Abstention | None = None


def _first_sentence(text: str) -> str:
    """Up to the first full stop that ends a sentence, abbreviations and initials aside."""
    for m in _STOP.finditer(text[:LONGEST]):
        if text[m.start()] != "." or not _ABBREVIATION.search(text[max(0, m.start() - 6) : m.start()]):
            return text[: m.start()]
    return text


def bare(text: str) -> str:
    """Canonical form without closing punctuation and leading article."""
    text = trim(canonical(text))
    m = _ARTICLE.match(text)
    return text[m.end() :] if m else text


@lru_cache(maxsize=4096)
def golds(answers: tuple[str, ...]) -> Golds:
    """Ready-made accepted answers; blank ones are dropped."""
    texts: set[str] = set()
    values: list[Number] = []
    for answer in answers:
        if not answer.strip():
            continue
        text = canonical(answer)
        texts |= {
            text,
            trim(text),
            bare(answer),
            trim(canonical(undress(fold(answer))) if '"' in fold(answer) else text),
        }
        if not _foreign_digits(answer):
            value = number(text) or number(trim(text))
            if value is not None:
                values.append(value)
    return Golds(frozenset(texts), tuple(values), max(map(len, texts), default=0))


def _foreign_digits(text: str) -> bool:
    return not text.isascii() and any(c > "\x7f" and c.isnumeric() for c in text)


def _forms(value: str) -> Iterator[str]:
    """Canonical forms of a committed value, from as it stands to barest."""
    for layer in layers(fold(value)):
        text = canonical(layer)
        yield text
        if len(text) > LONGEST:
            return
        for _ in range(4):
            text = trim(text)
            yield text
            m = _ARTICLE.match(text) or _LEAD.match(text)
            if m is None:
                break
            text = text[m.end() :]
            yield text


def _readings(value: str) -> Iterator[str]:
    """The value, then the value without what follows an answer: another sentence, a reason, a doubt."""
    yield value
    if len(value) > LONGEST:
        return
    sentence = _first_sentence(value)
    if sentence != value:
        yield sentence
    for pattern in (_REASON, _DOUBT):
        for text in (value.strip().rstrip("."), sentence):
            m = pattern.search(text.casefold() if text.isascii() else text)
            if m is not None and m.start():
                yield text[: m.start()]


def matches(value: str, accepted: Golds, *, stated: bool = False) -> bool:
    """Whether `value` equals an accepted answer as text or as a number.

    `stated`: the value was announced as the answer, so what follows its first sentence is comment.
    """
    if len(value) > 4 * accepted.longest + 2 * LONGEST:
        return False
    numeric = bool(accepted.numbers) and not _foreign_digits(value)
    for reading in _readings(value) if stated else (value,):
        for form in _forms(reading):
            if form in accepted.texts:
                return True
            if numeric and (got := number(form)) and any(same_number(got, n) for n in accepted.numbers):
                return True
    if not stated and len(value) <= 300:
        if (m := _BACKWARDS.fullmatch(trim(fold(value)))) is not None:
            return matches(m[1], accepted, stated=True)
        short = _DOUBT.sub("", trim(fold(value)).casefold(), count=1)
        return bool(short) and short != trim(fold(value)).casefold() and matches(short, accepted)
    return False


def same_answer(first: str, second: str) -> bool:
    """Whether two answers are equal as text or as numbers."""
    return matches(first, golds((second,))) or matches(second, golds((first,)))


def _end_abstains(text: str, *, stated: bool) -> Abstention | None:
    """An abstention as the last line, or as the last sentence where it says so plainly.

    `stated`: `text` begins with a stated answer, which a doubt after it does not take back.
    """
    tail = text[-1500:].rstrip()
    head, newline, last = tail.rpartition("\n")
    if newline and head.strip():
        found = opening(undress(last.replace("**", "")))
        if found is not None and (found.token or (found.bare and (found.kind == "idk" or not stated))):
            return found
        tail = last
    tail = undress(tail)
    if '"' in tail:
        return None
    if _CLOSING_TOKEN.search(tail):
        return opening("idk")
    sentences = re.split(r"(?<=[.!?])\s+", tail)
    found = opening(undress(sentences[-1])) if len(sentences) > 1 else None
    return found if found is not None and found.bare and found.kind == "idk" and not found.weak else None


def commitment(visible: str, *, cut: bool = False) -> Committed | None:
    """What `visible` (hidden reasoning removed) commits to; None if it was cut before it committed.

    `cut`: the reply broke off at the token limit; then only a complete statement or an abstention counts.
    """
    return _short_commitment(visible, cut) if len(visible) <= _SHORT else _commitment(visible, cut)


def _commitment(visible: str, cut: bool) -> Committed | None:
    if (found := abstention(visible)) is not None:
        return Committed("", True, found)
    text = part = fold(window(visible))
    listed = [s for s in statements(part) if s.value.strip(" .*_\"'") and _complete(s, cut)]
    last = listed[-1] if listed else None
    if last is not None and last.by in ("json", "tag", "box", "bold") and (inner := statements(last.value)):
        last = replace(inner[-1], start=last.start, closed=True)
    if last is not None:
        value = undress(last.value.replace("**", ""))
        found = opening(value) or opening(undress(_first_sentence(value))) or _end_abstains(value, stated=True)
        if found is not None:
            return Committed("", True, found)
    after = part[last.start :] if last is not None else part
    if (found := _end_abstains(after, stated=last is not None)) is not None:
        return Committed("", True, found)
    if last is not None:
        return Committed(_show(last), last.by != "line" or last.closed)
    if cut:
        return None
    answer = None
    if opening_hedge(text):
        conceded = _CONCEDING.match(text)
        answer = guessed(text[: 2 * _EXTRACTED]) or (text[conceded.end() :].strip() if conceded else None)
    return Committed(answer if answer is not None else visible.strip(), answer is not None)


# Models repeat themselves: most of their "I don't know"s are a handful of phrases.
_short_commitment = lru_cache(maxsize=4096)(_commitment)


def opening_hedge(text: str) -> bool:
    """Whether the reply begins with a hedge that an answer follows."""
    head = re.sub(r"^\s*(?:although|though|while|even though)\s+", "", text[:400], flags=re.IGNORECASE)
    first = re.split(r"[,.;:\n-]|\bbut\b|\bhowever\b", head, maxsplit=1)[0]
    if len(first) == len(text):
        return False
    return opening(undress(first)) is not None


def _complete(s: Statement, cut: bool) -> bool:
    if not cut or s.closed:
        return True
    if s.by not in ("label", "revision") or len(s.value) < 2:
        return False
    return s.value.rstrip(" \"'*_").endswith((".", "!")) or _first_sentence(s.value) != s.value


def _show(s: Statement) -> str:
    value = s.value.replace("**", "")
    return value if len(value) <= LONGEST else value[:LONGEST]


def shown(value: str) -> str | None:
    """The answer for a reader and for a judge: undressed, first sentence; None where the value is long prose."""
    value = undress(fold(value))
    lowered = _LEAD.sub("", value, count=1) if value[:1].islower() else value
    if "\n" in lowered or len(lowered) > _EXTRACTED:
        return None
    return trim(lowered)


def abstains(text: str) -> Abstention | None:
    """How `text` abstains, whichever way it says so; None if it answers, or if hidden reasoning was left open."""
    visible, unclosed = strip_reasoning(text)
    if unclosed or not visible.strip():
        return None
    found = commitment(visible)
    return found.abstains if found is not None else None


def is_idk(text: str) -> bool:
    """Whether `text` abstains: an "I don't know", a hedge without an answer, or a refusal. Empty text does not."""
    return abstains(text) is not None
