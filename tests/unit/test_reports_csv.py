"""results.csv: exact cells, whole files."""

from __future__ import annotations

import csv
import math
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hallcheck.errors import StoreError
from hallcheck.reports.csv import RESULT_COLUMNS, write_results

WIDTH = len(RESULT_COLUMNS)


def row(*cells: Any) -> list[Any]:
    return [*cells, *[None] * (WIDTH - len(cells))]


def read(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_the_header_has_the_columns_in_the_agreed_order(tmp_path: Path) -> None:
    write_results(tmp_path / "r.csv", [])
    assert (tmp_path / "r.csv").read_bytes() == (
        b"id,t,question,gold,unknown_ok,pred,abstained,correct,score,"
        b"outcome,reason,confidence,category,finish,tokens,latency_s\n"
    )


def test_how_each_kind_of_value_is_written(tmp_path: Path) -> None:
    values = [None, True, False, 1, 0.1 + 0.2, -math.inf, math.nan, np.float64(0.5), 1.0, -3.0, "", "x"]
    write_results(tmp_path / "r.csv", [row(*values)])
    cells = read(tmp_path / "r.csv")[1]
    assert cells[: len(values)] == [
        "", "1", "0", "1", "0.30000000000000004", "-inf", "", "0.5", "1.0", "-3.0", "", "x",
    ]  # fmt: skip


def test_text_that_a_spreadsheet_takes_for_a_formula_stays_exact(tmp_path: Path) -> None:
    texts = ["=1+1", "+1", "-1", "@a", '"quoted"', "a,b"]
    write_results(tmp_path / "r.csv", [row(*texts)])
    assert read(tmp_path / "r.csv")[1][: len(texts)] == texts


@settings(deadline=None)
@given(st.lists(st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"])), min_size=WIDTH, max_size=WIDTH)))
def test_any_text_comes_back_the_same(tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]) -> None:
    path = tmp_path_factory.mktemp("csv") / "r.csv"
    write_results(path, rows)
    assert read(path)[1:] == rows


@pytest.mark.parametrize("text", ["a\rb", "a\r\nb", "a\nb", "\r", "a\0b", "a\u2028b", "\x1b[31m"])
def test_breaks_and_controls_inside_a_cell_come_back_the_same(tmp_path: Path, text: str) -> None:
    write_results(tmp_path / "r.csv", [row(text), row("next")])
    assert [cells[0] for cells in read(tmp_path / "r.csv")[1:]] == [text, "next"]


def test_a_lone_surrogate_leaves_the_file_valid_utf8(tmp_path: Path) -> None:
    write_results(tmp_path / "r.csv", [row("a\ud83d")])
    assert read(tmp_path / "r.csv")[1][0] == "a\\ud83d"


def test_a_failure_on_the_way_keeps_the_old_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    write_results(path, [row("old")])
    before = path.read_bytes()

    def rows() -> Iterator[list[Any]]:
        yield row("new")
        raise KeyError("journal")

    with pytest.raises(KeyError):
        write_results(path, rows())
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["r.csv"]


def test_a_row_of_another_length_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="row 2 has 3 cells"):
        write_results(tmp_path / "r.csv", [row("a"), ["a", "b", "c"]])


def test_a_folder_that_cannot_be_written_is_a_store_error_with_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"r\.csv") as caught:
        write_results(tmp_path / "absent" / "r.csv", [])
    assert "--out" in caught.value.hint


def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    def peak(n: int) -> int:
        tracemalloc.start()
        write_results(tmp_path / "r.csv", (row(f"q{i}", 0.5, "x" * 200) for i in range(n)))
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    assert peak(20_000) < peak(1_000) + 200_000
