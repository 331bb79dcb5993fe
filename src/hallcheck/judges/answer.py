"""From a reply's text to a verdict: the one place where outcomes are decided.

| what | outcome |
| --- | --- |
| finish `content_filter` | unscored, `blocked` (whatever text came) |
| finish `refusal` | abstained, `refusal` |
| hidden reasoning left open | unscored, `truncated` |
| nothing visible | unscored, `truncated` if cut by length, else `empty` |
| the commitment is to not answer | abstained: `idk`, `hedge` or `refusal` |
| `unknown_ok`: the premise or every option rejected | abstained, `rejects_premise` |
| cut before a commitment | unscored, `truncated` |
| options, and not one committed to | unscored, `unparsed` |
| `unknown_ok`: any other commitment | wrong |
| equal to an accepted answer, or not | correct, wrong |

A bare "unknown" or "I don't know" abstains whatever the gold. Impersonal statements ("cannot be determined", "N/A")
and longer sentences are correct where they equal an accepted answer or are an option's own text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from hallcheck.text.abstention import dangling, word
from hallcheck.text.answers import Golds, bare, commitment, golds, matches, shown
from hallcheck.text.choices import committed_option, option_of
from hallcheck.text.normalize import canonical, fold, strip_reasoning
from hallcheck.text.numbers import number, same_number
from hallcheck.text.options import MANY
from hallcheck.text.premise import rejects_options, rejects_premise
from hallcheck.types import Outcome, Verdict

EXACT = ("exact", "exact-1")
CHOICE = ("choice", "choice-1")

_INVISIBLE = dict.fromkeys(map(ord, "*_`~#>$\"' \t\r\n"))


# {"answer": null}, fenced or not: JSON's way to say nothing.
_NULL = re.compile(r"(?:```(?:json)?\s*)?\{\s*\"[^\"\n]{1,40}\"\s*:\s*null\s*\}(?:\s*```)?", re.IGNORECASE)


@lru_cache(maxsize=4096)
def verdict(outcome: Outcome, reason: str = "", extracted: str | None = None, by: tuple[str, str] = EXACT) -> Verdict:
    """A verdict of the text rules."""
    return Verdict(outcome=outcome, reason=reason, extracted=extracted, judge=by[0], judge_version=by[1])


@lru_cache(maxsize=4096)
def accepted(gold: str) -> tuple[str, ...]:
    """The accepted answers of a `gold` column: `|` separates them."""
    return tuple(part.strip() for part in gold.split("|") if part.strip())


def judge_answer(
    output: str,
    gold: str | Sequence[str],
    *,
    choices: Sequence[str] | None = None,
    unknown_ok: bool = False,
    finish: str = "stop",
) -> Verdict:
    """Verdict on `output`.

    `gold`: the accepted answers, joined by `|` or as a sequence (where `|` is data); with `choices`, letters or the
    options' own texts. `finish`: why the model stopped; an unknown value is taken for "stop". Never raises for what a
    model said. On an answerable item without a usable gold a committed answer is unscored (`error`).
    """
    answers = accepted(gold) if isinstance(gold, str) else tuple(gold)
    if len(output) > 200:  # models loop on newlines; one says that the line before it is complete
        bare = output.strip()
        output = bare + "\n" if "\n" in output[len(output.rstrip()) :] else bare
    if finish == "stop" and not unknown_ok and len(output) <= 40:
        quick = _quick_free(output, answers) if choices is None else _quick_letter(output, answers, choices)
        if quick is not None:
            return quick
    by = EXACT if choices is None else CHOICE
    if finish == "content_filter":
        return verdict("unscored", "blocked", None, by)
    if finish == "refusal":
        return verdict("abstained", "refusal", None, by)
    visible, unclosed = strip_reasoning(output)
    cut = finish == "length"
    if unclosed:
        return verdict("unscored", "truncated", None, by)
    nothing = _nothing(visible, answers)
    if nothing:
        return verdict("unscored", "truncated" if cut else nothing, None, by)
    if _NULL.fullmatch(visible.strip()):
        return verdict("unscored", "unparsed", None, by)
    if choices is None:
        return _free(visible, golds(answers), unknown_ok, cut)
    return _choice(visible, answers, tuple(choices), unknown_ok, cut)


def _nothing(text: str, answers: tuple[str, ...]) -> str:
    """ "empty" for dressing without content, "unparsed" for stops alone, else "". Where a symbol is gold, none is."""
    if any(c.isalnum() for c in text[:200]):
        return ""
    if len(text) > 20_000:
        text = text.translate(_INVISIBLE)[:20_000]
    rest = fold(text).translate(_INVISIBLE)
    if any(c.isalnum() for c in rest):
        return ""
    if text.strip() and any(not any(c.isalnum() for c in a) for a in answers):
        return ""
    return "empty" if not rest else "" if rest.strip(".?!,") else "unparsed"


def _quick_free(output: str, answers: tuple[str, ...]) -> Verdict | None:
    """A single ASCII word or number, which needs none of the patterns; None if it is not that."""
    text = output.strip()
    if not (text.isascii() and text.isalnum()):
        return None
    low = text.lower()
    if word(low) is not None:
        found = word(low)
        return verdict("abstained", found.kind) if found is not None and not found.weak else None
    right = golds(answers)
    if low in right.texts:
        return verdict("correct", "", text)
    if not right.texts or low in _FOREIGN_WORDS:
        return None
    value = number(low)
    if value is not None and any(same_number(value, n) for n in right.numbers):
        return verdict("correct", "", text)
    return verdict("wrong", "", text)


_FOREIGN_WORDS = frozenset(
    {"boh", "weetniet", "unbekannt", "desconocido", "desconocida", "inconnu", "inconnue", "onbekend"}
) | {
    *("sconosciuto", "sconosciuta", "desconhecido", "desconhecida", "nieznane", "nieznany", "nieznana", "bilmiyorum"),
    *("sijui", "nescio", "ignoro", "desconozco", "desconheco"),
}


def _quick_letter(output: str, answers: tuple[str, ...], choices: Sequence[str]) -> Verdict | None:
    """A single letter within the options, where the gold is one too; None if it is not that."""
    text = output.strip().rstrip(".")
    if (found := word(text.lower())) is not None:
        return verdict("abstained", found.kind, None, CHOICE) if not found.weak else None
    if len(text) != 1 or not answers:
        return None
    letter = text
    if (
        not "A" <= letter <= "Z"
        or ord(letter) - 65 >= len(choices)
        or any(len(a) != 1 or not "A" <= a <= "Z" for a in answers)
    ):
        return None
    return verdict("correct" if letter in answers else "wrong", "", letter, CHOICE)


def _free(visible: str, right: Golds, unknown_ok: bool, cut: bool) -> Verdict:
    found = commitment(visible, cut=cut)
    if found is not None and found.abstains is not None:
        abstains = found.abstains
        if abstains.weak and not unknown_ok and (canonical(visible) in right.texts or bare(visible) in right.texts):
            return verdict("correct", "", shown(visible))
        if not (cut and dangling(abstains)):
            return verdict("abstained", abstains.kind)
        found = None
    if unknown_ok and rejects_premise(visible, cut=cut):
        return verdict("abstained", "rejects_premise")
    if found is None:
        return verdict("unscored", "truncated")
    extracted = shown(found.value)
    if unknown_ok:
        return verdict("wrong", "", extracted)
    if not right.texts:
        return verdict("unscored", "error", extracted)
    if matches(visible, right):
        return verdict("correct", "", extracted)
    ok = found.value != visible.strip() and matches(found.value, right, stated=found.stated)
    return verdict("correct" if ok else "wrong", "", extracted)


def _choice(visible: str, answers: tuple[str, ...], options: tuple[str, ...], unknown_ok: bool, cut: bool) -> Verdict:
    right = frozenset(i for a in answers if (i := option_of(a, options)) is not None and i != MANY)
    found = commitment(visible, cut=cut)
    abstains = found.abstains if found is not None else None
    named: int | None = None
    if abstains is None:
        named = committed_option(visible, options, cut=cut, prefer=right)
    elif not abstains.token:
        named = _despite(visible, abstains.rest, abstains.weak, options, right)
    if named is None and abstains is not None and not (cut and dangling(abstains)):
        return verdict("abstained", abstains.kind, None, CHOICE)
    if named is None and unknown_ok and (rejects_options(visible) or rejects_premise(visible, cut=cut)):
        return verdict("abstained", "rejects_premise", None, CHOICE)
    if named is None:
        return verdict("unscored", "truncated" if cut else "unparsed", None, CHOICE)
    letter = chr(65 + named)
    if unknown_ok:
        return verdict("wrong", "", letter, CHOICE)
    if not right:
        return verdict("unscored", "error", letter, CHOICE)
    return verdict("correct" if named in right else "wrong", "", letter, CHOICE)


def _despite(visible: str, rest: str, weak: bool, options: tuple[str, ...], right: frozenset[int]) -> int | None:
    """The option meant where words read as an abstention: its own text, or a letter that closes the reply."""
    named = option_of(visible, options)
    if named is not None and named != MANY and (weak or bare(visible) != bare(options[named])):
        return named
    last = rest.replace("\n", ". ").rstrip(" .!").rsplit(". ", 1)
    if len(last) == 2 and len(last[1].strip(" ()*.\"'")) == 1:
        return committed_option(last[1], options, prefer=right)
    return None
