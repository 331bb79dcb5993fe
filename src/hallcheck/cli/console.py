"""What every command does around its work: errors in one line, exit codes, no traceback unless asked for."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable
from typing import Any

from hallcheck.errors import (
    AuthError,
    BadRequest,
    ConfigError,
    DataError,
    HallcheckError,
    MissingExtra,
    ModelNotFound,
    StoreError,
)

DONE, FAILED, USAGE, UNSCORED, INTERRUPTED = 0, 1, 2, 3, 130
_USAGE_ERRORS = (ConfigError, DataError, MissingExtra, StoreError, AuthError, BadRequest, ModelNotFound)


def rich_formatter(prog: str) -> argparse.HelpFormatter:
    """The help formatter, loaded only when help is printed. Plain where the output is no terminal."""
    if not sys.stdout.isatty():
        return argparse.RawDescriptionHelpFormatter(prog, width=100, max_help_position=32)
    from rich_argparse import RawDescriptionRichHelpFormatter

    formatter: argparse.HelpFormatter = RawDescriptionRichHelpFormatter(prog, width=100, max_help_position=32)
    return formatter


class Parser(argparse.ArgumentParser):
    """argparse with our formatter, and errors as `hallcheck: message` plus where help is."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("formatter_class", rich_formatter)
        super().__init__(**kwargs)

    def error(self, message: str) -> Any:
        self.exit(USAGE, f"{self.prog}: {message}\n  see {self.prog} --help\n")


def guarded(work: Callable[[], int], *, prog: str, debug: bool) -> int:
    """Run `work`; turn errors into one line on stderr and an exit code."""
    try:
        return work()
    except HallcheckError as error:
        if debug:
            raise
        print_error(prog, error)
        return USAGE if isinstance(error, _USAGE_ERRORS) else FAILED
    except KeyboardInterrupt:
        print(f"\n{prog}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output (head, say) has gone: no more can be said.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except Exception as error:
        if debug:
            raise
        print(
            f"{prog}: unexpected {type(error).__name__}: {error}\n"
            "  this is a fault in hallcheck: please report it with the output of the same command and --debug",
            file=sys.stderr,
        )
        return FAILED


def print_error(prog: str, error: HallcheckError) -> None:
    """`prog: message`, and the way out on a line of its own."""
    text = f"{prog}: {error}"
    if error.hint:
        text += f"\n  {error.hint}"
    print(text, file=sys.stderr)
