"""`hallcheck COMMAND ...`: one table of commands; a command's file is loaded when it is called."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from hallcheck import __version__
from hallcheck.cli.console import INTERRUPTED, Parser, guarded

# name -> (module with add_arguments(parser) and run(arguments, prog), one line of help)
COMMANDS = {
    "ask": ("hallcheck.cli.ask", "does a model answer only when it is confident enough? (abstention test)"),
}

DESCRIPTION = """\
Decide with evidence when a language model's answer may go out and when "I don't know" is better.

Example, offline, no key:
  hallcheck ask --dataset builtin --subset demo --model local --shots 8 --out outputs
"""


def build_parser() -> Parser:
    """The parser of all commands."""
    parser = Parser(prog="hallcheck", description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"hallcheck {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (module, summary) in COMMANDS.items():
        loaded = import_module(module)
        command = commands.add_parser(name, help=summary, description=loaded.DESCRIPTION)
        loaded.add_arguments(command)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the console script."""
    try:
        arguments = build_parser().parse_args(argv)
        module = import_module(COMMANDS[arguments.command][0])
    except KeyboardInterrupt:
        return INTERRUPTED
    prog = f"hallcheck {arguments.command}"
    return guarded(lambda: int(module.run(arguments, prog)), prog=prog, debug=arguments.debug)


if __name__ == "__main__":
    sys.exit(main())
