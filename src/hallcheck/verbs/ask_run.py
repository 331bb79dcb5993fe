"""What `ask` returns: a finished, or interrupted, run."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hallcheck.errors import MissingExtra
from hallcheck.reports.table import summary_lines
from hallcheck.verbs.ask_artifacts import Artifacts


@dataclass(frozen=True, slots=True)
class AskRun:
    """A finished, or interrupted, run.

    `metrics`: as in metrics.json, by threshold. `behavior`: as in behavior.json. `partial`: some trials are missing.
    `interrupted`: the signal that ended it, or "". `files`: artifact name -> path.
    """

    out: Path
    metrics: Mapping[str, Any]
    behavior: Mapping[str, Any]
    manifest: Mapping[str, Any]
    files: Mapping[str, Path]
    partial: bool
    interrupted: str
    artifacts: Artifacts = field(repr=False)

    @property
    def records(self) -> Iterator[dict[str, Any]]:
        """Every row of results.csv, as dicts, in data-set order; read from the journal as you go."""
        return self.artifacts.results.rows()

    @property
    def unscored_share(self) -> float:
        """Unscored rows / all rows, over all thresholds."""
        values = [m for key, m in self.metrics.items() if key != "confidence"]
        total = sum(m["n_total"] for m in values)
        return sum(m["n_unscored"] for m in values) / total if total else 0.0

    def curve(self) -> list[dict[str, float | None]]:
        """The risk-coverage curve: one point for each t (`prompt`), or for each distinct confidence."""
        if "confidence" in self.metrics:
            return list(self.metrics["confidence"]["curve"])
        names = ("coverage", "accuracy_conditioned_on_answering", "hallucination_rate_among_answers")
        return [
            {"t": float(t), "coverage": m[names[0]], "accuracy": m[names[1]], "risk": m[names[2]]}
            for t, m in self.metrics.items()
        ]

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame. Raises MissingExtra without pandas."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra("to_pandas needs pandas", hint="pip install pandas") from None
        return pd.DataFrame(list(self.records))

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(chr(10).join(summary_lines(self.artifacts.report)))}</pre>"
