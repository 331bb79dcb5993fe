"""Chat completions of OpenAI and of every server that speaks the same: vLLM, Ollama, llama.cpp, LM Studio.

Environment: OPENAI_API_KEY; OPENAI_BASE_URL (default https://api.openai.com/v1), which needs no key where it is an
address of this machine; OPENAI_ORG_ID and OPENAI_PROJECT_ID as in OpenAI's SDK.

There is no field for a thinking budget here, so none is sent. A reasoning model spends its thoughts from the token
limit; a budget above 0 raises that limit by as much, so that the answer still fits.
Source: https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from hallcheck.providers.faults import Site
from hallcheck.providers.hosted import Hosted, count, missing_key, read_base, read_key, room
from hallcheck.providers.http import HttpClient, is_loopback, join_url
from hallcheck.types import Reply, Request, Usage

_FILTERED = ("content_filter", "content_policy_violation")


def create(model: str, *, timeout_s: float, concurrency: int, env: Mapping[str, str]) -> OpenAI:
    """A provider for `model`, with the key and address that `env` names."""
    base, endpoint = read_base(env, "OPENAI_BASE_URL", "https://api.openai.com/v1")
    url = join_url(base, "chat/completions")
    key = read_key(env, "OPENAI_API_KEY")
    if key is None and not is_loopback(url.host):
        raise missing_key("openai", "OPENAI_API_KEY")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    for name, header in (("OPENAI_ORG_ID", "OpenAI-Organization"), ("OPENAI_PROJECT_ID", "OpenAI-Project")):
        if value := read_key(env, name):
            headers[header] = value
    site = Site(
        name="openai",
        key_names="OPENAI_API_KEY",
        base_name="OPENAI_BASE_URL",
        secrets=(key,) if key else (),
    )
    client = HttpClient(timeout_s, concurrency)
    return OpenAI(model, client=client, url=url, endpoint=endpoint, headers=headers, site=site)


class OpenAI(Hosted):
    """A model behind chat completions."""

    name = "openai"
    supports = frozenset({"logprobs", "seed", "temperature"})
    optional: ClassVar = {
        "max_tokens": (re.compile(r"\bmax_tokens\b"), "max_tokens"),
        "temperature": (re.compile(r"\btemperature\b", re.IGNORECASE), "temperature"),
        "seed": (re.compile(r"\bseed\b", re.IGNORECASE), "seed"),
    }

    def _body(self, request: Request) -> dict[str, Any]:
        adapted = self.adapted
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        }
        if "temperature" not in adapted:
            body["temperature"] = request.temperature
        limit = "max_completion_tokens" if "max_tokens" in adapted else "max_tokens"
        body[limit] = request.max_tokens + room(request.thinking_budget)
        if request.seed is not None and "seed" not in adapted:
            body["seed"] = request.seed
        if request.logprobs:
            body["logprobs"] = True
        return body

    def _reply(self, data: dict[str, Any], latency_s: float) -> Reply:
        choice = data["choices"][0]
        message = choice.get("message") or {}
        finish = choice.get("finish_reason") or "stop"
        text = _text(message.get("content"))
        if refusal := message.get("refusal"):
            text, finish = text or refusal, "refusal"
        counts = data.get("usage") or {}
        usage = Usage(
            input_tokens=count(counts.get("prompt_tokens")),
            output_tokens=count(counts.get("completion_tokens")),
            thinking_tokens=count((counts.get("completion_tokens_details") or {}).get("reasoning_tokens")),
        )
        tokens = (choice.get("logprobs") or {}).get("content")
        return Reply(
            text=text,
            finish=finish,
            usage=usage,
            logprobs=tuple((token["token"], float(token["logprob"])) for token in tokens) if tokens else None,
            model_version=data.get("model"),
            latency_s=latency_s,
        )

    def _blocked(self, data: Any, latency_s: float) -> Reply | None:
        error = data.get("error") if isinstance(data, dict) else None
        if isinstance(error, dict) and error.get("code") in _FILTERED:
            return Reply(text="", finish="content_filter", latency_s=latency_s)
        return None

    def _adapted_line(self, field: str, text: str) -> str:
        if field != "max_tokens":
            return super()._adapted_line(field, text)
        return (
            "max_tokens sent as max_completion_tokens: the model asked for it"
            " (its reasoning counts towards that limit; a thinking budget makes room)"
        )


def _text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part.get("text", "") for part in content if part.get("type") == "text")
