"""Gemini: construction, the request's body, the reply, adaptation, access tokens."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hallcheck.errors import AuthError, BadRequest, ConfigError, ProviderError, Unavailable
from hallcheck.providers import google
from hallcheck.providers.faults import Site
from hallcheck.providers.vertex import TokenSource, vertex_address
from hallcheck.types import Message, Request, Usage

VERTEX = {
    "GOOGLE_GENAI_USE_VERTEXAI": "true",
    "GOOGLE_CLOUD_PROJECT": "proj",
    "GOOGLE_CLOUD_LOCATION": "us-central1",
}


class FakeCredentials:
    """Stands for a google-auth object: a new token at each refresh."""

    quota_project_id = "payer"

    def __init__(self, fail: Exception | None = None) -> None:
        self.valid, self.token, self.refreshes, self.fail = False, None, 0, fail

    def refresh(self, transport: Any) -> None:
        if self.fail is not None:
            raise self.fail
        self.refreshes += 1
        self.token, self.valid = f"token-{self.refreshes}", True


def make(model: str = "gemini-x", **env: str) -> Any:
    return google.create(model, timeout_s=5, concurrency=1, env={"GOOGLE_API_KEY": "key-one", **env})


def request(**changes: Any) -> Request:
    messages = (Message(role="system", content="Be brief."), Message(role="user", content="Who?"))
    fields = {"provider": "google", "endpoint": "e", "model": "gemini-x", "messages": messages}
    return Request(**{**fields, **changes})


def config(provider: Any, **changes: Any) -> dict[str, Any]:
    return provider._body(request(**changes))["generationConfig"]


def reply(data: dict[str, Any]) -> Any:
    return make()._reply(data, 0.5)


def test_a_missing_key_names_the_variables() -> None:
    with pytest.raises(AuthError, match="GOOGLE_API_KEY or GEMINI_API_KEY"):
        google.create("gemini-x", timeout_s=5, concurrency=1, env={"GOOGLE_API_KEY": "  "})


def test_google_api_key_wins_and_is_trimmed() -> None:
    provider = make(GOOGLE_API_KEY=" first\n", GEMINI_API_KEY="second")
    assert provider._headers["x-goog-api-key"] == "first"
    both = google.create("gemini-x", timeout_s=5, concurrency=1, env={"GEMINI_API_KEY": "second"})
    assert both._headers["X-Goog-Api-Key"] == "second"


def test_a_key_that_cannot_be_a_header_is_refused_without_showing_it() -> None:
    with pytest.raises(AuthError, match="GOOGLE_API_KEY") as caught:
        make(GOOGLE_API_KEY="abc\r\nX-Evil: 1")
    assert "Evil" not in str(caught.value) + caught.value.hint


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("gemini-x", "models/gemini-x"),
        ("models/gemini-x", "models/gemini-x"),
        ("tunedModels/mine", "tunedModels/mine"),
        ("odd name", "models/odd%20name"),
    ],
)
def test_the_address(model: str, path: str) -> None:
    base = "http://127.0.0.1:8765/f/latency_ms=50;p429=0.1/"
    provider = make(model, GOOGLE_GEMINI_BASE_URL=base)
    assert str(provider._url) == f"{base}v1beta/{path}:generateContent"
    assert provider.endpoint == f"{base}v1beta"


def test_the_version_is_chosen_as_in_googles_sdk() -> None:
    assert make().endpoint == "https://generativelanguage.googleapis.com/v1beta"
    assert make(GOOGLE_GENAI_API_VERSION="beta").endpoint.endswith("/v1beta")
    assert make(GOOGLE_GENAI_API_VERSION="v1").endpoint.endswith("/v1")


@pytest.mark.parametrize("model", ["", "a/../b", "m?x=1", "m#x", "m&x", "m\n"])
def test_senseless_model_names_are_refused(model: str) -> None:
    with pytest.raises(ConfigError):
        make(model)


@pytest.mark.parametrize("base", ["ftp://h", "h:80", "http://", "http://h/a b", "http://[::1", "http://u:p@h"])
def test_senseless_base_urls_are_refused(base: str) -> None:
    with pytest.raises(ConfigError, match="GOOGLE_GEMINI_BASE_URL"):
        make(GOOGLE_GEMINI_BASE_URL=base)


def test_vertex_with_an_api_key_is_refused() -> None:
    with pytest.raises(ConfigError, match="GEMINI_API_KEY") as caught:
        google.create("gemini-x", timeout_s=5, concurrency=1, env={**VERTEX, "GEMINI_API_KEY": "key-two"})
    assert "key-two" not in str(caught.value)


def test_vertex_without_a_project_is_refused() -> None:
    with pytest.raises(ConfigError, match="project"):
        google.create("gemini-x", timeout_s=5, concurrency=1, env={"GOOGLE_GENAI_USE_VERTEXAI": "1"})


def test_the_vertex_switch_takes_true_and_false_only() -> None:
    with pytest.raises(ConfigError, match="'yes'"):
        make(GOOGLE_GENAI_USE_VERTEXAI="yes")
    assert make(GOOGLE_GENAI_USE_VERTEXAI="False").endpoint.startswith("https://generativelanguage")


@pytest.mark.parametrize(
    ("location", "host"),
    [
        ("us-central1", "us-central1-aiplatform.googleapis.com"),
        ("global", "aiplatform.googleapis.com"),
        ("", "aiplatform.googleapis.com"),
        ("eu", "aiplatform.eu.rep.googleapis.com"),
    ],
)
def test_vertex_hosts(location: str, host: str) -> None:
    base, endpoint, path = vertex_address({**VERTEX, "GOOGLE_CLOUD_LOCATION": location}, "gemini-x", "v1beta1")
    scope = f"v1beta1/projects/proj/locations/{location or 'global'}"
    assert base == f"https://{host}"
    assert endpoint == f"https://{host}/{scope}"
    assert path == f"{scope}/publishers/google/models/gemini-x"


def test_vertex_location_is_checked() -> None:
    with pytest.raises(ConfigError, match="GOOGLE_CLOUD_LOCATION"):
        vertex_address({**VERTEX, "GOOGLE_CLOUD_LOCATION": "evil.example/x"}, "m", "v1")


@pytest.mark.parametrize(
    ("model", "end"),
    [
        ("meta/llama", "locations/us-central1/publishers/meta/models/llama"),
        ("publishers/google/models/g", "locations/us-central1/publishers/google/models/g"),
        ("projects/p/locations/l/endpoints/1", "v1/projects/p/locations/l/endpoints/1"),
    ],
)
def test_vertex_model_paths(model: str, end: str) -> None:
    assert vertex_address(VERTEX, model, "v1")[2].endswith(end)


def test_the_body() -> None:
    body = make()._body(request(seed=7, temperature=0.5, max_tokens=64, logprobs=True, thinking_budget=0))
    assert body == {
        "contents": [{"role": "user", "parts": [{"text": "Who?"}]}],
        "systemInstruction": {"role": "user", "parts": [{"text": "Be brief."}]},
        "generationConfig": {
            "temperature": 0.5,
            "maxOutputTokens": 64,
            "seed": 7,
            "responseLogprobs": True,
            "thinkingConfig": {"thinkingBudget": 0},
        },
    }


def test_a_conversation_keeps_its_turns() -> None:
    turns = tuple(Message(role=role, content=role) for role in ("user", "assistant", "user"))
    body = make()._body(request(messages=turns))
    assert [turn["role"] for turn in body["contents"]] == ["user", "model", "user"]
    assert "systemInstruction" not in body


@pytest.mark.parametrize(("budget", "limit"), [(None, 128), (0, 128), (512, 640), (-1, 128 + 8192)])
def test_the_token_limit_makes_room_for_thoughts(budget: int | None, limit: int) -> None:
    sent = config(make(), thinking_budget=budget)
    assert sent["maxOutputTokens"] == limit
    assert sent.get("thinkingConfig") == (None if budget is None else {"thinkingBudget": budget})


def test_the_reply() -> None:
    got = reply(
        {
            "candidates": [
                {
                    "content": {"parts": [{"text": "hm", "thought": True}, {"text": "Par"}, {"text": "is"}]},
                    "finishReason": "STOP",
                    "logprobsResult": {
                        "chosenCandidates": [{"token": "Par", "logProbability": -0.25}, {"token": "is"}]
                    },
                }
            ],
            "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2, "thoughtsTokenCount": 9},
            "modelVersion": "gemini-x-001",
        }
    )
    assert got.text == "Paris"
    assert got.finish == "stop"
    assert got.logprobs == (("Par", -0.25), ("is", 0.0))
    assert got.usage == Usage(input_tokens=5, output_tokens=2, thinking_tokens=9)
    assert got.model_version == "gemini-x-001"
    assert got.latency_s == 0.5


def test_replies_without_text() -> None:
    blocked = reply({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 5}})
    assert (blocked.text, blocked.finish, blocked.usage.input_tokens) == ("", "content_filter", 5)
    filtered = reply({"candidates": [{"finishReason": "SAFETY"}]})
    assert (filtered.text, filtered.finish) == ("", "content_filter")
    eaten = reply({"candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}]})
    assert (eaten.text, eaten.finish) == ("", "length")
    thoughts = {"parts": [{"text": "so", "thought": True}]}
    assert reply({"candidates": [{"content": thoughts, "finishReason": "STOP"}]}).text == ""
    assert reply({"modelVersion": "m"}).finish == "stop"


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ("Thinking is not supported by this model.", "thinkingConfig"),
        ("Unable to submit request because thinking_budget is only supported when thinking is on", "thinkingConfig"),
        ("Invalid JSON payload received. Unknown name \"thinkingConfig\" at 'generation_config'", "thinkingConfig"),
        ("Invalid JSON payload received. Unknown name \"seed\" at 'generation_config': Cannot find field.", "seed"),
        ("temperature is deprecated for this model", "temperature"),
    ],
)
def test_a_refused_field_is_left_out(message: str, field: str) -> None:
    before = config(make(), seed=1, thinking_budget=0)
    provider = make().adapt(BadRequest(message, status=400))
    after = config(provider, seed=1, thinking_budget=0)
    assert {**before, field: None} == {**after, field: None}
    assert field in before
    assert field not in after
    assert len(provider.changes) == 1
    assert provider.adapt(BadRequest(message, status=400)) is None


@pytest.mark.parametrize(
    "message",
    [
        "Budget 0 is invalid. This model only works in thinking mode.",
        "Thinking budget is not supported for this model.",
        "Thinking can’t be disabled for this model. Remove thinking_config.thinking_budget from your request.",
        "The model does not support setting thinking_budget to 0.",
        "thinking_budget is no longer supported: use thinking_level",
    ],
)
def test_a_model_that_thinks_anyway_gets_room(message: str) -> None:
    provider = make().adapt(BadRequest(message, status=400))
    sent = config(provider, thinking_budget=0)
    assert "thinkingConfig" not in sent
    assert sent["maxOutputTokens"] == 128 + 2048
    assert "2048" in provider.changes[0]
    assert config(provider, thinking_budget=4096)["maxOutputTokens"] == 128 + 4096


def test_adaptations_add_up_and_leave_the_original_alone() -> None:
    first = make()
    second = first.adapt(BadRequest("seed is not supported", status=400))
    third = second.adapt(BadRequest("temperature is not supported", status=400))
    assert config(third, seed=1) == {"maxOutputTokens": 128}
    assert third.supports == {"logprobs"}
    assert len(third.changes) == 2
    assert first.changes == ()
    assert "seed" in first.supports


@pytest.mark.parametrize(
    "error",
    [
        BadRequest("Unable to submit: temperature must be in the range from 0 to 2, not supported", status=400),
        BadRequest("thinking_budget is out of range; supported values are integers from 1 to 24576", status=400),
        BadRequest("The thinking budget (52428) is invalid.", status=400),
        BadRequest("Image input is not supported for this model", status=400),
        BadRequest("", status=400),
        AuthError("temperature is not supported", status=403),
        ValueError("temperature is not supported"),
    ],
)
def test_other_errors_do_not_adapt(error: Exception) -> None:
    assert make().adapt(error) is None


SITE = Site(name="vertex", key_names="k", base_name="b")


def test_tokens_are_renewed_once_for_all_waiting_requests() -> None:
    credentials = FakeCredentials()
    tokens = TokenSource(credentials)

    async def main() -> None:
        got = await asyncio.gather(*(tokens.authorize({"A": "b"}, SITE) for _ in range(5)))
        assert {headers["Authorization"] for headers, _ in got} == {"Bearer token-1"}
        assert got[0][0]["x-goog-user-project"] == "payer"
        assert got[0][0]["A"] == "b"
        credentials.valid = False
        headers, site = await tokens.authorize({"A": "b"}, SITE)
        assert headers["Authorization"] == "Bearer token-2"
        assert site.secrets == ("token-2",)
        assert credentials.refreshes == 2

    asyncio.run(main())


def test_a_token_that_cannot_be_had() -> None:
    from google.auth.exceptions import RefreshError, TransportError

    def error(fail: Exception) -> ProviderError:
        with pytest.raises(ProviderError) as caught:
            asyncio.run(TokenSource(FakeCredentials(fail)).authorize({}, SITE))
        return caught.value

    refused = error(RefreshError("the account is\ngone"))
    assert type(refused) is AuthError
    assert "the account is gone" in refused.message
    assert "gcloud auth" in refused.hint
    assert type(error(TransportError("no route"))) is Unavailable
    assert type(error(RefreshError("busy", retryable=True))) is Unavailable
