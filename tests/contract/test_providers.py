"""What every hosted provider promises, over real sockets against a small scripted server on 127.0.0.1."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import logging
import socket
import struct
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from google.oauth2.credentials import Credentials

from hallcheck.errors import (
    AuthError,
    BadRequest,
    ModelNotFound,
    ProviderError,
    RateLimited,
    Timeout,
    Unavailable,
)
from hallcheck.providers import anthropic, google, http, openai
from hallcheck.types import Message, Reply, Request

KEY = "sEcReT-kEy-0123456789"
EMOJI = "naïve 🧪 \u2028 正解 \U0001f468\u200d\U0001f52c"
PROVIDERS = ["anthropic", "google", "openai", "vertex"]


@dataclass
class Server:
    """Answers requests by `script`, one entry a request, the last entry for ever.

    An entry is (status, headers, body) or one of "reset", "close", "hang", "cut", "garbage", "half".
    """

    script: list[Any] = field(default_factory=list)
    seen: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    connections: int = 0
    open: int = 0
    change: asyncio.Condition = field(default_factory=asyncio.Condition)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                self.seen.append((head[0], headers, json.loads(body)))
                self.arrived.set()
                action = self.script.pop(0) if len(self.script) > 1 else self.script[0]
                if not await self.act(action, reader, writer):
                    break
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
        async with self.change:
            self.open -= 1
            self.change.notify_all()

    async def all_gone(self) -> None:
        """Wait until every connection was closed, by either side."""
        async with self.change:
            await self.change.wait_for(lambda: self.open == 0)

    async def act(self, action: Any, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if action == "reset":
            sock = writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return False
        if action == "hang":
            await reader.read()
            return False
        if action == "garbage":
            writer.write(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
        elif action == "cut":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + b'{"candidates": [')
        elif action == "half":
            writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{}  ")
        if isinstance(action, str):
            await writer.drain()
            return False
        status, headers, body = action
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {status} X\r\n{lines}Content-Length: {len(raw)}\r\n\r\n".encode() + raw)
        await writer.drain()
        return True


def make(name: str, port: int, *, timeout_s: float = 20.0) -> Any:
    base = f"http://127.0.0.1:{port}"
    options = {"timeout_s": timeout_s, "concurrency": 4}
    if name == "google":
        env = {"GOOGLE_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": base}
        return google.create("gemini-x", env=env, **options)
    if name == "vertex":
        env = {
            "GOOGLE_GENAI_USE_VERTEXAI": "true",
            "GOOGLE_CLOUD_PROJECT": "proj",
            "GOOGLE_CLOUD_LOCATION": "europe-west4",
            "GOOGLE_VERTEX_BASE_URL": base,
        }
        return google.create("gemini-x", env=env, credentials=Credentials(token=KEY), **options)
    if name == "openai":
        env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{base}/v1"}
        return openai.create("gpt-x", env=env, **options)
    env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": base}
    return anthropic.create("claude-x", env=env, **options)


def reply_body(name: str, text: str, finish: str | None = None) -> dict[str, Any]:
    if name in ("google", "vertex"):
        content = {"role": "model", "parts": [{"text": "let me see", "thought": True}, {"text": text}]}
        return {"candidates": [{"content": content, "finishReason": finish or "STOP"}], "modelVersion": "v-7"}
    if name == "openai":
        message = {"role": "assistant", "content": text, "reasoning_content": "let me see"}
        return {"model": "v-7", "error": None, "choices": [{"message": message, "finish_reason": finish or "stop"}]}
    parts = [{"type": "thinking", "thinking": "let me see"}, {"type": "text", "text": text}]
    return {"model": "v-7", "content": parts, "stop_reason": finish or "end_turn"}


def error_body(name: str, status: int, message: str) -> dict[str, Any]:
    if name == "anthropic":
        return {"type": "error", "error": {"type": "some_error", "message": message}}
    if name == "openai":
        return {"error": {"message": message, "type": "some_error", "param": None, "code": None}}
    return {"error": {"code": status, "message": message, "status": "SOME_STATUS"}}


def request(text: str = "What is the boiling point of water?", **changes: Any) -> Request:
    fields = {"provider": "p", "endpoint": "e", "model": "m", "messages": (Message(role="user", content=text),)}
    return Request(**{**fields, **changes})


def play(name: str, script: list[Any], act: Callable[[Any, Server], Awaitable[Any]], **options: Any) -> Any:
    """The result of `act(provider, server)`; afterwards nothing is left open."""

    async def main() -> Any:
        server = Server(script=script)
        listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
        server.port = listener.sockets[0].getsockname()[1]
        provider = make(name, server.port, **options)
        try:
            return await act(provider, server)
        finally:
            await provider.close()
            await provider.close()
            await server.all_gone()
            listener.close()
            await listener.wait_closed()

    return asyncio.run(main())


def ask(name: str, script: list[Any], text: str = "q", **options: Any) -> Reply:
    async def act(provider: Any, server: Server) -> Reply:
        return await provider.complete(request(text))

    return play(name, script, act, **options)


def fault(name: str, script: list[Any], **options: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        ask(name, script, **options)
    return caught.value


@pytest.fixture(scope="module")
def fake_server(shared: Path) -> Iterator[str]:
    """The maintainers' fake server on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    tool = shared / "tools" / "fake_llm_server.py"
    process = subprocess.Popen([sys.executable, str(tool), "--port", str(port)], stderr=subprocess.DEVNULL)
    try:
        while process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(params=PROVIDERS)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize(
    ("status", "kind", "retry"),
    [
        (400, BadRequest, "no"),
        (401, AuthError, "no"),
        (402, AuthError, "no"),
        (403, AuthError, "no"),
        (404, ModelNotFound, "no"),
        (408, Timeout, "transient"),
        (413, BadRequest, "no"),
        (422, BadRequest, "no"),
        (429, RateLimited, "rate_limit"),
        (500, Unavailable, "transient"),
        (502, Unavailable, "transient"),
        (503, Unavailable, "transient"),
        (504, Unavailable, "transient"),
        (529, Unavailable, "transient"),
    ],
)
def test_each_status_has_its_class(name: str, status: int, kind: type, retry: str) -> None:
    async def act(provider: Any, server: Server) -> tuple[ProviderError, str]:
        with pytest.raises(ProviderError) as caught:
            await provider.complete(request())
        return caught.value, provider.classify(caught.value).kind

    error, verdict = play(name, [(status, {}, error_body(name, status, "because of\nreasons"))], act)
    assert type(error) is kind
    assert error.status == status
    assert verdict == retry
    assert "because of reasons" in error.message


@pytest.mark.parametrize("action", ["reset", "close", "cut", "half", "garbage"])
def test_broken_connections_are_passing_faults(name: str, action: str) -> None:
    async def act(provider: Any, server: Server) -> tuple[BaseException, Reply]:
        with pytest.raises(Unavailable) as caught:
            await provider.complete(request())
        assert provider.classify(caught.value).kind == "transient"
        return caught.value, await provider.complete(request())

    error, reply = play(name, [action, (200, {}, reply_body(name, "100"))], act)
    assert reply.text == "100"
    # aiohttp's own exceptions hold the request's headers, so they must not be reachable from ours.
    assert error.__context__ is None
    assert error.__cause__ is None


@pytest.mark.parametrize(
    "body",
    [
        b'{"candidates": [{"content"',
        b"<html><body>hello</body></html>",
        b"",
        b"[1, 2]",
        b'"text"',
        b"null",
        b"\xff\xfe{}",
        b'{"status": "up"}',
        b'{"candidates": 7, "choices": "x", "content": 3}',
        b"[" * 100_000,
    ],
)
def test_a_200_that_is_no_reply_is_a_passing_fault(name: str, body: bytes) -> None:
    error = fault(name, [(200, {}, body)])
    assert type(error) is Unavailable
    assert error.status == 200


def test_html_502_is_a_passing_fault_without_html(name: str) -> None:
    page = b"<html><head><title>502 Bad Gateway</title></head></html>"
    error = fault(name, [(502, {"Content-Type": "text/html"}, page)])
    assert type(error) is Unavailable
    assert "<" not in error.message


def test_empty_object_is_an_empty_reply(name: str) -> None:
    reply = ask(name, [(200, {}, {})])
    assert (reply.text, reply.finish) == ("", "stop")


def test_no_answer_in_time_is_a_timeout(name: str) -> None:
    error = fault(name, ["hang"], timeout_s=0.05)
    assert type(error) is Timeout
    assert "0.05 s" in error.message


def test_nobody_listening_names_the_address(name: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    async def main() -> ProviderError:
        provider = make(name, port)
        with pytest.raises(Unavailable) as caught:
            await provider.complete(request())
        await provider.close()
        return caught.value

    error = asyncio.run(main())
    assert f"http://127.0.0.1:{port}" in error.message
    assert f"http://127.0.0.1:{port}" in error.hint


def test_an_error_inside_a_200_is_mapped_by_its_code(name: str) -> None:
    error = fault(name, [(200, {}, {"error": {"code": 429, "message": "Please retry in 2.5s."}})])
    assert type(error) is RateLimited
    assert error.after_s == 2.5
    assert type(fault(name, [(200, {}, {"error": {"type": "overloaded_error", "message": "busy"}})])) is Unavailable
    assert type(fault(name, [(200, {}, {"error": {"code": "404", "message": "?"}})])) is ModelNotFound
    assert type(fault(name, [(200, {}, {"error": "something broke"})])) is Unavailable


def test_the_wait_asked_for_reaches_the_caller(name: str) -> None:
    body = error_body(name, 429, "slow down")

    async def act(provider: Any, server: Server) -> list[float | None]:
        waits = []
        for _ in range(4):
            with pytest.raises(ProviderError) as caught:
                await provider.complete(request())
            waits.append(provider.classify(caught.value).after_s)
        return waits

    script = [
        (429, {"Retry-After": "7"}, body),
        (429, {"Retry-After": "1", "retry-after-ms": "1500"}, body),
        (503, {"Retry-After": "11"}, body),
        (429, {}, body),
    ]
    assert play(name, script, act) == [7.0, 1.5, 11.0, None]


def test_cancelling_closes_the_connection_and_the_next_request_works(name: str) -> None:
    async def act(provider: Any, server: Server) -> Reply:
        task = asyncio.create_task(provider.complete(request()))
        await server.arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.all_gone()
        return await provider.complete(request())

    assert play(name, ["hang", (200, {}, reply_body(name, "yes"))], act).text == "yes"


def test_connections_are_kept_and_text_survives_both_ways(name: str) -> None:
    async def act(provider: Any, server: Server) -> None:
        for _ in range(3):
            reply = await provider.complete(request(EMOJI))
            assert reply.text == EMOJI
            assert reply.finish == "stop"
            assert reply.model_version == "v-7"
        assert server.connections == 1
        assert EMOJI in json.dumps(server.seen[0][2], ensure_ascii=False).replace("\\u2028", "\u2028")

    play(name, [(200, {}, reply_body(name, EMOJI))], act)


def test_lone_surrogates_become_replacement_characters(name: str) -> None:
    async def act(provider: Any, server: Server) -> str:
        reply = await provider.complete(request("a\ud83db \ud83e\uddea"))
        assert "a\ufffdb 🧪" in json.dumps(server.seen[0][2], ensure_ascii=False)
        return reply.text

    # json.dumps writes the lone surrogate as an escape, as some servers do when they cut inside an emoji.
    assert play(name, [(200, {}, reply_body(name, "cut \ud83d"))], act) == "cut \ufffd"


def test_the_key_shows_nowhere(name: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    told = f"Key {KEY} is refused, and {KEY[:-1]}\x1b[31m too"
    scripts: list[list[Any]] = [[(status, {}, error_body(name, status, told))] for status in (400, 401, 404, 429, 500)]
    scripts += [[(502, {}, told.encode())], ["reset"], ["cut"], [(200, {}, told.encode())]]
    for script in scripts:
        error = fault(name, script)
        for text in (str(error), repr(error), error.hint):
            assert KEY not in text
            assert text.isprintable()
    assert KEY not in repr(make(name, 1))
    assert KEY not in make(name, 1).endpoint
    assert KEY not in caplog.text


def test_long_messages_are_cut(name: str) -> None:
    error = fault(name, [(400, {}, error_body(name, 400, "no " * 500 + KEY))])
    assert len(error.message) <= 300


def test_redirects_are_not_followed(name: str) -> None:
    async def act(provider: Any, server: Server) -> int:
        with pytest.raises(ModelNotFound, match="redirect"):
            await provider.complete(request())
        return len(server.seen)

    assert play(name, [(307, {"Location": "/elsewhere"}, b"")], act) == 1


def test_an_endless_body_is_refused_and_not_asked_for_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_BODY_BYTES", 1 << 20)

    async def act(provider: Any, server: Server) -> str:
        with pytest.raises(ProviderError, match="1 MB") as caught:
            await provider.complete(request())
        return provider.classify(caught.value).kind

    assert play(name, [(200, {}, b" " * (3 << 20))], act) == "no"


def test_an_unknown_finish_is_kept_as_it_came(name: str) -> None:
    assert ask(name, [(200, {}, reply_body(name, "x", "something_new"))]).finish == "something_new"


@pytest.mark.parametrize(
    ("name", "given", "finish"),
    [
        ("google", "STOP", "stop"),
        ("google", "MAX_TOKENS", "length"),
        ("google", "SAFETY", "content_filter"),
        ("google", "RECITATION", "content_filter"),
        ("google", "PROHIBITED_CONTENT", "content_filter"),
        ("google", "BLOCKLIST", "content_filter"),
        ("google", "SPII", "content_filter"),
        ("google", "LANGUAGE", "LANGUAGE"),
        ("openai", "stop", "stop"),
        ("openai", "length", "length"),
        ("openai", "content_filter", "content_filter"),
        ("openai", "tool_calls", "tool_calls"),
        ("anthropic", "end_turn", "stop"),
        ("anthropic", "stop_sequence", "stop"),
        ("anthropic", "max_tokens", "length"),
        ("anthropic", "refusal", "refusal"),
        ("anthropic", "pause_turn", "pause_turn"),
    ],
)
def test_finish_reasons(name: str, given: str, finish: str) -> None:
    assert ask(name, [(200, {}, reply_body(name, "x", given))]).finish == finish


def test_adapting_changes_what_is_sent(name: str) -> None:
    refusal = error_body(name, 400, "temperature is not supported by this model")

    async def act(provider: Any, server: Server) -> None:
        with pytest.raises(BadRequest) as caught:
            await provider.complete(request(temperature=0.0))
        other = provider.adapt(caught.value)
        assert (await other.complete(request(temperature=0.0))).text == "fine"
        assert len(other.changes) == 1
        assert "temperature" not in other.supports
        assert other.adapt(caught.value) is None
        assert provider.changes == ()
        assert "temperature" in json.dumps(server.seen[0][2])
        assert "temperature" not in json.dumps(server.seen[1][2])
        assert server.connections == 1

    play(name, [(400, {}, refusal), (200, {}, reply_body(name, "fine"))], act)


def test_nothing_is_left_open(name: str, recwarn: pytest.WarningsRecorder) -> None:
    async def act(provider: Any, server: Server) -> None:
        for _ in range(5):
            with contextlib.suppress(ProviderError):
                await provider.complete(request())

    play(name, ["reset", "cut", "hang", "close", (200, {}, reply_body(name, "x"))], act, timeout_s=0.2)
    gc.collect()
    assert not [str(warning.message) for warning in recwarn if warning.category is ResourceWarning]


def test_a_closed_provider_opens_again(name: str) -> None:
    async def act(provider: Any, server: Server) -> str:
        await provider.complete(request())
        await provider.close()
        return (await provider.complete(request())).text

    assert play(name, [(200, {}, reply_body(name, "again"))], act) == "again"


def test_a_proxy_is_used_but_never_for_this_machine(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert ask(name, [(200, {}, reply_body(name, "direct"))]).text == "direct"


def test_requests_for_other_hosts_go_through_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async def act(provider: Any, server: Server) -> None:
        monkeypatch.setenv("http_proxy", f"http://user:pass@127.0.0.1:{server.port}")
        env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://models.example/v1"}
        far = openai.create("gpt-x", timeout_s=20, concurrency=1, env=env)
        try:
            assert (await far.complete(request())).text == "by proxy"
        finally:
            await far.close()
        line, headers, _ = server.seen[0]
        assert line.startswith("POST http://models.example/v1/chat/completions")
        assert headers["proxy-authorization"].startswith("Basic ")

    for variable in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    play("openai", [(200, {}, reply_body("openai", "by proxy"))], act)


@pytest.mark.parametrize(
    "setting", ["k429=1", "k500=1", "k503=1", "phtml502=1", "preset=1", "pclose=1", "pmalformed=1"]
)
@pytest.mark.shared
def test_every_fault_of_the_fake_server_is_retryable(fake_server: str, setting: str) -> None:
    async def main() -> str:
        env = {"GOOGLE_API_KEY": "good-key", "GOOGLE_GEMINI_BASE_URL": f"{fake_server}/f/latency_ms=1;{setting}/"}
        provider = google.create("gemini-x", timeout_s=20, concurrency=4, env=env)
        try:
            with pytest.raises(ProviderError) as caught:
                await provider.complete(request(setting))
            return provider.classify(caught.value).kind
        finally:
            await provider.close()

    assert asyncio.run(main()) == ("rate_limit" if "429" in setting else "transient")


@pytest.mark.parametrize(
    ("setting", "finish"),
    [("pblock", "content_filter"), ("psafety", "content_filter"), ("pmaxtok", "length"), ("pempty", "stop")],
)
@pytest.mark.shared
def test_every_textless_reply_of_the_fake_server_has_its_finish(fake_server: str, setting: str, finish: str) -> None:
    async def main() -> Reply:
        env = {"GOOGLE_API_KEY": "good-key", "GOOGLE_GEMINI_BASE_URL": f"{fake_server}/f/{setting}=1/"}
        provider = google.create("gemini-x", timeout_s=20, concurrency=4, env=env)
        try:
            return await provider.complete(request(setting))
        finally:
            await provider.close()

    reply = asyncio.run(main())
    assert (reply.text, reply.finish) == ("", finish)


@pytest.mark.parametrize("auth", ["1", "401"])
@pytest.mark.shared
def test_a_wrong_key_at_the_fake_server_is_an_auth_error(fake_server: str, auth: str) -> None:
    async def main() -> None:
        env = {"GOOGLE_API_KEY": "wrong-key", "GOOGLE_GEMINI_BASE_URL": f"{fake_server}/f/auth={auth}/"}
        provider = google.create("gemini-x", timeout_s=20, concurrency=4, env=env)
        try:
            with pytest.raises(AuthError, match="HTTP 40"):
                await provider.complete(request())
        finally:
            await provider.close()

    asyncio.run(main())
