"""A run's folder: one process at a time, checked before anything is paid for, never deleted.

run.json      what was run (manifest)            written atomically
items.jsonl   the items, frozen, in order        written once; its sha256 is part of the run's identity
run.jsonl     the journal: one line a reply      appended, see journal.py
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import orjson

from hallcheck.errors import StoreError

MANIFEST = "run.json"
ITEMS = "items.jsonl"
JOURNAL = "run.jsonl"
LOCK = ".lock"
_RESULTS = ("results.csv", "metrics.json", JOURNAL)


class RunFolder:
    """An output folder, locked for this process until `close`.

    Raises StoreError where it cannot be made, written or locked, or holds results of something else.
    """

    def __init__(self, path: str | Path, *, fresh: bool = False) -> None:
        self.path = Path(path)
        if fresh:
            move_aside(self.path)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock: IO[bytes] = (self.path / LOCK).open("ab")
        except OSError as error:
            raise StoreError(
                f"cannot write to the output folder {str(self.path)!r}: {error.strerror or error}",
                hint="give another folder with --out",
            ) from None
        if not _try_lock(self._lock):
            self._lock.close()
            raise StoreError(
                f"another process is working in {str(self.path)!r}",
                hint="wait for it, or give another folder with --out",
            )
        stray = [name for name in _RESULTS if (self.path / name).exists()]
        if stray and not self.has_run:
            self.close()
            raise StoreError(
                f"{str(self.path)!r} holds a {stray[0]} but no {MANIFEST}: it is no run that can be resumed",
                hint="give another folder with --out, or --fresh to move this one aside",
            )

    @property
    def has_run(self) -> bool:
        """Whether a run was begun here."""
        return (self.path / MANIFEST).exists()

    @property
    def has_replies(self) -> bool:
        """Whether anything was paid for: a run that failed at its first request binds nobody."""
        try:
            return (self.path / JOURNAL).stat().st_size > 0
        except FileNotFoundError:
            return False

    def read_manifest(self) -> dict[str, Any]:
        """The manifest. Raises StoreError if it cannot be read."""
        return read_manifest(self.path)

    def write(self, name: str, data: bytes) -> Path:
        """Write a file whole or not at all."""
        return self.write_lines(name, (data,))

    def write_lines(self, name: str, lines: Iterable[bytes]) -> Path:
        """Write a file piece by piece, whole or not at all."""
        path = self.path / name
        temporary = self.path / f".{name}.tmp"
        try:
            with temporary.open("wb") as file:
                file.writelines(lines)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except OSError as error:
            raise StoreError(
                f"cannot write {str(path)!r}: {error.strerror or error}",
                hint="free the disk or the folder, then run the same command again: no reply is lost",
            ) from None
        finally:
            temporary.unlink(missing_ok=True)
        return path

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Write run.json."""
        self.write(MANIFEST, orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))

    def close(self) -> None:
        """Let other processes in."""
        if not self._lock.closed:
            self._lock.close()


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of a run's folder. Raises StoreError if there is none or it cannot be read."""
    try:
        manifest = orjson.loads((path / MANIFEST).read_bytes())
    except FileNotFoundError:
        raise StoreError(
            f"{str(path)!r} holds no run ({MANIFEST} is missing)", hint="give a folder that a run made"
        ) from None
    except (OSError, orjson.JSONDecodeError) as error:
        raise StoreError(
            f"{str(path / MANIFEST)!r} cannot be read: {error}",
            hint="--fresh moves the folder aside and starts anew",
        ) from None
    if not isinstance(manifest, dict) or "identity" not in manifest:
        raise StoreError(
            f"{str(path / MANIFEST)!r} is not a manifest of hallcheck", hint="give another folder with --out"
        )
    return manifest


def move_aside(path: Path) -> Path | None:
    """Rename the folder of an earlier run to NAME.old-TIME; returns its new path, or None if there was no run.

    A folder that holds other things only is left alone.
    """
    if path.is_dir() and not any((path / name).exists() for name in (MANIFEST, *_RESULTS)):
        return None
    if not path.exists():
        return None
    if Path.cwd().is_relative_to(path.resolve()):
        raise StoreError(
            f"{str(path)!r} is the current folder: it cannot be moved aside", hint="give another folder with --out"
        )
    try:
        with (path / LOCK).open("ab") as lock:
            if not _try_lock(lock):
                raise StoreError(f"another process is working in {str(path)!r}", hint="wait for it to end")
    except OSError as error:
        raise StoreError(
            f"cannot move {str(path)!r} aside: {error.strerror or error}", hint="give another --out"
        ) from None
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for attempt in range(1000):
        target = path.with_name(f"{path.name}.old-{stamp}" + (f"-{attempt}" if attempt else ""))
        if target.exists():
            continue
        try:
            path.rename(target)
        except OSError as error:
            raise StoreError(f"cannot move {str(path)!r} aside: {error.strerror or error}") from None
        return target
    raise StoreError(f"cannot find a free name to move {str(path)!r} aside")


def differences(old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """What two configurations differ in, each as `name: old value, now new value`."""
    for name in sorted({*old, *new}):
        before, after = old.get(name), new.get(name)
        if isinstance(before, dict) and isinstance(after, dict):
            yield from differences(before, after, f"{prefix}{name}.")
        elif before != after:
            yield f"{prefix}{name}: was {_short(before)}, now {_short(after)}"


def _short(value: Any) -> str:
    text = orjson.dumps(value, default=str).decode()
    return text if len(text) <= 60 else text[:57] + "..."


def _try_lock(file: IO[bytes]) -> bool:
    """Lock a file for this process; the system lets go when the process ends, however it ends."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
