"""Progress on stderr: a bar on a terminal, a plain line every ten seconds elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any, TextIO

from hallcheck.verbs.ask import Progress

LINE_EVERY_S = 10.0


class PlainProgress:
    """One line every ten seconds, and one when something new is to be said."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._begun = self._last = time.monotonic()
        self._said: set[str] = set()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        for change in progress.adaptations:
            self._once(change)
        if progress.waiting_s > 1:
            self._once("the server asks to slow down: waiting, the run goes on by itself")
        if now - self._last >= LINE_EVERY_S:
            self._last = now
            self._print(describe(progress, now - self._begun))

    def _once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._print(text)

    def _print(self, text: str) -> None:
        print(text, file=self._stream, flush=True)

    def close(self) -> None:
        """Nothing to clear."""


class BarProgress:
    """A bar by rich, redrawn as the run goes on."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        self._begun = time.monotonic()
        self._said: set[str] = set()
        self._console = Console(stderr=True)
        self._bar = Bar(
            BarColumn(bar_width=None), TextColumn("{task.fields[text]}", markup=False), console=self._console,
            transient=True,
        )  # fmt: skip
        self._task: Any = None

    def __call__(self, progress: Progress) -> None:
        if self._task is None:
            self._bar.start()
            self._task = self._bar.add_task("", total=progress.total, text="")
        for change in progress.adaptations:
            if change not in self._said:
                self._said.add(change)
                self._console.print(change, markup=False)
        text = describe(progress, time.monotonic() - self._begun)
        self._bar.update(self._task, completed=progress.done, total=progress.total, text=text)

    def close(self) -> None:
        """Take the bar away."""
        self._bar.stop()


def make_progress(quiet: bool) -> PlainProgress | BarProgress | None:
    """What fits the terminal; None if quiet."""
    if quiet:
        return None
    return BarProgress() if sys.stderr.isatty() else PlainProgress()


def describe(progress: Progress, elapsed_s: float) -> str:
    """done/total, rate, time left, retries, unscored."""
    fresh = progress.done - progress.begun_at
    rate = fresh / elapsed_s if elapsed_s > 0 else 0.0
    parts = [f"{progress.done}/{progress.total}", f"{rate:.1f}/s"]
    if rate > 0 and progress.done < progress.total:
        parts.append(f"{_duration((progress.total - progress.done) / rate)} left")
    if progress.retries:
        parts.append(f"{progress.retries} retries")
    if progress.unscored:
        parts.append(f"{progress.unscored} unscored")
    if progress.waiting_s > 1:
        parts.append(f"rate limited, waiting {progress.waiting_s:.0f} s")
    return " · ".join(parts)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"
