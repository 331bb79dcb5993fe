"""Caller: cache -> limiter -> retry -> provider. The only door to a model, for answers and for judges."""

from __future__ import annotations

import random
from dataclasses import dataclass

from hallcheck.config import MAX_SERVER_DELAY_S
from hallcheck.engine import Stop, Stopped
from hallcheck.errors import AuthError, BadRequest, ModelNotFound, ProviderError, RateLimited
from hallcheck.limiter import Limiter
from hallcheck.store.cache import ReplyCache
from hallcheck.types import Failure, Provider, Reply, Request, Retry

REFUSALS_TO_STOP = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how long to wait between tries.

    Wait before retry k (k = 1, 2, ...), in seconds: what the server asks for * [1, 1 + 2%] and a moment more, never
    less; where it asks for nothing, min(max_s, base_s * 2**(k - 1)) * [0.8, 1.2]. `max_retries` counts the tries after
    the first.
    """

    max_retries: int = 6
    base_s: float = 1.0
    max_s: float = 60.0

    def wait_s(self, retry: int, asked_s: float | None, draw: random.Random) -> float:
        """Seconds to wait before retry number `retry`."""
        if asked_s:
            return asked_s * (1 + 0.02 * draw.random()) + min(0.05, self.base_s)
        return min(self.max_s, self.base_s * 2.0 ** (retry - 1)) * draw.uniform(0.8, 1.2)


@dataclass(slots=True)
class CallCounts:
    """What was sent, for progress and the manifest."""

    sent: int = 0
    retries: int = 0
    rate_limited: int = 0
    cached: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


class Caller:
    """Asks a provider and takes care of everything that can go wrong on the way.

    `call` returns a Reply, or a Failure for what concerns this request alone. It raises what concerns the whole run:
    AuthError, ModelNotFound, RateLimited with a delay of over 5 minutes; and Stopped, when the run is stopping.
    """

    def __init__(
        self,
        provider: Provider,
        *,
        limiter: Limiter,
        retry: RetryPolicy,
        stop: Stop,
        counts: CallCounts,
        cache: ReplyCache | None = None,
        read_cache: bool = True,
    ) -> None:
        self.provider = provider
        self.counts = counts
        self._limiter = limiter
        self._retry = retry
        self._stop = stop
        self._cache = cache
        self._read_cache = read_cache
        self._draw = random.Random()
        self._probed = False
        self._refused = 0

    async def call(self, request: Request) -> Reply | Failure:
        """The reply, from the cache or the provider."""
        cache = self._cache
        if cache is None:
            return await self._ask(request)
        key = request.key
        if self._read_cache and (reply := cache.get(key)):
            self.counts.cached += 1
            return reply
        result = await self._ask(request)
        if isinstance(result, Reply):
            cache.put(key, result)
        return result

    async def _ask(self, request: Request) -> Reply | Failure:
        attempt = 0
        while True:
            attempt += 1
            asked = self.provider
            result = await self._try(request)
            if isinstance(result, Reply):
                return result
            if self._take_adapted(asked, result):
                attempt -= 1
                continue
            retry = self.provider.classify(result)
            _raise_if_fatal(result, retry)
            if retry.kind == "no" or attempt > self._retry.max_retries:
                self._stop_if_all_are_refused(result)
                self.counts.failed += 1
                return Failure(
                    kind=type(result).__name__, message=str(result), attempts=attempt, retryable=retry.kind != "no"
                )
            await self._wait(retry, attempt)
            self.counts.retries += 1

    async def _try(self, request: Request) -> Reply | ProviderError:
        estimate = _estimate_tokens(request)
        await self._limiter.acquire(estimate)
        self.counts.sent += 1
        ok = False
        try:
            reply = await self.provider.complete(request)
            ok = True
        except ProviderError as error:
            self._limiter.settle(estimate, 0)
            # Before the place is given back, or another worker would slip through.
            if (retry := self.provider.classify(error)).kind == "rate_limit":
                self.counts.rate_limited += 1
                self._limiter.pause(self._retry.wait_s(1, retry.after_s, self._draw))
            return error
        finally:
            self._limiter.release(ok=ok)
        self._probed = True
        usage = reply.usage
        used = (usage.input_tokens or 0) + (usage.output_tokens or 0) + (usage.thinking_tokens or 0)
        self._limiter.settle(estimate, used or None)
        self.counts.input_tokens += usage.input_tokens or 0
        self.counts.output_tokens += (usage.output_tokens or 0) + (usage.thinking_tokens or 0)
        return reply

    async def _wait(self, retry: Retry, attempt: int) -> None:
        seconds = self._retry.wait_s(attempt, retry.after_s, self._draw)
        if retry.kind == "rate_limit":
            self._limiter.pause(seconds)
            return  # the limiter holds everybody, this request too
        if await self._stop.sleep(seconds):
            raise Stopped

    def _stop_if_all_are_refused(self, error: ProviderError) -> None:
        """One refused request is the item's fault; the first three, with no reply yet, are the settings' fault."""
        if not self._probed and isinstance(error, BadRequest) and error.status is not None:
            self._refused += 1
            if self._refused >= REFUSALS_TO_STOP:
                raise error

    def _take_adapted(self, asked: Provider, error: ProviderError) -> bool:
        """While no reply has come yet, a refused optional field is left out and the probe repeated."""
        if self.provider is not asked:
            # Adapted by another request while this one was on its way: this one has not been asked so yet.
            return isinstance(error, BadRequest)
        if self._probed:
            return False
        adapted = self.provider.adapt(error)
        if adapted is None:
            return False
        self.provider = adapted
        return True


def _raise_if_fatal(error: ProviderError, retry: Retry) -> None:
    if isinstance(error, AuthError | ModelNotFound):
        raise error
    if retry.after_s is not None and retry.after_s > MAX_SERVER_DELAY_S:
        raise RateLimited(
            f"the provider asks to wait {_show_duration(retry.after_s)}: {error}",
            after_s=retry.after_s,
            hint="what was answered is kept; run the same command again after that time and it goes on from there",
        )


def _show_duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"


def _estimate_tokens(request: Request) -> int:
    """About four characters a token, plus all that the answer may use."""
    return sum(len(m.content) for m in request.messages) // 4 + request.max_tokens
