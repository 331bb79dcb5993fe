"""Where a reply states its answer: "Answer: X", "the answer is X", \\boxed{X}, {"answer": "X"}, <answer>X</answer>.

Works on folded text without `**`. The last statement counts. `value` runs to the end of its line; `closed` says that
the statement was complete, so that a cut after it does no harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hallcheck.text.dressing import json_answer

HEAD, TAIL = 2000, 6000
"""Of a long reply only this much of its beginning and end is searched."""

_ADJECTIVE = (
    r"(?:(?:final|correct|right|best|most likely|likely|true|short|ultimate|overall|probable|proper|chosen"
    r"|selected|exact|only|full)\s+){0,2}"
)
_NOUN = r"(?:answer|ans|solution|response|choice|option|verdict|prediction|guess|conclusion|selection|result)"
_OTHER_NOUN = (
    r"(?:antwort|lösung|réponse|respuesta|opción|solución|risposta|opzione|soluzione|resposta|opção|alternativa"
    r"|antwoord|optie|oplossing|odpowied[źz]|opcja"
    r"|ответ|вариант|答案|答え|回答|正解|解答|答|选项|選項|选择|選擇|選択肢|정답|답변|답안|답|선택|الإجابة"
    r"|الاجابة|الجواب|الخيار|cevap|yanıt|svar(?:et)?|vastaus|odpověď|válasz|răspuns(?:ul)?|απάντηση|відповідь"
    r"|отговор|đáp án|câu trả lời|jawaban|उत्तर|תשובה|پاسخ|resposta|คำตอบ)"
)
_OTHER_ADJECTIVE = (
    r"(?:\s+(?:correct[ao]?e?s?|correte?|corrett?[ao]|final[e]?|richtige|finale|definitiva|juiste|prawidłowa"
    r"|poprawna|правильный|окончательный|верный|الصحيحة|الصحيح|النهائية|النهائي|doğru|đúng|final|yang benar"
    r"|adalah))?"
)
_OTHER_LINK = (
    r"(?:\s*(?:[:=]|\b(?:ist|lautet|wäre|est|serait|es|sería|è|e'|é|is|jest|to|este|är|är|er|on|là|adalah"
    r"|είναι)\b|应该?[是为選选]|應該?[是為選]|[是为為选選]|は|が|은|는|هي|هو|है)|\s+-(?=\s))"
)
_MARK = r"[\s*_\"'(]*"

_STATED = re.compile(
    rf"(?<![\w'\"-])(?:(?:my|the|your|our|so|a)\s+)?{_ADJECTIVE}{_NOUN}\b(?:\s+(?:to (?:the|this|your|that)"
    rf" (?:question|problem|prompt)|here|to this|overall|letter))?[*_\"']{{0,3}}\s{{0,2}}"
    rf"(?:[:=]|->|=>|-(?=\s)|(?<=ans)\.(?=\s)|'s(?=\s)|\b(?:is|was|would be|should be|must be|will be|has to be"
    rf"|is therefore|is thus|is indeed|is most likely|is probably|is likely|remains)\b[:\s]?)[*_]{{0,3}}"
    rf"|(?<![A-Za-zÀ-ɏа-яА-Я]){_OTHER_NOUN}{_OTHER_ADJECTIVE}[*_\"']{{0,3}}{_OTHER_LINK}\s*[:]?[*_]{{0,3}}"
    r"|\b(?:richtig|korrekt) ist[:\s]|(?:\b(?:therefore|thus|hence|in conclusion|in short)\b,?\s+(?:it(?:'s| is"
    r"| must be) |the \w+ is )?|####\s)",
    re.IGNORECASE,
)
_REVISED = re.compile(
    r"(?:^|[.!?;,\n-]\s{0,4})(?:wait|hold on|no|actually|correction|scratch that|sorry|oops|hmm|on second"
    r" thought|on reflection|i mean|rather)[,.:!;-]+\s*(?:(?:wait|no|actually|sorry"
    r"|but)[,.:!-]{0,3}\s{1,3}){0,3}"
    r"(?:(?:it|that|this|the (?:correct |right )?answer)(?:'s| is| was| should be| must be) |i mean |i meant "
    r"|make (?:that|it) |i(?:'ll| will) (?:go with|say) |i change (?:my answer )?to )",
    re.IGNORECASE,
)
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_TAGGED = re.compile(r"<(answer|final_answer|final|ans)>", re.IGNORECASE)
_KEYED = re.compile(
    r"\"(?:final[_ ]?)?answer\"\s*:\s*(?:\"((?:[^\"\\\n]|\\.){0,500})\"|([^\s\",}\]{\[]{1,100})(?=\s*[,}\]\n]))",
    re.IGNORECASE,
)
_NOTES = re.compile(
    r"(?:explanation|reason(?:ing)?|rationale|justification|because|note|confidence|source|context|this is"
    r" because|why|details?|evidence|probability|certainty)\b",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"(?:explanation|reasoning|rationale|answer|note|step|summary|analysis|context|question|solution)s?\b",
    re.IGNORECASE,
)
_BOLD = re.compile(r"^[ \t]*(?:\*\*|__)([^*\n]{1,300})(?:\*\*|__)[.:]?[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Statement:
    """A stated answer: `value` (may be empty), where it starts, whether it is complete, and what states it."""

    start: int
    value: str
    closed: bool
    by: str


def window(text: str) -> str:
    """The searched part of `text` (folded or not)."""
    return text if len(text) <= HEAD + TAIL else text[:HEAD] + "\n\n" + text[-TAIL:]


def _boxes(text: str) -> Iterator[Statement]:
    for m in list(_BOX.finditer(text))[-20:]:
        depth, i = 1, m.end()
        end = min(len(text), i + 500)
        while i < end and depth:
            depth += {"{": 1, "}": -1}.get(text[i], 0)
            i += 1
        if not depth:
            yield Statement(m.start(), text[m.end() : i - 1].strip(), True, "box")


def _line(text: str, start: int) -> tuple[str, bool]:
    """The value after a label: the rest of the line, or the next line that holds something."""
    end = text.find("\n", start)
    value = text[start : end if end >= 0 else len(text)].strip()
    while end >= 0 and not value.strip("*_ \"'"):
        start = end + 1
        end = text.find("\n", start)
        value = text[start : end if end >= 0 else len(text)].strip()
    return value, end >= 0


def _last_line(text: str) -> Statement | None:
    """A short line alone at the end, after a sentence."""
    head, _, last = text.rstrip().rpartition("\n")
    before = head.rstrip()
    if last.strip() and before.endswith((".", "!", "?", ":", ")")) and len(last) <= 200 and head.endswith("\n"):
        return Statement(len(head) + 1, last.strip(), False, "line")
    return None


def statements(text: str) -> list[Statement]:
    """All statements in `text` (folded, see `window`), in order of position."""
    found: list[Statement] = []
    for m in _BOLD.finditer(text):
        inner = m[1].strip()
        alone = not text[: m.start()].strip() or not text[m.end() :].strip()
        if alone and not inner.endswith(":") and not _HEADING.match(inner):
            found.append(Statement(m.start(), inner, True, "bold"))
    plain = text.replace("**", "")
    if plain != text and found:
        # Positions below are those of the plain text.
        found = [Statement(len(text[: s.start].replace("**", "")), s.value, s.closed, s.by) for s in found]
    text = plain
    for m in _STATED.finditer(text):
        value, closed = _line(text, m.end())
        found.append(Statement(m.start(), value, closed, "label"))
    for m in _REVISED.finditer(text):
        value, closed = _line(text, m.end())
        found.append(Statement(m.start(), value, closed, "revision"))
    if "\\" in text:
        found += _boxes(text)
    if "<" in text:
        for m in _TAGGED.finditer(text):
            end = text.find("</" + m[1], m.end(), m.end() + 2000)
            if end >= 0:
                found.append(Statement(m.start(), text[m.end() : end].strip(), True, "tag"))
    if '"' in text:
        found += [
            Statement(m.start(), json_answer("{" + m[0] + "}") or m[1] or m[2] or "", True, "json")
            for m in _KEYED.finditer(text)
        ]
    if "\n" in text.strip() and not found:
        found += _lines(text)
    found.sort(key=lambda s: s.start)
    return found


def _lines(text: str) -> Iterator[Statement]:
    first, _, rest = text.strip().partition("\n")
    if _NOTES.match(rest.lstrip(" \n*_(#-")) and len(first) <= 200 and not first.endswith(":"):
        yield Statement(0, first.strip(), True, "line")
    last = _last_line(text)
    if last is not None and not _NOTES.match(last.value):
        yield last
