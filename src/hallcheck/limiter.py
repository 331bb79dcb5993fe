"""One limiter for all requests of a run: paced, and slowed as a whole by the server's word.

Pacing: request k+1 leaves no sooner than 60/rpm seconds after request k (no bursts, no stalls); tokens likewise.
A rate limit pauses every worker until the server's delay is over, then lets one request through to try, then half of
the former number at a time, growing by one a round (additive increase, multiplicative decrease).
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from time import monotonic

from hallcheck.engine import Stop, Stopped


class Limiter:
    """`acquire` before each try, `release` after it. `waiting_until`: the end of the present pause (monotonic)."""

    def __init__(self, *, rpm: float | None = None, tpm: float | None = None, stop: Stop) -> None:
        self._interval = 60.0 / rpm if rpm else 0.0
        self._per_token = 60.0 / tpm if tpm else 0.0
        self._next = 0.0
        self._next_tokens = 0.0
        self._stop = stop
        self._in_flight = 0
        self._window = math.inf
        self._window_before_pause = math.inf
        self._trying = False
        self._queue: deque[asyncio.Future[None]] = deque()
        self.waiting_until = 0.0

    async def acquire(self, tokens: int) -> None:
        """Wait for a place. `tokens`: an estimate of what the request will use. Raises Stopped."""
        unpaced = not (self._interval or self._per_token)
        due = unpaced
        while True:
            if self._stop:
                raise Stopped
            if (wait := self.waiting_until - monotonic()) > 0:
                await self._sleep(wait)
                due = unpaced  # its turn has passed for all that waited: they must not leave together
            elif self._in_flight >= self._window:
                await self._wait_for_release()
                due = unpaced
            elif not due:
                await self._sleep(self._slot(tokens) - monotonic())
                due, tokens = True, 0  # tokens are reserved once
            else:
                self._in_flight += 1
                return

    def settle(self, estimated: int, used: int | None) -> None:
        """Correct the token pace once the real number is known."""
        if self._per_token and used is not None:
            self._next_tokens += (used - estimated) * self._per_token

    def release(self, *, ok: bool) -> None:
        """Give the place back. `ok`: a reply came, so the server takes requests again."""
        self._in_flight -= 1
        if ok and self._window is not math.inf and monotonic() >= self.waiting_until:
            if self._trying:
                self._trying = False
                self._window = max(1.0, self._window_before_pause / 2)
            else:
                self._window += 1.0 / self._window
                if self._window > 2 * self._window_before_pause:
                    self._window = math.inf
        self._wake()

    def pause(self, seconds: float) -> None:
        """Hold every request back for `seconds`, then let one through first."""
        if not self._trying:
            self._window_before_pause = max(1.0, min(self._window, float(self._in_flight)))
        self._trying = True
        self._window = 1.0
        self.waiting_until = max(self.waiting_until, monotonic() + seconds)

    def _slot(self, tokens: int) -> float:
        now = monotonic()
        at = max(now, self._next, self._next_tokens)
        self._next = max(now, self._next) + self._interval
        self._next_tokens = max(now, self._next_tokens) + tokens * self._per_token
        return at

    async def _sleep(self, seconds: float) -> None:
        if await self._stop.sleep(seconds):
            raise Stopped

    async def _wait_for_release(self) -> None:
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(place)
        stopped = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait({place, stopped}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
            if not place.done():
                place.cancel()

    def _wake(self) -> None:
        free = self._window - self._in_flight
        while self._queue and free >= 1:
            place = self._queue.popleft()
            if not place.done():
                place.set_result(None)
                free -= 1
