"""Gemini through its REST API `generateContent`: the Gemini API with a key, or Vertex AI with a Google account.

Environment: GOOGLE_API_KEY (wins) or GEMINI_API_KEY, and GOOGLE_GEMINI_BASE_URL; or, for Vertex AI,
GOOGLE_GENAI_USE_VERTEXAI=true with GOOGLE_CLOUD_PROJECT, GOOGLE_CLOUD_LOCATION (default "global") and
GOOGLE_VERTEX_BASE_URL. GOOGLE_GENAI_API_VERSION as in Google's SDK; the default is v1beta, v1beta1 on Vertex AI.

The thinking budget is sent as asked, 0 too; maxOutputTokens is raised by it, for thoughts count towards that limit.
Source: https://ai.google.dev/api/generate-content
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import quote

from hallcheck.errors import ConfigError
from hallcheck.providers.faults import Site
from hallcheck.providers.hosted import THINKING_ROOM, Hosted, count, missing_key, read_base, read_key, room
from hallcheck.providers.http import HttpClient, join_url
from hallcheck.providers.vertex import TokenSource, vertex_address
from hallcheck.types import Reply, Request, Usage

_KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
_FINISH = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "BLOCKLIST": "content_filter",
    "SPII": "content_filter",
    "MODEL_ARMOR": "content_filter",
}
# An answer without candidates is still an answer of this API if it has one of these.
_OURS = frozenset({"candidates", "promptFeedback", "usageMetadata", "modelVersion", "responseId"})
# Refusals of a budget by a model that goes on thinking without one.
_THINKS_ANYWAY = re.compile(
    r"only works in thinking mode|can(?:'t|not) be disabled|thinking[_ ]?level|budget is not supported"
    r"|not support setting thinking",
    re.IGNORECASE,
)


def create(
    model: str, *, timeout_s: float, concurrency: int, env: Mapping[str, str], credentials: Any = None
) -> Google:
    """A provider for `model`. `credentials`: a google-auth object for Vertex AI instead of the machine's own."""
    if not model or ".." in model or any(char in model for char in "?&#") or not model.isprintable():
        raise ConfigError(f"{model!r} is no model name of Google's", hint="for example google/gemini-2.5-flash")
    client = HttpClient(timeout_s, concurrency)
    version = env.get("GOOGLE_GENAI_API_VERSION", "").strip() or "beta"
    key = read_key(env, *_KEYS)
    if _vertex_mode(env):
        if key is not None:
            name = next(name for name in _KEYS if env.get(name, "").strip())
            raise ConfigError(
                f"GOOGLE_GENAI_USE_VERTEXAI is on, and {name} is set: Vertex AI takes no API key here",
                hint=f"unset {name} to use Vertex AI, or unset GOOGLE_GENAI_USE_VERTEXAI to use the Gemini API",
            )
        base, endpoint, path = vertex_address(env, model, "v1beta1" if version == "beta" else version)
        site = Site(
            name="vertex",
            key_names="the account's access (gcloud auth application-default login) and GOOGLE_CLOUD_PROJECT",
            base_name="GOOGLE_CLOUD_LOCATION and GOOGLE_VERTEX_BASE_URL",
        )
        headers: dict[str, str] = {}
    else:
        if key is None:
            raise missing_key("google", *_KEYS)
        version = "v1beta" if version == "beta" else version
        base, shown = read_base(env, "GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com")
        full = model if model.startswith(("models/", "tunedModels/")) else f"models/{model}"
        endpoint, path = f"{shown}/{version}", f"{version}/{quote(full)}"
        site = Site(
            name="google",
            key_names=" or ".join(_KEYS),
            base_name="GOOGLE_GEMINI_BASE_URL",
            secrets=(key,),
        )
        headers = {"x-goog-api-key": key}
    url = join_url(base, f"{path}:generateContent")
    provider = Google(model, client=client, url=url, endpoint=endpoint, headers=headers, site=site)
    provider.tokens = TokenSource(credentials) if key is None else None
    return provider


class Google(Hosted):
    """Gemini on either address. `tokens`: where Vertex AI's access tokens come from."""

    name = "google"
    supports = frozenset({"logprobs", "seed", "temperature"})
    optional: ClassVar = {
        "thinking": (re.compile(r"thinking|\bbudget\b", re.IGNORECASE), "thinking budget"),
        "temperature": (re.compile(r"\btemperature\b", re.IGNORECASE), "temperature"),
        "seed": (re.compile(r"\bseed\b", re.IGNORECASE), "seed"),
    }
    tokens: TokenSource | None = None

    async def _authorize(self) -> tuple[Mapping[str, str], Site]:
        if self.tokens is None:
            return self._headers, self._site
        return await self.tokens.authorize(self._headers, self._site)

    def _body(self, request: Request) -> dict[str, Any]:
        adapted, budget = self.adapted, request.thinking_budget
        limit = request.max_tokens
        if "thinking" not in adapted:
            limit += room(budget)
        elif "thinks anyway" in adapted:
            limit += max(room(budget), THINKING_ROOM)
        config: dict[str, Any] = {"maxOutputTokens": limit}
        if "temperature" not in adapted:
            config["temperature"] = request.temperature
        if request.seed is not None and "seed" not in adapted:
            config["seed"] = request.seed
        if request.logprobs:
            config["responseLogprobs"] = True
        if budget is not None and "thinking" not in adapted:
            config["thinkingConfig"] = {"thinkingBudget": budget}
        body: dict[str, Any] = {
            "contents": [
                {
                    "role": "model" if message.role == "assistant" else "user",
                    "parts": [{"text": message.content}],
                }
                for message in request.messages
                if message.role != "system"
            ],
            "generationConfig": config,
        }
        system = [{"text": message.content} for message in request.messages if message.role == "system"]
        if system:
            body["systemInstruction"] = {"role": "user", "parts": system}
        return body

    def _reply(self, data: dict[str, Any], latency_s: float) -> Reply:
        counts = data.get("usageMetadata") or {}
        usage = Usage(
            input_tokens=count(counts.get("promptTokenCount")),
            output_tokens=count(counts.get("candidatesTokenCount")),
            thinking_tokens=count(counts.get("thoughtsTokenCount")),
        )
        candidates = data.get("candidates")
        if not candidates:
            if not data.keys() & _OURS:
                raise KeyError("candidates")
            blocked = (data.get("promptFeedback") or {}).get("blockReason")
            finish, text, logprobs = "content_filter" if blocked else "stop", "", None
        else:
            candidate = candidates[0]
            reason = candidate.get("finishReason") or "STOP"
            finish = _FINISH.get(reason, reason)
            parts = (candidate.get("content") or {}).get("parts") or ()
            text = "".join(part.get("text", "") for part in parts if not part.get("thought"))
            logprobs = _logprobs(candidate.get("logprobsResult"))
        return Reply(
            text=text,
            finish=finish,
            usage=usage,
            logprobs=logprobs,
            model_version=data.get("modelVersion"),
            latency_s=latency_s,
        )

    def _adapted_line(self, field: str, text: str) -> str:
        line = super()._adapted_line(field, text)
        if field != "thinking" or not _THINKS_ANYWAY.search(text):
            return line
        self.adapted |= {"thinks anyway"}
        return f"{line}; the model thinks as it sees fit, so the token limit was raised by {THINKING_ROOM} to make room"


def _logprobs(result: Any) -> tuple[tuple[str, float], ...] | None:
    chosen = (result or {}).get("chosenCandidates")
    if not chosen:
        return None
    # JSON of protocol buffers leaves out a value of zero: an absent logarithm is that of probability 1.
    return tuple((part.get("token", ""), float(part.get("logProbability", 0.0))) for part in chosen)


def _vertex_mode(env: Mapping[str, str]) -> bool:
    value = env.get("GOOGLE_GENAI_USE_VERTEXAI", "").strip().lower()
    if value not in ("", "0", "false", "1", "true"):
        raise ConfigError(f"GOOGLE_GENAI_USE_VERTEXAI is {value!r}", hint="set it to true or false")
    return value in ("1", "true")
