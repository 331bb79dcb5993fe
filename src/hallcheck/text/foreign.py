"""The plain "I don't know" of languages other than English, as patterns on `normalize.skeleton` text.

Written in natural spelling and folded on import, so accents may be left out. One row a language: cores, and what its
"but" is. A core may follow an opening courtesy and be followed by a complement; after "but" comes an answer.
"""

from __future__ import annotations

import re
from functools import cache

from hallcheck.text.normalize import skeleton

# language: (opening, core, complement that may follow the core, "but")
LATIN: dict[str, tuple[str, str, str, str]] = {
    "es": (
        r"lo siento|perdón|disculpa|disculpe|lamentablemente|desafortunadamente|la verdad|sinceramente|yo"
        r"|realmente|pues",
        r"(?:yo )?no (?:lo |la )?(?:sé|conozco)(?: con (?:certeza|seguridad))?|no tengo (?:ni )?(?:la menor )?idea"
        r"|ni idea|no (?:estoy|me siento) (?:muy |del todo |completamente )?segur[oa]|(?:lo )?desconozco"
        r"|no sabría (?:decir(?:lo|te)?|responder)|no (?:lo )?recuerdo|no (?:puedo|podría) (?:responder"
        r"|contestar|saber|determinar)(?:lo)?"
        r"|(?:es )?desconocid[oa](?=[.!]?$)|no se sabe|no tengo (?:suficiente |la )?(?:información|respuesta)",
        r"la respuesta|esa respuesta|cuál|qué|quién|quiénes|cuándo|dónde|cómo|cuánt[oa]s?|si|a (?:esa|esta|la)"
        r"|esa|esta|eso|de|con|sobre|para",
        r"pero|aunque|sin embargo",
    ),
    "fr": (
        r"désolée?|je suis désolée?|pardon|malheureusement|honnêtement|franchement|euh",
        r"(?:moi,? )?(?:je |j'|j' )?(?:ne |n'|n' )?(?:le )?sais (?:vraiment |malheureusement )?pas|j'?sais pas"
        r"|chais pas|(?:je n'en ai )?aucune idée|je n'ai (?:aucune|pas (?:la moindre )?|pas d')\s?(?:idée"
        r"|réponse)"
        r"|je n'en (?:sais rien|ai aucune idée)|je n'ai pas la réponse|pas d'idée|je l'ignore|j'ignore|je ne"
        r" (?:suis|me sens) pas (?:tout à fait |très )?(?:sûre?|certaine?)"
        r"|je ne connais pas|je ne (?:peux|saurais) (?:pas )?(?:répondre|dire|le dire|déterminer|le déterminer)"
        r"|inconnue?(?=[.!]?$)|on ne sait pas",
        r"la réponse|quel(?:le)?s?|qui|que|quoi|ce que|ce qu'|quand|où|comment|combien|si|à (?:cette|la)|cette"
        r"|de|pourquoi|avec",
        r"mais|cependant|toutefois",
    ),
    "de": (
        r"leider|tut mir leid|es tut mir leid|entschuldigung|sorry|ehrlich gesagt|tja|also|hm+",
        r"(?:das |dies |es )?weiß ich (?:es |das )?(?:leider )?nicht|ich weiß (?:es |das |dies |die antwort"
        r" )?(?:leider |wirklich |auch )?(?:darauf )?nicht"
        r"|weiß (?:ich )?nicht|(?:ich habe |hab )?(?:leider )?keine ahnung|(?:da )?(?:bin ich|ich bin)(?: mir)?"
        r" (?:da |leider )?(?:nicht (?:ganz )?sicher|unsicher)"
        r"|(?:ich )?kenne (?:ich )?die antwort nicht|unbekannt(?=[.!]?$)|(?:das ist )?nicht bekannt|(?:das "
        r"|diese frage )?kann ich (?:das |die frage |diese frage )?(?:leider )?nicht (?:sagen|beantworten"
        r"|bestimmen)"
        r"|ich kann (?:das|es|die frage|diese frage|dies) (?:leider )?nicht (?:sagen|beantworten|bestimmen)"
        r"|nicht sicher",
        r"die antwort|was|wer|wann|wo|wie|welche[rsnm]?|warum|ob|auf|genau",
        r"aber|jedoch|allerdings|doch",
    ),
    "it": (
        r"mi dispiace|scusa|scusi|purtroppo|sinceramente|onestamente",
        r"(?:io )?non (?:lo )?so|non (?:ne )?ho (?:la minima |alcuna |nessuna )?idea|non saprei(?: dire|"
        r" rispondere)?|boh|non (?:ne )?sono (?:del tutto )?(?:sicur[oa]|cert[oa])|non (?:lo )?conosco"
        r"|sconosciut[oa](?=[.!]?$)|nessuna idea"
        r"|non (?:posso|riesco a|sono in grado di) (?:rispondere|dirlo|determinarlo|saperlo)|(?:lo )?ignoro|non"
        r" (?:lo )?ricordo",
        r"la risposta|quale|quali|chi|cosa|che|quando|dove|come|quanto|quanti|se|a (?:questa|quella)|rispondere"
        r"|dirlo|con",
        r"ma|però|tuttavia",
    ),
    "pt": (
        r"desculpe|desculpa|sinto muito|lamento|infelizmente|sinceramente|honestamente",
        r"(?:eu )?não (?:o )?sei|sei lá|não faço (?:a menor |a mínima |nenhuma )?(?:ideia|idéia)|não tenho (?:a"
        r" menor |nenhuma |a |ideia|certeza|qualquer )?\s?(?:ideia|certeza|resposta)?|(?:eu )?desconheço|não"
        r" (?:o )?conheço|desconhecid[oa](?=[.!]?$)"
        r"|não (?:posso|consigo) (?:responder|determinar|dizer)|não estou (?:muito )?cert[oa]|não saberia dizer"
        r"|não me lembro|sem ideia",
        r"a resposta|dizer|responder|qual|quais|quem|o que|quando|onde|como|quant[oa]s?|se|a (?:essa|esta)|essa"
        r"|esta|isso|com",
        r"mas|porém|contudo|no entanto",
    ),
    "nl": (
        r"sorry|helaas|het spijt me|eerlijk gezegd|tja",
        r"(?:dat |dit )?weet ik (?:het |dat )?(?:helaas |echt )?niet|ik weet (?:het |dat |dit )?(?:antwoord"
        r" )?(?:helaas |echt )?(?:hierop )?niet|weet niet|(?:ik heb )?geen (?:flauw )?idee|(?:daar )?(?:ben ik"
        r"|ik ben)(?: er)? niet (?:helemaal )?zeker(?: van)?|onbekend(?=[.!]?$)"
        r"|ik ken het antwoord niet|ik kan (?:dat|dit|deze vraag|die vraag|de vraag) (?:helaas )?niet"
        r" (?:beantwoorden|zeggen|bepalen)|ik zou het niet weten|ik weet het antwoord niet",
        r"het antwoord|wat|wie|wanneer|waar|hoe|welke?|waarom|of|op",
        r"maar|echter",
    ),
    "pl": (
        r"niestety|przepraszam|przykro mi|szczerze mówiąc|ja",
        r"(?:ja )?(?:tego )?nie wiem(?: tego)?|nie mam (?:zielonego |żadnego )?pojęcia|nie jestem (?:tego |do"
        r" końca )?(?:pewien|pewna|pewny)|nie znam|nieznan[eya](?=[.!]?$)|trudno powiedzieć|nie (?:potrafię"
        r"|mogę|umiem) (?:tego )?(?:na to )?(?:odpowiedzieć|powiedzieć|określić|stwierdzić)|nie wiadomo",
        r"odpowiedzi|na|co|kto|kiedy|gdzie|jak|jaka|jaki|jakie|który|która|które|ile|czy|dlaczego|tego",
        r"ale|lecz|jednak",
    ),
    "ru": (
        r"к сожалению|извините|простите|прошу прощения|честно говоря|увы",
        r"(?:я )?(?:этого |точно |ответа )?не знаю|понятия не имею|(?:я )?не имею (?:ни малейшего )?(?:понятия"
        r"|представления)|(?:я )?не (?:совсем )?уверена?|(?:мне )?(?:это )?неизвестно|ответ (?:мне )?неизвестен"
        r"|неизвестн[оа](?=[.!]?$)|(?:я )?не могу (?:точно )?(?:ответить|сказать|определить)|затрудняюсь"
        r" (?:ответить|сказать)|без понятия|не в курсе",
        r"ответ|ответа|точно|этого|на|что|кто|когда|где|как|какая|какой|какие|сколько|почему|в|точного",
        r"но|однако|хотя",
    ),
}

# Plain forms of some more languages: the whole reply, or its first sentence.
MORE = """
bilmiyorum|cevabı bilmiyorum|emin değilim|hiçbir fikrim yok|jag vet inte|vet ej|vet inte|jeg vet ikke|jeg ved det ikke
jeg ved ikke|det ved jeg ikke|det vet jeg ikke|ingen aning|ingen anelse|en tiedä|en osaa sanoa|nevím|to nevím|neviem
nem tudom|nu știu|nu stiu|δεν ξέρω|δεν γνωρίζω|не знам|я не знаю|не знаю|tôi không biết|không biết|saya tidak tahu
tidak tahu|मुझे नहीं पता|मुझे नहीं मालूम|नहीं पता|पता नहीं|אני לא יודע|אני לא יודעת|לא יודע|לא יודעת|איני יודע
نمی‌دانم|نمیدانم|من نمی‌دانم|نمی دانم
ne znam|ne vem|no ho sé|ez dakit|ฉันไม่รู้|ไม่ทราบ|ไม่รู้|ฉันไม่ทราบ|hindi ko alam|sijui|nescio
"""

_ZH = (
    r"(?:(?:很|非常)?(?:抱歉|对不起|對不起|不好意思|遗憾|遺憾)[,.!]? ?)?(?:答案?是[:]?)?(?:我)?(?:也|还|真的"
    r"|實在|实在|并|並|目前|暂时|暫時)*(?:不知道|不清楚|不太清楚|不(?:太|能|是很)?(?:确定|確定|肯定)|(?:无法"
    r"|無法|没法|沒法)(?:确定|確定|回答|判断|判斷|得知|知道)"
    r"|不晓得|不曉得|不了解|不瞭解|没有(?:答案|头绪)|沒有(?:答案|頭緒)|毫无头绪|毫無頭緒|未知|不得而知|不明"
    r"|不详|不詳|答不出来)"
    r"(?:(?:这个|這個|这|這|该|該|此|正确|正確)?(?:问题|問題)?的?(?:答案|问题|問題)?)(?:是什么|是什麼)?[了呢啊]?"
)
_JA = (
    r"(?:(?:すみません|申し訳(?:ありません|ございません)|ごめんなさい|すいません|残念ながら|残念ですが)(?:が"
    r"|けど)?[,.]? ?)?(?:(?:私|僕|俺)(?:に)?は|それは|答えは|その(?:答え|質問)は|この(?:質問|問題)(?:の答え"
    r"|について|に)?は|答えが|正確には|よく|はっきり|ちょっと|,)*"
    r"(?:[わ分判]かり(?:ません|かねます|ませんでした)|[わ分判]から(?:ない|ん|ず)(?:です|のです|んです)?"
    r"|[わ分]かんない(?:です)?|知りません|知らない(?:です)?|存じ(?:上げ)?ません|不明(?:です)?|(?:確信"
    r"|自信)が(?:ありません|ない(?:です)?|持てません)|お?答え(?:できません|られません)|回答できません"
    r"|判断できません|確かではありません)"
)
_KO = (
    r"(?:(?:죄송합니다|죄송하지만|죄송해요|미안하지만|미안합니다|안타깝게도|아쉽게도)[,.]? ?)?(?:(?:저는|나는"
    r"|난|전|저도|잘|정말|답을|정답을|답은|정답은|그건|그것은|그 답을|이 질문(?:에 대한|의) 답(?:을|은)|정확히"
    r"|확실히) ?)*"
    r"(?:모르겠(?:습니다|어요|네요|다|어|음)|모릅니다|몰라요?|모른다|모름|모르겠는데요|알 수 (?:없습니다|없어요"
    r"|없음|없다)|확실(?:하지|치) (?:않습니다|않아요|않음)|확신(?:할 수 (?:없습니다|없어요)|이 없습니다)"
    r"|(?:대)?답(?:변)?(?:할|하실) 수 (?:없습니다|없어요)|불확실(?:합니다)?|알지 못합니다|미상)"
)
_AR = (
    r"(?:(?:أنا|آسف|آسفة|عذرا|عذراً|للأسف|معذرة|في الحقيقة|أعتذر|,|\.) ?)*(?:لا (?:أعرف|أعلم|أدري|أملك (?:إجابة"
    r"|معلومات)|فكرة لدي|أستطيع (?:الإجابة|تحديد)|يمكنني (?:الإجابة|تحديد))|لست (?:متأكد[اة]?|متأكداً|واثقا"
    r"|واثقة)|(?:غير|لست غير) متأكد|ليس(?:ت)? لد[يى] (?:أي |أية |أدنى )?(?:فكرة|إجابة|معلومات)"
    r"|(?:هذا )?غير معروف|مجهول|ما أعرف|ما أدري|مش عارف|لا علم لي|الله أعلم)(?:$|(?= )(?: (?:الإجابة|الجواب|ذلك"
    r"|هذا|هذه|على|عن|من|ما|متى|أين|كيف|كم|إن|بشكل|السؤال|الصحيحة|حقا)\b[^.,]{0,80})?)"
)
_ARABIC_LETTERS = str.maketrans("أإآىة", "اااىه")


def _arabic(text: str) -> str:
    return text.translate(_ARABIC_LETTERS).replace("ـ", "")


# skeleton() already folds the hamza of أ and إ; this keeps patterns and text alike whatever it folds.
def _fold(pattern: str) -> str:
    return _arabic(skeleton(pattern))


@cache
def _latin() -> re.Pattern[str]:
    rows = []
    for opening, core, complement, but in LATIN.values():
        rows.append(
            rf"(?:(?:{opening})[,.!]* (?:(?:{but}) )?)?(?:{core})"
            rf"(?:$|(?=[.,;:!?(\n-]| -)|(?= (?:{but})\b)| (?:{complement})\b[^.,;:!?\n]{{0,120}})"
        )
    more = "|".join(re.escape(p) for line in MORE.split("\n") for p in line.split("|") if p)
    rows.append(rf"(?:{more})(?:$|(?=[.,;:!?\n]))")
    return re.compile("|".join(f"(?:{_fold(row)})" for row in rows))


@cache
def _eastern() -> re.Pattern[str]:
    zh, ja, ko, ar = (_fold(p) for p in (_ZH, _JA, _KO, _AR))
    return re.compile(rf"(?:{zh}|{ja}|{ko})(?:$|(?=[ .,;:!?\n-]))|(?:{ar})(?:$|(?=[.,;:!?\n-]))")


@cache
def _but() -> re.Pattern[str]:
    words = "|".join(row[3] for row in LATIN.values())
    eastern = (
        "但是?|不过|不過|可是|然而|でも|しかし|ですが|だが|けど|ただ|하지만|그러나|그렇지만|لكن|ولكن|غير أن|إلا"
        " أن|ama|fakat|men|mutta"
    )
    guess = (
        r"creo|pienso|supongo|je (?:pense|crois)|ich (?:glaube|denke|vermute)|vielleicht|quizás?|peut-être"
        r"|forse|penso|credo|acho|talvez|ik denk|misschien"
        r"|myślę|może|думаю|наверное|возможно|可能是|我猜|我认为|我覺得|我觉得|たぶん|おそらく|아마|ربما|اعتقد"
    )
    return re.compile(
        rf"(?<!\w)(?:{_fold(words)}|{_fold(guess)})(?!\w)|{_fold(eastern)}"
        rf"|{_fold('可能是|我猜|我认为|我觉得|たぶん|おそらく|아마')}"
    )


def plain_idk(text: str) -> tuple[int, bool] | None:
    """Whether `text` (any case, one reply's head) begins with a plain "I don't know" of another language.

    Returns (length of the match in the skeleton, whether an answer follows by "but"), else None.
    """
    s = _arabic(skeleton(text)).strip(" \"'¡¿(*_.")
    m = _latin().match(s) or (None if s.isascii() else _eastern().match(s))
    if m is None:
        return None
    return m.end(), bool(_but().search(s, m.end()))
