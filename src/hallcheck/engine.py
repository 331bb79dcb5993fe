"""A bounded work queue with a graceful stop.

Workers pull from one iterator: nothing is created before it is needed, so memory does not grow with the work.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

GRACE_S = 5.0
INTERRUPTED = 130


class Stop:
    """Tells everybody to take no more work. `reason`: what stopped the run ("" while it goes on)."""

    def __init__(self) -> None:
        self.reason = ""
        self._event = asyncio.Event()

    def __bool__(self) -> bool:
        return self._event.is_set()

    def set(self, reason: str) -> None:
        """Stop; the first reason stands."""
        if not self._event.is_set():
            self.reason = reason
            self._event.set()

    async def sleep(self, seconds: float) -> bool:
        """Sleep, or wake at once when stopped. True if stopped."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return self._event.is_set()
        try:
            await asyncio.wait_for(self._event.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def wait(self) -> None:
        """Until stopped."""
        await self._event.wait()


class Stopped(Exception):
    """Raised inside a handler that must not go on: the item stays missing and is asked when the run is resumed."""


async def run_queue(
    work: Iterable[T],
    handle: Callable[[T], Awaitable[None]],
    *,
    concurrency: int,
    stop: Stop,
    grace_s: float = GRACE_S,
) -> None:
    """Call `handle` on every element of `work`, at most `concurrency` at a time.

    When `stop` is set no more work is taken; what is in flight may finish within `grace_s` seconds, then it is
    cancelled. The first exception of a handler stops the run in the same way and is raised at the end.
    """
    elements = iter(work)
    workers = [asyncio.create_task(_worker(elements, handle, stop)) for _ in range(concurrency)]
    stopped = asyncio.create_task(stop.wait())
    first: BaseException | None = None
    try:
        pending: set[asyncio.Task[None]] = set(workers)
        while pending and not stop:
            done, pending = await asyncio.wait({*pending, stopped}, return_when=asyncio.FIRST_COMPLETED)
            pending.discard(stopped)
            for task in workers:
                if task in done:
                    first = first or task.exception()
            if first:
                stop.set("error")
        if pending:
            _, late = await asyncio.wait(pending, timeout=grace_s)
            await _cancel(late)
    except BaseException:
        stop.set("cancelled")
        await _cancel(workers)
        raise
    finally:
        await _cancel([stopped])
    # Every exception is looked at: asyncio would print those that nobody asked for.
    errors = [error for task in workers if not task.cancelled() and (error := task.exception())]
    if first or errors:
        raise first or errors[0]


async def _worker(elements: Iterator[T], handle: Callable[[T], Awaitable[None]], stop: Stop) -> None:
    for element in elements:
        if stop:
            return
        try:
            await handle(element)
        except Stopped:
            return


async def _cancel(tasks: Iterable[asyncio.Task[Any]]) -> None:
    tasks = list(tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@contextlib.contextmanager
def interrupts(stop: Stop) -> Iterator[None]:
    """SIGINT and SIGTERM set `stop`; a second SIGINT ends the process at once (the journal is already written).

    Only in the main thread's loop; elsewhere (a notebook, a service) signals stay with their owner.
    """

    def on_signal(number: int) -> None:
        if stop and number == signal.SIGINT:
            os._exit(INTERRUPTED)
        stop.set(signal.Signals(number).name)

    loop = asyncio.get_running_loop()
    taken = []
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, on_signal, number)
        except (NotImplementedError, RuntimeError, ValueError):
            continue
        taken.append(number)
    try:
        yield
    finally:
        for number in taken:
            loop.remove_signal_handler(number)


def run_sync(main: Coroutine[Any, Any, R]) -> R:
    """Run a coroutine to its end from synchronous code, also where a loop is running already (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(main)
    return _run_in_thread(main)


def _run_in_thread(main: Coroutine[Any, Any, R]) -> R:
    """Run `main` in a loop of its own in another thread; an interrupt of the waiting thread cancels it."""
    from concurrent.futures import ThreadPoolExecutor

    ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = Future()

    async def run() -> R:
        task = asyncio.current_task()
        assert task
        ready.set_result((asyncio.get_running_loop(), task))
        return await main

    with ThreadPoolExecutor(max_workers=1) as pool:
        running = pool.submit(asyncio.run, run())
        try:
            return running.result()
        except KeyboardInterrupt:
            loop, task = ready.result()
            with contextlib.suppress(RuntimeError):  # it ended in this moment
                loop.call_soon_threadsafe(task.cancel)
            raise
