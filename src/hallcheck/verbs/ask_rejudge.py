"""Judge the replies of an earlier run again: another judge, or a newer version; no answer is asked again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from hallcheck.config import AskConfig
from hallcheck.errors import ConfigError, ProviderError, StoreError
from hallcheck.store.folder import ITEMS, JOURNAL, RunFolder, read_manifest
from hallcheck.store.items import read_items
from hallcheck.store.journal import Journal, decode_record, scan
from hallcheck.types import Reply, Request, Retry
from hallcheck.verbs.ask import AskRun, Progress, run_ask


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
    old = manifest["config"]
    folder = Path(out) if out is not None else source.with_name(f"{source.resolve().name}-judged-{config.judge}")
    if folder.resolve() == source.resolve():
        raise ConfigError("--out is the folder that is judged again", hint="give another --out")
    settings = {name: old[name] for name in config.identity() if name in old and not name.startswith("judge")}
    settings["thresholds"] = tuple(settings["thresholds"])
    if "samples" in old:
        settings["samples"] = old["samples"]
    config = replace(config, out=str(folder), fresh=False, **settings)
    if not (folder / JOURNAL).exists():
        _copy_replies(source, folder, config.method)
    provider = _NoRequests(manifest["provider"]["name"], manifest["provider"]["endpoint"])
    return await run_ask(
        config,
        read_items(source / ITEMS),
        manifest["dataset"],
        provider=provider,
        progress=progress,
        signals=signals,
        ask_missing=False,
    )


def _copy_replies(source: Path, folder: Path, method: str) -> None:
    """The last record of each slot, without its verdict; a failed request stays what it is."""
    last = {row["slot"]: row for _, _, row in scan(source / JOURNAL)}
    if not last:
        raise StoreError(f"{str(source)!r} holds no reply to judge")
    new = RunFolder(folder)
    try:
        # Under another name until it is whole: a half-copied journal would pass for all there is.
        unfinished = folder / f".{JOURNAL}.tmp"
        unfinished.unlink(missing_ok=True)
        with Journal(unfinished) as journal:
            for row in last.values():
                record = decode_record(row)
                if record.error is None and record.judge != "reading":
                    if method == "samples":
                        continue  # the verdict on an item's samples is made anew
                    record = replace(record, outcome="", reason="", extracted=None, judge="", disagreement=None)
                journal.append(record)
        unfinished.replace(folder / JOURNAL)
    finally:
        new.close()


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
