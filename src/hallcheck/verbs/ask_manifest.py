"""run.json: what was run, with what, and whether the same command may go on with it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from importlib.metadata import version
from platform import python_version
from typing import Any

from hallcheck import __version__, registry
from hallcheck.calling import CallCounts
from hallcheck.config import AskConfig
from hallcheck.errors import StoreError
from hallcheck.prompts import PROMPT_VERSION
from hallcheck.store.folder import RunFolder, differences
from hallcheck.store.items import FrozenItems
from hallcheck.types import Provider

SCHEMA = 1


def identity(config: AskConfig, frozen: FrozenItems) -> dict[str, Any]:
    """What a resumed run must share: settings, items, prompt and judge versions."""
    same = config.identity()
    same["items_sha256"] = frozen.sha256
    same["n_items"] = frozen.n
    same["prompt_version"] = PROMPT_VERSION
    same["judge_version"] = {name: registry.load("judges", name).version for name in sorted({config.judge, "choice"})}
    return same


def check_same(folder: RunFolder, config: AskConfig, dataset: Mapping[str, Any], frozen: FrozenItems) -> None:
    """Raise StoreError, naming what differs, unless the folder's run is this one."""
    manifest = folder.read_manifest()
    changed = list(differences(manifest["identity"], identity(config, frozen)))
    if any(line.startswith(("items_sha256", "n_items")) for line in changed):
        # The hash says that the items differ; the settings say why.
        changed = [line for line in changed if not line.startswith("items_sha256")] or ["the items have changed"]
        changed += differences(manifest.get("dataset", {}), dict(dataset), "dataset ")
    if changed:
        hint = "give another folder with --out, or --fresh to move the old one aside and start anew"
        if all(line.startswith("judge") for line in changed):
            hint = f"--rejudge {folder.path} judges the stored replies again, without asking any; or {hint}"
        raise StoreError(f"{str(folder.path)!r} holds a run of another configuration ({'; '.join(changed)})", hint=hint)


def begin_manifest(
    folder: RunFolder,
    config: AskConfig,
    dataset: Mapping[str, Any],
    frozen: FrozenItems,
    provider: Provider,
    before: Mapping[str, Any],
) -> dict[str, Any]:
    """Write run.json before the first request. `before`: the manifest of the run that is resumed, if one is."""
    manifest: dict[str, Any] = {
        "schema": SCHEMA,
        "tool": f"hallcheck {__version__}",
        "verb": "ask",
        "versions": {name: version(name) for name in ("aiohttp", "numpy", "scipy")} | {"python": python_version()},
        "identity": identity(config, frozen),
        "config": {**config.identity(), "dataset": dataset.get("name", ""), "figures": config.figures},
        "dataset": dict(dataset),
        "provider": {"name": provider.name, "endpoint": provider.endpoint},
        "model_version": before.get("model_version"),
        "adaptations": before.get("adaptations", []),
        "started": before.get("started") or _now(),
        "finished": None,
        "requests": before.get("requests", {"sent": 0, "retries": 0, "cached": 0, "failed": 0}),
        "tokens": before.get("tokens", {"input": 0, "output": 0}),
        "notes": [],
    }
    folder.write_manifest(manifest)
    return manifest


def finish_manifest(
    manifest: Mapping[str, Any], counts: CallCounts, changes: tuple[str, ...], partial: bool
) -> dict[str, Any]:
    """The manifest at the end of a run: requests of all its parts added up."""
    done = dict(manifest)
    done["finished"] = None if partial else _now()
    before = manifest["requests"]
    done["requests"] = {
        "sent": before["sent"] + counts.sent,
        "retries": before["retries"] + counts.retries,
        "cached": before["cached"] + counts.cached,
        "failed": before["failed"] + counts.failed,
    }
    done["requests_this_time"] = counts.sent
    if changes:
        done["adaptations"] = list(changes)
    return done


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
