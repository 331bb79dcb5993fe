"""A provider whose replies a test writes: no network, no wire format, the same contract as the real ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from hallcheck.errors import RateLimited, Timeout, Unavailable
from hallcheck.types import Reply, Request, Retry

Script = Callable[[Request], "Reply | BaseException | str"]


class Scripted:
    """`script(request)` gives the reply, its text, or the exception to raise. Everything asked is in `requests`."""

    name = "scripted"
    endpoint = "test://scripted"
    changes: tuple[str, ...] = ()

    def __init__(self, script: Script, *, supports: frozenset[str] = frozenset({"logprobs"}), delay_s: float = 0.0):
        self.script = script
        self.supports = supports
        self.delay_s = delay_s
        self.requests: list[Request] = []
        self.most_at_once = self._now = 0
        self.closed = 0
        self.adaptations: list[Any] = []  # providers that `adapt` gives, one an error

    async def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        try:
            await asyncio.sleep(self.delay_s)
        finally:
            self._now -= 1
        result = self.script(request)
        if isinstance(result, BaseException):
            raise result
        return Reply(text=result) if isinstance(result, str) else result

    def classify(self, error: BaseException) -> Retry:
        if isinstance(error, RateLimited):
            return Retry(kind="rate_limit", after_s=error.after_s)
        if isinstance(error, Unavailable):
            return Retry(kind="transient", after_s=error.after_s)
        return Retry(kind="transient" if isinstance(error, Timeout) else "no")

    def adapt(self, error: BaseException) -> Any:
        return self.adaptations.pop(0) if self.adaptations else None

    async def close(self) -> None:
        self.closed += 1
