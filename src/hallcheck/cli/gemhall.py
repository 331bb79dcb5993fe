"""`gemhall run` and `gemhall mmlu`: the reference tool's command lines, flag for flag, on hallcheck's engine."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from hallcheck import __version__
from hallcheck.cli import ask
from hallcheck.cli.console import Parser, guarded

DESCRIPTION = """\
The command lines of gemini-hallcheck, run by hallcheck. See "Differences from gemhall" in the documentation.

Examples:
  gemhall run --data examples/toy.csv --thresholds 0.5 0.75 0.9 --model gemini-2.5-flash-lite --out outputs
  gemhall mmlu --thresholds 0.5 0.75 0.9 --split test --subjects all --limit 200 --idk-frac 0.3 --judge llm
"""


def build_parser() -> Parser:
    """The parser: every option of `hallcheck ask` is taken too."""
    parser = Parser(prog="gemhall", description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"gemhall of hallcheck {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, summary in (("run", "questions from a CSV file"), ("mmlu", "questions from MMLU")):
        command = commands.add_parser(name, help=summary, description=summary)
        ask.add_arguments(command)
        if name == "mmlu":
            # The reference turns a question unanswerable by a copy of a wrong option.
            command.set_defaults(dataset="mmlu", idk_style="duplicate")
        for action in command._actions:
            if action.dest == "data":
                action.required = name == "run"
            if action.dest == "thresholds":
                action.required = True
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the console script."""
    arguments: argparse.Namespace = build_parser().parse_args(argv)
    prog = f"gemhall {arguments.command}"
    return guarded(lambda: ask.run(arguments, prog), prog=prog, debug=arguments.debug)


if __name__ == "__main__":
    sys.exit(main())
