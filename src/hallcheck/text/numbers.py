"""Numbers as people write them, compared exactly and without arithmetic on large powers.

Read as one number: 1,000 · 12,34,567 · 1 000 · 1'000 · 1.000.000 · 1.000,5 · .5 · 1e3 · 3 x 10^8 · 1/2 · 1 1/2 ·
\\frac{1}{2}, each with a sign, a currency and a unit. Not read, because two readings exist: 1,5 (a decimal comma or
two numbers) and 0,500. `1.000` is one, as in English. Never: nan, inf, `1_000`, digits that are not ASCII.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache

Number = tuple[str, int, str]
"""(signed digits without trailing zeros, or a reduced fraction n/d; power of ten; unit)."""

_LONGEST = 400
_SIGNS = {"us$": "$", "$": "$", "€": "€", "£": "£", "¥": "¥", "₹": "₹", "₩": "₩", "₽": "₽", "₺": "₺", "₫": "₫"}
_SIGNS |= {"₦": "₦", "₱": "₱", "฿": "฿", "¢": "¢", "usd": "$", "eur": "€", "gbp": "£", "jpy": "¥", "inr": "₹"}
_UNITS = dict(_SIGNS)
_UNITS |= {"dollar": "$", "dollars": "$", "us dollars": "$", "u.s. dollars": "$", "euro": "€", "euros": "€", "yen": "¥"}
_UNITS |= dict.fromkeys(["%", "percent", "per cent", "pct", "prozent", "por ciento", "pour cent", "por cento"], "%")
_UNITS |= dict.fromkeys(["procent", "per cento", "процентов", "百分", "パーセント", "퍼센트"], "%")
CURRENCIES = frozenset(_SIGNS.values())

_SIGN = "|".join(re.escape(s) for s in sorted(_SIGNS, key=len, reverse=True))
_NUMBER = re.compile(
    rf"(?P<sign>[-+]?) ?(?P<currency>{_SIGN})? ?(?P<sign2>[-+]?)"
    r"(?:(?P<whole>\d{1,40}) (?P<mn>\d{1,40})/(?P<md>\d{1,40})"
    r"|(?P<n>\d{1,40}) ?/ ?(?P<d>\d{1,40})(?![/\d])"
    r"|\\[dt]?frac\{ ?(?P<fn>-?\d{1,40}) ?\}\{ ?(?P<fd>\d{1,40}) ?\}"
    r"|(?P<body>(?P<english>[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d+)?)"
    r"|(?P<blank>[1-9]\d{0,2}(?:[ ']\d{3})+(?:[.,]\d+)?)"
    r"|(?P<dots>[1-9]\d{0,2}(?:\.\d{3}){2,}(?:,\d+)?|[1-9]\d{0,2}(?:\.\d{3})+,\d+)"
    r"|(?P<plain>\d+(?:\.\d+)?|\.\d+))"
    r"(?:e(?P<e>[-+]?\d{1,18})(?![\d.])| ?[x*×·] ?10\^[({]?(?P<p>[-+]?\d{1,18})[)}]?)?)"
    r"(?: ?(?P<unit>[a-z%$¢-\uffff].{0,60}))?",
    re.ASCII,
)


def _decimal(negative: bool, digits: str, power: int) -> tuple[str, int]:
    digits = digits.lstrip("0")
    short = digits.rstrip("0")
    if not short:
        return "0", 0
    return ("-" + short if negative else short), power + len(digits) - len(short)


def _fraction(negative: bool, n: int, d: int) -> tuple[str, int] | None:
    if d == 0:
        return None
    negative ^= n < 0
    n = abs(n)
    common = math.gcd(n, d)
    n, d = n // common, d // common
    rest, twos, fives = d, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest == 1:
        power = max(twos, fives)
        return _decimal(negative, str(n * 10**power // d), -power)
    return ("-" if negative else "") + f"{n}/{d}", 0


def _value(m: re.Match[str], negative: bool) -> tuple[str, int] | None:
    if m["whole"]:
        return _fraction(negative, int(m["whole"]) * int(m["md"]) + int(m["mn"]), int(m["md"]))
    if m["n"]:
        return _fraction(negative, int(m["n"]), int(m["d"]))
    if m["fn"]:
        return _fraction(negative, int(m["fn"]), int(m["fd"]))
    body = m["body"]
    if m["english"]:
        body = body.replace(",", "")
    elif m["blank"]:
        body = body.replace(" ", "").replace("'", "").replace(",", ".")
    elif m["dots"]:
        body = body.replace(".", "").replace(",", ".")
    whole, _, part = body.partition(".")
    power = m["e"] or m["p"]
    if m["e"] and not whole.strip("0"):
        # 00e1 and 00e2 are two codes, not one zero.
        return None
    return _decimal(negative, whole + part, (int(power) if power else 0) - len(part))


@lru_cache(maxsize=4096)
def number(text: str) -> Number | None:
    """The number that `text` (in canonical form) is, with its unit in canonical form ("" if none); None if none."""
    if text.isdigit() and text.isascii():
        return (*_decimal(False, text, 0), "") if len(text) <= _LONGEST else None
    if len(text) > _LONGEST or not any("0" <= c <= "9" for c in text):
        return None
    if not text.isascii() and any(c > "\x7f" and c.isnumeric() for c in text):
        return None
    m = _NUMBER.fullmatch(text)
    if m is None or (m["sign"] and m["sign2"]):
        return None
    unit = m["unit"] or ""
    unit = _UNITS.get(unit, unit)
    if m["currency"]:
        if unit and unit != _SIGNS[m["currency"]]:
            return None
        unit = _SIGNS[m["currency"]]
    value = _value(m, "-" in (m["sign"], m["sign2"]))
    return None if value is None else (*value, unit)


def same_number(a: Number, b: Number) -> bool:
    """Equal values in the same unit; a currency may be left out, a percent sign may not."""
    if a[:2] != b[:2]:
        return False
    return a[2] == b[2] or (not a[2] and b[2] in CURRENCIES) or (not b[2] and a[2] in CURRENCIES)
