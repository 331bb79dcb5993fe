"""Fixtures that every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# In CI the same examples every time: a new random one must not turn main red. Locally they stay random.
settings.register_profile("ci", derandomize=True, deadline=None)
if os.environ.get("CI"):
    settings.load_profile("ci")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The maintainers' folder of cases, data and tools; the test is skipped where it is absent."""
    path = Path(os.environ.get("HALLCHECK_SHARED", ROOT.parent / "shared"))
    if not path.is_dir():
        pytest.skip(f"no shared folder at {path} (set HALLCHECK_SHARED)")
    return path.resolve()
