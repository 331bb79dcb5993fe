"""A small Gemini-shaped server on 127.0.0.1 for tests, in a thread of its own.

It answers every prompt by a rule that tests can compute too (`answer_to`), and does wrong what `faults` says:
a function (prompt, attempt) -> name of a fault or None. It counts all it sees.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import socket
import struct
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

Fault = Callable[[str, int], "str | None"]
_T = re.compile(r"Answer only if you are > ([0-9.e-]+) confident")


def share(*parts: object) -> float:
    """A number in [0, 1) decided by `parts`."""
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def gold_of(question: str) -> str:
    """The right answer to a question of `questions`."""
    return str(int(share("gold", question) * 10_000))


def answer_to(question: str, t: float) -> str:
    """What the fake model says: IDK unless its confidence in the question is above t, then right or wrong."""
    confidence = share("confidence", question)
    if confidence <= t:
        return ("IDK", "I don't know.", "**IDK**")[int(share("phrase", question, t) * 3)]
    right = share("right", question) < confidence
    return gold_of(question) if right else str(int(gold_of(question)) + 1)


class FakeLLM:
    """`with FakeLLM() as server:` then `server.url`."""

    def __init__(self, faults: Fault | None = None, *, latency_s: float = 0.0, quota: tuple[int, float] | None = None):
        self.faults: Fault = faults or (lambda _prompt, _attempt: None)
        self.latency_s = latency_s
        self.quota = quota
        self.retry_delay = "0.05s"
        self.held = False  # True: no request is answered until it is False again
        self.key = "good-key"
        self.requests = 0
        self.answered: Counter[str] = Counter()
        self.attempts: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.arrivals: list[float] = []
        self.in_flight = self.most_in_flight = 0
        self._window: deque[float] = deque()
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop
        self._server: asyncio.Server
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), daemon=True)

    def __enter__(self) -> FakeLLM:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *exc: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def env(self) -> dict[str, str]:
        return {"GOOGLE_API_KEY": self.key, "GOOGLE_GEMINI_BASE_URL": self.url}

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._track, "127.0.0.1", 0, backlog=512)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _track(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while await self._serve(reader, writer):
                    pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        length = re.search(r"(?i)content-length: *(\d+)", head)
        body = json.loads(await reader.readexactly(int(length[1]) if length else 0) or b"{}")
        self.requests += 1
        self.arrivals.append(time.monotonic())
        self.bodies.append(body)
        while self.held:  # noqa: ASYNC110 - set from another thread
            await asyncio.sleep(0.01)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        if self.latency_s:
            await asyncio.sleep(self.latency_s)
        self.in_flight -= 1
        prompt = "\n\n".join(p["text"] for c in body["contents"] for p in c["parts"])
        self.attempts[prompt] += 1
        if f"x-goog-api-key: {self.key}".lower() not in head.lower():
            return await _send(writer, 400, _error(400, "INVALID_ARGUMENT", "API key not valid.", "API_KEY_INVALID"))
        if self.quota and (delay := self._over_quota(*self.quota)):
            return await self._limited(writer, f"{delay:.3f}s")
        fault = self.faults(prompt, self.attempts[prompt])
        return await self._fault(fault, writer) if fault else await self._answer(prompt, writer)

    def _over_quota(self, most: int, window_s: float) -> float:
        now = time.monotonic()
        while self._window and now - self._window[0] > window_s:
            self._window.popleft()
        if len(self._window) >= most:
            return window_s - (now - self._window[0]) + 0.001
        self._window.append(now)
        return 0.0

    async def _answer(self, prompt: str, writer: asyncio.StreamWriter) -> bool:
        self.answered[prompt] += 1
        return await _send(writer, 200, reply_json(self.text_of(prompt)))

    def text_of(self, prompt: str) -> str:
        """The text that answers a prompt: a judge's verdict, or an answer."""
        if "Candidate answer: " in prompt:
            gold, candidate = (re.search(rf"{n} answer: (.*)", prompt)[1] for n in ("Gold", "Candidate"))  # type: ignore[index]
            return "YES" if gold.strip().casefold() == candidate.strip().casefold() else "NO"
        t = _T.search(prompt)
        return answer_to(prompt.split("\n\nAnswer only if", 1)[0], float(t[1]) if t else 0.0)

    async def _limited(self, writer: asyncio.StreamWriter, delay: str) -> bool:
        details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]
        return await _send(writer, 429, _error(429, "RESOURCE_EXHAUSTED", "quota", None, details))

    async def _fault(self, fault: str, writer: asyncio.StreamWriter) -> bool:
        if fault == "429":
            return await self._limited(writer, self.retry_delay)
        if fault in ("500", "503", "404", "403", "400"):
            return await _send(writer, int(fault), _error(int(fault), "X", f"status {fault}"))
        if fault == "html":
            return await _send(writer, 502, b"<html>502</html>", "text/html")
        if fault == "hang":
            await asyncio.sleep(60)
        elif fault == "reset":
            raw = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        elif fault == "cut":
            return await _send(writer, 200, reply_json("4")[:40])
        elif fault == "blocked":
            return await _send(writer, 200, json.dumps({"promptFeedback": {"blockReason": "OTHER"}}).encode())
        elif fault == "safety":
            return await _send(writer, 200, json.dumps({"candidates": [{"finishReason": "SAFETY"}]}).encode())
        elif fault == "thoughts":
            return await _send(writer, 200, reply_json(None, "MAX_TOKENS"))
        elif fault == "empty":
            return await _send(writer, 200, b"{}")
        return False


def reply_json(text: str | None, finish: str = "STOP") -> bytes:
    """A Gemini reply; without text, as if thoughts had used all tokens."""
    content: dict[str, Any] = {"role": "model"}
    if text is not None:
        content["parts"] = [{"text": text}]
    reply = {
        "candidates": [{"content": content, "finishReason": finish, "index": 0}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 2, "totalTokenCount": 12},
        "modelVersion": "fake-1",
    }
    return json.dumps(reply).encode()


def _error(code: int, status: str, message: str, reason: str | None = None, details: list[Any] | None = None) -> bytes:
    details = list(details or [])
    if reason:
        details.append({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason})
    return json.dumps({"error": {"code": code, "status": status, "message": message, "details": details}}).encode()


async def _send(writer: asyncio.StreamWriter, status: int, body: bytes, kind: str = "application/json") -> bool:
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    await writer.drain()
    return True
