"""Where Vertex AI is, and the access tokens it wants (google-auth, from the extra `vertex`)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import Any
from urllib.parse import quote

from multidict import CIMultiDict

from hallcheck.errors import AuthError, ConfigError, MissingExtra, ProviderError, Unavailable
from hallcheck.providers.faults import Site, one_line
from hallcheck.providers.hosted import read_base

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_LOGIN = "run `gcloud auth application-default login`, or point GOOGLE_APPLICATION_CREDENTIALS at a key file"


def vertex_address(env: Mapping[str, str], model: str, version: str) -> tuple[str, str, str]:
    """Base URL, endpoint to show and store, and path of `model` below the base URL (without the method)."""
    project = env.get("GOOGLE_CLOUD_PROJECT", "").strip()
    location = env.get("GOOGLE_CLOUD_LOCATION", "").strip().lower() or "global"
    if not project:
        raise ConfigError("Vertex AI needs a project", hint="set GOOGLE_CLOUD_PROJECT (and GOOGLE_CLOUD_LOCATION)")
    if not location.replace("-", "").isalnum() or not location.isascii():
        raise ConfigError(f"GOOGLE_CLOUD_LOCATION is {location!r}", hint="for example us-central1, or global")
    if location == "global":
        host = "aiplatform.googleapis.com"
    elif location in ("us", "eu"):
        host = f"aiplatform.{location}.rep.googleapis.com"
    else:
        host = f"{location}-aiplatform.googleapis.com"
    base, shown = read_base(env, "GOOGLE_VERTEX_BASE_URL", f"https://{host}")
    scope = f"{version}/projects/{quote(project, safe=':')}/locations/{location}"
    if model.startswith("projects/"):
        path = f"{version}/{quote(model)}"
    elif model.startswith(("publishers/", "models/")):
        path = f"{scope}/{quote(model)}"
    else:
        publisher, slash, name = model.rpartition("/")
        path = f"{scope}/publishers/{quote(publisher) if slash else 'google'}/models/{quote(name)}"
    return base, f"{shown}/{scope}", path


class TokenSource:
    """Access tokens, fetched in a thread at the first request and again before they expire.

    `credentials`: a google-auth credentials object; None finds the machine's own (Application Default Credentials).
    Raises MissingExtra where google-auth is not installed.
    """

    def __init__(self, credentials: Any = None) -> None:
        if credentials is None and not _installed():
            raise MissingExtra("Vertex AI needs google-auth", hint="pip install 'hallcheck[vertex]'")
        self._credentials = credentials
        self._lock = asyncio.Lock()
        self._token = ""
        self._headers: Mapping[str, str] = {}

    async def authorize(self, headers: Mapping[str, str], site: Site) -> tuple[Mapping[str, str], Site]:
        """`headers` with a valid token, and `site` knowing it as a secret."""
        # `valid` turns false some minutes before the token expires.
        if self._credentials is None or not self._credentials.valid:
            async with self._lock:
                if self._credentials is None or not self._credentials.valid:
                    await self._renew()
        if self._credentials.token != self._token:
            self._token = self._credentials.token
            fresh = CIMultiDict(headers)
            fresh["Authorization"] = f"Bearer {self._token}"
            if quota_project := getattr(self._credentials, "quota_project_id", None):
                fresh["x-goog-user-project"] = quota_project
            self._headers = fresh
        return self._headers, replace(site, secrets=(self._token,))

    async def _renew(self) -> None:
        fault: ProviderError
        try:
            self._credentials = await asyncio.to_thread(_renewed, self._credentials)
            return
        except Exception as exc:  # google-auth raises more than its own tree: OSError, ValueError, requests'
            passing = bool(getattr(exc, "retryable", False)) or type(exc).__name__ == "TransportError"
            text = one_line(f"no access token for Vertex AI: {exc.args[0] if exc.args else exc}")
            fault = Unavailable(text) if passing else AuthError(text, hint=_LOGIN)
        raise fault


def _installed() -> bool:
    try:
        return find_spec("google.auth") is not None and find_spec("requests") is not None
    except ModuleNotFoundError:
        return False


def _renewed(credentials: Any) -> Any:
    import google.auth
    from google.auth.transport.requests import Request

    if credentials is None:
        credentials, _ = google.auth.default(scopes=[_SCOPE])
    if not credentials.valid:
        credentials.refresh(Request())
    return credentials
