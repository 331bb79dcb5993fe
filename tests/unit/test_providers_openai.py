"""Chat completions: construction, the request's body, the reply, adaptation."""

from __future__ import annotations

from typing import Any

import pytest

from hallcheck.errors import AuthError, BadRequest
from hallcheck.providers import openai
from hallcheck.types import Message, Request, Usage


def make(**env: str) -> Any:
    return openai.create("gpt-x", timeout_s=5, concurrency=1, env={"OPENAI_API_KEY": "key-one", **env})


def request(**changes: Any) -> Request:
    messages = (Message(role="system", content="Be brief."), Message(role="user", content="Who?"))
    fields = {"provider": "openai", "endpoint": "e", "model": "gpt-x", "messages": messages}
    return Request(**{**fields, **changes})


def reply(message: dict[str, Any], finish: str | None = "stop", **more: Any) -> Any:
    return make()._reply({"choices": [{"message": message, "finish_reason": finish, **more}]}, 0.5)


def test_a_missing_key_names_the_variable() -> None:
    for base in ({}, {"OPENAI_BASE_URL": "http://gpu.example:8000/v1"}):
        with pytest.raises(AuthError, match="OPENAI_API_KEY"):
            openai.create("gpt-x", timeout_s=5, concurrency=1, env=base)


@pytest.mark.parametrize("host", ["localhost:11434", "127.0.0.1:8000", "[::1]:1234"])
def test_a_server_on_this_machine_needs_no_key(host: str) -> None:
    env = {"OPENAI_BASE_URL": f"http://{host}/v1"}
    provider = openai.create("llama", timeout_s=5, concurrency=1, env=env)
    assert "Authorization" not in provider._headers
    assert str(provider._url) == f"http://{host}/v1/chat/completions"


def test_the_address_and_headers() -> None:
    provider = make(OPENAI_ORG_ID="org-1", OPENAI_PROJECT_ID="proj-1")
    assert str(provider._url) == "https://api.openai.com/v1/chat/completions"
    assert provider.endpoint == "https://api.openai.com/v1"
    assert provider._headers["Authorization"] == "Bearer key-one"
    assert provider._headers["OpenAI-Organization"] == "org-1"
    assert provider._headers["OpenAI-Project"] == "proj-1"


def test_the_endpoint_shows_no_query() -> None:
    provider = make(OPENAI_BASE_URL="https://gate.example/v1/?api-version=2&code=hidden")
    assert provider.endpoint == "https://gate.example/v1"
    assert str(provider._url) == "https://gate.example/v1/chat/completions?api-version=2&code=hidden"


def test_the_body() -> None:
    assert make()._body(request(seed=7, temperature=0.5, max_tokens=64, logprobs=True, thinking_budget=0)) == {
        "model": "gpt-x",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who?"}],
        "temperature": 0.5,
        "max_tokens": 64,
        "seed": 7,
        "logprobs": True,
    }
    assert set(make()._body(request())) == {"model", "messages", "temperature", "max_tokens"}


def test_a_thinking_budget_only_makes_room() -> None:
    assert make()._body(request(thinking_budget=1000)) == {**make()._body(request()), "max_tokens": 1128}


def test_the_reply() -> None:
    got = make()._reply(
        {
            "model": "gpt-x-2026",
            "choices": [
                {
                    "message": {"content": "Paris", "reasoning_content": "well", "refusal": None},
                    "finish_reason": "stop",
                    "logprobs": {"content": [{"token": "Paris", "logprob": -1, "top_logprobs": []}]},
                }
            ],
            "usage": {
                "prompt_tokens": 5,
                "completion_tokens": 12,
                "completion_tokens_details": {"reasoning_tokens": 10},
            },
        },
        0.5,
    )
    assert got.text == "Paris"
    assert got.logprobs == (("Paris", -1.0),)
    assert got.usage == Usage(input_tokens=5, output_tokens=12, thinking_tokens=10)
    assert got.model_version == "gpt-x-2026"


def test_replies_without_plain_text() -> None:
    refused = reply({"content": None, "refusal": "I will not."})
    assert (refused.text, refused.finish) == ("I will not.", "refusal")
    called = reply({"content": None, "tool_calls": [{"id": "1"}]}, "tool_calls")
    assert (called.text, called.finish) == ("", "tool_calls")
    assert reply({"content": "x"}, None).finish == "stop"
    assert reply({"content": [{"type": "thinking"}, {"type": "text", "text": "x"}]}).text == "x"
    assert reply({"content": "x"}, logprobs=None).logprobs is None


def test_a_filtered_prompt_is_a_reply() -> None:
    blocked = make()._blocked({"error": {"code": "content_filter", "message": "filtered"}}, 0.5)
    assert (blocked.text, blocked.finish) == ("", "content_filter")
    assert make()._blocked({"error": {"code": "invalid"}}, 0.5) is None
    assert make()._blocked(None, 0.5) is None


def test_max_tokens_is_renamed() -> None:
    message = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    )
    provider = make().adapt(BadRequest(message, status=400))
    body = provider._body(request(max_tokens=64))
    assert body["max_completion_tokens"] == 64
    assert "max_tokens" not in body
    assert provider.changes[0].startswith("max_tokens sent as max_completion_tokens: the model asked for it")
    assert provider.supports == make().supports
    assert provider.adapt(BadRequest(message, status=400)) is None


@pytest.mark.parametrize(
    ("message", "field"),
    [
        (
            "Unsupported value: 'temperature' does not support 0 with this model."
            " Only the default (1) value is supported.",
            "temperature",
        ),
        ("Unsupported parameter: 'temperature' is not supported with this model.", "temperature"),
        ("body.seed: Extra inputs are not permitted", "seed"),
        ("Unrecognized request argument supplied: seed", "seed"),
    ],
)
def test_a_refused_field_is_left_out(message: str, field: str) -> None:
    provider = make().adapt(BadRequest(message, status=400))
    body = make()._body(request(seed=1))
    del body[field]
    assert provider._body(request(seed=1)) == body
    assert field not in provider.supports


@pytest.mark.parametrize(
    "message",
    [
        "max_tokens is too large: 999999. This model supports at most 16384 completion tokens.",
        "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 9.0 instead.",
        "You are not allowed to request logprobs from this model.",
        "This model's maximum context length is 8192 tokens; max_tokens is not supported",
    ],
)
def test_wrong_values_do_not_adapt(message: str) -> None:
    assert make().adapt(BadRequest(message, status=400)) is None
