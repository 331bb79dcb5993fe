"""Every exception that hallcheck raises on purpose.

HallcheckError
├── ConfigError          an option or a combination of options makes no sense
├── DataError            a file of the user's cannot be read as it should (file, row, column)
├── MissingExtra         an optional package is not installed; carries the exact pip line
├── StoreError           the output folder: unwritable, full, locked, or of another configuration
└── ProviderError        a model could not be asked
    ├── AuthError            key missing or refused
    ├── ModelNotFound        no such model or endpoint
    ├── BadRequest           the provider refused this request (other 4xx)
    ├── RateLimited          429, with the delay that the provider asks for
    ├── Timeout              no whole answer in time
    └── Unavailable          5xx, reset, closed connection, cut or non-JSON body

A fault of one item becomes a `Failure` on its record. `ConfigError`, `DataError`, `MissingExtra`, `StoreError`,
`AuthError` and `ModelNotFound` stop the run. Messages never hold a key.
"""

from __future__ import annotations


class HallcheckError(Exception):
    """Base of the tree. `str(error)` is one clear line; `hint` says the way out."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConfigError(HallcheckError):
    """An option or a combination of options makes no sense."""


class DataError(HallcheckError):
    """A file of the user's cannot be read as it should.

    `row` counts data rows from 1 (the header is not counted); `line` is the line in the file, from 1.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str = "",
        row: int | None = None,
        line: int | None = None,
        column: str | None = None,
        hint: str = "",
    ) -> None:
        where = path
        if row is not None:
            where += f", row {row}" if where else f"row {row}"
            if line is not None:
                where += f" (line {line})"
        if column is not None:
            where += f", column {column!r}" if where else f"column {column!r}"
        super().__init__(f"{where}: {message}" if where else message, hint=hint)
        self.path, self.row, self.line, self.column = path, row, line, column


class MissingExtra(HallcheckError):
    """An optional package is needed: `hint` is the exact pip line (or lines)."""


class StoreError(HallcheckError):
    """The output folder cannot be used: unwritable, full, locked, or it holds a run of another configuration."""


class ProviderError(HallcheckError):
    """A model could not be asked. `status` is the HTTP status where there was one."""

    def __init__(self, message: str, *, status: int | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status


class AuthError(ProviderError):
    """The key is missing or was refused."""


class ModelNotFound(ProviderError):
    """The model, or the endpoint, does not exist."""


class BadRequest(ProviderError):
    """The provider refused the request as it stands (HTTP 4xx); asking again will not help."""


class RateLimited(ProviderError):
    """HTTP 429. `after_s`: the least number of seconds to wait, if the provider named one."""

    def __init__(self, message: str, *, status: int | None = 429, after_s: float | None = None, hint: str = "") -> None:
        super().__init__(message, status=status, hint=hint)
        self.after_s = after_s


class Timeout(ProviderError):
    """No whole answer within the time allowed (or HTTP 408)."""


class Unavailable(ProviderError):
    """A passing fault: HTTP 5xx, a reset or closed connection, a cut or non-JSON body."""

    def __init__(
        self, message: str, *, status: int | None = None, after_s: float | None = None, hint: str = ""
    ) -> None:
        super().__init__(message, status=status, hint=hint)
        self.after_s = after_s
