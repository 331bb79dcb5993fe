"""What a provider's refusal means: status and error body to one exception of `hallcheck.errors`.

| answer | exception |
| --- | --- |
| 401, 403; 400 that names an invalid key; quota or billing exhausted for good (402, `insufficient_quota`) | AuthError |
| 404, `model_not_found`, a redirect | ModelNotFound |
| 429 | RateLimited, with the longest delay that headers, body or message ask for |
| 408 | Timeout |
| 5xx (Anthropic's 529 too); an answer of 200 that is no whole JSON object | Unavailable, with that delay |
| other 4xx | BadRequest |

An exhausted balance is an AuthError because waiting never heals it: the run has to stop and say so.
An answer of 200 that holds an `error` object is mapped by the code in that object.
Messages hold the provider's own words on one line, at most 300 characters, without control characters or keys.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

from hallcheck.errors import (
    AuthError,
    BadRequest,
    ModelNotFound,
    ProviderError,
    RateLimited,
    Timeout,
    Unavailable,
)

MESSAGE_CHARS = 300
_SHORTEST_SECRET = 4  # a shorter "key" ("x", "-") is a stand-in for local servers, and part of many words
_EXHAUSTED = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error"})
_STATUS_OF = {
    "authentication_error": 401,
    "deadline_exceeded": 504,
    "internal": 500,
    "invalid_api_key": 401,
    "invalid_argument": 400,
    "invalid_request_error": 400,
    "model_not_found": 404,
    "not_found": 404,
    "not_found_error": 404,
    "overloaded_error": 529,
    "permission_denied": 403,
    "permission_error": 403,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "request_too_large": 413,
    "resource_exhausted": 429,
    "timeout_error": 504,
    "unauthenticated": 401,
    "unavailable": 503,
}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s?([a-z]+)\s?")
_DURATIONS = re.compile(f"(?:{_DURATION.pattern})+")
_RETRY_IN = re.compile(f"(?:retry|try again) (?:in|after) ({_DURATIONS.pattern})")
_BAD_KEY = re.compile(r"api[ _-]?key (?:not valid|expired|is invalid|not found)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Whom we talk to: the names of the variables that a hint may advise on, and what no message may hold."""

    name: str
    key_names: str
    base_name: str
    secrets: tuple[str, ...] = field(default=(), repr=False)


def error_of(site: Site, status: int, headers: Mapping[str, str], data: Any, raw: bytes) -> ProviderError:
    """The exception for an answer that is no reply. `data`: its JSON value, None if it has none."""
    error, own = _explain(data, raw)
    labels = _labels(error)
    if 200 <= status < 300:
        status = _status_in(error, labels)
    kind = f" {error['status']}" if isinstance(error.get("status"), str) else ""
    said = f": {own}" if own else ""
    message = one_line(f"{site.name} answered HTTP {status}{kind}{said}", site.secrets)
    after_s = retry_after(headers, error, own) if status == 429 or status >= 500 else None

    if status == 402 or labels & _EXHAUSTED or "credit balance is too low" in own:
        message = one_line(f"{site.name}: quota or billing exhausted{said}", site.secrets)
        return AuthError(message, status=status, hint="waiting does not help: check the plan and the balance")
    if status == 429:
        return RateLimited(message, status=status, after_s=after_s)
    if status == 408:
        return Timeout(message, status=status)
    if status >= 500:
        return Unavailable(message, status=status, after_s=after_s)
    if status in (401, 403) or "api_key_invalid" in labels or (status == 400 and _BAD_KEY.search(own)):
        return AuthError(message, status=status, hint=f"check {site.key_names}")
    if status == 404 or "model_not_found" in labels:
        hint = f"check the model's name, and {site.base_name} where it is set"
        return ModelNotFound(message, status=status, hint=hint)
    if 300 <= status < 400:
        message = f"{site.name} answered HTTP {status}: redirects are not followed"
        return ModelNotFound(message, status=status, hint=f"set {site.base_name} to the final address")
    return BadRequest(message, status=status)


def retry_after(headers: Mapping[str, str], error: Mapping[str, Any], message: str) -> float | None:
    """Seconds to wait, the largest that the answer names; None if it names none.

    Read from Retry-After (seconds or an HTTP date), retry-after-ms, google.rpc.RetryInfo, and "retry in 12.5s" or
    "try again in 1m3s" in the message.
    """
    named = [_header_seconds(headers), _number(headers.get("retry-after-ms"), 0.001)]
    for detail in _dicts(error.get("details")):
        delay = detail.get("retryDelay")
        named.append(_seconds(delay) if isinstance(delay, str) else None)
    if found := _RETRY_IN.search(message[:4000].lower()):
        named.append(_seconds(found[1]))
    return max((seconds for seconds in named if seconds is not None), default=None)


def one_line(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` without `secrets`, control characters and line breaks, cut at 300 characters."""
    for secret in secrets:
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, "[key]").replace(quote(secret, safe=""), "[key]")
    text = " ".join("".join(char if char.isprintable() else " " for char in text[:4000]).split())
    return text if len(text) <= MESSAGE_CHARS else text[: MESSAGE_CHARS - 1] + "…"


def _explain(data: Any, raw: bytes) -> tuple[dict[str, Any], str]:
    """The error object and the provider's own words, of whichever shape the body is."""
    if isinstance(data, list):
        data = next(_dicts(data), None)
    if not isinstance(data, dict):
        text = raw.decode("utf-8", "replace").strip()
        return {}, "" if text[:1] in ("<", "{", "[") else text
    error = data.get("error")
    if isinstance(error, str):
        return data, error
    if not isinstance(error, dict):
        error = data
    message = error.get("message") or error.get("detail") or ""
    if isinstance(message, list):
        message = "; ".join(_field_fault(part) for part in _dicts(message))
    message = message if isinstance(message, str) else ""
    param = error.get("param")
    return error, f"{message} ({param})" if isinstance(param, str) and param not in message else message


def _field_fault(part: Mapping[str, Any]) -> str:
    where = part.get("loc")
    path = ".".join(str(step) for step in where) if isinstance(where, list) else ""
    return f"{path}: {part.get('msg', '')}"


def _labels(error: Mapping[str, Any]) -> frozenset[str]:
    found = [error.get(name) for name in ("code", "type", "status")]
    found += [detail.get("reason") for detail in _dicts(error.get("details"))]
    return frozenset(label.lower() for label in found if isinstance(label, str))


def _status_in(error: Mapping[str, Any], labels: frozenset[str]) -> int:
    code = error.get("code")
    if isinstance(code, str) and code.isascii() and code.isdigit():
        code = int(code)
    if isinstance(code, int) and 300 <= code < 600:
        return code
    # Of several names the gravest wins; an error that nobody can name may pass, like any other fault of a server.
    return max((_STATUS_OF[label] for label in labels if label in _STATUS_OF), default=500)


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    return (part for part in (value if isinstance(value, list) else ()) if isinstance(part, dict))


def _header_seconds(headers: Mapping[str, str]) -> float | None:
    value = headers.get("Retry-After")
    seconds = _number(value)
    if value is None or seconds is not None:
        return seconds
    until = _moment(value)
    if until is None:
        return None
    # The server's own clock, so that a wrong one here does not matter.
    now = _moment(headers.get("Date", "")) or datetime.now(UTC)
    return max(0.0, (until - now).total_seconds())


def _moment(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _number(text: str | None, unit: float = 1.0) -> float | None:
    try:
        value = float(text) * unit if text is not None else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _seconds(text: str) -> float | None:
    """Seconds in "53s", "1.5s", "6m0s" or "20 seconds"; None where the text is anything else."""
    if not _DURATIONS.fullmatch(text):
        return None
    units = {"ms": 0.001, "milli": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
    parts = [
        float(number) * next((units[start] for start in units if unit.startswith(start)), math.nan)
        for number, unit in _DURATION.findall(text)
    ]
    total = sum(parts)
    return total if math.isfinite(total) else None
