"""Whether a reply's commitment is to not answer, and of which kind: `idk`, `hedge` or `refusal`.

Anchored: the words must open the reply (or be its last line, or be its stated answer), so speech that is quoted, a
title or an answer that holds such words is none. A hedge that goes on to an answer ("not sure, but I think it is Au")
is none either; only the literal token IDK abstains whatever follows, since it is what the prompt asks for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from hallcheck.text.dressing import undress
from hallcheck.text.foreign import plain_idk
from hallcheck.text.normalize import fold

HEAD = 1500
"""Characters of a reply that can open it, and of one that can close it."""

_WORDS: dict[str, str] = dict.fromkeys(
    ["idk", "i.d.k", "i d k", "unknown", "dunno", "i dunno", "i don't know", "i do not know", "i dont know"], "idk"
)
_WORDS |= dict.fromkeys(["don't know", "dont know", "do not know", "no idea", "i have no idea", "no clue"], "idk")
_WORDS |= dict.fromkeys(["not sure", "i'm not sure", "i am not sure", "unsure", "uncertain", "i'm unsure"], "hedge")

# Bare words and impersonal statements that may be a right answer too: where one equals the gold it is correct.
_WEAK: dict[str, str] = dict.fromkeys(
    ["not known", "n/a", "no answer", "pass", "i pass", "skip", "abstain", "not available", "not applicable"], "idk"
)
_WEAK |= dict.fromkeys(["no answer available", "answer unknown", "no comment", "beats me", "[idk]"], "idk")
_WEAK |= dict.fromkeys(
    ["unclear", "undetermined", "unanswerable", "not answerable", "undecided", "not certain"], "hedge"
)
_WEAK |= dict.fromkeys(["indeterminable", "inconclusive", "not determinable", "undeterminable", "unsure"], "hedge")

_ADV = (
    r"(?:(?:really|honestly|just|simply|truly|still|quite|actually|currently|personally|definitely|yet|also"
    r"|certainly|reliably|confidently|accurately|definitively|possibly|safely|fully|entirely|completely"
    r"|absolutely|totally|exactly|immediately|unfortunately|sadly|presently|genuinely|reasonably|sufficiently"
    r"|particularly|overly|very|so|too|100 ?%|altogether|conclusively|precisely|responsibly)\s+)*"
)
_THING = (
    r"(?:the |this |that |your |these |those |any |an? |my |its |their |his |her |enough |sufficient |which "
    r"|what |who|whom|whose|when|where|why|how |if |whether |about |of |on |for |to |from |in |at |with "
    r"|without |based |given |because |since |as |so |or |and |sorry|either|it\b|it's|them|him|her\b|that\b"
    r"|this\b|off|right now|now\b|yet\b|exactly|precisely|definitively|anything|much|more|all\b|offhand|idk\b"
    r"|lol|man\b|bro\b|sir\b|either way|at all|specifically|conclusively|correct|accurate|specific|reliable"
    r"|answers?\b|honestly|tbh|though\b|really|actually|information|details|data|certain|any|not |i )"
)

_LEAD = re.compile(
    r"(?:(?:well|h+m+|uh+|um+|honestly|frankly|unfortunately|regrettably|sadly|oh|ok|okay|sorry|apologies|my"
    r" apologies|so|thus|therefore|hence|actually|no(?=[,.;:!-])|alas|wait|(?:output|a)(?=:)"
    r"|i(?:'m| am)? (?:very |really |so |truly )?(?:sorry|afraid|apologi[sz]e)(?: that| to say(?: that)?| for"
    r" [^,.\n]{1,40})?|i must (?:say|admit|confess)(?: that)?|i (?:think|believe|feel)(?: that)?"
    r"|to be (?:honest|fair|frank|safe)|as (?:an? )?(?:\w+ )?(?:ai|language model|assistant|llm|large language"
    r" model)[^,.\n]{0,60}|as of (?:now|[^,.\n]{1,40})|at (?:this|the) (?:time|moment|point)|currently|for now"
    r"|(?:based on|given|with|without|according to|due to|considering) [^,.\n]{1,90}|from (?:the|what)"
    r" [^,.\n]{1,60}|to (?:the best of )?my knowledge|in (?:this|that|all|my) [^,.\n]{1,30}|for (?:this|that)"
    r" [^,.\n]{1,30}"
    r"|(?:(?:my|the|so my|so the) )?(?:final |best |short |honest |only )?(?:answer|response|reply)(?: here| to"
    r" (?:this|that)(?: question)?)?(?: is(?: that| simply| just)?| would be| must be| has to be)?"
    r"|(?:so )?i(?:'ll| will|'d| would| have to| must| should| am going to|'m going to)?(?: (?:just|simply|have"
    r" to))? (?:answer|say|reply|respond|go|choose|pick)(?: with| that)?(?: is)?|i(?:'d| would) rather (?:say"
    r"|answer))"
    r"(?!\w)[,.:;!\s-]*(?:(?:but|and|that|because|as|since) )?)+(?=[\"'*\w])",
    re.IGNORECASE,
)

_VERB = (
    r"(?:say|tell(?! a lie)|determine|be (?:sure|certain|confident|definitive|100 ?%)|confirm|verify|decide"
    r"|identify|find(?! no)|recall|remember|provide|answer|establish|ascertain|know|pinpoint|name(?: [a-z]+)? "
    r"|work (?:it |that |this )?out"
    r"|figure (?:it |that |this )?out|guess|make (?:a|an|any)|choose|pick|select|offer|state|conclude|judge"
    r"|assess|commit|give (?:a|an|you|the|any)|come up|respond|speak|access|locate|infer|deduce|speculate"
    r"|predict|estimate|discern|distinguish|settle)\b"
)
_CANNOT = (
    r"(?:cannot|can't|cant|can not|couldn't|could not|am unable to|'m unable to|am not able to|'m not able to"
    r"|was unable to|wasn't able to|was not able to|would not be able to|wouldn't be able to)"
)
_IDK = (
    rf"(?:idk|i\.d\.k\.?)(?=$|\s*[^\w\s]|\n|\s+{_THING}|\s+but)"
    rf"|(?:i |we )?{_ADV}(?:don'?t|do n'?t|do not|didn'?t|did not) {_ADV}know(?=$|\s*[^\w\s'\"]|\n|\s+{_THING}"
    rf"|\s+but)"
    rf"|(?:i |we )?(?:don'?t|do not) (?:seem to )?(?:recall|remember)(?=$|\s*[^\w\s'\"]|\n|\s+{_THING})"
    r"|(?:i )?dunno(?=$|\s*[^\w\s'\"]|\n| but| what| who| the)"
    rf"|(?:i (?:{_ADV})?(?:have|'ve|'ve got|got) |i've (?:got )?)?(?:(?:absolutely|really|honestly) )?no"
    rf" (?:idea|clue)(?=$|\s*[^\w\s'\"(]|\n|\s+{_THING})"
    r"|i (?:haven't|have not|don't have|do not have)(?: got)? (?:a clue|the (?:faintest|slightest|foggiest)(?:"
    r" idea)?|any (?:idea|clue)|a (?:definite |definitive |confident |reliable )?answer|an answer|the answer)\b"
    r"|(?:i have )?no answer(?= (?:to|for)\b)|i (?:have no|lack an?) answer\b|your guess is as good as mine"
    r"|beats me\b|i'?m clueless|search me\b"
    r"|(?:(?:it|that|this|the (?:correct |right |true )?answer|this information|that information)(?:'s| is)"
    r" )?(?:currently |still |presently )?unknown(?: to me)?(?=$|[.;:!?\n]| -)"
    r"|i(?:'m| am) (?:not |un)(?:aware|familiar)\b|i(?:'ve| have) never heard\b|i(?:'m| am) (?:at a loss"
    r"|stumped|drawing a blank|clueless)\b"
    r"|i could(?:n't| not) tell you\b|(?:no ?one|nobody) (?:really )?knows(?=$|[.,;:!?\n]| the| for)"
)
_HEDGE = (
    rf"(?:i(?:'m| am|m)?|we(?:'re| are)) {_ADV}(?:not {_ADV}(?:sure|certain|confident|positive)|unsure"
    rf"|uncertain|undecided|unclear)\b"
    rf"|(?:not {_ADV}(?:sure|certain|confident)|unsure|uncertain)(?=$|\s*[^\w\s'\"(]|\n|\s+{_THING}|\s+but)"
    rf"|(?:i |we )?{_ADV}(?:{_CANNOT}) {_ADV}{_VERB}"
    rf"|i(?:{_CANNOT}) {_ADV}{_VERB}"
    r"|there(?:'s| is| isn't| is not| are| was)(?: simply| just)? (?:not )?(?:insufficient|enough|sufficient"
    r"|inadequate|too little|no (?:way (?:to|of|for (?:me|us) to) (?:know|tell|determin|say|be (?:sure|certain)"
    r"|answer|verif|confirm|find)\w*|(?:reliable|available|sufficient|clear|definitive) (?:information|data"
    r"|answer|source|record)s?|information|data))\b"
    r"(?: (?:information|data|evidence|context|details?|know|tell|determin\w*|say|answer|me|knowing|telling"
    r"|verif\w*|reliable|way|consensus|record|to)\b)?"
    r"|(?:(?:i|we) (?:do not|don't|dont|do n't|didn't) (?:currently |really |actually |quite |yet )?have|(?:i"
    r"|we) (?:lack|have no|have insufficient|am lacking|'m lacking)) (?:access to |the |any |a |an |enough "
    r"|sufficient |adequate |necessary |required |reliable |specific |detailed |verified |accurate |confident "
    r"|high |complete |such |that |this |of |confidence|level |more |further |up-to-date |up to date |real-time"
    r" |relevant |current |precise |exact |insufficient )*(?:information|info|knowledge|data|confidence"
    r"|certainty|context|details?|answers?|record|sources?|evidence|expertise|memory|recollection|access"
    r"|facts)\b"
    r"|(?:not enough|insufficient|inadequate|lacking|no|too little) (?:information|info|data|context|confidence"
    r"|knowledge|evidence|certainty|details?)(?: (?:is |was )?(?:available|provided|given|to|about|on"
    r"|for)\b[^.\n]{0,120})?(?=$|[.,;:!?\n])"
    r"|(?:(?:it|this|that|the (?:correct |right |exact |true )?(?:answer|question|value)|this question|that"
    r" question|the answer to this(?: question)?|which[^.,\n]{0,40}) )?(?:simply |just )?(?:cannot|can't|can"
    r" not|could not|couldn't) (?:really |reliably |accurately |possibly |definitively )?be (?:reliably "
    r"|definitively |accurately |confidently )?(?:determined|answered|known|established|ascertained|inferred"
    r"|verified|said|confirmed|identified|decided|deduced)\b"
    r"|(?:this|that|the) (?:question|one) is (?:unanswerable|not answerable|impossible to answer)\b"
    r"|i(?:'d| would|'m going to|'ll|'ve)? ?(?:much |would )?(?:rather|prefer|choose|better|have to|need to"
    r"|must|will|should)? ?(?:to )?(?:not|abstain|pass|skip|decline)(?: to)? ?(?:guess|answer|say|speculate"
    r"|from|on|this|that|it)?(?=$|[.,;:!?\n]|\s+(?:on|from|this|that|the|it|here|answer\w*|guess\w*|specul\w*"
    r"|to|rather|because|since|as|than|at)\b)"
    r"|i(?:'d| would)? (?:rather|prefer) not(?: to)? ?(?:say|answer|guess|speculate|risk|comment)\b"
    r"|i (?:won't|will not|shouldn't|should not|don't want to|do not want to|don't wish to|refuse to) (?:guess"
    r"|speculate|hazard|make something up|fabricate)\b|rather not (?:say|guess|answer)\b"
    r"|(?:it(?:'s| is| would be) |that(?:'s| is) |this is )?(?:hard|difficult|impossible|not possible|tough)(?:"
    r" for me)? to (?:say|tell|know|determine|answer|be sure|be certain|verify)\b"
    r"|(?:(?:it|that|this|the answer)(?:'s| is) )(?:still |currently |highly |quite )?(?:unclear|uncertain"
    r"|undetermined|indeterminate|not (?:known|clear|certain)|unanswerable)(?: to me)?(?=$|[.,;:!?\n]|\s+(?:to"
    r"|from|whether|which|what|who|how|when|where|why)\b)"
    r"|(?:my|the) confidence (?:is|level is|isn't|in (?:this|my|any)[^.\n]{0,40} is) (?:too |not |very |below "
    r"|lower |less |insufficient|under )|(?:i have )?no comment\b|not (?:confident|certain|sure) enough\b|i"
    r" would be (?:only )?guessing\b|that would be (?:only |just )?a guess\b"
    r"|i(?:'d| would) (?:only |just |merely )?be (?:only |just |merely )?guessing\b|(?:this|that|it)(?:'s| is)"
    r" not something (?:that )?i know\b|i wish i knew(?=$|[.,;!\n])|i know (?:nothing|very little|too little"
    r"|little) (?:about|of)\b"
    r"|not able to (?:answer|determine|say|tell|verify|confirm)\b|i (?:have not|haven't) been able to\b|i"
    r" (?:don't|do not) (?:think|believe) i (?:know|can (?:answer|say|help)|have (?:enough|sufficient|the|any"
    r"|an?))\b"
    r"|i (?:don't|do not) feel (?:\w+ )?(?:confident|certain|sure)\b|(?:that |this |the |such |any"
    r" )?(?:information|data|answer)(?: about [^.\n]{0,60})? (?:is |was )?(?:currently )?(?:not available"
    r"|unavailable|not known to me)\b"
    r"|i can only guess\b|i(?:'m| am) not (?:in a position|able|equipped|qualified) to (?:say|answer|tell"
    r"|determine|provide|give|verify|confirm|identify)\b|unable to (?:determine|answer|say|verify|confirm)\b"
    r"|(?:cannot|can't) (?:determine|answer|say|tell|be (?:sure|certain))\b"
)
_HELP = r"(?:help|assist)(?! but)(?=$|[.,;:!?\n]|\s+(?:you|u|with|in|on|out|that|at|here|anyone|this)\b)"
_DO = (
    rf"(?:{_HELP}|comply|fulfil|fulfill|discuss|engage|share|do (?:that|this|so|it)|support|participate"
    rf"|continue|generate|create|write|produce|complete|process|accept|respond|answer|provide|offer|advise"
    rf"|comment|entertain|disclose|reveal|talk about|give)\b"
)
_REFUSAL = (
    rf"i ?(?:cannot|can't|cant|can not|won't|will not|am unable to|'m unable to|am not able to|'m not able to"
    rf"|must decline to|have to decline to|decline to|refuse to|must refuse to|could not|couldn't|'m not going"
    rf" to|am not going to|shouldn't|should not) {_ADV}{_DO}"
    rf"|i(?:'m| am) (?:not (?:allowed|permitted|comfortable|programmed|designed|authori[sz]ed|able|going"
    rf"|willing)|prohibited)(?: to| from| with| discussing| answering| providing)\b"
    r"|i (?:must|have to|need to|will|'ll) (?:respectfully |politely )?(?:decline|refuse)\b|i (?:respectfully "
    r"|politely )?(?:decline|refuse)(?=$|[.,;:!\n]| to)"
    r"|(?:it|that|this)(?:'s| is| goes| would be)? (?:request |question |content )?(?:against|in violation of"
    r"|not something i(?: can| am|'m)|beyond what i can|outside (?:of )?(?:my|what i can)|violates?)\b"
    r"|i (?:can't|cannot|can not)(?=$|[.!,\n])|sorry,? (?:i )?(?:can't|cannot|no)(?=$|[.!\n])|this (?:request"
    r"|question|content) (?:violates|goes against|is against|is not appropriate)\b|request (?:denied|declined"
    r"|refused)\b|i(?:'m| am) just an ai\b|i (?:don't|do not) feel comfortable\b|i (?:cannot|can't) in good"
    r" conscience\b"
)
_CORES = re.compile(rf"(?P<idk>{_IDK})|(?P<refusal>{_REFUSAL})|(?P<hedge>{_HEDGE})", re.IGNORECASE)
_CONFIDENCE = re.compile(r"\b(?:confiden|certain|sure|determine|verify|know|enough|required)", re.IGNORECASE)
_TOKEN = re.compile(r"i\.?d\.?k\b", re.IGNORECASE)

_START = (
    r"(?:^|[.;:!?\n]\s*|,\s*|\s-+\s*|\b(?:but|however|though|although|yet|and|so|still|nevertheless|nonetheless"
    r"|that said),?\s+)"
)
_BUT = r"(?:\b(?:but|however|though|although|yet|still|that said|nevertheless|nonetheless),?\s+)"
_GUESS = re.compile(
    rf"{_START}(?:{_BUT})?(?:if (?:i (?:had|have|must|were) to|pressed|forced)[^,\n]{{0,40}},?\s*)?"
    r"(?:(?:i(?:'d| would|'ll| will| might| could| do| can)? (?:still |just |also |personally |tend to "
    r"|strongly )?(?:think|believe|guess|suspect|assume|say|reckon|suppose|imagine|bet|go with|pick|choose"
    r"|select|lean (?:towards?)|estimate|answer)(?: that)?"
    r"|(?:my|the|a|an) (?:best |educated |final |most likely |likely |tentative )*(?:guess|answer|bet|estimate"
    r"|choice|option)(?: is| would be| might be| may be| could be|:)|(?:best|final|educated)? ?(?:guess"
    r"|answer)\s*(?::|is|would be)"
    r"|(?:most |very |quite |more than )?(?:probably|perhaps|maybe|possibly|likely|presumably))[\s:,]+)"
    r"(?P<v>\S[^\n]*)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(rf"{_BUT}(?P<v>\S[^\n]*)", re.IGNORECASE)
_EMPTY_GUESS = re.compile(
    r"(?:that |it(?:'s| is| was| would be| might be| may be| could be)? |this (?:is |question |would )?|the"
    r" (?:question|information|context|answer (?:may|might|could|can|is (?:not|un)|isn't)) ?|there (?:is|are"
    r"|'s) )*"
    r"(?:not\b|no\b|idk\b|i (?:do not|don't|cannot|can't|am|'m|would|need|can|could|know|will|should|have"
    r"|may)\b|i'|un(?:clear|known|certain|sure|answerable)|cannot|can't|could be (?:any|anything|either)"
    r"|impossible|difficult|hard\b|any(?:thing|one| of)?\b|either|best to|better|safer|a guess|wise|important"
    r"|more\b|too\b|beyond|outside|because|something|one of|several|many|you\b|please|feel|let me|let's|here"
    r"|if\b|consult|check|try|consider|we\b|perhaps you|based|depends|nobody|no one|require|ask|refer|look"
    r"|search|verify|these|they might|even\b|without|only\b|$)",
    re.IGNORECASE,
)
_QUOTED_TITLE = re.compile(r"\"[^\"\n]{0,80}\"\s*[,(]?\s*\w")
_DANGLING = re.compile(r"[,;:-]?\s*\b(?:but|however|though|although|and|yet)\b[^.!?\n]*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Abstention:
    """How a reply abstains. `weak`: the words can also be a right answer. `rest`: what follows them.

    `token`: led by the literal IDK. `bare`: nothing follows.
    """

    kind: str
    weak: bool = False
    token: bool = False
    bare: bool = True
    rest: str = ""


def guessed(rest: str) -> str | None:
    """The answer that follows a hedge ("... but I think it is Au" -> "it is Au"); None if none does."""
    for m in _GUESS.finditer(rest):
        if not _EMPTY_GUESS.match(m["v"]):
            return m["v"].strip()
    # A "but" counts in the hedge's own sentence, or as the first word of the next.
    sentence = re.split(r"[.!?\n]", rest, maxsplit=1)[0]
    following = _CLAUSE.match(rest[len(sentence) :].lstrip(" .!?\n"))
    for clause in (*_CLAUSE.finditer(sentence), *([following] if following else [])):
        value = clause["v"].strip()
        if len(value) <= 120 and not _EMPTY_GUESS.match(value) and not _opening(value):
            return value
    return None


def _opening(text: str) -> re.Match[str] | None:
    m = _CORES.match(text)
    if m is None and (lead := _LEAD.match(text)):
        m = _CORES.match(text, lead.end())
    return m


@lru_cache(maxsize=4096)
def word(text: str) -> Abstention | None:
    """The abstention that a bare word or short phrase is (`text` undressed, case-folded)."""
    if text in _WORDS:
        return Abstention(_WORDS[text], token=text[0] == "i" and text in ("idk", "i.d.k", "i d k"))
    return Abstention(_WEAK[text], weak=True) if text in _WEAK else None


def opening(text: str) -> Abstention | None:
    """The abstention with which `text` (folded, undressed) begins, unless an answer follows it."""
    text = text[:HEAD].replace("**", "")
    if (found := word(text.casefold().strip(" .!,;:"))) is not None:
        return found
    if text.startswith('"') and _QUOTED_TITLE.match(text):
        # A quoted phrase with words after it is a title or speech.
        return None
    head = text.lstrip(" \"'*_`#>[({").rstrip(" \"'*_`])}")
    m = _opening(head)
    if m is None:
        other = plain_idk(head[:400])
        return None if other is None or other[1] else Abstention("idk", bare=other[0] >= len(head.rstrip(" .!")))
    rest = head[m.end() :]
    token = bool(_TOKEN.match(m[0]))
    if not token and guessed(rest) is not None:
        return None
    kind = m.lastgroup or "idk"
    if kind == "refusal" and _CONFIDENCE.search(m[0] + rest[:80]):
        kind = "hedge"
    impersonal = m[0].casefold().startswith(("no one", "nobody", "no answer", "your", "beats", "search"))
    bare = not rest.strip(" .!?,;:)\"'*_`")
    weak = not token and (not bare or kind != "idk") and not re.match(r"(?i)(?:i|we)(?:'| )", m[0])
    return Abstention(kind, weak=weak or impersonal or (not bare and not token), token=token, bare=bare, rest=rest)


def dangling(found: Abstention) -> bool:
    """Whether a reply that was cut had gone on to a "but", so that an answer may have been coming."""
    return not found.token and bool(_DANGLING.search(found.rest))


def abstention(text: str) -> Abstention | None:
    """How a reply (hidden reasoning removed) abstains by its own words as a whole; None if it does not."""
    return opening(undress(fold(text[:HEAD]))) if text else None
