"""`hallcheck.ask` from Python: what it takes, what it gives back, and how little `import hallcheck` costs."""

from __future__ import annotations

import asyncio
import importlib
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hallcheck
from hallcheck.datasets.memory import as_items
from hallcheck.errors import AuthError, BadRequest, ConfigError, DataError, HallcheckError, MissingExtra, StoreError
from hallcheck.types import Item, Reply, Request
from hallcheck.verbs.ask import Progress
from support.scripted import Script, Scripted

ITEMS: list[dict[str, Any]] = [
    {"id": "gold", "question": "Which symbol has gold?", "gold": "Au", "category": "metal"},
    {"id": "lead", "question": "Which symbol has lead?", "gold": "Pb|pb.", "category": "metal"},
    {"id": "none", "question": "Which symbol has unobtainium?", "unknown_ok": True},
]
REPLIES = {"gold": "Au", "lead": "Ld", "none": "IDK"}


def by_id(request: Request) -> str:
    return REPLIES[request.item_id]


def ask(items: Any = None, script: Script = by_id, thresholds: Any = (0.5, 0.9), **more: Any) -> Any:
    settings: dict[str, Any] = {"provider": Scripted(script), "figures": False, **more}
    return hallcheck.ask(ITEMS if items is None else items, "google/scripted", thresholds, **settings)


def test_a_list_of_dicts_gives_metrics_and_rows(tmp_path: Path) -> None:
    run = ask(out=tmp_path / "out")
    assert list(run.metrics) == ["0.5", "0.9"]
    found = run.metrics["0.9"]
    assert (found["n"], found["correct_answers"], found["incorrect_answers"], found["abstentions"]) == (3, 1, 1, 1)
    assert found["avg_expected_score"] == pytest.approx((1 - 9) / 3)
    rows = list(run.records)
    assert [(row["id"], row["t"]) for row in rows] == [(i["id"], t) for i in ITEMS for t in (0.5, 0.9)]
    assert [row["outcome"] for row in rows[::2]] == ["correct", "wrong", "abstained"]
    assert rows == list(run.records)  # may be walked more than once
    assert run.out == tmp_path / "out"
    assert all(path.is_file() for path in run.files.values())
    assert not run.partial
    assert run.interrupted == ""
    assert run.unscored_share == 0.0


def test_rows_are_read_as_one_goes(tmp_path: Path) -> None:
    run = ask(out=tmp_path)
    assert isinstance(run.records, Iterator)
    assert next(run.records)["id"] == "gold"


def test_without_a_folder_a_new_one_is_made_each_time() -> None:
    first, second = ask(), ask()
    assert first.out != second.out
    assert first.files["results.csv"].is_file()


def test_the_same_call_with_the_same_folder_asks_nothing_again(tmp_path: Path) -> None:
    first = ask(out=tmp_path)
    provider = Scripted(by_id)
    second = ask(out=tmp_path, provider=provider)
    assert provider.requests == []
    assert second.metrics == first.metrics
    assert second.manifest["requests"]["sent"] == 6


def test_items_and_dicts_and_generators_are_the_same(tmp_path: Path) -> None:
    as_dicts = ask(out=tmp_path / "1")
    made = list(as_items(ITEMS))
    assert all(isinstance(item, Item) for item in made)
    assert ask(made, out=tmp_path / "2").metrics == as_dicts.metrics
    assert ask((item for item in ITEMS), out=tmp_path / "3").metrics == as_dicts.metrics


def test_a_path_is_a_table(tmp_path: Path) -> None:
    data = tmp_path / "my questions.csv"
    data.write_text("id,question,gold,unknown_ok\ngold,Which?,Au,0\n", encoding="utf-8")
    for given in (data, str(data)):
        run = ask(given)
        assert run.metrics["0.5"]["correct_answers"] == 1
        assert run.manifest["dataset"]["name"] == "table"


def test_the_curve_has_a_point_for_each_threshold_or_confidence(tmp_path: Path) -> None:
    assert ask(out=tmp_path / "1").curve() == [
        {"t": t, "coverage": pytest.approx(2 / 3), "accuracy": 0.5, "risk": 0.5} for t in (0.5, 0.9)
    ]
    stated = {"gold": "Answer: Au\nProbability: 0.9", "lead": "Answer: Ld\nProbability: 0.4", "none": "IDK"}
    curve = ask(script=lambda r: stated[r.item_id], out=tmp_path / "2", method="verbal").curve()
    assert [(p["threshold"], p["coverage"], p["risk"]) for p in curve] == [
        (0.9, pytest.approx(1 / 3), 0.0),
        (0.4, pytest.approx(2 / 3), 0.5),
    ]
    lines = (tmp_path / "2" / "scores.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3


def test_pandas_is_used_where_it_is_and_asked_for_where_it_is_not(tmp_path: Path) -> None:
    run = ask(out=tmp_path)
    try:
        import pandas as pd
    except ImportError:
        with pytest.raises(MissingExtra) as caught:
            run.to_pandas()
        assert "pip install pandas" in caught.value.hint
    else:
        frame = run.to_pandas()
        assert isinstance(frame, pd.DataFrame)
        assert len(frame) == 6


def test_it_works_where_a_loop_is_running(tmp_path: Path) -> None:
    async def notebook() -> Any:
        return ask(out=tmp_path)

    assert asyncio.run(notebook()).metrics["0.5"]["n"] == 3


def test_a_notebook_shows_the_table_with_its_text_escaped(tmp_path: Path) -> None:
    shown = ask(out=tmp_path)._repr_html_()
    assert shown.startswith("<pre>")
    assert "0.5" in shown
    assert "<script>" not in shown


def test_progress_is_told_to_the_end(tmp_path: Path) -> None:
    seen: list[Progress] = []
    ask(out=tmp_path, progress=seen.append)
    assert (seen[-1].done, seen[-1].total, seen[-1].unscored) == (6, 6, 0)


def test_a_provider_of_ones_own_stays_open(tmp_path: Path) -> None:
    provider = Scripted(by_id)
    ask(out=tmp_path, provider=provider)
    assert provider.closed == 0


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"thresholds": [75]}, ConfigError, "75"),
        ({"thresholds": 0.5}, ConfigError, "must be a list"),
        ({"thresholds": []}, ConfigError, "no threshold"),
        ({"jugde": "llm"}, ConfigError, "jugde"),
        ({"concurrency": 0}, ConfigError, "--concurrency"),
        ({"items": []}, DataError, "no item"),
        ({"items": [{"id": "a"}]}, DataError, "question"),
        ({"items": [{"id": "a", "question": " ", "gold": "x"}]}, DataError, "question"),
        ({"items": [{"id": "a", "question": "?"}]}, DataError, "gold"),
        ({"items": [ITEMS[0], ITEMS[0]]}, DataError, "twice"),
        ({"items": ["Which?"]}, DataError, "item 1 is a str"),
        ({"judge": "recorded", "provider": None}, HallcheckError, ""),
    ],
)
def test_bad_input_is_refused_before_any_request_and_leaves_no_folder(
    change: dict[str, Any], error: type[Exception], said: str, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "k")
    provider = Scripted(by_id)
    with pytest.raises(error) as caught:
        ask(**{"out": tmp_path / "out", "provider": provider, **change})
    assert said in f"{caught.value}"
    assert provider.requests == []
    assert not (tmp_path / "out" / "run.json").exists()


def test_an_unknown_setting_gets_the_closest_one() -> None:
    with pytest.raises(ConfigError) as caught:
        ask(jugde="llm")
    assert "did you mean 'judge'?" in caught.value.hint


def test_a_run_that_failed_at_its_first_request_binds_nobody(tmp_path: Path) -> None:
    with pytest.raises(AuthError):
        ask(script=lambda _r: AuthError("no"), out=tmp_path)
    run = hallcheck.ask(ITEMS[:1], "openai/other", [0.75], out=tmp_path, provider=Scripted(by_id), figures=False)
    assert list(run.metrics) == ["0.75"]
    with pytest.raises(StoreError, match="thresholds"):
        ask(ITEMS[:1], out=tmp_path)


def test_a_failed_probe_is_one_request_though_the_first_rows_are_done(tmp_path: Path) -> None:
    """What is stored already is no probe: the first request that is sent is."""
    ask(out=tmp_path, script=lambda r: BadRequest("no") if r.item_id == "none" else by_id(r))
    provider = Scripted(lambda _r: AuthError("no"))
    with pytest.raises(AuthError):
        ask(out=tmp_path, provider=provider)
    assert len(provider.requests) == 1
    cache = str(tmp_path / "cache")
    ask(out=tmp_path / "2", cache=cache, script=lambda r: BadRequest("no") if r.item_id == "none" else by_id(r))
    provider = Scripted(lambda _r: AuthError("no"), delay_s=0.01)
    with pytest.raises(AuthError):
        ask(out=tmp_path / "3", cache=cache, provider=provider)
    assert len(provider.requests) == 1


def test_asking_again_asks_the_provider_not_the_cache(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"cache": str(tmp_path / "cache"), "out": tmp_path / "out"}
    empty = ask(script=lambda r: "" if r.item_id == "gold" else by_id(r), **settings)
    assert empty.metrics["0.5"]["unscored"] == {"empty": 1}
    assert ask(**settings).metrics["0.5"]["unscored"] == {"empty": 1}
    again = ask(retry_unscored=True, **settings)
    assert again.metrics["0.5"]["unscored"] == {}


def test_each_worker_has_one_request_in_flight(tmp_path: Path) -> None:
    items = [{"id": str(n), "question": f"Which {n}?", "gold": "x"} for n in range(40)]
    provider = Scripted(lambda _r: Reply(text="x"), delay_s=0.002)
    run = ask(items, out=tmp_path, provider=provider, concurrency=5)
    assert provider.most_at_once == 5
    assert len(provider.requests) == 80
    assert [row["id"] for row in run.records][::2] == [str(n) for n in range(40)]


# --- the package itself


def submodules() -> list[str]:
    found = pkgutil.walk_packages(hallcheck.__path__, "hallcheck.")
    return [module.name for module in found]


def test_every_module_can_be_imported_and_ask_stays_the_function() -> None:
    for name in submodules():
        importlib.import_module(name)
    assert hallcheck.ask is importlib.import_module("hallcheck.verbs.ask").ask
    assert callable(hallcheck.ask)


def test_what_is_public_is_listed_and_resolves() -> None:
    for name in hallcheck.__all__:
        assert getattr(hallcheck, name) is not None
    assert set(hallcheck.__all__) == {*hallcheck._PUBLIC, "__version__"}
    assert dir(hallcheck) == sorted(hallcheck.__all__)
    for name in hallcheck.__all__:
        if name != "__version__":
            assert getattr(hallcheck, name).__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'aks'"):
        _ = hallcheck.aks  # type: ignore[attr-defined]


HEAVY = ("numpy", "scipy", "matplotlib", "aiohttp", "rich", "pandas", "xllamacpp", "datasets", "google", "sqlite3")


@pytest.mark.parametrize(
    "code",
    [
        "import hallcheck",
        "import hallcheck; hallcheck.is_idk('IDK'); hallcheck.score_item(True, True, 0.5); hallcheck.Item",
        "from hallcheck.cli.main import main; main(['--help'])",
        "from hallcheck.cli.main import main; main(['ask', '--help'])",
        "from hallcheck.cli.gemhall import main; main(['mmlu', '--help'])",
    ],
)
def test_what_is_not_needed_is_not_imported(code: str) -> None:
    report = f"import atexit, sys; atexit.register(lambda: print('LOADED', [m for m in {HEAVY!r} if m in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", f"{report}\n{code}"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "LOADED []", done.stdout
