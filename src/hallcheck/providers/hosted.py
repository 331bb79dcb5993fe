"""What the hosted providers share: one request, one reply, and how requests are adapted to a model.

A provider of this family says how a request's JSON looks (`_body`), how a reply's does (`_reply`), and which optional
fields it can do without (`optional`). It is built without network and without an event loop. A copy made by `adapt`
shares the client, so closing either closes both.
"""

from __future__ import annotations

import copy
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from time import perf_counter
from typing import Any, ClassVar
from urllib.parse import urlsplit

from multidict import CIMultiDict
from yarl import URL

from hallcheck.errors import (
    AuthError,
    BadRequest,
    ConfigError,
    RateLimited,
    Timeout,
    Unavailable,
)
from hallcheck.providers.faults import Site, error_of
from hallcheck.providers.http import HttpClient, decode, encode
from hallcheck.types import Reply, Request, Retry

# A model that thinks unasked spends its thoughts from the token limit: this much is added then.
THINKING_ROOM = 2048
# Room for a budget that the model itself decides on (-1): Gemini's documented ceiling for its dynamic budget.
DYNAMIC_ROOM = 8192

_REFUSES_FIELD = re.compile(
    r"not (?:be )?(?:supported|permitted|allowed|available|applicable)|unsupported|(?:not|n't) support|only supported"
    r"|deprecated|unknown (?:name|parameter|field|argument)|unrecognized|unexpected|cannot find field"
    r"|extra (?:inputs|fields)|only works|(?:can't|cannot|can not) be (?:disabled|set)|no longer",
    re.IGNORECASE,
)
# A value out of range is the user's to mend: leaving the field out would change what was asked for.
_REFUSES_VALUE = re.compile(
    r"\bbetween\b|\brange\b|maximum|minimum|\b(?:greater|less|higher|lower|more) than\b|\bat (?:most|least)\b|\btoo ",
    re.IGNORECASE,
)


class Hosted(ABC):
    """A model behind HTTP. `adapted` holds the names of the optional fields left out or renamed so far."""

    name: str = ""
    supports: frozenset[str] = frozenset()
    # Optional field -> the pattern of its name in a refusal, and what `changes` calls it.
    optional: ClassVar[Mapping[str, tuple[re.Pattern[str], str]]] = {}

    def __init__(
        self,
        model: str,
        *,
        client: HttpClient,
        url: URL,
        endpoint: str,
        headers: Mapping[str, str],
        site: Site,
    ) -> None:
        self.model = model
        self.endpoint = endpoint
        self.changes: tuple[str, ...] = ()
        self.adapted: frozenset[str] = frozenset()
        self._client = client
        self._url = url
        self._headers = CIMultiDict({"Content-Type": "application/json", "User-Agent": "hallcheck", **headers})
        self._site = site

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}/{self.model} at {self.endpoint}>"

    async def complete(self, request: Request) -> Reply:
        """Ask once. Raises ProviderError only (and asyncio.CancelledError)."""
        body = encode(self._body(request))
        headers, site = await self._authorize()
        started = perf_counter()
        status, answer, raw = await self._client.post(self._url, headers, body)
        latency_s = perf_counter() - started
        try:
            data = decode(raw)
        except ValueError:
            data = None
        if not 200 <= status < 300:
            if blocked := self._blocked(data, latency_s):
                return blocked
            raise error_of(site, status, answer, data, raw)
        if not isinstance(data, dict):
            what = "that is cut off or not JSON" if data is None else "that is JSON, but not an object"
            raise Unavailable(f"{self.name} answered HTTP {status} with a body {what}", status=status)
        if not data:
            return Reply(text="", latency_s=latency_s)
        if data.get("error"):
            raise error_of(site, status, answer, data, raw)
        try:
            return self._reply(data, latency_s)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            pass
        raise Unavailable(f"{self.name} answered HTTP {status} with JSON of an unknown shape", status=status)

    def classify(self, error: BaseException) -> Retry:
        """Whether to retry after `error`, and the least wait in seconds that the provider asked for."""
        if isinstance(error, RateLimited):
            return Retry(kind="rate_limit", after_s=error.after_s)
        if isinstance(error, Unavailable):
            return Retry(kind="transient", after_s=error.after_s)
        return Retry(kind="transient" if isinstance(error, Timeout) else "no")

    def adapt(self, error: BaseException) -> Hosted | None:
        """A copy without the optional field that `error` complains of (once for each field), else None."""
        if not isinstance(error, BadRequest):
            return None
        text = error.message.replace("’", "'")
        if not _REFUSES_FIELD.search(text) or _REFUSES_VALUE.search(text):
            return None
        found = {name: pattern.search(text) for name, (pattern, _) in self.optional.items()}
        places = [(match.start(), name) for name, match in found.items() if match and name not in self.adapted]
        if not places:
            return None
        field = min(places)[1]
        other = copy.copy(self)
        other.adapted = self.adapted | {field}
        other.supports = self.supports - {field}
        other.changes = (*self.changes, other._adapted_line(field, text))
        return other

    async def close(self) -> None:
        """Release the connections, those of adapted copies too. May be called more than once."""
        await self._client.close()

    @abstractmethod
    def _body(self, request: Request) -> dict[str, Any]:
        """The request's JSON."""

    @abstractmethod
    def _reply(self, data: dict[str, Any], latency_s: float) -> Reply:
        """The reply in `data`; any error of shape may escape."""

    def _blocked(self, data: Any, latency_s: float) -> Reply | None:  # noqa: ARG002
        """The reply, if an error's JSON says no more than that a filter held the answer back."""
        return None

    async def _authorize(self) -> tuple[Mapping[str, str], Site]:
        """Headers to send now, and the site with the secrets they hold."""
        return self._headers, self._site

    def _adapted_line(self, field: str, text: str) -> str:  # noqa: ARG002
        """One line for the user on what was changed. `text`: the refusal."""
        return f"{self.optional[field][1]} left out: the model does not take it"


def room(thinking_budget: int | None) -> int:
    """Tokens to allow on top of the answer's, so that thoughts do not eat it. -1: the model decides."""
    if thinking_budget is None:
        return 0
    return DYNAMIC_ROOM if thinking_budget < 0 else thinking_budget


def count(value: Any) -> int | None:
    """A token count, None where the provider gives none."""
    return value if type(value) is int else None


def read_key(env: Mapping[str, str], *names: str) -> str | None:
    """The first of the variables that is set, checked to be a possible HTTP header. None if none is set."""
    for name in names:
        key = env.get(name, "").strip()
        if not key:
            continue
        if not (key.isascii() and key.isprintable() and " " not in key):
            raise AuthError(f"{name} holds a character that no key can have", hint=f"copy the key to {name} anew")
        return key
    return None


def missing_key(provider: str, *names: str) -> AuthError:
    """The error for a key that is not set."""
    return AuthError(f"{provider} needs a key: set {' or '.join(names)}", hint=f"export {names[0]}=...")


def read_base(env: Mapping[str, str], name: str, default: str) -> tuple[str, str]:
    """The base URL to join paths to, and the same as it may be shown and stored: without query and last slash.

    Raises ConfigError where it is no http(s) address, or holds a user name or password.
    """
    base = env.get(name, "").strip() or default
    try:
        parts = urlsplit(base)
        wrong = parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0
    except ValueError:
        parts, wrong = urlsplit(""), True
    if parts.username is not None or parts.password is not None:
        raise ConfigError(f"{name} holds a user name or password", hint="keys go into their own variables")
    if wrong or any(char <= " " or char == "\x7f" for char in base):
        raise ConfigError(f"{name} is not an http:// or https:// address", hint=f"an address looks like {default}")
    return base.partition("#")[0], f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/")
