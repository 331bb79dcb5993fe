"""What a run would send, counted without sending: the same items, the same plan, the same prompts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hallcheck.config import AskConfig
from hallcheck.errors import StoreError
from hallcheck.prompts import build_messages
from hallcheck.store.folder import JOURNAL, MANIFEST, read_manifest
from hallcheck.store.journal import scan
from hallcheck.types import Item
from hallcheck.verbs.ask_plan import Plan

CHARS_A_TOKEN = 4


def estimate(config: AskConfig, items: Iterable[Item]) -> tuple[int, int, int, int, int]:
    """(items, requests, judge requests at most, input tokens, output tokens at most)."""
    done = set() if config.fresh else _done_slots(config)
    n = requests = judged = characters = 0
    per_item = Plan(0, config).per_item
    for index, item in enumerate(items):
        n += 1
        left = [p for p in range(per_item) if index * per_item + p not in done and p < _parts(config)]
        requests += len(left)
        judged += judge_requests(config, item, len(left))
        for part in left:
            t = config.thresholds[part] if config.method == "prompt" else None
            turns = build_messages(item, method=config.method, t=t, shots=config.shots)
            characters += sum(len(turn.content) for turn in turns)
    return n, requests, judged, characters // CHARS_A_TOKEN, requests * config.max_output_tokens


def judge_requests(config: AskConfig, item: Item, replies: int) -> int:
    """Requests of an LLM judge on an item's replies, at most; re-asks and retries apart."""
    if config.judge != "llm" or item.choices or item.unknown_ok or not replies:
        return 0
    if config.method == "samples":
        # One verdict, and every sample may have to be compared with every other.
        return config.judge_votes * (1 + config.samples * (config.samples - 1) // 2)
    return config.judge_votes * replies


def _parts(config: AskConfig) -> int:
    return {"prompt": len(config.thresholds), "samples": config.samples}.get(config.method, 1)


def _done_slots(config: AskConfig) -> set[int]:
    """Slots that the run in --out has done, if it is a run of these settings."""
    folder = Path(config.out)
    if not (folder / MANIFEST).exists() or not (folder / JOURNAL).exists():
        return set()
    try:
        before = read_manifest(folder)["identity"]
    except StoreError:
        return set()
    if any(before.get(name) != value for name, value in config.identity().items()):
        return set()
    plan = Plan(before["n_items"], config)
    for offset, _, row in scan(folder / JOURNAL):
        plan.take(offset, row)
    plan.reopen()
    return {slot for slot in range(plan.n_slots) if not plan.missing(slot)}
