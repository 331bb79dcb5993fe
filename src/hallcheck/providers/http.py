"""One lean HTTP client for every hosted provider: bytes out, bytes in, and every fault of the transport named.

A provider hands over an address, headers and a body that are ready to send; nothing is retried here. A session opens
at the first request and lives until `close()`, on one event loop; after `close()` the next request opens another.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
from collections.abc import Mapping
from typing import Any
from urllib.request import getproxies, proxy_bypass

import aiohttp
import orjson
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from hallcheck.errors import AuthError, ModelNotFound, ProviderError, Timeout, Unavailable

MAX_BODY_BYTES = 32 * 1024 * 1024
_CONNECT_S = 30.0
_SPARE_CONNECTIONS = 4
_TRANSPORT = (aiohttp.ClientError, HttpProcessingError, OSError, EOFError)


class HttpClient:
    """POSTs over kept-alive connections.

    `timeout_s`: seconds from sending a request to the last byte of its answer, connecting included.
    `concurrency`: requests that the caller keeps in flight; the pool holds a few connections more.
    The system's proxies (HTTP_PROXY, HTTPS_PROXY, NO_PROXY) are used, but never for this machine's own addresses.
    """

    def __init__(self, timeout_s: float, concurrency: int) -> None:
        self._timeout_s = timeout_s
        self._limit = max(1, concurrency) + _SPARE_CONNECTIONS
        self._session: aiohttp.ClientSession | None = None
        self._proxies: dict[tuple[str, str | None], dict[str, Any]] = {}

    async def post(self, url: URL, headers: Mapping[str, str], body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and whole body of the answer. Raises ProviderError (and asyncio.CancelledError) only."""
        session = self._session
        if session is None or session.closed:
            session = self._open()
        proxy = self._proxies.get((url.scheme, url.host))
        if proxy is None:
            proxy = self._proxies[url.scheme, url.host] = _proxy_for(url)
        try:
            async with session.post(url, data=body, headers=headers, allow_redirects=False, **proxy) as response:
                return response.status, response.headers, await _read(response)
        except _TRANSPORT as exc:
            # Raised below, outside this block: aiohttp's exceptions carry the request with its headers, hence the
            # key, and must not ride along as the context of ours.
            fault = _fault(exc, url, self._timeout_s)
        raise fault

    async def close(self) -> None:
        """Close every connection. May be called more than once."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()
            await asyncio.sleep(0)

    def _open(self) -> aiohttp.ClientSession:
        # trust_env would look up the proxy and ~/.netrc in a thread for every single request, and might send a
        # password from there; the proxy is found once instead, in _proxy_for.
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._limit),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=self._timeout_s, sock_connect=min(self._timeout_s, _CONNECT_S)),
            trust_env=False,
        )
        return self._session


def encode(body: Mapping[str, Any]) -> bytes:
    """The JSON bytes of `body`. Lone surrogates, which no valid JSON text can hold, are sent as U+FFFD."""
    try:
        return orjson.dumps(body)
    except TypeError:
        return _well_formed(json.dumps(body, ensure_ascii=False, allow_nan=False)).encode()


def decode(raw: bytes) -> Any:
    """The value of the JSON text `raw`; ValueError where it is cut, not JSON or not UTF-8.

    An escaped lone surrogate, which some servers send where a token limit cuts an emoji, becomes U+FFFD.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        pass
    try:
        value = json.loads(raw.decode("utf-8-sig"))
        return json.loads(_well_formed(json.dumps(value, ensure_ascii=False)))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def join_url(base: str, path: str) -> URL:
    """`base` (which may have a path and a query) with `path` after its path; nothing is encoded anew."""
    head, mark, query = base.partition("?")
    return URL(f"{head.rstrip('/')}/{path.lstrip('/')}{mark}{query}", encoded=True)


def is_loopback(host: str | None) -> bool:
    """Whether `host` is this machine itself."""
    name = (host or "").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _well_formed(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


async def _read(response: aiohttp.ClientResponse) -> bytes:
    chunks: list[bytes] = []
    size = 0
    # readany(), not read(): the limit has to hold for bodies without a length, and for compressed ones.
    while chunk := await response.content.readany():
        size += len(chunk)
        if size > MAX_BODY_BYTES:
            response.close()
            raise ProviderError(
                f"{response.url.host} sent an answer of more than {MAX_BODY_BYTES >> 20} MB: refused",
                status=response.status,
                hint="check that the base URL is that of a model's API",
            )
        chunks.append(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _proxy_for(url: URL) -> dict[str, Any]:
    host = url.host or ""
    address = None if is_loopback(host) or proxy_bypass(host) else getproxies().get(url.scheme)
    if not address:
        return {}
    proxy = URL(address if "://" in address else f"http://{address}")
    if proxy.scheme not in ("http", "https"):
        raise ModelNotFound(
            f"the proxy set for {url.scheme} is of kind {proxy.scheme!r}, which is not supported",
            hint="set HTTP_PROXY / HTTPS_PROXY to an http:// proxy, or name the host in NO_PROXY",
        )
    return {"proxy": proxy}  # a user name and password in it become the Proxy-Authorization header


def _fault(exc: BaseException, url: URL, timeout_s: float) -> ProviderError:
    origin = str(url.origin())
    if isinstance(exc, TimeoutError):
        return Timeout(
            f"no whole answer from {origin} within {timeout_s:g} s",
            hint="raise --timeout, or lower --concurrency if the server is busy",
        )
    if isinstance(exc, aiohttp.ClientConnectorCertificateError):
        return ModelNotFound(
            f"the certificate of {origin} is not trusted: {_reason(exc.certificate_error)}",
            hint="check the base URL; a certificate authority of your own goes into SSL_CERT_FILE",
        )
    if isinstance(exc, aiohttp.ClientHttpProxyError):
        if exc.status == 407:
            return AuthError("the proxy wants a user name and password", status=407, hint="check HTTPS_PROXY")
        return Unavailable(f"the proxy answered HTTP {exc.status} for {origin}", hint="check HTTPS_PROXY")
    if isinstance(exc, aiohttp.ClientConnectorError):
        where = "the proxy" if isinstance(exc, aiohttp.ClientProxyConnectionError) else origin
        return Unavailable(
            f"cannot connect to {where}: {_reason(exc.os_error)}",
            hint=f"is the base URL {origin} right, is its server running, and is there a network?",
        )
    if isinstance(exc, aiohttp.ClientPayloadError):
        return Unavailable(f"the answer of {origin} was cut off")
    if isinstance(exc, aiohttp.ServerDisconnectedError):
        return Unavailable(f"{origin} closed the connection without an answer")
    if isinstance(exc, aiohttp.ClientResponseError | HttpProcessingError):
        return Unavailable(f"{origin} did not answer in valid HTTP")
    return Unavailable(f"the connection to {origin} broke: {_reason(exc)}")


def _reason(exc: BaseException) -> str:
    text = getattr(exc, "strerror", None) or getattr(exc, "verify_message", None) or str(exc)
    return " ".join(str(text).split())[:120] or type(exc).__name__
