"""Which judge decides an item: options by the choice judge, everything else by the one that was named."""

from __future__ import annotations

import os
from collections.abc import Callable

from hallcheck import registry
from hallcheck.calling import Caller
from hallcheck.config import AskConfig
from hallcheck.types import Failure, Item, Judge, Message, Provider, Reply, Request

# YES or NO, with room for a model that dresses it up.
JUDGE_TOKENS = 16


class Judges:
    """The judges of one run. An LLM judge asks through the same limiter, retries and cache as the answers."""

    def __init__(self, config: AskConfig, make_caller: Callable[[Provider], Caller]) -> None:
        self._choice: Judge = registry.load("judges", "choice")()
        self._provider: Provider | None = None
        if config.judge == "llm":
            family, name = registry.split_model(config.judge_model, "--judge-model")
            create = registry.load("providers", family)
            self._provider = create(name, timeout_s=config.timeout, concurrency=config.concurrency, env=os.environ)
            ask = _asker(make_caller(self._provider), family, self._provider.endpoint, name, config)
            self._named: Judge = registry.load("judges", "llm")(ask, votes=config.judge_votes)
        else:
            self._named = registry.load("judges", config.judge)()
        self._recorded = config.judge == "recorded"

    def judge_for(self, item: Item) -> Judge:
        """The judge of an item."""
        return self._choice if item.choices and not self._recorded else self._named

    async def close(self) -> None:
        """Release the judge's connections."""
        if self._provider:
            await self._provider.close()


def _asker(
    caller: Caller, provider: str, endpoint: str, model: str, config: AskConfig
) -> Callable[[tuple[Message, ...], int], object]:
    async def ask(messages: tuple[Message, ...], repeat: int) -> Reply | Failure:
        request = Request(
            provider=provider,
            endpoint=endpoint,
            model=model,
            messages=messages,
            temperature=0.0,
            max_tokens=JUDGE_TOKENS,
            seed=config.seed + repeat,
            thinking_budget=0,
            repeat=repeat,
        )
        return await caller.call(request)

    return ask
