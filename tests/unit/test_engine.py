"""The work queue: bounded, stopped with grace, and loud about what went wrong."""

from __future__ import annotations

import asyncio
import gc
import itertools
import logging
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from hallcheck.engine import Stop, Stopped, run_queue, run_sync


def counted(pulled: list[int], most: int | None = None) -> Iterator[int]:
    for n in itertools.count() if most is None else range(most):
        pulled.append(n)
        yield n


@pytest.mark.parametrize("concurrency", [1, 3, 8])
def test_an_endless_source_is_pulled_no_further_than_there_are_workers(concurrency: int) -> None:
    pulled: list[int] = []
    done = ahead = at_once = now = 0

    async def main() -> None:
        stop = Stop()

        async def handle(_n: int) -> None:
            nonlocal done, ahead, at_once, now
            now += 1
            at_once = max(at_once, now)
            ahead = max(ahead, len(pulled) - done)
            await asyncio.sleep(0)
            now -= 1
            done += 1
            if done == 50:
                stop.set("enough")

        await run_queue(counted(pulled), handle, concurrency=concurrency, stop=stop)

    asyncio.run(main())
    assert at_once == ahead == concurrency
    assert len(pulled) <= 50 + 2 * concurrency


def test_every_element_is_handled_once() -> None:
    seen: list[int] = []

    async def handle(n: int) -> None:
        await asyncio.sleep(0.001 * (n % 3))
        seen.append(n)

    asyncio.run(_queue(range(100), handle, 7))
    assert sorted(seen) == list(range(100))


def test_no_work_at_all_ends_at_once() -> None:
    async def handle(_n: int) -> None:
        raise AssertionError

    asyncio.run(_queue((), handle, 4))


def test_one_slow_element_does_not_hold_the_others_back() -> None:
    seen: list[int] = []

    async def main() -> None:
        last = asyncio.Event()

        async def handle(n: int) -> None:
            if n == 0:
                await last.wait()
            seen.append(n)
            if n == 99:
                last.set()

        await _queue(range(100), handle, 2)

    asyncio.run(main())
    assert seen[-1] == 0


def test_when_stopped_what_is_in_flight_ends_and_nothing_new_begins() -> None:
    begun: list[int] = []
    ended: list[int] = []

    async def main() -> None:
        stop = Stop()

        async def handle(n: int) -> None:
            begun.append(n)
            if n == 3:
                stop.set("enough")
            await asyncio.sleep(0.05)
            ended.append(n)

        await run_queue(itertools.count(), handle, concurrency=4, stop=stop)

    asyncio.run(main())
    assert sorted(begun) == sorted(ended) == [0, 1, 2, 3]


def test_what_outlasts_the_grace_is_cancelled() -> None:
    ended: list[str] = []

    async def main() -> None:
        stop = Stop()

        async def handle(n: int) -> None:
            if n == 1:
                stop.set("enough")
            try:
                await asyncio.sleep(0.01 if n == 1 else 3600)
                ended.append("in time")
            except asyncio.CancelledError:
                ended.append("cancelled")
                raise

        await run_queue(range(9), handle, concurrency=2, stop=stop, grace_s=0.1)

    asyncio.run(main())
    assert ended == ["in time", "cancelled"]


def test_stopped_before_it_began_nothing_is_done() -> None:
    seen: list[int] = []

    async def main() -> None:
        stop = Stop()
        stop.set("early")
        await run_queue(counted([], 5), handle, concurrency=2, stop=stop)

    async def handle(n: int) -> None:
        seen.append(n)

    asyncio.run(main())
    assert seen == []


def test_the_first_exception_stops_the_run_and_is_raised_when_the_others_have_ended(caplog: Any) -> None:
    ended: list[int] = []

    async def handle(n: int) -> None:
        await asyncio.sleep(0)
        if n == 5:
            raise ValueError("five")
        await asyncio.sleep(0.02)
        ended.append(n)

    with caplog.at_level(logging.ERROR), pytest.raises(ValueError, match="five"):
        asyncio.run(_queue(itertools.count(), handle, 3))
    gc.collect()
    assert caplog.records == []
    assert len(ended) <= 7
    assert {0, 1, 2} <= set(ended)


def test_when_all_workers_fail_together_one_is_raised_and_none_is_printed(caplog: Any) -> None:
    async def handle(n: int) -> None:
        await asyncio.sleep(0.01)
        raise ValueError(f"number {n}")

    with caplog.at_level(logging.ERROR), pytest.raises(ValueError, match="number 0"):
        asyncio.run(_queue(range(10), handle, 4))
    gc.collect()
    assert caplog.records == []


def test_a_source_that_fails_is_raised() -> None:
    def source() -> Iterator[int]:
        yield 1
        raise OSError("gone")

    async def handle(_n: int) -> None:
        await asyncio.sleep(0)

    with pytest.raises(OSError, match="gone"):
        asyncio.run(_queue(source(), handle, 3))


def test_stopped_inside_a_handler_ends_its_worker_without_an_error() -> None:
    async def main() -> None:
        stop = Stop()

        async def handle(_n: int) -> None:
            stop.set("enough")
            raise Stopped

        await run_queue(itertools.count(), handle, concurrency=2, stop=stop)

    asyncio.run(main())


def test_cancelling_the_queue_cancels_its_handlers() -> None:
    cancelled = 0

    async def handle(_n: int) -> None:
        nonlocal cancelled
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            cancelled += 1
            raise

    async def main() -> None:
        task = asyncio.create_task(_queue(itertools.count(), handle, 3))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert cancelled == 3


def test_the_first_reason_to_stop_stands() -> None:
    async def main() -> None:
        stop = Stop()
        assert not stop
        stop.set("SIGINT")
        stop.set("error")
        assert stop
        assert stop.reason == "SIGINT"

    asyncio.run(main())


def test_a_stop_wakes_the_sleepers() -> None:
    async def main() -> tuple[list[bool], bool]:
        stop = Stop()
        before = await stop.sleep(0.001), await stop.sleep(0), await stop.sleep(-1)
        sleepers = asyncio.gather(*(stop.sleep(3600) for _ in range(5)))
        await asyncio.sleep(0)
        stop.set("now")
        return await sleepers, any(before)

    assert asyncio.run(main()) == ([True] * 5, False)


async def _value() -> int:
    await asyncio.sleep(0)
    return 42


def test_run_sync_works_without_and_within_a_running_loop() -> None:
    async def notebook() -> int:
        return run_sync(_value())

    assert run_sync(_value()) == 42
    assert asyncio.run(notebook()) == 42


def test_run_sync_raises_what_the_coroutine_raises() -> None:
    async def fails() -> None:
        raise ValueError("here")

    async def notebook() -> None:
        run_sync(fails())

    for attempt in (fails, notebook):
        with pytest.raises(ValueError, match="here"):
            run_sync(attempt())


def test_an_interrupt_in_a_notebook_ends_the_run() -> None:
    ended = threading.Event()
    waiting = threading.main_thread().ident
    assert waiting

    async def endless() -> None:
        try:
            threading.Timer(0.05, signal.pthread_kill, (waiting, signal.SIGINT)).start()
            await asyncio.sleep(3600)
        finally:
            ended.set()

    async def notebook() -> None:
        with pytest.raises(KeyboardInterrupt):
            run_sync(endless())

    # asyncio.run would take SIGINT for itself; a notebook's kernel leaves it to Python.
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(notebook())
    finally:
        loop.close()
    assert ended.is_set()


async def _queue(work: Any, handle: Any, concurrency: int) -> None:
    await run_queue(work, handle, concurrency=concurrency, stop=Stop())
