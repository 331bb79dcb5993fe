"""`hallcheck ask`: does a model answer only when it is more than t confident? (Kalai et al., arXiv 2509.04664)

Flow: check all -> freeze the items -> lock and match the folder -> one probing request -> the queue -> artifacts.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from hallcheck import registry
from hallcheck.calling import CallCounts, Caller, RetryPolicy
from hallcheck.config import AskConfig, check_thresholds
from hallcheck.engine import Stop, Stopped, interrupts, run_queue, run_sync
from hallcheck.errors import ConfigError, HallcheckError
from hallcheck.limiter import Limiter
from hallcheck.store.cache import ReplyCache
from hallcheck.store.folder import ITEMS, JOURNAL, RunFolder
from hallcheck.store.items import FrozenItems, check_unchanged, freeze_items, read_items
from hallcheck.store.journal import Journal, JournalReader
from hallcheck.types import Item, Provider
from hallcheck.verbs.ask_artifacts import write_artifacts
from hallcheck.verbs.ask_judging import Judges
from hallcheck.verbs.ask_manifest import begin_manifest, check_same, finish_manifest
from hallcheck.verbs.ask_plan import Plan
from hallcheck.verbs.ask_results import Results
from hallcheck.verbs.ask_run import AskRun
from hallcheck.verbs.ask_trials import Trials

TICK_S = 0.25
LIVE_PROVIDERS = ("anthropic", "google", "local", "openai")
SYNC_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is. `waiting_s`: seconds until the server takes requests again (0: it does)."""

    done: int
    total: int
    begun_at: int
    unscored: int
    retries: int
    rate_limited: int
    waiting_s: float
    adaptations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    """What a run would send. Tokens are estimates: four characters a token, and the most that an answer may use."""

    items: int
    requests: int
    judge_requests_at_most: int
    input_tokens: int
    output_tokens_at_most: int


def ask(
    items: str | Path | Iterable[Item | Mapping[str, Any]],
    model: str,
    thresholds: Iterable[float] = (0.5, 0.75, 0.9),
    *,
    out: str | Path | None = None,
    provider: Provider | None = None,
    progress: Callable[[Progress], None] | None = None,
    **settings: Any,
) -> AskRun:
    """Put every item to a model with the rule "answer only if you are > t confident", and score what it does.

    `items`: Items, or mappings with `question`, `gold` (or `answers`), `unknown_ok`, ...; or a data set; or the path of
    a CSV or JSONL file.
    `model`: PROVIDER/NAME. `thresholds`: numbers in [0, 1]. `out`: the run's folder (default: a new temporary one);
    the same call with the same folder resumes. `settings`: fields of AskConfig, such as `method`, `judge`, `shots`.
    Works where an event loop is running (a notebook). Raises HallcheckError.
    """
    known = {one.name for one in fields(AskConfig)} - {"model", "thresholds", "out"}
    for name in settings:
        if name not in known:
            raise ConfigError(f"unknown setting {name!r}", hint=registry.suggest(name, known))
    config = AskConfig(model=model, thresholds=check_thresholds(thresholds), out=str(out or ""), **settings)
    if not config.out:
        config = replace(config, out=tempfile.mkdtemp(prefix="hallcheck-"))
    from hallcheck.datasets.memory import as_items

    read = as_items(items)
    dataset = {"name": getattr(read, "name", "memory"), **getattr(read, "settings", {})}
    return run_sync(run_ask(config, read, dataset, provider=provider, progress=progress))


async def run_ask(
    config: AskConfig,
    items: Iterable[Item],
    dataset: Mapping[str, Any],
    *,
    provider: Provider | None = None,
    progress: Callable[[Progress], None] | None = None,
    signals: bool = False,
    retry: RetryPolicy | None = None,
    stored: Callable[[Path], None] | None = None,
) -> AskRun:
    """Run (or resume) one abstention test. `dataset`: its name and settings, for the manifest.

    `signals`: SIGINT and SIGTERM end the run gracefully. Raises HallcheckError before, or at, the first request for
    what concerns the whole run. `stored`: writes a journal of replies that are there already; then nothing is asked,
    they are only judged.
    """
    own = provider is None
    provider = provider or make_provider(config.model, config)
    folder: RunFolder | None = None
    stop = Stop()
    try:
        _check_method(config, provider)
        folder = RunFolder(config.out, fresh=config.fresh)
        run = _Run(config, folder, provider, dataset, retry or RetryPolicy(max_retries=config.max_retries))
        # From reading the items to the last artifact: a signal never leaves half of them behind.
        with interrupts(stop) if signals else contextlib.nullcontext():
            frozen = run.prepare(items)
            if stored and not folder.has_replies:
                stored(folder.path / JOURNAL)
            return await run.go(frozen, progress, stop, ask_missing=stored is None)
    finally:
        if folder:
            folder.close()
        if own:
            await provider.close()


def dry_run(config: AskConfig, items: Iterable[Item]) -> DryRun:
    """Count what a run would send, without sending or writing anything. Resuming counts only what is missing."""
    from hallcheck.verbs.ask_estimate import estimate

    registry.load("providers", registry.split_model(config.model)[0])
    n, requests, judged, tokens_in, tokens_out = estimate(config, items)
    return DryRun(
        items=n,
        requests=requests,
        judge_requests_at_most=judged,
        input_tokens=tokens_in,
        output_tokens_at_most=tokens_out,
    )


def make_provider(model: str, config: AskConfig) -> Provider:
    """The provider of a model string. Raises ConfigError, AuthError or MissingExtra."""
    family, name = registry.split_model(model)
    create = registry.load("providers", family)
    made: Provider = create(name, timeout_s=config.timeout, concurrency=config.concurrency, env=os.environ)
    return made


def _check_method(config: AskConfig, provider: Provider) -> None:
    if config.method == "logprob" and "logprobs" not in provider.supports:
        raise ConfigError(
            f"--method logprob: {provider.name} returns no token probabilities",
            hint="use --method verbal or --method samples, or another provider",
        )
    if config.judge == "recorded" and provider.name in LIVE_PROVIDERS:
        raise ConfigError(
            f"--judge recorded: answers of {provider.name} carry no verdict",
            hint="it is for --model replay/FILE; use --judge exact or --judge llm",
        )


class _Run:
    """One run's parts, put together. Lives as long as `run_ask`."""

    def __init__(
        self, config: AskConfig, folder: RunFolder, provider: Provider, dataset: Mapping[str, Any], retry: RetryPolicy
    ) -> None:
        self.config = config
        self.folder = folder
        self.provider = provider
        self.dataset = dataset
        self.retry = retry
        self.counts = CallCounts()
        self.notes: list[Any] = []

    def prepare(self, items: Iterable[Item]) -> FrozenItems:
        """Validate and freeze the items; match them and the settings with what the folder holds."""
        path = self.folder.path / ITEMS
        resumed = self.folder.has_run and self.folder.has_replies
        if resumed:
            frozen = freeze_items(items, None)
            check_same(self.folder, self.config, self.dataset, frozen)
            check_unchanged(path, frozen)
        else:
            frozen = freeze_items(items, path)
        self.notes = list(getattr(items, "notes", ()))
        before = self.folder.read_manifest() if resumed else {}
        self.manifest = begin_manifest(self.folder, self.config, self.dataset, frozen, self.provider, before)
        return frozen

    async def go(
        self,
        frozen: FrozenItems,
        progress: Callable[[Progress], None] | None,
        stop: Stop,
        *,
        ask_missing: bool,
    ) -> AskRun:
        limiter = Limiter(rpm=self.config.rpm_limit, tpm=self.config.tpm_limit, stop=stop)
        plan = Plan(frozen.n, self.config, ask_missing=ask_missing)
        with contextlib.ExitStack() as files:
            journal = files.enter_context(Journal(self.folder.path / JOURNAL))
            reader = files.enter_context(JournalReader(journal.path))
            cache = None
            if self.config.cache is not None:
                cache = files.enter_context(ReplyCache(self.config.cache or None))
            plan.load(journal)
            begun_at = plan.done
            caller = self._caller(self.provider, limiter, stop, cache)
            judges = Judges(self.config, lambda p: self._caller(p, limiter, stop, cache))
            trials = Trials(
                config=self.config,
                caller=caller,
                judge_for=judges.judge_for,
                plan=plan,
                journal=journal,
                reader=reader,
                provider_name=self.provider.name,
                endpoint=self.provider.endpoint,
                model_name=registry.split_model(self.config.model)[1],
            )

            def report() -> None:
                if progress:
                    progress(_progress(plan, begun_at, self.counts, limiter, caller))

            try:
                await self._ask_all(trials, stop, report)
            except HallcheckError:
                # What came in before the run had to stop is paid for: show it, if the disk has room for it.
                if plan.done:
                    with contextlib.suppress(HallcheckError):
                        self._finish(plan, stop, caller)
                raise
            finally:
                await judges.close()
                journal.sync()
                report()
        return self._finish(plan, stop, caller)

    async def _ask_all(self, trials: Trials, stop: Stop, report: Callable[[], None]) -> None:
        units = _units(trials.plan, self.folder.path / ITEMS)
        ticker = asyncio.create_task(_tick(trials.journal, report))

        async def handle(unit: tuple[Item, int, tuple[int, ...]]) -> None:
            await trials.unit(*unit)

        try:
            # The probe: one request alone, so that a wrong key or model costs no more.
            await run_queue(_until_sent(units, self.counts), handle, concurrency=1, stop=stop)
            if not stop:
                await run_queue(units, handle, concurrency=self.config.concurrency, stop=stop)
        except Stopped:
            pass
        finally:
            ticker.cancel()
            error = (await asyncio.gather(ticker, return_exceptions=True))[0]
            if isinstance(error, HallcheckError):
                raise error

    def _caller(self, provider: Provider, limiter: Limiter, stop: Stop, cache: ReplyCache | None) -> Caller:
        return Caller(
            provider,
            limiter=limiter,
            retry=self.retry,
            stop=stop,
            counts=self.counts,
            cache=cache,
            # "Ask again" means the provider, not what it said before.
            read_cache=not (self.config.fresh or self.config.retry_unscored),
        )

    def _finish(self, plan: Plan, stop: Stop, caller: Caller) -> AskRun:
        partial = plan.done < plan.n_slots and plan.remaining() > 0
        results = Results(
            config=self.config,
            plan=plan,
            items_path=self.folder.path / ITEMS,
            journal_path=self.folder.path / JOURNAL,
        )
        manifest = finish_manifest(self.manifest, self.counts, caller.provider.changes, partial)
        artifacts = write_artifacts(self.folder, self.config, results, manifest, self.notes, partial=partial)
        return AskRun(
            out=self.folder.path,
            metrics=artifacts.report.metrics,
            behavior=artifacts.report.behavior,
            manifest=artifacts.report.run,
            files=artifacts.files,
            partial=partial,
            interrupted=stop.reason if stop.reason.startswith("SIG") else "",
            artifacts=artifacts,
        )


def _units(plan: Plan, items_path: Path) -> Iterator[tuple[Item, int, tuple[int, ...]]]:
    """The units that are left, each with its item; items are read as they are needed."""
    items = enumerate(read_items(items_path))
    at, item = -1, None
    for index, parts in plan.work():
        while at < index:
            at, item = next(items)
        assert item is not None
        yield item, index, parts


def _until_sent(units: Iterator[Any], counts: CallCounts) -> Iterator[Any]:
    """Units up to the first that sends a request: some have a reply already, in the folder or the cache."""
    for unit in units:
        yield unit
        if counts.sent:
            return


def _progress(plan: Plan, begun_at: int, counts: CallCounts, limiter: Limiter, caller: Caller) -> Progress:
    return Progress(
        done=plan.done,
        total=plan.n_slots,
        begun_at=begun_at,
        unscored=plan.unscored,
        retries=counts.retries,
        rate_limited=counts.rate_limited,
        waiting_s=max(0.0, limiter.waiting_until - time.monotonic()),
        adaptations=caller.provider.changes,
    )


async def _tick(journal: Journal, report: Callable[[], None]) -> None:
    """Show progress, and bring the journal to the disk at least every second."""
    synced = time.monotonic()
    while True:
        await asyncio.sleep(TICK_S)
        report()
        if time.monotonic() - synced >= SYNC_S:
            await asyncio.to_thread(journal.sync)
            synced = time.monotonic()
