"""The cache: a reply comes back as it went in, whoever writes beside it; an unusable file is a clear error."""

from __future__ import annotations

import multiprocessing
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hallcheck.errors import StoreError
from hallcheck.store import cache as module
from hallcheck.store.cache import FILE, MIGRATIONS, ReplyCache, cache_folder
from hallcheck.types import Reply, Usage

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
counts = st.none() | st.integers(0, 2**40)
replies = st.builds(
    Reply,
    text=texts,
    finish=texts,
    usage=st.builds(Usage, input_tokens=counts, output_tokens=counts, thinking_tokens=counts),
    logprobs=st.none() | st.lists(st.tuples(texts, st.floats(-1e6, 0)), max_size=3).map(tuple),
    model_version=st.none() | texts,
    latency_s=st.floats(0, 1e6),
    correct=st.none() | st.booleans(),
    abstained=st.none() | st.booleans(),
    confidence=st.none() | st.floats(0, 1),
)


@settings(deadline=None, max_examples=25)
@given(st.lists(replies, min_size=1, max_size=4))
def test_a_reply_comes_back_as_it_went_in(tmp_path_factory: Any, many: list[Reply]) -> None:
    folder = tmp_path_factory.mktemp("cache")
    with ReplyCache(folder) as cache:
        for key, reply in enumerate(many):
            cache.put(str(key), reply)
    with ReplyCache(folder) as cache:
        assert [cache.get(str(key)) for key in range(len(many))] == many


def test_an_unknown_key_has_no_reply(tmp_path: Path) -> None:
    with ReplyCache(tmp_path) as cache:
        assert cache.get("nothing") is None


def test_the_last_reply_of_a_key_stands(tmp_path: Path) -> None:
    with ReplyCache(tmp_path) as cache:
        cache.put("k", Reply(text="old"))
        cache.put("k", Reply(text="new"))
        assert cache.get("k") == Reply(text="new")


def test_a_reply_that_json_cannot_carry_is_not_kept_and_no_error(tmp_path: Path) -> None:
    with ReplyCache(tmp_path) as cache:
        cache.put("k", Reply(text="\ud800"))
        assert cache.get("k") is None


def test_a_database_of_a_newer_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    ReplyCache(tmp_path).close()
    with sqlite3.connect(tmp_path / FILE) as db:
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    db.close()
    before = (tmp_path / FILE).read_bytes()
    for _ in range(2):
        with pytest.raises(StoreError, match="newer hallcheck") as caught:
            ReplyCache(tmp_path)
        assert "--cache" in caught.value.hint
    assert (tmp_path / FILE).read_bytes() == before


def test_an_older_database_is_brought_up_to_date_with_its_replies(tmp_path: Path, monkeypatch: Any) -> None:
    with ReplyCache(tmp_path) as cache:
        cache.put("k", Reply(text="kept"))
    monkeypatch.setattr(module, "MIGRATIONS", (*MIGRATIONS, "ALTER TABLE replies ADD COLUMN seen INTEGER"))
    for _ in range(2):  # once only: a second time would fail
        with ReplyCache(tmp_path) as cache:
            assert cache.get("k") == Reply(text="kept")


def test_a_migration_that_fails_changes_nothing(tmp_path: Path, monkeypatch: Any) -> None:
    with ReplyCache(tmp_path) as cache:
        cache.put("k", Reply(text="kept"))
    broken = (*MIGRATIONS, "CREATE TABLE half (x)", "no SQL at all")
    monkeypatch.setattr(module, "MIGRATIONS", broken)
    with pytest.raises(StoreError):
        ReplyCache(tmp_path)
    monkeypatch.setattr(module, "MIGRATIONS", MIGRATIONS)
    with ReplyCache(tmp_path) as cache:
        assert cache.get("k") == Reply(text="kept")
    with sqlite3.connect(tmp_path / FILE) as db:
        assert db.execute("SELECT name FROM sqlite_master WHERE name = 'half'").fetchall() == []
    db.close()


def test_a_file_that_is_no_database_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"not a database, but long enough to be taken for one" * 100)
    with pytest.raises(StoreError, match="cannot use the cache"):
        ReplyCache(tmp_path)


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot use the cache"):
        ReplyCache(tmp_path / "file" / "deeper")


def test_a_database_that_breaks_while_in_use_is_a_clear_error(tmp_path: Path) -> None:
    with ReplyCache(tmp_path) as cache:
        cache._db.execute("DROP TABLE replies")
        with pytest.raises(StoreError, match="cannot read the cache"):
            cache.get("k")
        with pytest.raises(StoreError, match="cannot write the cache"):
            cache.put("k", Reply(text="x"))


def _fill(folder: str, name: str, n: int, begin: Any) -> None:
    begin.wait(60)
    with ReplyCache(folder) as cache:
        for k in range(n):
            cache.put(f"{name} {k}", Reply(text=f"{name} {k}"))
            cache.put("shared", Reply(text="shared"))


def test_several_processes_may_write_one_file_from_its_first_moment(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    begin = context.Event()
    processes = [context.Process(target=_fill, args=(str(tmp_path), name, 100, begin)) for name in "abc"]
    for process in processes:
        process.start()
    begin.set()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    with ReplyCache(tmp_path) as cache:
        assert all(cache.get(f"{name} {k}") == Reply(text=f"{name} {k}") for name in "abc" for k in range(100))


def test_the_folder_is_the_users_choice_or_the_systems_custom(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setenv("HALLCHECK_CACHE_DIR", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"
    with ReplyCache() as cache:
        assert cache.path == tmp_path / "mine" / FILE
    monkeypatch.delenv("HALLCHECK_CACHE_DIR")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "hallcheck"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "hallcheck"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_folder() == tmp_path / "Library" / "Caches" / "hallcheck"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "Local"))
    assert cache_folder() == tmp_path / "Local" / "hallcheck" / "cache"
