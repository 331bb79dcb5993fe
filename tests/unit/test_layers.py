"""The shape of the source: imports point down, files and functions stay short, and some things never appear."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from importlinter.api import use_cases
from importlinter.configuration import configure

MAX_LINES, MAX_FUNCTION = 400, 60
# function -> why it has earned its length.
LONGER: dict[str, str] = {}


def sources(root: Path) -> list[Path]:
    return sorted((root / "src" / "hallcheck").rglob("*.py"))


def functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{path.stem}.{node.name}", (node.end_lineno or 0) - node.lineno + 1


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def test_imports_point_down_only(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    configure()
    assert use_cases.lint_imports(config_filename="pyproject.toml", cache_dir=None), "see `make layers`"


def test_files_stay_short(root: Path) -> None:
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in sources(root)}
    assert {name: n for name, n in lengths.items() if n > MAX_LINES} == {}


def test_functions_stay_short(root: Path) -> None:
    lengths = dict(pair for path in sources(root) for pair in functions(path))
    assert {name: n for name, n in lengths.items() if n > MAX_FUNCTION and name not in LONGER} == {}
    assert all(lengths.get(name, 0) > MAX_FUNCTION for name in LONGER), "LONGER names what is no longer so long"


def test_every_module_says_what_it_is_for(root: Path) -> None:
    silent = [
        p.name for p in sources(root) if p.name != "__init__.py" and not ast.get_docstring(ast.parse(p.read_text()))
    ]
    assert silent == []


@pytest.mark.parametrize("name", ["pickle", "dill", "joblib", "shelve", "marshal", "requests", "httpx", "urllib3"])
def test_nothing_imports(name: str, root: Path) -> None:
    assert [path.name for path in sources(root) if name in imported(path)] == []


@pytest.mark.parametrize("name", ["numpy", "scipy"])
def test_arrays_are_imported_at_the_top_only_where_figures_are_made(name: str, root: Path) -> None:
    """Elsewhere the import stands in the function that needs it: starting up stays cheap."""
    top = {
        path.relative_to(root / "src" / "hallcheck").as_posix()
        for path in sources(root)
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if (isinstance(node, ast.Import) and any(alias.name.partition(".")[0] == name for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == name)
    }
    allowed = r"stats/\w+\.py|verbs/ask_metrics\.py" if name == "numpy" else r"(?!)"
    assert {path for path in top if not re.fullmatch(allowed, path)} == set()


@pytest.mark.parametrize("word", ["trust_remote_code", "verify=False", "ssl=False", "eval(", "exec(", "os.system"])
def test_the_source_never_says(word: str, root: Path) -> None:
    assert [path.name for path in sources(root) if re.search(rf"(?<![\w.]){re.escape(word)}", path.read_text())] == []


@pytest.mark.parametrize("family", ["stats", "text"])
def test_statistics_and_text_rules_know_nothing_of_the_rest(family: str, root: Path) -> None:
    for path in (root / "src" / "hallcheck" / family).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hallcheck"):
                assert (node.module or "").startswith(f"hallcheck.{family}"), path.name
