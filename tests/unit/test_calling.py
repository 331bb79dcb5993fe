"""The only door to a model: what is retried and how long it waits, what ends the run, what the cache gives back."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallcheck.calling import CallCounts, Caller, RetryPolicy
from hallcheck.engine import Stop, Stopped
from hallcheck.errors import (
    AuthError,
    BadRequest,
    ModelNotFound,
    ProviderError,
    RateLimited,
    Timeout,
    Unavailable,
)
from hallcheck.limiter import Limiter
from hallcheck.store.cache import ReplyCache
from hallcheck.types import Failure, Message, Reply, Request, Usage
from support.scripted import Script, Scripted

QUICK = RetryPolicy(max_retries=3, base_s=0.001, max_s=0.004)
REQUEST = Request(
    provider="scripted", endpoint="test://scripted", model="m", messages=(Message(role="user", content="Where?"),)
)


def caller(provider: Any, *, retry: RetryPolicy = QUICK, stop: Stop | None = None, **more: Any) -> Caller:
    stop = Stop() if stop is None else stop  # a Stop is false until it is set
    return Caller(provider, limiter=Limiter(stop=stop), retry=retry, stop=stop, counts=CallCounts(), **more)


def script(*results: Any) -> Script:
    """One result a request; the last one for ever."""
    left = list(results)
    return lambda _request: left.pop(0) if len(left) > 1 else left[0]


def call(*results: Any, **more: Any) -> tuple[Any, Scripted, CallCounts]:
    provider = Scripted(script(*results))

    async def main() -> Any:
        door = caller(provider, **more)
        return await door.call(REQUEST), door.counts

    result, counts = asyncio.run(main())
    return result, provider, counts


delays = st.floats(0, 1e6, exclude_min=True)
policies = st.builds(
    RetryPolicy, max_retries=st.integers(0, 10), base_s=st.floats(0.001, 60), max_s=st.floats(0.001, 600)
)


@given(policies, st.integers(1, 50), delays, st.integers())
def test_never_less_than_the_server_asks_for_and_little_more(
    policy: RetryPolicy, retry: int, asked: float, seed: int
) -> None:
    wait = policy.wait_s(retry, asked, random.Random(seed))
    assert asked <= wait <= asked * 1.02 + 0.05 + 1e-9


@given(policies, st.integers(1, 200), st.integers())
def test_without_a_word_of_the_servers_the_wait_doubles_up_to_a_bound(
    policy: RetryPolicy, retry: int, seed: int
) -> None:
    nominal = min(policy.max_s, policy.base_s * 2.0 ** (retry - 1))
    for asked in (None, 0.0):  # "Retry-After: 0" asks for nothing
        wait = policy.wait_s(retry, asked, random.Random(seed))
        assert nominal * 0.8 <= wait <= nominal * 1.2 * (1 + 1e-12)


def test_the_default_waits_begin_at_1_s_and_end_at_60_s() -> None:
    policy = RetryPolicy()
    assert policy.max_retries == 6
    for retry, nominal in [(1, 1), (2, 2), (6, 32), (7, 60), (30, 60)]:
        waits = [policy.wait_s(retry, None, random.Random(seed)) for seed in range(200)]
        assert nominal * 0.8 <= min(waits) < nominal < max(waits) <= nominal * 1.2


@pytest.mark.parametrize(
    "error", [Unavailable("down", status=503), Timeout("late"), RateLimited("slow"), RateLimited("slow", after_s=0.01)]
)
def test_a_passing_fault_is_asked_again(error: ProviderError) -> None:
    reply, provider, counts = call(error, error, "Here")
    assert reply == Reply(text="Here")
    assert len(provider.requests) == counts.sent == 3
    assert counts.retries == 2
    assert counts.failed == 0


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_retries_are_counted_after_the_first_try(retries: int) -> None:
    result, provider, counts = call(
        Unavailable("down", status=503), retry=RetryPolicy(max_retries=retries, base_s=0.001)
    )
    assert result == Failure(kind="Unavailable", message="down", attempts=retries + 1, retryable=True)
    assert len(provider.requests) == retries + 1
    assert (counts.failed, counts.retries) == (1, retries)


def test_a_refused_request_is_a_failure_at_once() -> None:
    result, provider, _ = call(BadRequest("too long", status=400))
    assert result == Failure(kind="BadRequest", message="too long", attempts=1, retryable=False)
    assert len(provider.requests) == 1


@pytest.mark.parametrize("error", [AuthError("no", status=403), ModelNotFound("no", status=404)])
def test_a_refused_key_or_model_ends_the_run_at_the_first_request(error: ProviderError) -> None:
    with pytest.raises(type(error)) as caught:
        call(error)
    assert caught.value is error


@pytest.mark.parametrize(
    "error", [RateLimited("quota", after_s=7200.0), Unavailable("resting", status=503, after_s=301.0)]
)
def test_a_delay_of_over_5_minutes_ends_the_run_and_says_how_long(error: Any) -> None:
    with pytest.raises(RateLimited) as caught:
        call(error)
    assert caught.value.after_s == error.after_s
    assert {7200.0: "2.0 h", 301.0: "5 min"}[error.after_s] in str(caught.value)
    assert "same command" in caught.value.hint


def test_what_is_no_providers_error_is_not_swallowed() -> None:
    with pytest.raises(KeyError):
        call(KeyError("a fault of ours"))


def test_a_place_is_given_back_whatever_happens() -> None:
    async def main() -> None:
        door = caller(Scripted(script(KeyError("x"), BadRequest("y"), "z")))
        with pytest.raises(KeyError):
            await door.call(REQUEST)
        await door.call(REQUEST)
        await door.call(REQUEST)
        assert door._limiter._in_flight == 0

    asyncio.run(main())


def test_the_servers_delay_is_kept_and_holds_other_requests_too() -> None:
    arrivals: list[tuple[str, float]] = []

    def answer(request: Request) -> Any:
        arrivals.append((request.item_id, monotonic()))
        first = request.item_id == "limited" and sum(name == "limited" for name, _ in arrivals) == 1
        return RateLimited("slow", after_s=0.2) if first else "ok"

    async def main() -> CallCounts:
        door = caller(Scripted(answer))
        limited = asyncio.create_task(door.call(replace(REQUEST, item_id="limited")))
        await asyncio.sleep(0.02)
        await asyncio.gather(limited, *(door.call(replace(REQUEST, item_id=f"other {n}")) for n in range(5)))
        return door.counts

    counts = asyncio.run(main())
    (_, first), *rest = arrivals
    assert len(rest) == 6
    assert min(at for _, at in rest) >= first + 0.2
    assert counts.rate_limited == 1


@pytest.mark.parametrize("error", [Unavailable("down", after_s=200.0), RateLimited("slow", after_s=200.0)])
def test_a_stop_ends_the_wait_for_a_retry(error: ProviderError) -> None:
    async def main() -> None:
        stop = Stop()
        asking = asyncio.create_task(caller(Scripted(script(error)), stop=stop).call(REQUEST))
        await asyncio.sleep(0.02)
        assert not asking.done()
        stop.set("SIGINT")
        with pytest.raises(Stopped):
            await asyncio.wait_for(asking, 30)

    asyncio.run(main())


def test_tokens_are_added_up_thoughts_among_the_output() -> None:
    usage = Usage(input_tokens=10, output_tokens=2, thinking_tokens=30)
    _, _, counts = call(Reply(text="x", usage=usage))
    assert (counts.input_tokens, counts.output_tokens) == (10, 32)


class TestCache:
    """Replies across runs."""

    @pytest.fixture
    def cache(self, tmp_path: Path) -> Any:
        with ReplyCache(tmp_path) as cache:
            yield cache

    def test_a_known_request_is_not_sent(self, cache: ReplyCache) -> None:
        first, provider, _ = call("Here", cache=cache)
        second, other, counts = call("There", cache=cache)
        assert first == second == Reply(text="Here")
        assert (len(provider.requests), len(other.requests)) == (1, 0)
        assert (counts.cached, counts.sent) == (1, 0)

    def test_failures_are_never_kept(self, cache: ReplyCache) -> None:
        for _ in range(2):
            result, provider, _ = call(BadRequest("no"), cache=cache)
            assert isinstance(result, Failure)
            assert len(provider.requests) == 1
        assert call("Here", cache=cache)[0] == Reply(text="Here")

    def test_a_fresh_run_does_not_read_it_and_leaves_its_own_replies(self, cache: ReplyCache) -> None:
        call("old", cache=cache)
        assert call("new", cache=cache, read_cache=False)[0].text == "new"
        assert call("newer", cache=cache)[0].text == "new"

    def test_repeated_samples_of_one_prompt_are_kept_apart(self, cache: ReplyCache) -> None:
        async def main() -> list[str]:
            door = caller(Scripted(lambda request: f"sample {request.repeat}"), cache=cache)
            results = [await door.call(replace(REQUEST, repeat=repeat)) for repeat in (0, 1, 2, 0, 1, 2)]
            assert door.counts.sent == 3
            return [result.text for result in results if isinstance(result, Reply)]

        assert asyncio.run(main()) == ["sample 0", "sample 1", "sample 2"] * 2

    @pytest.mark.parametrize(
        "change",
        [
            {"provider": "other"},
            {"endpoint": "test://elsewhere"},
            {"model": "n"},
            {"temperature": 0.5},
            {"max_tokens": 5},
            {"seed": 1},
            {"logprobs": True},
            {"thinking_budget": 7},
            {"messages": (Message(role="user", content="Where? "),)},
            {"messages": (Message(role="system", content="Where?"),)},
        ],
    )
    def test_whatever_decides_a_reply_is_part_of_its_key(self, change: dict[str, Any]) -> None:
        assert replace(REQUEST, **change).key != REQUEST.key

    def test_what_a_request_is_about_is_no_part_of_its_key(self) -> None:
        assert replace(REQUEST, item_id="q7", question="Where?", t=0.5).key == REQUEST.key


class TestAdapting:
    """A model that does not take an optional field is asked without it."""

    refusal = BadRequest("Unknown field: thinking", status=400)

    def test_the_first_request_is_repeated_as_adapted_and_so_are_all_others(self) -> None:
        adapted = Scripted(lambda _r: "Here")
        provider = Scripted(script(self.refusal))
        provider.adaptations = [adapted]

        async def main() -> CallCounts:
            door = caller(provider, retry=RetryPolicy(max_retries=0))
            assert await door.call(REQUEST) == Reply(text="Here")
            assert await door.call(REQUEST) == Reply(text="Here")
            assert door.provider is adapted
            return door.counts

        counts = asyncio.run(main())
        assert (len(provider.requests), len(adapted.requests)) == (1, 2)
        assert counts.failed == 0

    def test_two_fields_take_two_steps(self) -> None:
        last = Scripted(lambda _r: "Here")
        second, first = Scripted(script(self.refusal)), Scripted(script(self.refusal))
        first.adaptations, second.adaptations = [second], [last]

        async def main() -> Any:
            return await caller(first).call(REQUEST)

        assert asyncio.run(main()) == Reply(text="Here")

    def test_once_a_reply_has_come_nothing_is_adapted(self) -> None:
        adapted = Scripted(lambda _r: "There")
        provider = Scripted(script("Here", self.refusal))
        provider.adaptations = [adapted]

        async def main() -> Any:
            door = caller(provider)
            await door.call(REQUEST)
            return await door.call(REQUEST)

        assert isinstance(asyncio.run(main()), Failure)
        assert adapted.requests == []

    def test_requests_that_were_on_their_way_are_asked_as_adapted_too(self) -> None:
        """A judge is asked by many at once, before any reply has come."""
        adapted = Scripted(lambda _r: "Here")
        provider = Scripted(script(self.refusal), delay_s=0.01)
        provider.adaptations = [adapted]

        async def main() -> list[Any]:
            door = caller(provider, retry=RetryPolicy(max_retries=0))
            return await asyncio.gather(*(door.call(REQUEST) for _ in range(8)))

        assert asyncio.run(main()) == [Reply(text="Here")] * 8
        assert (len(provider.requests), len(adapted.requests)) == (8, 8)
