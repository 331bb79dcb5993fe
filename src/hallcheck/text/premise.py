"""Whether a reply rejects the question's premise, or every option, instead of answering.

Meant for items that have no true answer: there, "no such function exists" is as good as "I don't know", while
"no such function exists, but it doubles the speed" answers after all.
"""

from __future__ import annotations

import re
from functools import lru_cache

from hallcheck.text.dressing import undress
from hallcheck.text.foreign import plain_idk
from hallcheck.text.normalize import fold, skeleton

_HEAD = 1500
_THING = (
    r"(?:such|called|named|known|by (?:that|this) name|(?:built-?in |public |standard |official |documented"
    r" )?(?:function|method|module|class|parameter|option|argument|attribute|feature|command|flag|setting|api"
    r"|keyword|operator|library|package|record|evidence|mention|information|documented|known|real|actual"
    r"|correct|valid|right|true|moons?|king|queen|president|capital|winner|answer)s?)\b"
)
_LATER = r"(?:in fact|actually|really|ever|currently|officially|to my knowledge|as far as i know|yet|even)"
_FACTS = (
    rf"\bno such\b|\bno (?:(?:\w+ ){{0,2}})?{_THING}|\b(?:has|have|had|contains?|includes?|provides?|offers?"
    rf"|defines?|exposes?) no (?!effect|impact|influence|return|argument|side|bearing|limit|difference)\w+"
    rf"|\b(?:do|does|did|has|have|had|is|was|were|are)(?:n't| not)(?: {_LATER})? (?:exist|existed|have (?:a|an"
    rf"|any|such)|had (?:a|an|any)|include|contain|provide|offer|define|take place|taken place|happen|happened"
    rf"|occur|occurred|real\b|a (?:real|valid|known|recogni[sz]ed|standard|genuine|built-?in|documented|thing)"
    rf"|an (?:actual|existing|official)|any (?:such|known|real)|correspond|held|invented|written|published"
    rf"|aware of)"
    rf"|\bnever (?:{_LATER} )?(?:existed|exist|took place|taken place|happened|occurred|was|were|been|won|wrote"
    rf"|held|had|published|released|made|married|visited|became|did|\w+ed)\b"
    r"|\b(?:is|are|was|were|be|seems?|appears?|sounds?|'s|looks?)(?: to be)?(?: (?:a|an|the|entirely|purely"
    r"|completely|likely|probably|simply|just|totally))*\s(?:fictional|fictitious|nonexistent|non-existent"
    r"|imaginary|made[- ]up|hypothetical|false premise|fabricated|bogus|a hoax)\b|\bfalse premise\b"
    r"|\b(?:premise|question) (?:is|of (?:the|this) question is|itself is|contains|rests on|assumes) (?:false"
    r"|flawed|incorrect|wrong|mistaken|invalid|a false|an? (?:incorrect|false|wrong|mistaken))"
    r"|\bthere (?:is|was|are|were|has been|have been|'s)(?: (?:currently|actually|in fact|simply|really))?"
    r" (?:no\b(?! (?:difference|doubt|effect|limit|change|need|impact|better|question|longer))|not an?\b"
    r"|never\b)|\bthere(?:'s|) (?:isn't|wasn't|aren't|weren't|never) "
    r"|\b(?:could not|couldn't|cannot|can't|can not|unable to|did not|didn't|do not|don't) (?:find|locate)"
    r" (?:any|a|an|such|this|that|evidence|record)\b|\bnot aware of any\b|\bdoesn't exist\b|^(?:no one|nobody"
    r"|none)[.!]?$|\bdoes not exist\b"
)
_OPTIONS = (
    r"\b(?:none|neither|not (?:any|one))(?: of)? (?:the |these |those |them\b|your )?(?:(?:above|listed|given"
    r"|provided|offered|available|answer|four|five|three|other) ?)*(?:options?|answers?|choices?|above|ones?"
    r"|alternatives?|these|those|them|listed|given|provided|is|are|fits?|apply|applies|match(?:es)?)\b"
    r"|^(?:[a-z][.):] )?(?:none|neither|none of (?:the above|these|them|those))[.!]?$|\ball (?:of )?(?:the "
    r"|these |four |five |three )*(?:options?|answers?|choices?|above)(?: listed| given| provided)? are"
    r" (?:wrong|incorrect|false|not correct|invalid)"
    r"|\bno (?:option|answer|choice|correct (?:answer|option|choice)|right (?:answer|option|choice)|valid"
    r" (?:answer|option)|listed (?:option|answer))s?\b(?: (?:is|are|was|seems?|here|among|listed|given|provided"
    r"|fits?|matches|correct|exists?|available|in)\b|[.!]?$)"
    r"|\bnot (?:listed|among (?:the|these)|one of the (?:options|choices)|any of the)\b|\bcorrect (?:answer"
    r"|option|choice) is (?:not|missing|absent)\b|\bisn't (?:listed|among (?:the|these))\b"
)
_ANYWHERE = re.compile(f"{_FACTS}|{_OPTIONS}", re.IGNORECASE)
_OPTION_ONLY = re.compile(_OPTIONS, re.IGNORECASE)
_FOREIGN = re.compile(
    skeleton(
        "(?:no (?:existe|hay)|n'existe pas|il n'y a (?:pas|aucune?)|existiert nicht|gibt es nicht|es gibt"
        " keine?n?|non esiste|non c'è|não existe|não há|bestaat niet|er is geen|nie istnieje|nie ma (?:takiej"
        "|takiego)"
        "|не существует|нет так(?:ой|ого)|такого .{0,30}не было|ningun[ao] de l[ao]s|aucune? des|keine? der"
        "|nessun[ao] del|nenhum[a]? das?|geen van|żadn[ae] z|ни один из|ничего из|ни одного из"
        "|不存在|没有(?:这个|这样|这种|正确)|沒有(?:這個|這樣)|以上(?:都|皆)(?:不|非)|存在し(?:ません|ない)"
        "|どれ(?:も|でも)|いずれも|該当なし|존재하지 않|해당(?: 사항)? 없|정답(?:이)? 없|모두 (?:아님|아닙니다"
        "|틀)|لا (?:يوجد|توجد)|غير موجود|لا شيء مما)"
    )
)
_BUT = re.compile(
    r"[,;.:\s-]+\b(?:but|however|though|yet|still|nevertheless|nonetheless|instead|rather|although)\b,?\s*",
    re.IGNORECASE,
)
_CLAIM = re.compile(
    r"(?:(?:it|this|that|they|he|she|(?:the|this|that|such an?) (?:function|method|event|person|book|parameter"
    r"|option|feature|setting|answer|command|film|song|winner|result|module|class|call|flag|\w+))(?: (?:does"
    r"|did|would|will|can|could|is|was|were|has|had|should|must|may|might|probably|actually|still|just|also"
    r"|simply))*"
    r"(?:'s|'ll|'d)? (?!not\b|n't|no\b|unclear|unknown|unlikely|never\b|possible|seems? (?:to be )?(?:no|not"
    r"|fictional|a mistake)|sounds?|appears? (?:to be )?(?:fictional|not)|does ?n|did ?n|isn|wasn)\w+|(?:i"
    r" (?:would |'d )?(?:think|believe|guess|say)|my (?:best )?guess)\b|(?:the )?answer(?: is|:)|probably"
    r"|perhaps it|maybe it|in \d{4})",
    re.IGNORECASE,
)
_HARMLESS = re.compile(
    r"(?:it|this|that|they|the question|the premise)(?:'s| is| was| are| may be| might be| could be| seems to"
    r" be| appears to be| would be| must be)? (?:(?:a |an |the |purely |entirely |completely |probably |likely "
    r"|simply |just )*)"
    r"(?:fictional|fictitious|made|imaginary|mistake|mistaken|false|incorrect|wrong|hypothetical|confus"
    r"|misremember|typo|invented|nonexist|non-exist|question|premise|seems?|appears?|confused|mix|based on"
    r"|impossible|hoax|myth|meaningless|undefined|invalid|error)",
    re.IGNORECASE,
)
_ANAPHORIC = re.compile(
    r"(?:it|this|that|they|the (?:function|method|option|parameter|call)) (?:has|have|takes?|needs?|makes?|had) no\b",
    re.IGNORECASE,
)
_CONCESSION = re.compile(
    r"(?:although|though|even though|while|even if|despite|if|when|unless|because|since)\b", re.IGNORECASE
)
_SUBORDINATE = re.compile(
    r"\b(?:if|when|unless|because|since|where|whenever|although|though|while|until)\b", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+|;\s*")
_ASIDE = re.compile(
    r"(?:(?:i'm |i am )?(?:very )?(?:sorry|afraid)|actually|unfortunately|no|well|as far as i (?:know|am aware)"
    r"|to (?:the best of )?my knowledge|(?:the |my )?(?:final )?answer(?: is)?|in (?:fact|reality|\w+)|(?:i|we)"
    r" (?:think|believe)(?: that)?)(?:\s*[,.:;-]+\s*(?:but |that )?|\s+(?:but|that) |(?<=is|nk|ve) )",
    re.IGNORECASE,
)


def _sentences(text: str, cut: bool) -> list[str]:
    parts = [p.strip() for p in _SENTENCE.split(text) if p and p.strip()]
    if cut and parts and not text.rstrip(" \"'*").endswith((".", "!", "?")):
        parts.pop()
    return parts


def _denies(sentence: str) -> bool:
    """Whether the main clause denies, and nothing after a "but" claims."""
    if aside := _ASIDE.match(sentence):
        sentence = sentence[aside.end() :]
    if _CONCESSION.match(sentence) or _ANAPHORIC.match(sentence):
        return False
    parts = _BUT.split(sentence)
    found = _ANYWHERE.search(parts[0]) or _FOREIGN.search(skeleton(parts[0]))
    if not found:
        return False
    before = parts[0][: found.start()]
    if _SUBORDINATE.search(before):
        # "It fails where no such key exists" tells what happens; the denial is a condition in it.
        return False
    opening = before.split(",")[0]
    if "," in before and _claims(opening):
        return False
    return not any(_claims(p) for p in parts[1:])


def _claims(clause: str) -> bool:
    return bool(_CLAIM.match(clause)) and not _HARMLESS.match(clause) and not _ANYWHERE.search(clause)


def rejects_premise(text: str, *, cut: bool = False) -> bool:
    """Whether `text` (hidden reasoning removed) rejects the premise or every option, and answers nothing after it.

    `cut`: the reply broke off, so its last, unfinished sentence is not read.
    """
    if len(text) <= 120:
        return _rejects_short(text, cut)
    return _rejects(text, cut)


def _rejects(text: str, cut: bool) -> bool:
    head = undress(fold(text[:_HEAD])).replace("**", "").replace("`", "")
    sentences = _sentences(head, cut or len(text) > _HEAD)
    if not sentences and not cut:
        return False
    while sentences and (_ASIDE.fullmatch(sentences[0] + " ") or plain_idk(sentences[0])):
        sentences.pop(0)
    if not sentences or not _denies(sentences[0]):
        return False
    for later in sentences[1:]:
        rest = _BUT.split(" " + later)[-1].strip()
        if _claims(rest):
            return False
    return True


_rejects_short = lru_cache(maxsize=1024)(_rejects)


def rejects_options(text: str) -> bool:
    """Whether `text` says that none of the options is right."""
    head = undress(fold(text[:_HEAD])).replace("**", "")
    return bool(_OPTION_ONLY.search(head)) or bool(_FOREIGN.search(skeleton(head)))
