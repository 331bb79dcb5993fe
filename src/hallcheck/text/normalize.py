"""Folding of text for comparison: what looks the same compares the same.

Three strengths: `fold` keeps case and lines (for patterns and for showing), `squash` puts it on one line,
`canonical` also folds case (for equality). All are linear in the length of the text.
"""

from __future__ import annotations

import re
import unicodedata

_ZERO_WIDTH = [0x00AD, 0x034F, 0x061C, 0x180E, *range(0x200B, 0x2010), *range(0x202A, 0x202F)]
_ZERO_WIDTH += [*range(0x2060, 0x2070), *range(0xFE00, 0xFE10), 0xFEFF]
_TABLE: dict[int, str | None] = dict.fromkeys(_ZERO_WIDTH)
_TABLE |= dict.fromkeys(map(ord, "‘’‚‛′ʹʼ´＇"), "'")
_TABLE |= dict.fromkeys(map(ord, "“”„‟″«»‹›「」『』〝〞＂"), '"')
_TABLE |= dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-")
_TABLE |= {ord(a): b for a, b in zip("。、，،؟؛।：⁄\u2028\u2029\x85", ".,,,?;.:/\n\n\n", strict=True)}

# NFKC would glue these to the digit before them: 10² would become 102, and 1½ would become 11/2.
_RAISED = re.compile(r"(?<=[0-9)])([⁰¹²³⁴-⁹]+)")
_LOWERED = re.compile(r"(?<=[0-9)])([₀-₉]+)")
_VULGAR = re.compile(r"(?<=[0-9])([¼-¾⅐-⅞])")
_ENTITY = re.compile(r"&(#39|#x27|apos|rsquo|quot|nbsp|amp);")
_ENTITIES = {"quot": '"', "nbsp": " ", "amp": "&"}

_REASONING = re.compile(
    r"<(/?)(?:seed:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratchpad|analysis)\b[^<>\n]{0,80}>"
    r"|\[(/?)THINK\]|◁(/?)think▷|<\|(begin|end)_of_thought\|>",
    re.IGNORECASE,
)
_CHANNEL_FINAL = re.compile(r"<\|channel\|>\s*final[^<>]{0,40}<\|message\|>")
_SPECIAL = re.compile(
    r"<\|(?:im_end|eot_id|eom_id|endoftext|end_of_text|end|return|im_start)\|>|</?s>|<end_of_turn>|<eos>|<pad>"
)


def fold(text: str) -> str:
    """NFKC with quotes, dashes and ideographic stops folded to ASCII and zero-width characters removed.

    Case and line breaks stay. A raised digit after a digit becomes `^` and the digit, so that it never joins it.
    """
    if "&" in text and ";" in text:
        text = _ENTITY.sub(lambda m: _ENTITIES.get(m[1], "'"), text)
    if text.isascii():
        return text
    text = _VULGAR.sub(r" \1", _LOWERED.sub(r"_\1", _RAISED.sub(r"^\1", text.translate(_TABLE))))
    return unicodedata.normalize("NFKC", text).translate(_TABLE)


def squash(text: str) -> str:
    """White space collapsed to single spaces, none at the ends."""
    return " ".join(text.split())


def canonical(text: str) -> str:
    """The form in which two texts are compared: folded, case-folded, on one line."""
    text = " ".join(fold(text).casefold().split())
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def skeleton(text: str) -> str:
    """`canonical` without accents, vowel points and other marks: for phrases people type without them."""
    text = canonical(text)
    if text.isascii():
        return text
    marks = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", "".join(c for c in marks if unicodedata.category(c) != "Mn"))


def strip_reasoning(text: str) -> tuple[str, bool]:
    """(what a reader sees, whether hidden reasoning was left open).

    Text before a closing tag without an opening one is reasoning too: some chat templates open it in the prompt.
    """
    if "<" not in text and "◁" not in text and "[" not in text:
        return text, False
    if "<|channel|>" in text:
        finals = list(_CHANNEL_FINAL.finditer(text))
        if not finals:
            return "", True
        return _SPECIAL.sub("", text[finals[-1].end() :]), False
    visible: list[str] = []
    start, hidden = 0, False
    for tag in _REASONING.finditer(text):
        closing = "/" in tag.group(1, 2, 3) or tag[4] == "end"
        if hidden:
            if closing:
                hidden, start = False, tag.end()
        elif closing:
            visible, start = [], tag.end()
        else:
            visible.append(text[start : tag.start()])
            hidden = True
    if hidden:
        return "", True
    visible.append(text[start:])
    return _SPECIAL.sub("", "".join(visible)), False
