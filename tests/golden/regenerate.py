"""Write the snapshots of this folder again: `python tests/golden/regenerate.py`, then read the difference."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from hallcheck.types import Note, Report

HERE = Path(__file__).resolve().parent
FIXTURE = HERE / "report_fixture.json"
RENDERERS = {"md": "markdown", "html": "html", "txt": "table", "json": "json"}


def reports() -> dict[str, Report]:
    """The reports of the fixture by name."""
    own: dict[str, dict[str, Any]] = json.loads(FIXTURE.read_text(encoding="utf-8"))
    return {
        name: Report(**{**parts, "notes": tuple(Note(**note) for note in parts["notes"])})
        for name, parts in own.items()
    }


def snapshots() -> dict[Path, bytes]:
    """What each snapshot should hold."""
    return {
        HERE / f"report_{name}.{suffix}": import_module(f"hallcheck.reports.{module}").render(report)
        for name, report in reports().items()
        for suffix, module in RENDERERS.items()
        if suffix != "json" or name == "empty"  # one is enough: the others would repeat the fixture
    }


if __name__ == "__main__":
    for path, data in snapshots().items():
        path.write_bytes(data)
        print(path.name)
