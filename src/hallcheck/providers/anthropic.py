"""Claude through the Messages API.

Environment: ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL (default https://api.anthropic.com).

A thinking budget of 1024 tokens (the API's least) or more is sent and max_tokens is raised by it; temperature is then
left out, for the API allows none beside thinking. A budget of 0 sends nothing; any other is refused here, as a
BadRequest, for the API would refuse it too. The API has neither a seed nor log-probabilities.
Source: https://docs.anthropic.com/en/api/messages
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from hallcheck.errors import BadRequest
from hallcheck.providers.faults import Site
from hallcheck.providers.hosted import Hosted, count, missing_key, read_base, read_key
from hallcheck.providers.http import HttpClient, join_url
from hallcheck.types import Reply, Request, Usage

LEAST_BUDGET = 1024
_FINISH = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length"}


def create(model: str, *, timeout_s: float, concurrency: int, env: Mapping[str, str]) -> Anthropic:
    """A provider for `model`, with the key and address that `env` names."""
    key = read_key(env, "ANTHROPIC_API_KEY")
    if key is None:
        raise missing_key("anthropic", "ANTHROPIC_API_KEY")
    base, endpoint = read_base(env, "ANTHROPIC_BASE_URL", "https://api.anthropic.com")
    return Anthropic(
        model,
        client=HttpClient(timeout_s, concurrency),
        url=join_url(base, "v1/messages"),
        endpoint=endpoint,
        headers={"x-api-key": key, "anthropic-version": "2023-06-01"},
        site=Site(
            name="anthropic",
            key_names="ANTHROPIC_API_KEY",
            base_name="ANTHROPIC_BASE_URL",
            secrets=(key,),
        ),
    )


class Anthropic(Hosted):
    """A Claude model."""

    name = "anthropic"
    supports = frozenset({"temperature"})
    optional: ClassVar = {
        "thinking": (re.compile(r"thinking|budget_tokens", re.IGNORECASE), "thinking budget"),
        "temperature": (re.compile(r"\btemperature\b", re.IGNORECASE), "temperature"),
    }

    def _body(self, request: Request) -> dict[str, Any]:
        budget = request.thinking_budget or 0
        if "thinking" in self.adapted:
            budget = 0
        if budget and budget < LEAST_BUDGET:
            raise BadRequest(
                f"anthropic: a thinking budget of {budget} is not possible",
                hint=f"set the thinking budget to 0 or to at least {LEAST_BUDGET} tokens",
            )
        body: dict[str, Any] = {
            "model": self.model,
            "max_tokens": request.max_tokens + budget,
            "messages": [
                {"role": message.role, "content": message.content}
                for message in request.messages
                if message.role != "system"
            ],
        }
        system = [message.content for message in request.messages if message.role == "system"]
        if system:
            body["system"] = "\n\n".join(system)
        if budget:
            body["thinking"] = {"type": "enabled", "budget_tokens": budget}
        elif "temperature" not in self.adapted:
            body["temperature"] = request.temperature
        return body

    def _reply(self, data: dict[str, Any], latency_s: float) -> Reply:
        reason = data.get("stop_reason") or "end_turn"
        counts = data.get("usage") or {}
        return Reply(
            text="".join(part["text"] for part in data["content"] if part.get("type") == "text"),
            finish=_FINISH.get(reason, reason),
            usage=Usage(
                input_tokens=count(counts.get("input_tokens")),
                output_tokens=count(counts.get("output_tokens")),
            ),
            model_version=data.get("model"),
            latency_s=latency_s,
        )
