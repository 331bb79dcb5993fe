"""Replies across runs, by Request.key: SQLite in the user's cache folder. Failures are never stored."""

from __future__ import annotations

import os
import sqlite3
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Self

import orjson

from hallcheck.errors import StoreError
from hallcheck.types import Reply, Usage

# Numbered migrations: a database at version n has run the first n. Append, never edit.
MIGRATIONS = ("CREATE TABLE replies (key TEXT PRIMARY KEY, reply BLOB NOT NULL)",)
FILE = "replies.sqlite"


def cache_folder() -> Path:
    """HALLCHECK_CACHE_DIR, or the platform's cache folder for this user."""
    if named := os.environ.get("HALLCHECK_CACHE_DIR"):
        return Path(named)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local")) / "hallcheck" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "hallcheck"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "hallcheck"


class ReplyCache:
    """A table key -> reply. Several processes may use one file. Raises StoreError where it cannot be used."""

    def __init__(self, folder: str | Path | None = None) -> None:
        self.path = (Path(folder) if folder else cache_folder()) / FILE
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self.path, timeout=30, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._migrate()
        except (OSError, sqlite3.Error) as error:
            raise StoreError(
                f"cannot use the cache {str(self.path)!r}: {error}",
                hint="give another folder with --cache, or leave it out",
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _migrate(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version > len(MIGRATIONS):
                raise sqlite3.DatabaseError("it was written by a newer hallcheck")
            for statement in MIGRATIONS[version:]:
                self._db.execute(statement)
            self._db.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
            self._db.execute("COMMIT")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise

    def get(self, key: str) -> Reply | None:
        """The stored reply, or None. Raises StoreError when the file cannot be read."""
        try:
            row = self._db.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error as error:
            raise StoreError(f"cannot read the cache {str(self.path)!r}: {error}", hint="remove the file") from None
        if row is None:
            return None
        fields = orjson.loads(row[0])
        fields["usage"] = Usage(**fields["usage"])
        if fields["logprobs"] is not None:
            fields["logprobs"] = tuple((token, float(p)) for token, p in fields["logprobs"])
        return Reply(**fields)

    def put(self, key: str, reply: Reply) -> None:
        """Store a reply. Raises StoreError when the disk is full."""
        try:
            blob = orjson.dumps(asdict(reply))
            self._db.execute("INSERT OR REPLACE INTO replies (key, reply) VALUES (?, ?)", (key, blob))
        except TypeError:
            return  # a lone surrogate: not storable as JSON, only asked again
        except sqlite3.Error as error:
            raise StoreError(f"cannot write the cache {str(self.path)!r}: {error}", hint="free the disk") from None

    def close(self) -> None:
        """Close the file."""
        self._db.close()
