"""Which option a reply commits to, by letter or by the option's own text.

Letters follow the number of options. A letter goes before an option's text where both readings exist ("A" with an
option whose text is "A"), since letters are what is asked for; a letter beyond the options may still be an option's
text. "Option 2" and a bare digit name no option, unless a digit is an option's own text: options are lettered.
Several options, a letter with another option's text, or no commitment: no option.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hallcheck.text.answers import bare
from hallcheck.text.commitments import Statement, statements, window
from hallcheck.text.dressing import trim, undress
from hallcheck.text.normalize import canonical, fold
from hallcheck.text.options import ALSO, LETTER, MANY, SEPARATOR, TEXT_LETTER, leading_text, option_in, own_text, texts

_CANDIDATES = 20
_OPTION_IS = re.compile(
    r"(?<![A-Za-z0-9'])(?P<open>(?:(?:[Oo]ption|[Cc]hoice|[Aa]nswer"
    r"|[Ll]etter)\s+)?[\"'(*\[]{0,3})(?P<l>[A-Z])(?![A-Za-z0-9'])[\])\"'*.:]{0,3}(?P<text>[^.\n]{0,80}?)\s(?:is"
    r"|would be|must be|seems|looks|appears to be)\s+(?:(?:the|my|most|only|likely|clearly|definitely|indeed"
    r"|probably|therefore|thus)\s+)*(?:correct|right|best|true|answer|accurate|choice|one\b)"
)
_IT_IS_LAST = re.compile(r"[\"'(]*([A-Z])[\"')]* it is\b")
_I_CHOOSE = re.compile(
    r"\b(?:I|let's|let us|let me|we)(?:'ll|'d|'m| will| would| am| have to| must| can)?(?: (?:have|like)"
    r" to)?\s+(?:therefore |thus |still |just )?(?:choose|chose|pick|select|go(?:ing)? (?:with|for)|opt for"
    r"|vote for|guess|think|believe|say|answer|lean(?:ing)? (?:towards?|to)|settle on|suspect)(?: that)?(?:"
    r" it(?:'s| is| must be| would be))?\s*(?:the answer is |on |for )?[:]?",
    re.IGNORECASE,
)
_IT_IS = re.compile(
    r"(?:^|[.!?,;:\n-]\s*|\b(?:so|but|and|then|probably|therefore|think|guess|believe)\s+)(?:it|that)(?:'s| is|"
    r" must be| has to be| should be| would be)\b",
    re.IGNORECASE,
)
_FINALLY = re.compile(
    r"(?:\b(?:so|therefore|thus|hence|conclusion|final|selected|ans|pick|choose|probably|maybe|perhaps"
    r"|definitely|clearly|certainly|obviously|surely|likely|but|correct(?=:)|cevap|letter(?: is)?|guess(?:"
    r" is)?)\b[,:]?|->|=>|→|⇒|∴)\s*",
    re.IGNORECASE,
)
_REVISES = re.compile(
    r"\b(?:wait|no|actually|correction|sorry|rather|scratch that)[,.:;-]+\s*(?:(?:no|wait|actually|it(?:'s| is)"
    r"|I mean|make (?:it|that)|make that)[,.:]{0,3}\s+){0,3}",
    re.IGNORECASE,
)


def _spoken(text: str, options: tuple[str, ...]) -> list[tuple[int, int, bool]]:
    """(position, option, complete) of commitments in running text other than labels: "B is correct", "I choose B"."""
    found: list[tuple[int, int, bool]] = []
    if (m := _IT_IS_LAST.match(text)) is not None and ord(m[1]) - 65 < len(options):
        found.append((0, ord(m[1]) - 65, True))
    for m in _OPTION_IS.finditer(text):
        index = ord(m["l"]) - 65
        if (
            index >= len(options)
            or "\n" in m["text"]
            or (m["text"].strip() and not m["open"] and leading_text(m["text"].strip(" )-:"), options) is None)
        ):
            continue
        found.append((m.start(), index, True))
    for pattern in (_I_CHOOSE, _IT_IS, _FINALLY, _REVISES):
        # Only the last commitment counts, so the last few candidates do.
        for m in list(pattern.finditer(text))[-_CANDIDATES:]:
            end = text.find("\n", m.end())
            value = text[m.end() : end if end >= 0 else len(text)].strip()
            named = option_in(value, options, frozenset(), alone=False)
            strict = pattern in (_FINALLY, _REVISES)
            if named is not None and (
                not strict or len(trim(value)) <= 3 or named == MANY or own_text(value, options, frozenset()) == named
            ):
                if strict and named == MANY and not ALSO.search(value[:20]):
                    continue
                found.append((m.start(), named, end >= 0 or value.endswith((".", "!"))))
    return found


def _from_statement(s: Statement, options: tuple[str, ...], prefer: frozenset[int], cut: bool) -> int | None:
    named = option_in(s.value, options, prefer, alone=s.by == "line")
    if named is None or not cut or s.closed:
        return named
    letter = LETTER.match(fold(s.value))
    if letter is None or (letter["l"].islower() and letter["l"] in "ai"):
        return named if s.value.rstrip().endswith((".", "!")) else None
    return named


def _lines(text: str, options: tuple[str, ...], prefer: frozenset[int], cut: bool) -> list[tuple[int, int]]:
    """First and last line where one is an option alone."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < 2:
        return []
    named = [option_in(line, options, prefer, alone=True) for line in (lines[0], lines[-1])]
    found = []
    if named[0] is not None:
        whole = [option_in(line, options, prefer, alone=True) for line in lines[:12]]
        if None not in whole and len({*whole}) > 1:
            return [(len(text), MANY)]
        found.append((0, named[0]))
    if named[1] is not None and (not cut or len(trim(undress(lines[-1]))) == 1):
        found.append((text.rfind(lines[-1]), named[1]))
    return found


def committed_option(
    visible: str, options: Sequence[str], *, cut: bool = False, prefer: frozenset[int] = frozenset()
) -> int | None:
    """Index of the option to which `visible` (hidden reasoning removed) commits; None if to none, or to several.

    `cut`: the reply broke off, so only what was complete counts. `prefer`: which of several options with one text is
    meant where the reply gives that text.
    """
    options = tuple(options)
    if len(visible) == 1 and "A" <= visible <= "Z":
        index = ord(visible) - 65
        if index < len(options):
            return index
    text = fold(window(visible)).strip()
    if len(text) > 1 and not cut and bare(text) in texts(options):
        return own_text(text, options, prefer)
    whole = undress(text)
    if "\n" not in whole:
        named = _one_line(whole, text, options, prefer, cut)
        if named is not None:
            return None if named == MANY else named
    found = _lines(text, options, prefer, cut)
    plain = text.replace("**", "")
    for s in statements(text)[-_CANDIDATES:]:
        named = _from_statement(s, options, prefer, cut)
        if named is not None:
            found.append((s.start, named))
    found += [(start, named) for start, named, complete in _spoken(plain, options) if complete or not cut]
    last = _last(sorted(found), text)
    return None if last == MANY else last


def _one_line(whole: str, text: str, options: tuple[str, ...], prefer: frozenset[int], cut: bool) -> int | None:
    """The option that a one-line reply is; None if it is none, or if it goes on to state one."""
    named = option_in(whole, options, prefer, alone=True)
    if named is None or (named != MANY and cut and not _finished(whole, text, named, options)):
        return None
    if (named != MANY and _exactly(whole, named, options)) or len(whole) <= 20:
        return named
    later = any(s.by in ("revision", "label") for s in statements(text)) or _REVISES.search(whole)
    return None if later else named


def _last(found: list[tuple[int, int]], text: str) -> int | None:
    """The last commitment of (position, option) pairs in order."""
    last: tuple[int, int] | None = None
    for start, named in found:
        near = last is not None and last[1] == MANY and 0 < start - last[0] < 40
        if near and last is not None and not re.search(r"[.!?\n;]", text[last[0] : start]):
            # "maybe A, maybe B": the second is a part of the first.
            continue
        last = (start, named)
    return None if last is None else last[1]


def _exactly(whole: str, named: int, options: tuple[str, ...]) -> bool:
    """Whether a reply is an option's text, with or without its letter, and nothing else."""
    text = texts(options)[named]
    if text in (bare(whole), bare(undress(whole))):
        return True
    if (t := TEXT_LETTER.match(whole[:600])) is not None and bare(t[1]) == text:
        return True
    m = LETTER.match(whole)
    return m is not None and bare(undress(SEPARATOR.sub("", whole[m.end() :], count=1))) == bare(undress(text))


def _finished(whole: str, text: str, named: int, options: tuple[str, ...]) -> bool:
    """Whether a one-line reply that was cut is a letter, or a letter and (the beginning of) its option's text."""
    if text.endswith((".", "!", "\n", "*", "}", "`")) and len(whole) <= 4 + len(options[named]) + 2:
        return True
    m = LETTER.match(whole)
    if m is None:
        return False
    rest = canonical(whole[m.end() :]).lstrip(" .,:;)-")
    return not rest or texts(options)[named].startswith(rest)


def option_of(gold: str, options: Sequence[str]) -> int | None:
    """Index of the option that an accepted answer names, by letter or by text; None if it names none."""
    return option_in(gold, tuple(options), frozenset(), alone=True) if gold.strip() else None
