"""Record the embedded model's answers to the whole built-in question set, as a replay file.

  python scripts/record_local.py [OUT.jsonl] [--shots 8] [--runs FOLDER]

One pass for the token probabilities; the answers hold at any t. Takes some minutes on two cores; the run is kept in
FOLDER and resumed. `make demo` and the tests replay the result.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from hallcheck.cli.progress import PlainProgress
from hallcheck.config import AskConfig
from hallcheck.datasets.builtin import BuiltinDataset
from hallcheck.engine import run_sync
from hallcheck.store.items import read_items
from hallcheck.store.journal import scan
from hallcheck.verbs.ask import run_ask

# No right answer of the set is longer; a model that runs on is cut there, and the row unscored as truncated.
MOST_TOKENS = 48
ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Run both passes, then write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", type=Path, default=ROOT / "examples" / "recorded-smollm2.jsonl")
    parser.add_argument("--shots", type=int, default=8)
    parser.add_argument("--runs", type=Path, default=ROOT / "outputs-recording")
    options = parser.parse_args()
    config = AskConfig(
        model="local", method="logprob", shots=options.shots, max_output_tokens=MOST_TOKENS, out=str(options.runs),
        concurrency=2, figures=False,
    )  # fmt: skip
    dataset = BuiltinDataset()
    facts = {"name": dataset.name, **dataset.settings}
    run_sync(run_ask(config, dataset, facts, progress=PlainProgress(), signals=True))
    lines = [orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in recorded(options.runs)]
    options.out.write_bytes(b"".join(lines))
    print(f"{len(lines)} answers in {options.out}")


def recorded(folder: Path) -> Iterator[dict[str, Any]]:
    """The rows of a replay file, in data-set order."""
    questions = {item.id: item.question for item in read_items(folder / "items.jsonl")}
    last = {row["slot"]: row for _, _, row in scan(folder / "run.jsonl")}
    for _, row in sorted(last.items()):
        kept = {"id": row["id"], "question": questions[row["id"]], "t": row["t"], "answer": row["text"]}
        kept |= {"finish": row["finish"], "model_version": row["model_version"]}
        if row["confidence"] is not None:
            kept["confidence"] = round(row["confidence"], 6)
        yield {name: value for name, value in kept.items() if value is not None}


if __name__ == "__main__":
    main()
