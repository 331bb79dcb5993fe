"""Write docs/reference/cli-*.md from the programs' own `--help`; with `--check`, only say which pages are out of date.

White space is not compared: Python versions wrap usage lines differently.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

PAGES = Path(__file__).resolve().parent.parent / "docs" / "reference"
# Command line -> the module behind the console script.
COMMANDS = {
    "hallcheck": "hallcheck.cli.main",
    "hallcheck ask": "hallcheck.cli.main",
    "gemhall run": "hallcheck.cli.gemhall",
    "gemhall mmlu": "hallcheck.cli.gemhall",
}


def page(command: str) -> str:
    """The Markdown page of a command."""
    arguments = [*command.split()[1:], "--help"]
    done = subprocess.run([sys.executable, "-m", COMMANDS[command], *arguments], capture_output=True, check=True)
    text = "\n".join(line.rstrip() for line in done.stdout.decode().strip().splitlines())
    return (
        f"# `{command}`\n\n"
        f"<!-- Made by scripts/make_help_pages.py: do not edit. -->\n\n"
        f"What `{command} --help` prints.\n\n"
        f"```text\n{text}\n```\n"
    )


def path_of(command: str) -> Path:
    """Where the page of a command lies."""
    return PAGES / f"cli-{command.replace(' ', '-')}.md"


def outdated() -> list[str]:
    """The names of pages that differ from what the programs print, are missing, or belong to no command."""
    wanted = {path_of(command): page(command) for command in COMMANDS}
    there = {path: path.read_text(encoding="utf-8") for path in PAGES.glob("cli-*.md")}
    return sorted(p.name for p in {*wanted, *there} if wanted.get(p, "").split() != there.get(p, "").split())


def main() -> int:
    """Write the pages, or check them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a page is out of date")
    if parser.parse_args().check:
        names = outdated()
        if names:
            print(f"out of date: {', '.join(names)}; run: python scripts/make_help_pages.py", file=sys.stderr)
        return 1 if names else 0
    PAGES.mkdir(parents=True, exist_ok=True)
    for command in COMMANDS:
        path_of(command).write_text(page(command), encoding="utf-8")
        print(path_of(command).relative_to(PAGES.parent.parent))
    return 0


if __name__ == "__main__":
    sys.exit(main())
