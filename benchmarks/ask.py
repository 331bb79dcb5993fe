"""Speed and memory of `hallcheck ask`, as ratios against a least-possible client in the same run.

  python benchmarks/ask.py [--questions 5000] [--repeats 3]

Each figure is the median of the repeats; client and server each have a core where there are two. Prints a table and
writes benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import aiohttp

import hallcheck

HERE = Path(__file__).resolve().parent
THRESHOLDS = 3


@dataclass(frozen=True)
class Measured:
    """One process: wall and CPU seconds, MB at the last reply, MB at most."""

    wall_s: float
    cpu_s: float
    asking_mb: float
    peak_mb: float


def main() -> None:
    """Run all rows of the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=5000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    n = options.questions
    lines = ["| work | bare client | hallcheck ask | ratio | limit |", "| --- | --- | --- | --- | --- |"]
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        questions = write_questions(scratch / "q.csv", n)
        for latency_ms, concurrency, limit in ((50, 64, 1.25), (0, 16, 2.2)):
            bare, ours = compare(questions, scratch, latency_ms, concurrency, options.repeats)
            lines.append(
                f"| {n * THRESHOLDS:,} requests, {latency_ms} ms, c{concurrency}: wall | {bare.wall_s:.2f} s | "
                f"{ours.wall_s:.2f} s | {ours.wall_s / bare.wall_s:.2f} | {limit} |"
            )
            lines.append(
                f"| the same: CPU | {bare.cpu_s:.2f} s | {ours.cpu_s:.2f} s | {ours.cpu_s / bare.cpu_s:.2f} | |"
            )
        lines.append(f"| memory at the last reply | {bare.asking_mb:.0f} MB | {ours.asking_mb:.0f} MB | | 75 MB |")
        lines.append(f"| memory of the whole process | {bare.peak_mb:.0f} MB | {ours.peak_mb:.0f} MB | | 160 MB |")
        for factor in (2, 4):
            many = write_questions(scratch / f"many-{factor}.csv", n * factor)
            _, larger = compare(many, scratch, 0, 16, 1, with_bare=False)
            lines.append(
                f"| {factor} x the questions: at the last reply, whole process | | {larger.asking_mb:.0f} MB, "
                f"{larger.peak_mb:.0f} MB | {larger.peak_mb / ours.peak_mb:.2f} | flat |"
            )
    plain, helped = startup(["-c", "pass"]), startup(["-m", "hallcheck.cli.main", "ask", "--help"])
    lines.append(f"| `--help` (`python -c pass`) | {plain:.3f} s | {helped:.3f} s | | 0.19 s |")
    facts = (
        f"hallcheck {hallcheck.__version__}, aiohttp {aiohttp.__version__}, Python {platform.python_version()}, "
        f"{platform.machine()}, {os.cpu_count()} cores; median of {options.repeats}"
    )
    text = "\n".join(["# `make bench`", "", facts, "", *lines, ""])
    print(text)
    (HERE / "RESULTS.md").write_text(text, encoding="utf-8")


def compare(
    questions: Path, scratch: Path, latency_ms: float, concurrency: int, repeats: int, *, with_bare: bool = True
) -> tuple[Measured, Measured]:
    """Both clients, by turns, so that the machine's moods hit both."""
    bare, ours = [], []
    for number in range(repeats):
        out = scratch / f"out-{latency_ms}-{concurrency}-{number}-{questions.stem}"
        ask = ["-m", "hallcheck.cli.main", "ask", "--data", str(questions), "--model", "google/lean", "--quiet",
               "--concurrency", str(concurrency), "--out", str(out)]  # fmt: skip
        if with_bare:
            arguments = [str(HERE / "bare_client.py"), str(questions), str(scratch / "bare.jsonl"), str(concurrency)]
            bare.append(measure(arguments, latency_ms, total(questions)))
        ours.append(measure(ask, latency_ms, total(questions)))
    return median(bare or ours), median(ours)


def measure(arguments: list[str], latency_ms: float, requests: int) -> Measured:
    """Run one client against a fresh server."""
    with subprocess.Popen(
        [sys.executable, str(HERE / "lean_server.py"), str(latency_ms)], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
        env = {**os.environ, "GOOGLE_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": url}
        try:
            begun = time.perf_counter()
            process = subprocess.Popen([sys.executable, *arguments], env=env, stdout=subprocess.DEVNULL)
            asking_mb = 0.0
            last = False
            while True:
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    break
                if not last:
                    asking_mb = resident_mb(process.pid) or asking_mb
                    last = answered(url) >= requests
                time.sleep(0.1)
            wall = time.perf_counter() - begun
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                raise SystemExit(f"{arguments} ended with {process.returncode}")
        finally:
            server.terminate()
    return Measured(wall, usage.ru_utime + usage.ru_stime, asking_mb, usage.ru_maxrss / 1024)


def resident_mb(pid: int) -> float:
    """Resident memory now, in MB; 0 where /proc does not say."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    kb = [line.split()[1] for line in text.splitlines() if line.startswith("VmRSS")]
    return int(kb[0]) / 1024 if kb else 0.0


def answered(url: str) -> int:
    """Requests that the server has answered so far."""
    with urllib.request.urlopen(url + "/count", timeout=10) as response:
        return int(response.read())


def startup(arguments: list[str]) -> float:
    """Median wall time of eleven starts."""
    times = []
    for _ in range(11):
        begun = time.perf_counter()
        subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def median(runs: list[Measured]) -> Measured:
    """Field by field."""
    fields = ("wall_s", "cpu_s", "asking_mb", "peak_mb")
    return Measured(*(statistics.median(getattr(run, name) for run in runs) for name in fields))


def total(questions: Path) -> int:
    """Requests that a file of questions makes."""
    with questions.open(encoding="utf-8") as file:
        return (sum(1 for _ in file) - 1) * THRESHOLDS


def write_questions(path: Path, n: int) -> Path:
    """n short questions with a number for an answer."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "question", "gold", "unknown_ok", "category"])
        for i in range(n):
            writer.writerow(
                [i, f"How many lamps hang in hall {i} of the palace?", i % 5000, int(i % 10 == 9), f"c{i % 7}"]
            )
    return path


if __name__ == "__main__":
    main()
