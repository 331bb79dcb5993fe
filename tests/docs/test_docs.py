"""README and docs keep their word: snippets run, help pages are current, links lead somewhere, no key is forgotten.

Blocks of a page run in order, in one temporary folder that has the repository's `examples/`:
`bash` must succeed; after `$ ` lines of `console` comes what is printed (`...` stands for anything); `python` shares
its names over the page, and `#> ` lines are what is printed. A block after `<!-- not run: REASON -->` is left out.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hallcheck.registry import TABLES
from hallcheck.reports.csv import RESULT_COLUMNS
from support.cli import environment, run

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")] + sorted(ROOT.glob("docs/**/*.md"))
RUN = ("bash", "console", "python")
SHOWN = ("csv", "json", "text")
FENCE = re.compile(r"^( *)```(.*)$")
NOT_RUN = re.compile(r"<!-- not run: \S.* -->")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
SEPARATOR = "--8<--"


class Block(NamedTuple):
    """A fenced block; `line` is that of its opening fence, `skip` whether it is marked as not run."""

    line: int
    language: str
    text: str
    skip: bool


def blocks(page: Path) -> Iterator[Block]:
    lines = page.read_text(encoding="utf-8").splitlines()
    at = 0
    while at < len(lines):
        opened = FENCE.match(lines[at])
        if not opened:
            at += 1
            continue
        indent, language = len(opened[1]), opened[2].strip()
        above = next((line.strip() for line in reversed(lines[:at]) if line.strip()), "")
        end = at + 1
        while end < len(lines) and lines[end].strip() != "```":
            end += 1
        assert end < len(lines), f"{page.name}:{at + 1}: the block is never closed"
        text = "\n".join(line[indent:] for line in lines[at + 1 : end])
        yield Block(at + 1, language, text, bool(NOT_RUN.fullmatch(above)))
        at = end + 1


def outside_blocks(page: Path) -> str:
    return re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def page_id(page: Path) -> str:
    return str(page.relative_to(ROOT))


def shell(script: str, folder: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
        check=False,
    )


def run_bash(text: str, folder: Path, env: dict[str, str]) -> None:
    done = shell(f"set -euo pipefail\n{text}", folder, env)
    assert done.returncode == 0, done.stdout


def run_console(text: str, folder: Path, env: dict[str, str]) -> None:
    commands: list[str] = []
    outputs: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            commands.append(line[2:])
            outputs.append([])
        elif commands[-1].endswith("\\") and not outputs[-1]:
            commands[-1] += f"\n{line}"
        else:
            outputs[-1].append(line)
    # One shell for the whole block, so that `echo $?` means the command above it.
    script = "\n".join(f"{command}\nlast=$?; echo '{SEPARATOR}'; (exit $last)" for command in commands)
    printed = shell(script, folder, env).stdout.split(f"{SEPARATOR}\n")
    assert len(printed) == len(commands) + 1, printed
    for command, said, expected in zip(commands, printed, outputs, strict=False):
        wanted = "\n".join(line.rstrip() for line in expected).strip()
        found = "\n".join(line.rstrip() for line in said.splitlines()).strip()
        pattern = ".*".join(re.escape(part) for part in wanted.split("..."))
        assert re.fullmatch(pattern, found, re.DOTALL), (
            f"$ {command}\n--- printed\n{found}\n--- the page says\n{wanted}"
        )


def run_python(text: str, names: dict[str, Any], where: str) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text, where, "exec"), names)
    wanted = [line[3:] for line in text.splitlines() if line.startswith("#> ")]
    if wanted:
        assert printed.getvalue().splitlines() == wanted


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_every_block_has_a_known_language_and_a_reason_if_it_is_not_run(page: Path) -> None:
    for block in blocks(page):
        assert block.language in RUN + SHOWN, f"{page.name}:{block.line}: {block.language!r}"
        assert not (block.skip and block.language in SHOWN), f"{page.name}:{block.line} is never run anyhow"


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [p for p in PAGES if any(b.language in RUN and not b.skip for b in blocks(p))], ids=page_id
)
def test_snippets_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    cache = tmp_path / ".cache"
    scripts = str(Path(sys.executable).parent)
    env = environment({"HALLCHECK_CACHE_DIR": str(cache), "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "100"})
    env["PATH"] = os.pathsep.join([scripts, env.get("PATH", "")])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HALLCHECK_CACHE_DIR", str(cache))
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        where = f"{page.name}:{block.line}"
        if block.skip or block.language not in RUN:
            continue
        try:
            if block.language == "python":
                run_python(block.text, names, where)
            else:
                {"bash": run_bash, "console": run_console}[block.language](block.text, tmp_path, env)
        except BaseException as error:
            error.add_note(f"in the block at {where}")
            raise


def test_most_snippets_are_run() -> None:
    found = [block for page in PAGES for block in blocks(page) if block.language in RUN]
    assert sum(not block.skip for block in found) >= 25
    assert sum(block.skip for block in found) <= len(found) / 2


def test_help_pages_are_current() -> None:
    spec = importlib.util.spec_from_file_location("make_help_pages", ROOT / "scripts" / "make_help_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.outdated() == [], "run: python scripts/make_help_pages.py"


def anchors(page: Path) -> set[str]:
    found = set()
    for heading in re.findall(r"^#+ (.+)$", outside_blocks(page), re.MULTILINE):
        kept = re.sub(r"[^\w\s-]", "", heading.lower()).strip()
        found.add(re.sub(r"[-\s]+", "-", kept))
    return found


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_inside_the_repository_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(outside_blocks(page)):
        if target.startswith(("https://", "http://")):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.is_relative_to(ROOT), target
        assert there.exists(), target
        if anchor:
            assert anchor in anchors(there), target


def test_no_page_is_missing_from_the_navigation() -> None:
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in PAGES:
        if page.is_relative_to(ROOT / "docs"):
            assert f": {page.relative_to(ROOT / 'docs')}\n" in nav, page.name


def test_what_can_be_named_on_the_command_line_is_documented() -> None:
    pages = {"providers": "providers.md", "datasets": "datasets.md", "judges": "ask.md"}
    for family, page in pages.items():
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        # `table` is the name that --data stands for.
        assert [name for name in TABLES[family] if f"`{name}`" not in text and name != "table"] == []


def keys(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield (*path, name)
            yield from keys(inner, (*path, name))
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner, path)


# What depends on the run, not on the tool: thresholds, reasons, categories, settings.
FREE = {"unscored", "abstained_by_reason", "by_category", "identity", "config", "dataset", "judge_version", "versions"}


@pytest.mark.parametrize("method", ["prompt", "logprob"])
def test_every_column_and_key_of_the_artifacts_is_documented(tmp_path: Path, method: str) -> None:
    data, replay, out = tmp_path / "q.csv", tmp_path / "r.jsonl", tmp_path / "out"
    data.write_text("id,question,gold,unknown_ok,category\na,1+1?,2,0,sums\nb,2+2?,4,0,sums\nc,Who is Xq?,,1,none\n")
    replies = [("a", "2", 0.9), ("b", "5", 0.7), ("c", "IDK", 0.2)]
    replay.write_text(
        "".join(
            json.dumps({"id": name, "text": text, "confidence": p, "logprobs": [[text, -0.1]]}) + "\n"
            for name, text, p in replies
        )
    )
    options = ["--model", f"replay/{replay}", "--method", method, "--thresholds", "0.5", "1"]
    done = run(["ask", "--data", str(data), *options, "--out", str(out), "--quiet"])
    assert done.returncode == 0, done.stderr
    named = set(re.findall(r"`([^`\n]+)`", outside_blocks(ROOT / "docs" / "ask.md")))
    for name in RESULT_COLUMNS:
        assert name in named, f"results.csv: {name}"
    for name in out.iterdir():
        assert name.name in named or name.name.startswith("."), name.name
    for name in ("metrics.json", "behavior.json", "run.json"):
        for path in keys(json.loads((out / name).read_bytes())):
            free = FREE & set(path[:-1]) and path[-2] in FREE
            number = name == "metrics.json" and len(path) == 1 and path != ("confidence",)
            assert free or number or path[-1] in named, f"{name}: {'.'.join(path)}"
    for name in ("run.jsonl", *(["scores.jsonl"] if method == "logprob" else [])):
        for line in (out / name).read_bytes().splitlines():
            assert set(json.loads(line)) <= named, name
