"""`hallcheck ask`: parse -> config -> verb -> print."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from hallcheck.cli.console import DONE, INTERRUPTED, UNSCORED, print_error
from hallcheck.config import JUDGES, METHODS, AskConfig, parse_threshold
from hallcheck.errors import ConfigError

if TYPE_CHECKING:
    from hallcheck.types import Item
    from hallcheck.verbs.ask import DryRun
    from hallcheck.verbs.ask_run import AskRun

DESCRIPTION = """\
Ask a model every question under the rule "answer only if you are more than t confident, else say IDK" and score it
+1 / -t/(1-t) / 0 (Kalai et al., arXiv 2509.04664). Writes the results, metrics and reports to --out; the same
command again resumes.

Examples:
  hallcheck ask --data questions.csv --thresholds 0.5 0.75 0.9 --model gemini-2.5-flash
  hallcheck ask --dataset builtin --subset demo --model local --shots 8
  hallcheck ask --dataset mmlu --path mmlu/ --limit 200 --idk-frac 0.3 --model openai/gpt-4.1-mini
  hallcheck ask --rejudge outputs --judge llm
"""
DATASETS = ("builtin", "mmlu", "simpleqa", "truthfulqa")
_DEFAULTS = AskConfig()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """All options of `hallcheck ask`."""
    _add_data(parser)
    _add_model(parser)
    _add_run(parser)
    _add_output(parser)


def _add_data(parser: argparse.ArgumentParser) -> None:
    data = parser.add_argument_group("questions")
    data.add_argument("--data", metavar="FILE", help="CSV or JSONL with id, question, gold, unknown_ok, ...")
    data.add_argument("--dataset", choices=DATASETS, help="a known data set instead of --data")
    data.add_argument("--path", metavar="PATH", help="the data set's file or folder (mmlu, simpleqa, truthfulqa)")
    data.add_argument("--encoding", metavar="NAME", help="of --data, if it is not UTF-8 (for instance latin-1)")
    data.add_argument("--subset", metavar="NAME", help="builtin: all or demo (default: all)")
    data.add_argument("--split", default="test", help="mmlu: which split (default: %(default)s)")
    data.add_argument("--subjects", nargs="+", default=["all"], metavar="NAME", help="mmlu: subjects (default: all)")
    data.add_argument("--limit", type=int, metavar="N", help="a random sample of N items (same seed, same items)")
    data.add_argument(
        "--idk-frac", type=float, default=0.0, metavar="SHARE", help="mmlu: make this share unanswerable (default: 0)"
    )
    data.add_argument(
        "--idk-style",
        choices=("swap", "duplicate"),
        default="swap",
        help="mmlu: the right option becomes another question's wrong one, or a copy of a wrong one (default: swap)",
    )


def _add_model(parser: argparse.ArgumentParser) -> None:
    d = _DEFAULTS
    model = parser.add_argument_group("model and method")
    model.add_argument(
        "--model",
        default=d.model,
        metavar="PROVIDER/NAME",
        help="google, openai, anthropic, local, replay/FILE; a bare gemini-... is Google's (default: %(default)s)",
    )
    model.add_argument(
        "--thresholds", nargs="+", default=None, metavar="T", help="confidence thresholds (default: 0.5 0.75 0.9)"
    )
    model.add_argument(
        "--method",
        choices=METHODS,
        default=d.method,
        help="what decides: the model told t, its stated probability, its token probabilities, or the agreement of"
        " samples (default: %(default)s)",
    )
    model.add_argument("--samples", type=int, default=d.samples, metavar="K", help="samples an item (default: 10)")
    model.add_argument("--shots", type=int, default=d.shots, metavar="N", help="built-in examples shown first")
    model.add_argument(
        "--temperature", type=float, metavar="X", help="sampling temperature (default: 0.0; 0.7 with --method samples)"
    )
    model.add_argument(
        "--max-output-tokens", type=int, default=d.max_output_tokens, metavar="N", help="default: %(default)s"
    )
    model.add_argument(
        "--thinking-budget",
        type=int,
        default=d.thinking_budget,
        metavar="N",
        help="thinking tokens, 0 for none; the token limit makes room for them (default: %(default)s)",
    )
    model.add_argument("--seed", type=int, default=d.seed, metavar="N", help="default: %(default)s")
    model.add_argument("--judge", choices=JUDGES, default=d.judge, help="who judges free answers (default: exact)")
    model.add_argument("--judge-model", default=d.judge_model, metavar="PROVIDER/NAME", help="default: %(default)s")
    model.add_argument("--judge-votes", type=int, default=d.judge_votes, metavar="K", help="default: %(default)s")
    model.add_argument("--rejudge", metavar="DIR", help="judge the replies of an earlier run again; asks no answers")


def _add_run(parser: argparse.ArgumentParser) -> None:
    d = _DEFAULTS
    run = parser.add_argument_group("requests")
    run.add_argument("--concurrency", type=int, default=d.concurrency, metavar="N", help="default: %(default)s")
    run.add_argument("--async", action="store_true", dest="use_async", help=argparse.SUPPRESS)
    run.add_argument("--rpm-limit", type=float, metavar="N", help="requests a minute at most, evenly paced")
    run.add_argument("--tpm-limit", type=float, metavar="N", help="tokens a minute at most")
    run.add_argument(
        "--max-retries", type=int, default=d.max_retries, metavar="N", help="after the first try (default: %(default)s)"
    )
    run.add_argument("--timeout", type=float, default=d.timeout, metavar="S", help="of one try (default: 120)")
    run.add_argument(
        "--cache",
        nargs="?",
        const="",
        metavar="DIR",
        help="keep replies across runs, in DIR or the user's cache folder (default: off)",
    )
    run.add_argument("--retry-unscored", action="store_true", help="ask empty, cut, blocked and unparsed rows again")
    run.add_argument("--fresh", action="store_true", help="move the old folder aside and start anew")
    run.add_argument("--dry-run", action="store_true", help="say what would be sent; send and write nothing")
    run.add_argument("--price-in", type=float, metavar="P", help="--dry-run: price of a million input tokens")
    run.add_argument("--price-out", type=float, metavar="P", help="--dry-run: price of a million output tokens")


def _add_output(parser: argparse.ArgumentParser) -> None:
    out = parser.add_argument_group("output")
    out.add_argument("--out", metavar="DIR", help=f"the run's folder (default: {_DEFAULTS.out})")
    out.add_argument(
        "--max-unscored",
        type=float,
        default=_DEFAULTS.max_unscored,
        metavar="SHARE",
        help="exit 3 if a greater share of the rows is unscored (default: 0.05)",
    )
    out.add_argument("--no-figures", action="store_true", help="draw no rc_curve.png")
    out.add_argument("--json", action="store_true", help="print the paths of the artifacts as JSON")
    out.add_argument("--progress", action="store_true", help=argparse.SUPPRESS)
    out.add_argument("--quiet", action="store_true", help="no progress, no table")
    out.add_argument("--debug", action="store_true", help="show the traceback of an error")


def config_from(arguments: argparse.Namespace) -> AskConfig:
    """The checked configuration. Raises ConfigError."""
    given = arguments.thresholds
    if arguments.out is not None and not arguments.out.strip():
        raise ConfigError("--out is blank", hint="name a folder (is a shell variable unset?)")
    return AskConfig(
        model=arguments.model,
        thresholds=_DEFAULTS.thresholds if given is None else tuple(parse_threshold(str(t)) for t in given),
        method=arguments.method,
        judge=arguments.judge,
        judge_model=arguments.judge_model,
        judge_votes=arguments.judge_votes,
        shots=arguments.shots,
        samples=arguments.samples,
        temperature=arguments.temperature,
        max_output_tokens=arguments.max_output_tokens,
        thinking_budget=arguments.thinking_budget,
        seed=arguments.seed,
        concurrency=arguments.concurrency,
        rpm_limit=arguments.rpm_limit,
        tpm_limit=arguments.tpm_limit,
        max_retries=arguments.max_retries,
        timeout=arguments.timeout,
        cache=arguments.cache,
        fresh=arguments.fresh,
        retry_unscored=arguments.retry_unscored,
        max_unscored=arguments.max_unscored,
        out=arguments.out or _DEFAULTS.out,
        figures=not arguments.no_figures,
    )


def run(arguments: argparse.Namespace, prog: str) -> int:
    """Do what the options say; returns the exit code."""
    config = config_from(arguments)
    if arguments.rejudge and (arguments.data or arguments.dataset or arguments.thresholds):
        raise ConfigError(
            "--rejudge takes its questions and thresholds from the run",
            hint="leave out --data, --dataset, --thresholds",
        )
    if arguments.rejudge and arguments.dry_run:
        from hallcheck.verbs.ask_rejudge import dry_rejudge

        return _print_plan(dry_rejudge(arguments.rejudge, config), arguments)
    if arguments.rejudge:
        return _finish(_rejudge(arguments, config), arguments, config, prog)
    items, dataset = open_dataset(arguments)
    if arguments.dry_run:
        from hallcheck.verbs.ask import dry_run

        return _print_plan(dry_run(config, items), arguments)
    return run_and_show(config, items, dataset, arguments, prog)


def run_and_show(
    config: AskConfig, items: Iterable[Item], dataset: dict[str, Any], arguments: argparse.Namespace, prog: str
) -> int:
    """Run, with progress, and print the result."""
    from hallcheck.cli.progress import make_progress
    from hallcheck.engine import run_sync
    from hallcheck.verbs.ask import run_ask

    progress = make_progress(arguments.quiet)
    try:
        result = run_sync(run_ask(config, items, dataset, progress=progress, signals=True))
    finally:
        if progress:
            progress.close()
    return _finish(result, arguments, config, prog)


def open_dataset(arguments: argparse.Namespace) -> tuple[Iterable[Item], dict[str, Any]]:
    """The data set of the options, unread, and its name and settings. Raises ConfigError."""
    from hallcheck import registry

    if bool(arguments.data) == bool(arguments.dataset):
        raise ConfigError(
            "give either --data FILE or --dataset NAME",
            hint="for a first try: hallcheck ask --dataset builtin --subset demo --model local --shots 8",
        )
    name = arguments.dataset or "table"
    settings: dict[str, Any] = {"limit": arguments.limit, "seed": arguments.seed}
    if name == "table":
        settings |= {"path": arguments.data, "encoding": arguments.encoding}
    elif name == "builtin":
        settings["subset"] = arguments.subset
    elif name == "mmlu":
        settings |= {
            "path": arguments.path,
            "split": arguments.split,
            "subjects": tuple(arguments.subjects),
            "idk_frac": arguments.idk_frac,
            "idk_style": arguments.idk_style,
        }
    else:
        if not arguments.path:
            raise ConfigError(f"--dataset {name} needs --path FILE")
        settings["path"] = arguments.path
    if name != "mmlu" and arguments.idk_frac:
        raise ConfigError("--idk-frac is for --dataset mmlu", hint="leave it out")
    made = registry.load("datasets", name)(**settings)
    return made, {"name": made.name, **made.settings}


def _rejudge(arguments: argparse.Namespace, config: AskConfig) -> AskRun:
    from hallcheck.engine import run_sync
    from hallcheck.verbs.ask_rejudge import rejudge

    return run_sync(rejudge(arguments.rejudge, config, out=arguments.out or None, signals=True))


def _print_plan(plan: DryRun, arguments: argparse.Namespace) -> int:
    print(f"items                 {plan.items:,}")
    print(f"requests              {plan.requests:,}")
    if plan.judge_requests_at_most:
        print(f"judge requests        {plan.judge_requests_at_most:,} at most")
    print(f"input tokens          about {plan.input_tokens:,}")
    print(f"output tokens         {plan.output_tokens_at_most:,} at most")
    if arguments.price_in is not None or arguments.price_out is not None:
        cost = plan.input_tokens * (arguments.price_in or 0) + plan.output_tokens_at_most * (arguments.price_out or 0)
        print(f"cost                  {cost / 1e6:,.2f} at most, retries and judge apart")
    print("nothing was sent")
    return DONE


def _finish(result: AskRun, arguments: argparse.Namespace, config: AskConfig, prog: str) -> int:
    if arguments.json:
        import orjson

        paths = {name: str(path) for name, path in result.files.items()}
        print(orjson.dumps(paths, option=orjson.OPT_INDENT_2).decode())
    elif not arguments.quiet:
        _print_summary(result)
    if result.interrupted:
        print(f"{prog}: stopped by {result.interrupted}; run the same command again to go on", file=sys.stderr)
        return INTERRUPTED
    share = result.unscored_share
    if share > config.max_unscored:
        message = f"{share:.1%} of the rows are unscored, more than --max-unscored {config.max_unscored:g}"
        print_error(prog, ConfigError(message, hint="see `reason` in results.csv; the same command asks errors again"))
        return UNSCORED
    return DONE


def _print_summary(result: AskRun) -> None:
    from hallcheck.reports.table import summary_lines

    encoding = sys.stdout.encoding or "utf-8"
    for line in summary_lines(result.artifacts.report):
        print(line.encode(encoding, "replace").decode(encoding))
    print(f"\nreport   {result.files['report.html']}")
    print(f"rows     {result.files['results.csv']}")
