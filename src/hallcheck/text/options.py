"""Which option one stated value names: "B", "(b)", "B. Rhine", "Rhine (B)", "the Rhine".

Used by `choices`, which finds the values. Options are a tuple of texts without their letters.
"""

from __future__ import annotations

import re
from functools import lru_cache

from hallcheck.text.answers import bare, golds, matches
from hallcheck.text.dressing import trim, undress
from hallcheck.text.normalize import canonical, fold

MANY = -1
"""Several options, or one that does not exist."""

SEPARATOR = re.compile(r"[\s)\]*\"']{0,6}[.,:;)]{0,2}[*]{0,2}(?:\s*-+(?=\s))?[\s*\"']{0,6}")
_NOT_LETTER = r"(?![A-Za-z0-9À-ɏ'_])"
_CLOSE = r"[)\]}>\"'*_`$]*"
_OPEN = r"[\s\"'(\[{<*_`$]{0,8}"
_ARTICLE = (
    r"(?:a|o|la|el|le|il|die|der|das|de|het|letra|lettre|lettera|buchstabe|opção|opción|optie|opzione|opcja"
    r"|вариант|буква)"
)
_NOUN = (
    r"(?:option|choice|letter|answer|antwort|opción|opção|opcion|opzione|optie|opcja|alternativa|letra|lettre|lettera"
    r"|réponse|respuesta|risposta|resposta|antwoord|odpowiedź|вариант|ответ|cevap)s?"
)
_COMMAND = r"\\(?:boxed|text|textbf|mathrm|mathbf)\s{0,3}\{\s{0,3}"
LETTER = re.compile(
    _OPEN
    + rf"(?:{_ARTICLE}\s{{1,3}}){{0,2}}(?=\S)[\"'(*]{{0,4}}(?:{_COMMAND}){{0,3}}"
    + rf"(?:(?:the |my )?{_NOUN}\b[\s:]{{0,4}})?"
    + _OPEN
    + rf"(?P<l>[A-Za-z]){_NOT_LETTER}{_CLOSE}",
    re.IGNORECASE,
)
_EASTERN = re.compile(
    r"^(?:我(?:会)?|私は|저는)?\s*(?:选择肢|選択肢|选项|選項|选择|選擇|选|選|보기"
    r"|선택지)?\s*[\"'(]?([A-Za-z])[\"')]?\s*(?:が正解(?:です)?|が答えです|是正确(?:的|答案)|是正確(?:的|答案)"
    r"|[이가] 정답입니다|选项|選項|项|項|입니다|이다|예요|이에요|번|です|だ|を選びます)?[.!]?$"
)
ALSO = re.compile(
    r"\s*(?:,|/|&|\+|;|\bor\b|\band\b|\band/or\b|\boder\b|\bund\b|\bou\b|\bet\b|\bo\b|\by\b|\be\b|\bof\b|\ben\b"
    r"|\blub\b|\bили\b|\bи\b|或|和|또는|と)+\s*(?:(?:or|and|maybe|possibly|perhaps|else)\s+)*(?:option |choice"
    r" )?[\"'(*]*[A-Za-z]" + _NOT_LETTER
)
_BOTH = re.compile(r"\s*(?:either|both|neither|between|all|not|isn't|n't|none)\b", re.IGNORECASE)
_NOT_THAT = re.compile(
    r"[,;(]?\s*(?:and |but )?(?:not|rather than|instead of|over|as opposed to)\b.*$", re.IGNORECASE | re.DOTALL
)
_PLAIN_AFTER = re.compile(
    r"\s*(?:$|[.,;:!?)\n=-]|(?:because|since|as|for|which|due|with|is|and|given|, )\b)", re.IGNORECASE
)
_ENUMERATION = re.compile(r"(?:^|[\s(])\(?([A-Z])[.):](?=\s)")
_JOINED = re.compile(r"\b(?:or|and)\s+(?:option )?([A-Z])(?![A-Za-z0-9'])(.{0,80})")
TEXT_LETTER = re.compile(
    r"^(.{1,500}?)\s*[(\[]\s*(?:option |choice )?([A-Za-z])\s*[)\]][.!]?$", re.DOTALL | re.IGNORECASE
)


@lru_cache(maxsize=512)
def texts(options: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(bare(option) for option in options)


def own_text(value: str, options: tuple[str, ...], prefer: frozenset[int]) -> int | None:
    """The option whose text `value` is. Of options with one text, a preferred one."""
    known = texts(options)
    folded = fold(value)
    for form in (bare(folded), bare(undress(folded))):
        if form and form in known:
            same = [i for i, text in enumerate(known) if text == form]
            return next((i for i in same if i in prefer), same[0])
    # An option that is one letter is only itself: "I think it is C" names the letter.
    hits = [
        i
        for i, option in enumerate(options)
        if len(value) <= 500 and not (len(known[i]) == 1 and known[i].isalpha()) and matches(value, golds((option,)))
    ]
    if len({known[i] for i in hits}) > 1:
        return MANY
    return next((i for i in hits if i in prefer), hits[0]) if hits else None


def leading_text(value: str, options: tuple[str, ...]) -> int | None:
    """The option whose text begins `value`, the longest one; MANY if a different option's text comes too."""
    text = canonical(undress(value))[:1000]
    text = text.removeprefix("the ") if text not in texts(options) else text
    best: tuple[int, int] | None = None
    for i, option in enumerate(texts(options)):
        if option and text.startswith(option) and (best is None or len(option) > best[0]):
            after = text[len(option) :]
            if not after or (not after[0].isalnum() and _PLAIN_AFTER.match(after)):
                best = (len(option), i)
    if best is None:
        return None
    rest = _NOT_THAT.sub("", text[best[0] :])
    for i, option in enumerate(texts(options)):
        if (
            option
            and i != best[1]
            and option != texts(options)[best[1]]
            and re.search(rf"(?<!\w){re.escape(option)}(?!\w)", rest)
        ):
            return MANY
    return best[1]


def _after_letter(index: int, rest: str, options: tuple[str, ...]) -> int:
    """What a letter followed by `rest` commits to: the letter, unless another option follows."""
    line = SEPARATOR.sub("", rest, count=1)
    if texts(options)[index] in (bare(line), bare(undress(line)), bare(line.split("\n", 1)[0])):
        return index
    if ALSO.match(rest):
        return MANY
    line = line.split("\n", 1)[0]
    other = leading_text(line, options) if line else None
    own = texts(options)[index]
    if other is not None and (other == MANY or texts(options)[other] != own):
        named = canonical(line)
        if other == MANY and own and named.startswith(own):
            return index if _NOT_THAT.search(line) else MANY
        return MANY
    for m in _JOINED.finditer(rest[:500]):
        i = ord(m[1]) - 65
        after = canonical(m[2]).lstrip(" .):")
        if i < len(options) and (not after or not after[0].isalnum() or after.startswith(texts(options)[i] or "\0")):
            return MANY
    others = {m[1] for m in _ENUMERATION.finditer(rest[:2000]) if ord(m[1]) - 65 < len(options)}
    return MANY if others - {chr(65 + index)} else index


def option_in(value: str, options: tuple[str, ...], prefer: frozenset[int], *, alone: bool) -> int | None:
    """The option that a stated value names; MANY if several or none that exists; None if it names none.

    `alone`: the value is a whole reply or line, not what follows a label.
    """
    value = fold(value).strip()
    if not value:
        return None
    if len(trim(value)) > 1 and (m := _EASTERN.match(value)) is not None and ord(m[1].upper()) - 65 < len(options):
        return ord(m[1].upper()) - 65
    m = LETTER.match(value)
    own = own_text(value, options, prefer)
    if own is None and not alone:
        first = re.split(r"(?<=[.!?])\s", value, maxsplit=1)[0]
        own = own_text(first, options, prefer) if first != value and len(trim(first)) > 1 else None
    if own is not None:
        return _text_or_letter(own, m, value, options)
    if (named := _text_and_letter(value, options, prefer)) is not None:
        return named
    if m is None:
        return _wordy(value, options, alone=alone)
    letter, rest = m["l"], value[m.end() :]
    index = ord(letter.upper()) - 65
    if not _is_letter(letter, m[0], rest, index, options, alone=alone):
        return None if alone else leading_text(value, options)
    if index < len(options):
        return _after_letter(index, rest, options)
    named = None if rest.strip(" .!?") else own_text(letter, options, prefer)
    return MANY if named is None else named


def _text_or_letter(own: int, m: re.Match[str] | None, value: str, options: tuple[str, ...]) -> int:
    """Where a value is an option's text and may be a letter too."""
    if own == MANY or m is None or trim(value[m.end() :]).strip():
        return own
    index = ord(m["l"].upper()) - 65
    if index >= len(options):
        return own
    # A small letter that is one option's letter and another's text may mean either.
    return MANY if m["l"].islower() and own != index else index


def _text_and_letter(value: str, options: tuple[str, ...], prefer: frozenset[int]) -> int | None:
    """ "Rhine (B)": the option if text and letter agree, MANY if not, None if it is not of this form."""
    t = TEXT_LETTER.match(value[:600])
    named = None if t is None else own_text(t[1], options, prefer)
    if t is None or named is None:
        return None
    index = ord(t[2].upper()) - 65
    agree = index < len(options) and named != MANY and texts(options)[named] == texts(options)[index]
    return index if agree else MANY


def _wordy(value: str, options: tuple[str, ...], *, alone: bool) -> int | None:
    """The option that a value without a letter at its beginning names."""
    if _BOTH.match(value):
        return MANY if re.match(r"\s*(?:either|both|between|all)\b", value, re.IGNORECASE) else None
    return leading_text(value, options) if not alone or _NOT_THAT.search(value) else None


def _is_letter(letter: str, prefix: str, rest: str, index: int, options: tuple[str, ...], *, alone: bool) -> bool:
    """Whether a leading letter is one, not an article, a pronoun, an initial or the first of other words."""
    if not rest.strip(" .!?:;,)]}\"'*`$"):
        return True
    named = index < len(options) and canonical(SEPARATOR.sub("", rest, count=1)).startswith(
        texts(options)[index] or "\0"
    )
    if named:
        return True
    marked = prefix.rstrip()[-1:] in ")]}*" or rest[:1] in ".):]},;\n=-" or "option" in prefix.casefold()
    if letter.islower() and not marked:
        return False
    if letter in "Aa" or letter == "I" or alone:
        if rest[:1] == "." and re.match(r"\. ?[A-Z](?:\.|$)", rest):
            return False
        return (
            marked
            or bool(ALSO.match(rest))
            or bool(re.match(r"\s*(?:because|since|-|--|=|\n)", rest))
            or (bool(_NOT_THAT.match(rest)))
        )
    return marked or bool(_PLAIN_AFTER.match(rest)) or bool(ALSO.match(rest)) or rest[:1].isspace()
