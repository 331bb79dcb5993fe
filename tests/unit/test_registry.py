"""Names of plug-ins: what is known loads, what is mistyped gets a suggestion."""

from __future__ import annotations

import pytest

from hallcheck import registry
from hallcheck.errors import ConfigError

ROWS = [(family, name) for family, table in registry.TABLES.items() for name in table]


@pytest.mark.parametrize(("family", "name"), ROWS)
def test_every_row_loads(family: str, name: str) -> None:
    assert callable(registry.load(family, name))


@pytest.mark.parametrize("name", registry.TABLES["judges"])
def test_every_judge_has_a_name_and_a_version_that_a_run_can_store(name: str) -> None:
    judge = registry.load("judges", name)
    assert judge.name
    assert judge.version.startswith(judge.name)


@pytest.mark.parametrize(
    ("family", "name", "meant"),
    [("providers", "gogle", "google"), ("providers", "antropic", "anthropic"), ("datasets", "simple_qa", "simpleqa")],
)
def test_a_mistyped_name_gets_the_closest_one(family: str, name: str, meant: str) -> None:
    with pytest.raises(ConfigError, match=f"unknown {family[:-1]}") as caught:
        registry.load(family, name)
    assert f"did you mean {meant!r}?" in caught.value.hint


def test_a_name_like_none_gets_all_there_are() -> None:
    with pytest.raises(ConfigError) as caught:
        registry.load("judges", "zzzz")
    assert "did you mean" not in caught.value.hint
    for name in registry.TABLES["judges"]:
        assert name in caught.value.hint


@pytest.mark.parametrize(
    ("model", "split"),
    [
        ("gemini-2.5-flash", ("google", "gemini-2.5-flash")),
        ("gemma-3-27b-it", ("google", "gemma-3-27b-it")),
        ("models/gemini-2.5-flash", ("google", "gemini-2.5-flash")),
        ("google/gemini-2.5-flash", ("google", "gemini-2.5-flash")),
        ("openai/meta-llama/Llama-3.1-8B", ("openai", "meta-llama/Llama-3.1-8B")),
        ("local", ("local", "")),
        ("local/", ("local", "")),
        ("local//models/a b.gguf", ("local", "/models/a b.gguf")),
        ("replay/C:\\runs\\a.jsonl", ("replay", "C:\\runs\\a.jsonl")),
    ],
)
def test_a_model_names_its_provider(model: str, split: tuple[str, str]) -> None:
    assert registry.split_model(model) == split


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("gpt-4.1", "write PROVIDER/gpt-4.1"),
        ("", "which provider"),
        ("goggle/gemini-2.5-flash", "did you mean 'google'?"),
        ("openai/", "write openai/NAME"),
        ("/x", "unknown provider"),
    ],
)
def test_a_model_without_a_provider_is_refused_with_the_way_out(model: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        registry.split_model(model)
    assert said in f"{caught.value} {caught.value.hint}"
