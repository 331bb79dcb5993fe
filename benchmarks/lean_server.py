"""The cheapest Gemini-shaped server there is, so that the client is what is measured. 127.0.0.1 only.

python lean_server.py LATENCY_MS     prints its port; GET /count -> requests answered so far
"""

from __future__ import annotations

import asyncio
import sys
import zlib

REPLY = (
    b'{"candidates":[{"content":{"parts":[{"text":"%s"}],"role":"model"},"finishReason":"STOP","index":0}],'
    b'"usageMetadata":{"promptTokenCount":76,"candidatesTokenCount":2,"totalTokenCount":78},"modelVersion":"lean"}'
)
TEXTS = (b"IDK", b"4711", b"I don't know.", b"12", b"**IDK**", b"The answer is 7.")
count = 0


class Connection(asyncio.Protocol):
    """Reads whole requests, answers each after the latency."""

    def __init__(self, latency_s: float) -> None:
        self.latency_s = latency_s
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = self.buffer[:end].lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            stop = end + 4 + length
            if len(self.buffer) < stop:
                return
            body, self.buffer = self.buffer[end + 4 : stop], self.buffer[stop:]
            if head.startswith(b"get"):
                self.send(b"%d" % count)
            elif self.latency_s:
                asyncio.get_running_loop().call_later(self.latency_s, self.answer, body)
            else:
                self.answer(body)

    def answer(self, body: bytes) -> None:
        global count
        count += 1
        self.send(REPLY % TEXTS[zlib.crc32(body) % len(TEXTS)])

    def send(self, body: bytes) -> None:
        if not self.transport.is_closing():
            head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
            self.transport.write(head + body)  # type: ignore[attr-defined]


async def main() -> None:
    """Serve until the process ends."""
    latency_s = float(sys.argv[1]) / 1000
    server = await asyncio.get_running_loop().create_server(lambda: Connection(latency_s), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
