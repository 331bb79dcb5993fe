"""The limiter: paced, never bursting, slowed as a whole by the server's word, and nobody is left waiting."""

from __future__ import annotations

import asyncio
import itertools
from time import monotonic
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hallcheck.engine import Stop, Stopped
from hallcheck.limiter import Limiter

SLACK_S = 0.002  # a timer may fire a little early


async def departures(
    limiter: Limiter, n: int, *, workers: int = 8, hold_s: float = 0.0, tokens: int = 0
) -> list[float]:
    """When each of n requests left, with so many workers."""
    left: list[float] = []
    work = iter(range(n))

    async def worker() -> None:
        for _ in work:
            await limiter.acquire(tokens)
            left.append(monotonic())
            await asyncio.sleep(hold_s)
            limiter.release(ok=True)

    await asyncio.gather(*(worker() for _ in range(workers)))
    return left


def ahead_of_pace(left: list[float], begun: float, interval: float) -> float:
    """How far at most a departure came before the moment that an even pace from `begun` allows; in seconds."""
    return max(begun + place * interval - at for place, at in enumerate(left))


@pytest.mark.parametrize(
    ("limits", "tokens", "interval"),
    [
        ({"rpm": 3000}, 0, 0.02),
        ({"tpm": 60_000}, 20, 0.02),
        ({"rpm": 60_000, "tpm": 60_000}, 30, 0.03),
        ({"rpm": 2000, "tpm": 60_000}, 10, 0.03),
    ],
)
@pytest.mark.parametrize("workers", [1, 8])
def test_requests_leave_at_an_even_pace_without_a_burst(
    limits: dict[str, float], tokens: int, interval: float, workers: int
) -> None:
    async def main() -> float:
        begun = monotonic()
        left = await departures(Limiter(**limits, stop=Stop()), 12, workers=workers, tokens=tokens)
        return ahead_of_pace(left, begun, interval)

    # Request k leaves no sooner than k intervals after the first: no credit is saved up for a burst.
    assert asyncio.run(main()) <= SLACK_S


def test_the_real_number_of_tokens_corrects_the_pace() -> None:
    async def main() -> float:
        limiter = Limiter(tpm=60_000, stop=Stop())
        await limiter.acquire(3_600_000)  # an hour's worth, by estimate
        limiter.release(ok=True)
        limiter.settle(3_600_000, 50)
        begun = monotonic()
        await limiter.acquire(1)
        return monotonic() - begun

    assert asyncio.run(main()) < 60


def test_without_limits_all_leave_at_once() -> None:
    async def main() -> int:
        limiter = Limiter(stop=Stop())
        await asyncio.gather(*(limiter.acquire(100) for _ in range(500)))
        return limiter._in_flight

    assert asyncio.run(main()) == 500


def test_a_pause_holds_everyone() -> None:
    async def main() -> tuple[float, list[float]]:
        limiter = Limiter(stop=Stop())
        limiter.pause(0.15)
        until = limiter.waiting_until
        return until, await departures(limiter, 10)

    until, left = asyncio.run(main())
    assert min(left) >= until - SLACK_S


def test_a_longer_pause_is_not_cut_by_a_shorter_one() -> None:
    async def main() -> tuple[float, float]:
        limiter = Limiter(stop=Stop())
        limiter.pause(0.2)
        until = limiter.waiting_until
        limiter.pause(0.01)
        assert limiter.waiting_until == until
        return until, (await departures(limiter, 1))[0]

    until, left = asyncio.run(main())
    assert left >= until - SLACK_S


def test_a_pause_that_grows_while_all_wait_is_waited_for() -> None:
    async def main() -> tuple[float, list[float]]:
        limiter = Limiter(stop=Stop())
        limiter.pause(0.05)
        waiting = asyncio.create_task(departures(limiter, 4))
        await asyncio.sleep(0.02)
        limiter.pause(0.2)
        return limiter.waiting_until, await waiting

    until, left = asyncio.run(main())
    assert min(left) >= until - SLACK_S


def in_flight_after(*steps: str, workers: int = 16) -> list[int]:
    """The most that are let in at once after a pause that came with `workers` in flight, then after each step.

    A step is the fate of all that are in flight: "ok" or "limited".
    """

    async def main() -> list[int]:
        limiter = Limiter(stop=Stop())
        for _ in range(workers):
            await limiter.acquire(0)
        limiter.pause(0)
        for _ in range(workers):
            limiter.release(ok=False)
        waiting = [asyncio.create_task(limiter.acquire(0)) for _ in range(1000)]
        seen = []
        before = 0
        for step in (*steps, ""):
            for _ in range(50):
                await asyncio.sleep(0)
            entered = sum(task.done() for task in waiting)
            seen.append(entered - before)
            for _ in range(entered - before):
                if step == "limited":
                    limiter.pause(0)
                limiter.release(ok=step == "ok")
            before = entered
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return seen

    return asyncio.run(main())


def test_after_a_pause_one_request_tries_then_half_of_them_go() -> None:
    first, second = in_flight_after("ok")
    assert (first, second) == (1, 8)


def test_the_number_grows_by_about_one_a_round_not_at_a_bound() -> None:
    rounds = in_flight_after("ok", "ok", "ok", "ok")
    assert rounds[:2] == [1, 8]
    assert all(1 <= b - a <= 2 for a, b in itertools.pairwise(rounds[1:]))


def test_when_the_trial_is_refused_too_one_goes_on_trying() -> None:
    assert in_flight_after("limited", "limited", "ok") == [1, 1, 1, 8]


def test_another_limit_halves_again() -> None:
    rounds = in_flight_after("ok", "limited", "ok")
    assert rounds == [1, 8, 1, 4]


def test_with_one_worker_there_is_always_one() -> None:
    assert in_flight_after("ok", "limited", "ok", workers=1)[:2] == [1, 1]


def test_after_a_pause_those_that_waited_do_not_leave_in_a_burst() -> None:
    async def main() -> tuple[float, list[float]]:
        limiter = Limiter(rpm=1500, stop=Stop())
        left = asyncio.create_task(departures(limiter, 30, workers=8, hold_s=0.001))
        await asyncio.sleep(0.1)
        limiter.pause(0.3)  # many intervals: all that wait are long due by its end
        return limiter.waiting_until, await left

    until, left = asyncio.run(main())
    after = [at for at in left if at >= until]
    assert len(after) > 15
    assert ahead_of_pace(after, until, 0.04) <= SLACK_S


@settings(deadline=None, max_examples=40)
@given(st.lists(st.sampled_from(["ok", "fail", "limited"]), min_size=1, max_size=60), st.integers(1, 12))
def test_nobody_is_left_waiting(fates: list[str], workers: int) -> None:
    """Whatever the fates of requests, every worker gets its turn, and places never go below zero."""

    async def main() -> None:
        limiter = Limiter(stop=Stop())
        left = iter(fates)
        served = 0

        async def worker() -> None:
            nonlocal served
            for fate in left:
                await limiter.acquire(0)
                served += 1
                await asyncio.sleep(0)
                if fate == "limited":
                    limiter.pause(0)
                limiter.release(ok=fate == "ok")
                assert limiter._in_flight >= 0

        await asyncio.wait_for(asyncio.gather(*(worker() for _ in range(workers))), 30)
        assert served == len(fates)
        assert limiter._in_flight == 0

    asyncio.run(main())


def test_a_cancelled_waiter_does_not_take_the_place_of_another() -> None:
    async def main() -> None:
        limiter = Limiter(stop=Stop())
        await limiter.acquire(0)
        limiter.pause(0)
        gone, stays = (asyncio.create_task(limiter.acquire(0)) for _ in range(2))
        await asyncio.sleep(0.01)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        limiter.release(ok=False)
        await asyncio.wait_for(stays, 30)

    asyncio.run(main())


def _paused() -> Limiter:
    limiter = Limiter(stop=Stop())
    limiter.pause(3600)
    return limiter


def _full() -> Limiter:
    limiter = Limiter(stop=Stop())
    limiter.pause(0)
    limiter._in_flight = 1
    return limiter


def _paced() -> Limiter:
    limiter = Limiter(rpm=0.01, stop=Stop())
    limiter._slot(0)
    return limiter


@pytest.mark.parametrize("make", [_paused, _full, _paced])
def test_a_stop_wakes_all_who_wait_for_whatever(make: Any) -> None:
    async def main() -> list[Any]:
        limiter = make()
        waiting = asyncio.gather(*(limiter.acquire(0) for _ in range(20)), return_exceptions=True)
        await asyncio.sleep(0.02)
        limiter._stop.set("now")
        found: list[Any] = await asyncio.wait_for(waiting, 30)
        return found

    assert all(isinstance(result, Stopped) for result in asyncio.run(main()))


def test_once_stopped_nobody_is_let_in() -> None:
    async def main() -> None:
        stop = Stop()
        limiter = Limiter(stop=stop)
        stop.set("now")
        with pytest.raises(Stopped):
            await limiter.acquire(0)

    asyncio.run(main())
