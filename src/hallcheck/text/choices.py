"""Which option a reply commits to, by letter or by the option's own text.

Letters follow the number of options. A letter goes before an option's text where both readings exist ("A" with an
option whose text is "A"), since letters are what is asked for; a letter beyond the options may still be an option's
text. "Option 2" and a bare digit name no option, unless a digit is an option's own text: options are lettered.
Several options, a letter with another option's text, or no commitment: no option.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from hallcheck.text.answers import bare, golds, matches
from hallcheck.text.commitments import Statement, statements, window
from hallcheck.text.dressing import trim, undress
from hallcheck.text.normalize import canonical, fold

_CANDIDATES = 20
MANY = -1
"""Several options, or one that does not exist."""

_SEPARATOR = re.compile(r"[\s)\]*\"']{0,6}[.,:;)]{0,2}[*]{0,2}(?:\s*-+(?=\s))?[\s*\"']{0,6}")
_NOT_LETTER = r"(?![A-Za-z0-9À-ɏ'_])"
_CLOSE = r"[)\]}>\"'*_`$]*"
_LETTER = re.compile(
    rf"[\s\"'(\[{{<*_`$]{{0,8}}(?:(?:a|o|la|el|le|il|die|der|das|de|het|letra|lettre|lettera|buchstabe|opção|opción|optie|opzione|opcja|вариант|буква)\s{{1,3}}){{0,2}}(?=\S)[\"'(*]{{0,4}}(?:\\(?:boxed|text|textbf|mathrm|mathbf)\s{{0,3}}\{{\s{{0,3}}){{0,3}}(?:(?:the |my )?(?:option|choice|letter|answer|antwort|opción|opção|opcion|opzione|optie|opcja|alternativa|letra|lettre|lettera|réponse|respuesta|risposta|resposta|antwoord|odpowiedź|вариант|ответ|cevap)s?\b[\s:]{{0,4}})?[\s\"'(\[{{<*_`$]{{0,8}}(?P<l>[A-Za-z]){_NOT_LETTER}{_CLOSE}",
    re.IGNORECASE,
)
_EASTERN = re.compile(r"^(?:我(?:会)?|私は|저는)?\s*(?:选择肢|選択肢|选项|選項|选择|選擇|选|選|보기|선택지)?\s*[\"'(]?([A-Za-z])[\"')]?\s*(?:が正解(?:です)?|が答えです|是正确(?:的|答案)|是正確(?:的|答案)|[이가] 정답입니다|选项|選項|项|項|입니다|이다|예요|이에요|번|です|だ|を選びます)?[.!]?$")
_ALSO = re.compile(
    r"\s*(?:,|/|&|\+|;|\bor\b|\band\b|\band/or\b|\boder\b|\bund\b|\bou\b|\bet\b|\bo\b|\by\b|\be\b|\bof\b|\ben\b|\blub\b|\bили\b|\bи\b|或|和|또는|と)+\s*(?:(?:or|and|maybe|possibly|perhaps|else)\s+)*(?:option |choice )?[\"'(*]*[A-Za-z]"
    + _NOT_LETTER
)
_BOTH = re.compile(r"\s*(?:either|both|neither|between|all|not|isn't|n't|none)\b", re.IGNORECASE)
_NOT_THAT = re.compile(r"[,;(]?\s*(?:and |but )?(?:not|rather than|instead of|over|as opposed to)\b.*$", re.IGNORECASE | re.DOTALL)
_PLAIN_AFTER = re.compile(r"\s*(?:$|[.,;:!?)\n=-]|(?:because|since|as|for|which|due|with|is|and|given|, )\b)", re.IGNORECASE)
_ENUMERATION = re.compile(r"(?:^|[\s(])\(?([A-Z])[.):](?=\s)")
_JOINED = re.compile(r"\b(?:or|and)\s+(?:option )?([A-Z])(?![A-Za-z0-9'])(.{0,80})")
_TEXT_LETTER = re.compile(r"^(.{1,500}?)\s*[(\[]\s*(?:option |choice )?([A-Za-z])\s*[)\]][.!]?$", re.DOTALL | re.IGNORECASE)
_OPTION_IS = re.compile(
    r"(?<![A-Za-z0-9'])(?P<open>(?:(?:[Oo]ption|[Cc]hoice|[Aa]nswer|[Ll]etter)\s+)?[\"'(*\[]{0,3})(?P<l>[A-Z])(?![A-Za-z0-9'])[\])\"'*.:]{0,3}(?P<text>[^.\n]{0,80}?)\s(?:is|would be|must be|seems|looks|appears to be)\s+(?:(?:the|my|most|only|likely|clearly|definitely|indeed|probably|therefore|thus)\s+)*(?:correct|right|best|true|answer|accurate|choice|one\b)"
)
_IT_IS_LAST = re.compile(r"[\"'(]*([A-Z])[\"')]* it is\b")
_I_CHOOSE = re.compile(
    r"\b(?:I|let's|let us|let me|we)(?:'ll|'d|'m| will| would| am| have to| must| can)?(?: (?:have|like) to)?\s+(?:therefore |thus |still |just )?(?:choose|chose|pick|select|go(?:ing)? (?:with|for)|opt for|vote for|guess|think|believe|say|answer|lean(?:ing)? (?:towards?|to)|settle on|suspect)(?: that)?(?: it(?:'s| is| must be| would be))?\s*(?:the answer is |on |for )?[:]?",
    re.IGNORECASE,
)
_IT_IS = re.compile(r"(?:^|[.!?,;:\n-]\s*|\b(?:so|but|and|then|probably|therefore|think|guess|believe)\s+)(?:it|that)(?:'s| is| must be| has to be| should be| would be)\b", re.IGNORECASE)
_FINALLY = re.compile(r"(?:\b(?:so|therefore|thus|hence|conclusion|final|selected|ans|pick|choose|probably|maybe|perhaps|definitely|clearly|certainly|obviously|surely|likely|but|correct(?=:)|cevap|letter(?: is)?|guess(?: is)?)\b[,:]?|->|=>|→|⇒|∴)\s*", re.IGNORECASE)
_REVISES = re.compile(r"\b(?:wait|no|actually|correction|sorry|rather|scratch that)[,.:;-]+\s*(?:(?:no|wait|actually|it(?:'s| is)|I mean|make (?:it|that)|make that)[,.:]{0,3}\s+){0,3}", re.IGNORECASE)


@lru_cache(maxsize=512)
def _texts(options: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(bare(option) for option in options)


def _own_text(value: str, options: tuple[str, ...], prefer: frozenset[int]) -> int | None:
    """The option whose text `value` is. Of options with one text, a preferred one."""
    texts = _texts(options)
    folded = fold(value)
    for form in (bare(folded), bare(undress(folded))):
        if form and form in texts:
            same = [i for i, text in enumerate(texts) if text == form]
            return next((i for i in same if i in prefer), same[0])
    # An option that is one letter is only itself: "I think it is C" names the letter.
    hits = [
        i
        for i, option in enumerate(options)
        if len(value) <= 500 and not (len(texts[i]) == 1 and texts[i].isalpha()) and matches(value, golds((option,)))
    ]
    if len({texts[i] for i in hits}) > 1:
        return MANY
    return next((i for i in hits if i in prefer), hits[0]) if hits else None


def _leading_text(value: str, options: tuple[str, ...]) -> int | None:
    """The option whose text begins `value`, the longest one; MANY if a different option's text comes too."""
    text = canonical(undress(value))[:1000]
    text = text.removeprefix("the ") if text not in _texts(options) else text
    best: tuple[int, int] | None = None
    for i, option in enumerate(_texts(options)):
        if option and text.startswith(option) and (best is None or len(option) > best[0]):
            after = text[len(option) :]
            if not after or (not after[0].isalnum() and _PLAIN_AFTER.match(after)):
                best = (len(option), i)
    if best is None:
        return None
    rest = _NOT_THAT.sub("", text[best[0] :])
    for i, option in enumerate(_texts(options)):
        if option and i != best[1] and option != _texts(options)[best[1]] and re.search(rf"(?<!\w){re.escape(option)}(?!\w)", rest):
            return MANY
    return best[1]


def _after_letter(index: int, rest: str, options: tuple[str, ...]) -> int:
    """What a letter followed by `rest` commits to: the letter, unless another option follows."""
    line = _SEPARATOR.sub("", rest, count=1)
    if _texts(options)[index] in (bare(line), bare(undress(line)), bare(line.split("\n", 1)[0])):
        return index
    if _ALSO.match(rest):
        return MANY
    line = line.split("\n", 1)[0]
    other = _leading_text(line, options) if line else None
    own = _texts(options)[index]
    if other is not None and (other == MANY or _texts(options)[other] != own):
        named = canonical(line)
        if other == MANY and own and named.startswith(own):
            return index if _NOT_THAT.search(line) else MANY
        return MANY
    for m in _JOINED.finditer(rest[:500]):
        i = ord(m[1]) - 65
        after = canonical(m[2]).lstrip(" .):")
        if i < len(options) and (not after or not after[0].isalnum() or after.startswith(_texts(options)[i] or "\0")):
            return MANY
    others = {m[1] for m in _ENUMERATION.finditer(rest[:2000]) if ord(m[1]) - 65 < len(options)}
    return MANY if others - {chr(65 + index)} else index


def _value(value: str, options: tuple[str, ...], prefer: frozenset[int], *, alone: bool) -> int | None:
    """The option that a stated value names. `alone`: the value is a whole reply or line, not what follows a label."""
    value = fold(value).strip()
    if not value:
        return None
    if (m := _EASTERN.match(value)) is not None:
        index = ord(m[1].upper()) - 65
        if index < len(options):
            return index
    own = _own_text(value, options, prefer)
    if own is None and not alone and (first := re.split(r"(?<=[.!?])\s", value, maxsplit=1)[0]) != value:
        own = _own_text(first, options, prefer)
    m = _LETTER.match(value)
    if own is not None:
        if own != MANY and m is not None and not trim(value[m.end() :]).strip():
            index = ord(m["l"].upper()) - 65
            return index if index < len(options) else own
        return own
    if (t := _TEXT_LETTER.match(value[:600])) is not None:
        named, index = _own_text(t[1], options, prefer), ord(t[2].upper()) - 65
        if named is not None:
            agree = index < len(options) and named != MANY and _texts(options)[named] == _texts(options)[index]
            return index if agree else MANY
    if m is None:
        if _BOTH.match(value):
            return MANY if re.match(r"\s*(?:either|both|between|all)\b", value, re.IGNORECASE) else None
        return _leading_text(value, options) if not alone or _NOT_THAT.search(value) else None
    letter, rest = m["l"], value[m.end() :]
    index = ord(letter.upper()) - 65
    if not _is_letter(letter, m[0], rest, index, options, alone=alone):
        return None if alone else _leading_text(value, options)
    if index >= len(options):
        return MANY
    return _after_letter(index, rest, options)


def _is_letter(letter: str, prefix: str, rest: str, index: int, options: tuple[str, ...], *, alone: bool) -> bool:
    """Whether a leading letter is one, not an article, a pronoun, an initial or the first of other words."""
    if not rest.strip(" .!?:;,)]}\"'*`$"):
        return True
    named = index < len(options) and canonical(_SEPARATOR.sub("", rest, count=1)).startswith(_texts(options)[index] or "\0")
    if named:
        return True
    marked = prefix.rstrip()[-1:] in ")]}*" or rest[:1] in ".):]},;\n=-" or "option" in prefix.casefold()
    if letter.islower() and not marked:
        return False
    if letter in "Aa" or letter == "I" or alone:
        if rest[:1] == "." and re.match(r"\. ?[A-Z](?:\.|$)", rest):
            return False
        return marked or bool(_ALSO.match(rest)) or bool(re.match(r"\s*(?:because|since|-|--|=|\n)", rest)) or (
            bool(_NOT_THAT.match(rest))
        )
    return marked or bool(_PLAIN_AFTER.match(rest)) or bool(_ALSO.match(rest)) or rest[:1].isspace()


def _spoken(text: str, options: tuple[str, ...]) -> list[tuple[int, int, bool]]:
    """(position, option, complete) of commitments in running text other than labels: "B is correct", "I choose B"."""
    found: list[tuple[int, int, bool]] = []
    if (m := _IT_IS_LAST.match(text)) is not None and ord(m[1]) - 65 < len(options):
        found.append((0, ord(m[1]) - 65, True))
    for m in _OPTION_IS.finditer(text):
        index = ord(m["l"]) - 65
        if index >= len(options) or "\n" in m["text"] or (m["text"].strip() and not m["open"] and _leading_text(m["text"].strip(" )-:"), options) is None):
            continue
        found.append((m.start(), index, True))
    for pattern in (_I_CHOOSE, _IT_IS, _FINALLY, _REVISES):
        # Only the last commitment counts, so the last few candidates do.
        for m in list(pattern.finditer(text))[-_CANDIDATES:]:
            end = text.find("\n", m.end())
            value = text[m.end() : end if end >= 0 else len(text)].strip()
            named = _value(value, options, frozenset(), alone=False)
            strict = pattern in (_FINALLY, _REVISES)
            if named is not None and (not strict or len(trim(value)) <= 3 or named == MANY or _own_text(value, options, frozenset()) == named):
                if strict and named == MANY and not _ALSO.search(value[:20]):
                    continue
                found.append((m.start(), named, end >= 0 or value.endswith((".", "!"))))
    return found


def _from_statement(s: Statement, options: tuple[str, ...], prefer: frozenset[int], cut: bool) -> int | None:
    named = _value(s.value, options, prefer, alone=s.by == "line")
    if named is None or not cut or s.closed:
        return named
    letter = _LETTER.match(fold(s.value))
    if letter is None or (letter["l"].islower() and letter["l"] in "ai"):
        return named if s.value.rstrip().endswith((".", "!")) else None
    return named


def _lines(text: str, options: tuple[str, ...], prefer: frozenset[int], cut: bool) -> list[tuple[int, int]]:
    """First and last line where one is an option alone."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < 2:
        return []
    named = [_value(line, options, prefer, alone=True) for line in (lines[0], lines[-1])]
    found = []
    if named[0] is not None:
        whole = [_value(line, options, prefer, alone=True) for line in lines[:12]]
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
    if len(visible) == 1 and visible.isascii() and visible.isalpha():
        index = ord(visible.upper()) - 65
        if index < len(options):
            return index
    text = fold(window(visible)).strip()
    whole = undress(text)
    if "\n" not in whole:
        named = _value(whole, options, prefer, alone=True)
        if named is not None and named != MANY and cut and not _finished(whole, text, named, options):
            named = None
        if named is not None:
            if named != MANY and _exactly(whole, named, options):
                return named
            later = [s for s in statements(text) if s.by in ("revision", "label")] if len(whole) > 20 else []
            if not later and not (len(whole) > 20 and _REVISES.search(whole)):
                return None if named == MANY else named
    found = _lines(text, options, prefer, cut)
    plain = text.replace("**", "")
    for s in statements(text)[-_CANDIDATES:]:
        named = _from_statement(s, options, prefer, cut)
        if named is not None:
            found.append((s.start, named))
    found += [(start, named) for start, named, complete in _spoken(plain, options) if complete or not cut]
    if not found:
        return None
    last = found[0]
    for start, named in sorted(found):
        if last[1] == MANY and 0 < start - last[0] < 40 and not re.search(r"[.!?\n;]", text[last[0] : start]):
            # "maybe A, maybe B": the second is a part of the first.
            continue
        last = (start, named)
    return None if last[1] == MANY else last[1]


def _exactly(whole: str, named: int, options: tuple[str, ...]) -> bool:
    """Whether a reply is an option's text, with or without its letter, and nothing else."""
    text = _texts(options)[named]
    if text in (bare(whole), bare(undress(whole))):
        return True
    m = _LETTER.match(whole)
    return m is not None and bare(undress(_SEPARATOR.sub("", whole[m.end() :], count=1))) == bare(undress(text))


def _finished(whole: str, text: str, named: int, options: tuple[str, ...]) -> bool:
    """Whether a one-line reply that was cut is a letter, or a letter and (the beginning of) its option's text."""
    if text.endswith((".", "!", "\n", "*", "}", "`")) and len(whole) <= 4 + len(options[named]) + 2:
        return True
    m = _LETTER.match(whole)
    if m is None:
        return False
    rest = canonical(whole[m.end() :]).lstrip(" .,:;)-")
    return not rest or _texts(options)[named].startswith(rest)


def option_of(gold: str, options: Sequence[str]) -> int | None:
    """Index of the option that an accepted answer names, by letter or by text; None if it names none."""
    return _value(gold, tuple(options), frozenset(), alone=True) if gold.strip() else None
