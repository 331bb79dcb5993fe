"""run.jsonl: what was appended is read back; what was torn is dropped; what is damaged is refused."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hallcheck.errors import StoreError
from hallcheck.store.journal import Journal, JournalReader, scan
from hallcheck.types import AskRecord

any_text = st.text(st.characters(), max_size=60)  # lone surrogates too
maybe_text = st.none() | any_text
maybe_count = st.none() | st.integers(0, 2**40)
share = st.none() | st.floats(0, 1)
records = st.builds(
    AskRecord,
    slot=st.integers(0, 2**40),
    id=st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    t=share,
    repeat=st.integers(0, 100),
    text=any_text,
    finish=any_text,
    outcome=st.sampled_from(["", "correct", "wrong", "abstained", "unscored"]),
    reason=any_text,
    extracted=maybe_text,
    confidence=share,
    judge=any_text,
    disagreement=share,
    input_tokens=maybe_count,
    output_tokens=maybe_count,
    thinking_tokens=maybe_count,
    latency_s=st.floats(0, 1e6),
    model_version=maybe_text,
    error=maybe_text,
    recorded_correct=st.none() | st.booleans(),
    recorded_abstained=st.none() | st.booleans(),
)


def well_formed(value: Any) -> Any:
    """What UTF-8 can carry of a text: a lone surrogate becomes U+FFFD, a pair of them is a character."""
    if not isinstance(value, str):
        return value
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def expected(record: AskRecord) -> AskRecord:
    return AskRecord(**{name: well_formed(getattr(record, name)) for name in AskRecord.__slots__})


def record(slot: int, text: str = "x") -> AskRecord:
    return AskRecord(slot=slot, id=f"q{slot}", t=0.5, text=text, outcome="correct")


@settings(deadline=None, max_examples=60)
@given(st.lists(records, max_size=8))
def test_what_was_appended_comes_back_by_its_offset(tmp_path_factory: Any, many: list[AskRecord]) -> None:
    path = tmp_path_factory.mktemp("journal") / "run.jsonl"
    with Journal(path) as journal, JournalReader(path) as reader:
        offsets = []
        for one in many:
            offsets.append(journal.append(one))
            assert reader.read(offsets[-1]) == expected(one)
        for offset, one in reversed(list(zip(offsets, many, strict=True))):
            assert reader.read(offset) == expected(one)
    with Journal(path) as journal:
        assert [offset for offset, _ in journal.load()] == offsets
    assert path.read_bytes().count(b"\n") == len(many)
    assert [end for _, end, _ in scan(path)][-1:] == [path.stat().st_size][: len(many)]


def test_a_line_torn_at_any_byte_is_dropped_and_the_journal_goes_on(tmp_path: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    with Journal(whole) as journal:
        journal.append(record(0))
        last = journal.append(record(1, "ünïcode \U0001f9ea \x00 \n"))
    content = whole.read_bytes()
    path = tmp_path / "run.jsonl"
    for cut in range(last, len(content)):
        path.write_bytes(content[:cut])
        with Journal(path) as journal:
            loaded = [row["slot"] for _, row in journal.load()]
            assert loaded == [0], cut
            offset = journal.append(record(2))
            assert offset == last
        assert [row["slot"] for _, _, row in scan(path)] == [0, 2]


@pytest.mark.parametrize("tail", [b"\x00" * 4096, b"garbage\n", b"[1]\n", b"{}\n", b"\xff\n"])
def test_a_last_line_that_is_no_record_is_dropped(tail: bytes, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Journal(path) as journal:
        journal.append(record(0))
    good = path.read_bytes()
    path.write_bytes(good + tail)
    with Journal(path) as journal:
        assert len(list(journal.load())) == 1
    assert path.read_bytes() == good


def test_a_damaged_line_that_is_not_the_last_is_refused_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Journal(path) as journal:
        for slot in range(5):
            journal.append(record(slot))
    lines = path.read_bytes().splitlines(keepends=True)
    for place in range(4):
        damaged = [*lines]
        damaged[place] = damaged[place][:-9] + b"\n"
        path.write_bytes(b"".join(damaged))
        with Journal(path) as journal, pytest.raises(StoreError, match=f"line {place + 1}:"):
            list(journal.load())
        assert path.read_bytes() == b"".join(damaged)


def test_a_record_of_another_version_is_refused_clearly(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b'{"slot": 0, "id": "a", "t": null, "colour": "red"}\n')
    with JournalReader(path) as reader, pytest.raises(StoreError, match="colour"):
        reader.read(0)


def test_an_empty_journal_holds_nothing(tmp_path: Path) -> None:
    with Journal(tmp_path / "run.jsonl") as journal:
        assert list(journal.load()) == []


def test_a_path_that_cannot_be_opened_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"run\.jsonl"):
        Journal(tmp_path / "none" / "run.jsonl")


def test_closing_twice_is_no_fault(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run.jsonl")
    journal.append(record(0))
    journal.sync()
    journal.close()
    journal.close()


def _append_until_killed(path: str, started: Any) -> None:
    with Journal(Path(path)) as journal:
        for slot in range(10**9):
            journal.append(record(slot, "text " * 50))
            if slot == 20:
                started.set()


def test_a_killed_process_leaves_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    context = multiprocessing.get_context("spawn")
    started = context.Event()
    process = context.Process(target=_append_until_killed, args=(str(path), started))
    process.start()
    assert started.wait(60)
    assert process.pid
    os.kill(process.pid, signal.SIGKILL)
    process.join(60)
    with Journal(path) as journal:
        slots = [row["slot"] for _, row in journal.load()]
    assert slots == list(range(len(slots)))
    assert len(slots) > 20


def _fill_the_disk(path: str) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
    with Journal(Path(path)) as journal:
        kept = 0
        try:
            for slot in range(1000):
                journal.append(record(slot, "text " * 20))
                kept += 1
        except StoreError as error:
            assert "same command" in error.hint  # noqa: PT017 - in a process of its own
            os._exit(kept)
    os._exit(0)


def test_a_full_disk_keeps_what_was_written_before(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_fill_the_disk, args=(str(path),))
    process.start()
    process.join(60)
    kept = process.exitcode
    assert kept
    assert kept > 5
    with Journal(path) as journal:
        assert [row["slot"] for _, row in journal.load()] == list(range(kept))
        journal.append(record(kept))
    assert len(list(scan(path))) == kept + 1
