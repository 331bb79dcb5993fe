"""`make demo`: the abstention test on the embedded model, offline, then the recorded run of the whole question set."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from hallcheck.errors import HallcheckError
from hallcheck.providers.local import find_model

ROOT = Path(__file__).resolve().parent.parent
RECORDED = ROOT / "examples" / "recorded-smollm2.jsonl"
SHOTS = "8"


def main() -> int:
    """Run the demo's commands; the first failure is the exit code."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output")
    begun = time.monotonic()
    # So small a model runs on, or names no option, in a tenth of its replies: that is unscored, and no failure here.
    fixed = ["--dataset", "builtin", "--fresh", "--max-unscored", "0.3", "--max-output-tokens", "48"]
    live = ["--subset", "demo", "--model", "local", "--shots", SHOTS]
    commands: list[tuple[str, list[str]]] = []
    if _has_model():
        commands = [
            (
                "40 questions, 12 of them unanswerable, to the embedded model (SmolLM2-135M), told t = 0.5 and t = 0.9",
                [*fixed, *live, "--thresholds", "0.5", "0.9", "--out", str(out / "local-prompt")],
            ),
            (
                "the same questions once, decided by the model's own token probabilities",
                [
                    *fixed,
                    *live,
                    "--method",
                    "logprob",
                    "--thresholds",
                    "0.5",
                    "0.9",
                    "--out",
                    str(out / "local-logprob"),
                ],
            ),
        ]
    commands.append(
        (
            "the recorded run of the same model over the whole question set, replayed",
            [*fixed, "--model", f"replay/{RECORDED}", "--method", "logprob", "--shots", SHOTS,
             "--thresholds", "0.5", "0.75", "0.9", "--out", str(out / "replay")],
        )
    )  # fmt: skip
    for title, arguments in commands:
        print(f"\n== {title}\n$ hallcheck ask {' '.join(arguments)}\n", flush=True)
        code = subprocess.call([sys.executable, "-m", "hallcheck.cli.main", "ask", *arguments])
        if code:
            return code
    print(f"\n{time.monotonic() - begun:.0f} s in all. Open {out / 'replay' / 'report.html'} in a browser.")
    return 0


def _has_model() -> bool:
    try:
        find_model()
        import xllamacpp  # noqa: F401
    except (HallcheckError, ImportError) as error:
        print(f"no embedded model here ({error}): replaying the recorded run instead")
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
