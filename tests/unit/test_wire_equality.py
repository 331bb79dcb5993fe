"""The request on the wire equals what the vendor's own SDK sends for the same settings."""

from __future__ import annotations

import asyncio
import json
import os
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from hallcheck.providers import google, openai
from hallcheck.types import Message, Request

REPLY = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": "ok"}]}, "finishReason": "STOP"}],
    "id": "1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}],
}
SETTINGS: list[dict[str, Any]] = [
    {"temperature": 0.0, "max_tokens": 128},
    {"temperature": 0.7, "max_tokens": 64, "seed": 1234, "thinking_budget": 0},
    {"temperature": 0.0, "max_tokens": 64, "seed": 1, "thinking_budget": 512, "logprobs": True, "system": "Be brief."},
]
PROMPT = 'Who wrote "Émile"? 🧪\n\nBraces {stay} data.'


class Recorder(ThreadingHTTPServer):
    """Keeps every request: (method, path with query, headers, JSON)."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[tuple[str, str, dict[str, str], Any]] = []
        self.base = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Recorder

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.seen.append((self.command, self.path, headers, json.loads(body)))
        raw = json.dumps(REPLY).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *args: Any) -> None: ...


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    server = Recorder()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def clean_env(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if re.match(r"(?i)(google|gemini|openai)_|.*_proxy$", name):
            monkeypatch.delenv(name)


def ours(provider: Any, system: str = "", **settings: Any) -> None:
    messages = [Message(role="user", content=PROMPT)]
    if system:
        messages.insert(0, Message(role="system", content=system))

    async def main() -> None:
        try:
            request = Request(provider="p", endpoint="e", model="m", messages=tuple(messages), **settings)
            assert (await provider.complete(request)).text == "ok"
        finally:
            await provider.close()

    asyncio.run(main())


def camel(value: Any) -> Any:
    """`value` with its keys in camel case.

    Protocol buffers' JSON takes a field by either spelling, and the SDK's releases differ in which they write.
    """
    if isinstance(value, dict):
        return {re.sub(r"_([a-z])", lambda m: m[1].upper(), key): camel(part) for key, part in value.items()}
    return [camel(part) for part in value] if isinstance(value, list) else value


def theirs_google(client: Any, **settings: Any) -> None:
    from google.genai import types

    budget = settings.get("thinking_budget")
    client.models.generate_content(
        model="gemini-2.5-flash",
        contents=PROMPT,
        config=types.GenerateContentConfig(
            temperature=settings["temperature"],
            # The room for thoughts is ours, not the SDK's.
            max_output_tokens=settings["max_tokens"] + (budget or 0),
            seed=settings.get("seed"),
            response_logprobs=settings.get("logprobs"),
            thinking_config=None if budget is None else types.ThinkingConfig(thinking_budget=budget),
            system_instruction=settings.get("system"),
        ),
    )
    client.close()


def assert_same(recorder: Recorder, *header_names: str) -> None:
    (method, path, headers, body), (their_method, their_path, their_headers, their_body) = recorder.seen
    assert (method, path) == (their_method, their_path)
    assert camel(body) == camel(their_body)
    for name in (*header_names, "content-type"):
        assert headers.get(name) == their_headers.get(name), name


@pytest.mark.parametrize("settings", SETTINGS)
def test_gemini_api(recorder: Recorder, settings: dict[str, Any]) -> None:
    genai = pytest.importorskip("google.genai")
    base = f"{recorder.base}/f/latency_ms=50;p429=0.1/"
    env = {"GOOGLE_API_KEY": "the-key", "GOOGLE_GEMINI_BASE_URL": base}
    ours(google.create("gemini-2.5-flash", timeout_s=20, concurrency=1, env=env), **settings)
    # The SDK's releases differ in their default version; the same one is asked for here.
    client = genai.Client(api_key="the-key", http_options={"base_url": base, "api_version": "v1beta"})
    theirs_google(client, **settings)
    assert_same(recorder, "x-goog-api-key", "authorization")


def test_gemini_api_version_follows_the_sdks_variable(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    genai = pytest.importorskip("google.genai", minversion="3.0")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", recorder.base)
    monkeypatch.setenv("GOOGLE_GENAI_API_VERSION", "v1alpha")
    monkeypatch.setenv("GEMINI_API_KEY", "the-key")
    ours(google.create("gemini-2.5-flash", timeout_s=20, concurrency=1, env=os.environ), **SETTINGS[0])
    theirs_google(genai.Client(), **SETTINGS[0])
    assert_same(recorder, "x-goog-api-key")
    assert recorder.seen[0][1].startswith("/v1alpha/")


@pytest.mark.parametrize("location", ["us-central1", "global"])
@pytest.mark.parametrize("settings", SETTINGS)
def test_vertex_ai(recorder: Recorder, settings: dict[str, Any], location: str) -> None:
    genai = pytest.importorskip("google.genai")
    from google.oauth2.credentials import Credentials

    env = {
        "GOOGLE_GENAI_USE_VERTEXAI": "true",
        "GOOGLE_CLOUD_PROJECT": "proj",
        "GOOGLE_CLOUD_LOCATION": location,
        "GOOGLE_VERTEX_BASE_URL": recorder.base,
    }
    credentials = Credentials(token="the-token", quota_project_id="payer")
    provider = google.create("gemini-2.5-flash", timeout_s=20, concurrency=1, env=env, credentials=credentials)
    ours(provider, **settings)
    client = genai.Client(
        vertexai=True,
        project="proj",
        location=location,
        credentials=credentials,
        http_options={"base_url": recorder.base},
    )
    theirs_google(client, **settings)
    assert_same(recorder, "authorization", "x-goog-api-key", "x-goog-user-project")
    assert recorder.seen[0][2]["authorization"] == "Bearer the-token"


@pytest.mark.parametrize("location", ["us-central1", "global", "europe-west4", "eu"])
def test_vertex_ai_hosts(location: str) -> None:
    genai = pytest.importorskip("google.genai")
    from google.oauth2.credentials import Credentials

    from hallcheck.providers.vertex import vertex_address

    env = {"GOOGLE_CLOUD_PROJECT": "proj", "GOOGLE_CLOUD_LOCATION": location}
    client = genai.Client(vertexai=True, project="proj", location=location, credentials=Credentials(token="x"))
    assert vertex_address(env, "m", "v1beta1")[0] == client._api_client._http_options.base_url.rstrip("/")
    client.close()


@pytest.mark.parametrize("settings", SETTINGS)
def test_openai(recorder: Recorder, settings: dict[str, Any]) -> None:
    sdk = pytest.importorskip("openai")
    env = {"OPENAI_API_KEY": "the-key", "OPENAI_BASE_URL": f"{recorder.base}/v1", "OPENAI_ORG_ID": "org-1"}
    ours(openai.create("gpt-x", timeout_s=20, concurrency=1, env=env), **settings)
    messages = [{"role": "user", "content": PROMPT}]
    if "system" in settings:
        messages.insert(0, {"role": "system", "content": settings["system"]})
    optional = {name: settings[name] for name in ("seed", "logprobs") if name in settings}
    with sdk.OpenAI(api_key="the-key", base_url=f"{recorder.base}/v1", organization="org-1") as client:
        client.chat.completions.create(
            model="gpt-x",
            messages=messages,
            temperature=settings["temperature"],
            max_tokens=settings["max_tokens"] + (settings.get("thinking_budget") or 0),
            **optional,
        )
    assert_same(recorder, "authorization", "openai-organization", "openai-project")
