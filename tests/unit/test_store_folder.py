"""A run's folder: one process at a time, whole files or none, moved aside and never deleted."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hallcheck.errors import StoreError
from hallcheck.store.folder import JOURNAL, LOCK, MANIFEST, RunFolder, differences, move_aside, read_manifest


def begun(path: Path, *, replies: bool = True) -> Path:
    """A folder that a run has used."""
    folder = RunFolder(path)
    folder.write_manifest({"identity": {"model": "m"}})
    if replies:
        (path / JOURNAL).write_bytes(b"{}\n")
    folder.close()
    return path


def test_a_new_folder_is_made_with_its_parents(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "a b" / "ü:1" / "out")
    assert folder.path.is_dir()
    assert not folder.has_run
    assert not folder.has_replies
    folder.close()


def test_a_folder_remembers_its_run(tmp_path: Path) -> None:
    folder = RunFolder(begun(tmp_path / "out"))
    assert folder.has_run
    assert folder.has_replies
    assert folder.read_manifest() == {"identity": {"model": "m"}}
    folder.close()


def test_a_run_without_a_reply_is_told_apart(tmp_path: Path) -> None:
    folder = RunFolder(begun(tmp_path / "out", replies=False))
    (folder.path / JOURNAL).touch()
    assert folder.has_run
    assert not folder.has_replies
    folder.close()


def test_the_second_to_come_is_refused_until_the_first_has_gone(tmp_path: Path) -> None:
    first = RunFolder(tmp_path)
    with pytest.raises(StoreError, match="another process is working"):
        RunFolder(tmp_path)
    first.close()
    first.close()
    RunFolder(tmp_path).close()


def _hold(path: str, held: Any, leave: Any) -> None:
    folder = RunFolder(path)
    held.set()
    leave.wait(60)
    assert folder.path
    os._exit(9)  # without closing anything


def test_another_process_is_refused_too_and_a_dead_one_holds_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    held, leave = context.Event(), context.Event()
    process = context.Process(target=_hold, args=(str(tmp_path), held, leave))
    process.start()
    assert held.wait(60)
    with pytest.raises(StoreError, match="another process is working"):
        RunFolder(tmp_path)
    leave.set()
    process.join(60)
    assert process.exitcode == 9
    RunFolder(tmp_path).close()


@pytest.mark.parametrize("name", ["results.csv", "metrics.json", JOURNAL])
def test_results_of_something_else_are_not_written_over(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("someone's")
    with pytest.raises(StoreError, match=name) as caught:
        RunFolder(tmp_path)
    assert "--fresh" in caught.value.hint
    assert (tmp_path / name).read_text() == "someone's"
    with pytest.raises(StoreError):  # and not because the lock was left behind
        RunFolder(tmp_path)


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("here")
    for path in (tmp_path / "out", tmp_path / "out" / "deeper"):
        for fresh in (False, True):
            with pytest.raises(StoreError) as caught:
                RunFolder(path, fresh=fresh)
            assert str(path) in str(caught.value)
            assert "--out" in caught.value.hint


def test_fresh_moves_a_run_aside_whole(tmp_path: Path) -> None:
    out = begun(tmp_path / "out")
    for n in (1, 2, 3):
        RunFolder(out, fresh=True).close()
        assert not (out / MANIFEST).exists()
        aside = sorted(p for p in tmp_path.iterdir() if p.name.startswith("out.old-"))
        assert len(aside) == n
        assert all(read_manifest(path)["identity"] == {"model": "m"} for path in aside)
        begun(out)


def test_fresh_leaves_a_folder_of_other_things_where_it_is(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "thesis.tex").write_text("precious")
    RunFolder(home, fresh=True).close()
    assert (home / "thesis.tex").read_text() == "precious"
    assert [p.name for p in tmp_path.iterdir()] == ["home"]


def test_there_is_nothing_to_move_where_there_is_no_folder(tmp_path: Path) -> None:
    assert move_aside(tmp_path / "none") is None
    assert move_aside(tmp_path) is None


def test_a_folder_in_use_is_not_moved(tmp_path: Path) -> None:
    out = begun(tmp_path / "out")
    folder = RunFolder(out)
    with pytest.raises(StoreError, match="another process"):
        move_aside(out)
    folder.close()
    assert read_manifest(out)


def test_the_current_folder_is_not_moved_from_under_ones_feet(tmp_path: Path, monkeypatch: Any) -> None:
    out = begun(tmp_path / "out")
    monkeypatch.chdir(out)
    for path in (Path(), Path(), Path("../out"), out):
        with pytest.raises(StoreError, match="current folder"):
            RunFolder(path, fresh=True)
    assert (out / MANIFEST).exists()


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.write("report.md", b"old")

    def broken() -> Iterator[bytes]:
        yield b"new, but "
        raise OSError(28, "No space left on device")

    with pytest.raises(StoreError, match="No space left") as caught:
        folder.write_lines("report.md", broken())
    assert "same command" in caught.value.hint
    assert (tmp_path / "report.md").read_bytes() == b"old"
    assert sorted(p.name for p in tmp_path.iterdir()) == [LOCK, "report.md"]
    folder.write_lines("report.md", (b"a", b"b"))
    assert (tmp_path / "report.md").read_bytes() == b"ab"
    folder.close()


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]", b"null", b'{"tool": "other"}'])
def test_a_manifest_that_cannot_be_read_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_bytes(content)
    with pytest.raises(StoreError, match=MANIFEST):
        read_manifest(tmp_path)


def test_a_folder_without_a_run_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no run") as caught:
        read_manifest(tmp_path)
    assert str(tmp_path) in str(caught.value)


def test_differences_name_what_was_and_what_is() -> None:
    old = {"model": "a", "seed": 1, "same": [1], "judge": {"exact": "1", "choice": "1"}, "gone": None}
    new = {"model": "b", "seed": 1, "same": [1], "judge": {"exact": "2", "choice": "1"}, "came": 3}
    assert list(differences(old, new)) == [
        "came: was null, now 3",
        'judge.exact: was "1", now "2"',
        'model: was "a", now "b"',
    ]
    assert list(differences(old, old)) == []
    assert list(differences({"t": 0}, {"t": 0.0})) == []
    assert list(differences({"a": 1}, {"a": 2}, "dataset ")) == ["dataset a: was 1, now 2"]


def test_long_values_are_shown_short() -> None:
    (line,) = differences({"a": "x" * 500}, {"a": Path("y")})
    assert len(line) < 100
    assert 'now "y"' in line
