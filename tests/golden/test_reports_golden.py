"""The renderers against snapshots; a change on purpose is made by tests/golden/regenerate.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from regenerate import HERE, snapshots

SNAPSHOTS = snapshots()


@pytest.mark.parametrize("path", SNAPSHOTS, ids=lambda path: path.name)
def test_a_report_looks_as_it_did(path: Path) -> None:
    assert SNAPSHOTS[path].decode("utf-8") == path.read_bytes().decode("utf-8"), "run tests/golden/regenerate.py"


def test_no_snapshot_is_left_over() -> None:
    kept = {path for path in HERE.glob("report_*") if path.name != "report_fixture.json"}
    assert kept == set(SNAPSHOTS)
