"""The Messages API: construction, the request's body, the reply, adaptation."""

from __future__ import annotations

from typing import Any

import pytest

from hallcheck.errors import AuthError, BadRequest
from hallcheck.providers import anthropic
from hallcheck.types import Message, Request, Usage


def make(**env: str) -> Any:
    return anthropic.create("claude-x", timeout_s=5, concurrency=1, env={"ANTHROPIC_API_KEY": "key-one", **env})


def request(**changes: Any) -> Request:
    messages = (Message(role="system", content="Be brief."), Message(role="user", content="Who?"))
    fields = {"provider": "anthropic", "endpoint": "e", "model": "claude-x", "messages": messages}
    return Request(**{**fields, **changes})


def test_a_missing_key_names_the_variable() -> None:
    with pytest.raises(AuthError, match="ANTHROPIC_API_KEY"):
        anthropic.create("claude-x", timeout_s=5, concurrency=1, env={})


def test_the_address_and_headers() -> None:
    assert str(make()._url) == "https://api.anthropic.com/v1/messages"
    provider = make(ANTHROPIC_BASE_URL="http://127.0.0.1:9/x/")
    assert str(provider._url) == "http://127.0.0.1:9/x/v1/messages"
    assert provider._headers["x-api-key"] == "key-one"
    assert provider._headers["anthropic-version"] == "2023-06-01"
    assert provider.supports == {"temperature"}


@pytest.mark.parametrize("budget", [None, 0])
def test_the_body(budget: int | None) -> None:
    body = make()._body(request(seed=7, temperature=0.5, max_tokens=64, logprobs=True, thinking_budget=budget))
    assert body == {
        "model": "claude-x",
        "max_tokens": 64,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "Who?"}],
        "temperature": 0.5,
    }


def test_thinking_makes_room_and_sends_no_temperature() -> None:
    body = make()._body(request(max_tokens=64, thinking_budget=1024))
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 1024}
    assert body["max_tokens"] == 64 + 1024
    assert "temperature" not in body


@pytest.mark.parametrize("budget", [-1, 1, 1023])
def test_an_impossible_budget_is_refused_unsent(budget: int) -> None:
    with pytest.raises(BadRequest, match=str(budget)) as caught:
        make()._body(request(thinking_budget=budget))
    assert "1024" in caught.value.hint
    assert make().adapt(caught.value) is None


def test_the_reply() -> None:
    got = make()._reply(
        {
            "model": "claude-x-1",
            "content": [
                {"type": "thinking", "thinking": "well"},
                {"type": "redacted_thinking", "data": "x"},
                {"type": "text", "text": "Par"},
                {"type": "text", "text": "is"},
            ],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 5, "output_tokens": 2},
        },
        0.5,
    )
    assert (got.text, got.finish, got.model_version) == ("Paris", "stop", "claude-x-1")
    assert got.usage == Usage(input_tokens=5, output_tokens=2)
    assert got.logprobs is None


def test_a_refusal_without_content() -> None:
    got = make()._reply({"content": [], "stop_reason": "refusal"}, 0.5)
    assert (got.text, got.finish) == ("", "refusal")


def test_refused_fields_are_left_out() -> None:
    cold = make().adapt(BadRequest("`temperature` is deprecated for this model.", status=400))
    assert "temperature" not in cold._body(request())
    assert cold.changes == ("temperature left out: the model does not take it",)
    assert cold.supports == frozenset()
    plain = cold.adapt(BadRequest('"thinking.type.enabled" is not supported for this model.', status=400))
    body = plain._body(request(max_tokens=64, thinking_budget=2048))
    assert "thinking" not in body
    assert body["max_tokens"] == 64
    assert len(plain.changes) == 2


@pytest.mark.parametrize(
    "message",
    [
        "temperature: range: 0..1",
        "max_tokens: 9999999 > 64000, which is the maximum allowed number of output tokens",
        "`max_tokens` must be greater than `thinking.budget_tokens`",
        "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
    ],
)
def test_wrong_values_do_not_adapt(message: str) -> None:
    assert make().adapt(BadRequest(message, status=400)) is None
