"""Judge the replies of an earlier run again: another judge, or a newer version; no answer is asked again."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hallcheck.config import AskConfig
from hallcheck.errors import ConfigError, ProviderError, StoreError
from hallcheck.store.folder import ITEMS, JOURNAL, read_manifest
from hallcheck.store.items import read_items
from hallcheck.store.journal import Journal, JournalReader, scan
from hallcheck.types import Reply, Request, Retry
from hallcheck.verbs.ask import DryRun, Progress, run_ask
from hallcheck.verbs.ask_estimate import judge_requests
from hallcheck.verbs.ask_plan import Plan
from hallcheck.verbs.ask_run import AskRun


async def rejudge(
    source: str | Path,
    config: AskConfig,
    *,
    out: str | Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    signals: bool = False,
) -> AskRun:
    """Judge the replies stored in `source` by `config.judge`, into `out` (default: SOURCE-judged-JUDGE).

    Everything but the judge is taken from the earlier run. Running it again resumes. Raises StoreError where `source`
    holds no run, ConfigError where the output folder is the run itself.
    """
    source = Path(source)
    manifest = read_manifest(source)
    folder = Path(out) if out is not None else source.with_name(f"{source.resolve().name}-judged-{config.judge}")
    if folder.resolve() == source.resolve():
        raise ConfigError("--out is the folder that is judged again", hint="give another --out")
    config = replace(_settings_of(manifest["config"], config), out=str(folder))
    _last_replies(source)  # refused before anything is written
    provider = _NoRequests(manifest["provider"]["name"], manifest["provider"]["endpoint"])
    return await run_ask(
        config,
        read_items(source / ITEMS),
        manifest["dataset"],
        provider=provider,
        progress=progress,
        signals=signals,
        stored=lambda journal: _copy_replies(source, journal, config.method),
    )


def dry_rejudge(source: str | Path, config: AskConfig) -> DryRun:
    """Count what `rejudge` would ask at most, without sending or writing anything."""
    source = Path(source)
    config = _settings_of(read_manifest(source)["config"], config)
    per_item = Plan(0, config).per_item
    replies = Counter(slot // per_item for slot in _last_replies(source))
    n = judged = 0
    for index, item in enumerate(read_items(source / ITEMS)):
        n += 1
        judged += judge_requests(config, item, replies[index])
    return DryRun(items=n, requests=0, judge_requests_at_most=judged, input_tokens=0, output_tokens_at_most=0)


def _settings_of(old: Mapping[str, Any], config: AskConfig) -> AskConfig:
    """`config` with everything but the judge from the earlier run."""
    names = [name for name in (*config.identity(), "samples") if name in old and not name.startswith("judge")]
    settings = {name: old[name] for name in names}
    return replace(config, **{**settings, "thresholds": tuple(settings["thresholds"])})


def _last_replies(source: Path) -> dict[int, int]:
    """Slot -> offset of its last record. Raises StoreError if there is none."""
    last: dict[int, int] = {}
    with contextlib.suppress(FileNotFoundError):
        last = {row["slot"]: offset for offset, _, row in scan(source / JOURNAL)}
    if not last:
        raise StoreError(f"{str(source)!r} holds no reply to judge", hint="give the folder of a run that has some")
    return last


def _copy_replies(source: Path, target: Path, method: str) -> None:
    """The last record of each slot, without its verdict; a failed request stays what it is."""
    # Under another name until it is whole: a half-copied journal would pass for all there is.
    unfinished = target.with_name(f".{target.name}.tmp")
    unfinished.unlink(missing_ok=True)
    with Journal(unfinished) as journal, JournalReader(source / JOURNAL) as reader:
        for offset in _last_replies(source).values():
            record = reader.read(offset)
            if record.error is None and record.judge != "reading":
                if method == "samples":
                    continue  # the verdict on an item's samples is made anew
                record = replace(record, outcome="", reason="", extracted=None, judge="", disagreement=None)
            journal.append(record)
    unfinished.replace(target)


class _NoRequests:
    """A provider for replies that are there already: it must never be asked."""

    supports = frozenset({"logprobs", "seed", "temperature"})
    changes: tuple[str, ...] = ()

    def __init__(self, name: str, endpoint: str) -> None:
        self.name = name
        self.endpoint = endpoint

    async def complete(self, request: Request) -> Reply:
        raise ProviderError(f"no stored reply to item {request.item_id!r}")

    def classify(self, error: BaseException) -> Retry:  # noqa: ARG002
        return Retry(kind="no")

    def adapt(self, error: BaseException) -> None:  # noqa: ARG002
        return None

    async def close(self) -> None:
        return None
