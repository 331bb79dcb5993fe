"""MMLU from folders and from a stand-in for the hub: layouts, ids, samples, items without a right option."""

from __future__ import annotations

import csv
import json
import random
import subprocess
import sys
import types
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hallcheck.datasets.mmlu import _ABOUT_OPTIONS, MMLUDataset
from hallcheck.datasets.mmlu_sources import REVISION, SUBJECTS
from hallcheck.errors import ConfigError, DataError, MissingExtra

LETTERS = "ABCD"
HEADER = ["question", "choice0", "choice1", "choice2", "choice3", "answer"]


def questions(subject: str, count: int) -> list[tuple[str, list[str], int]]:
    """Questions whose options are all different, with the right one told by its text."""
    made = []
    for i in range(count):
        right = i % 4
        choices = [f"{subject} {'right' if j == right else 'wrong'} {i}.{j}" for j in range(4)]
        made.append((f"{subject} question {i}?", choices, right))
    return made


SET = {"anatomy": questions("anatomy", 12), "virology": questions("virology", 8)}


def write_csv(path: Path, rows, *, raw: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        if not raw:
            writer.writerow(HEADER)
        writer.writerows([q, *choices, LETTERS[a] if raw else a] for q, choices, a in rows)


@pytest.fixture
def folder(tmp_path) -> Path:
    for subject, rows in SET.items():
        write_csv(tmp_path / "test" / f"{subject}_test.csv", rows, raw=False)
        write_csv(tmp_path / "val" / f"{subject}_val.csv", rows[:2], raw=True)
    return tmp_path


def test_items(folder):
    items = list(MMLUDataset(path=folder))
    assert [i.category for i in items] == ["anatomy"] * 12 + ["virology"] * 8
    assert items[1].question == "anatomy question 1?"
    assert items[1].answers == ("B",)
    assert items[1].choices == tuple(SET["anatomy"][1][1])
    assert all(i.choices["ABCD".index(i.answers[0])].split()[1] == "right" for i in items)
    assert not any(i.unknown_ok for i in items)
    assert items[0].id.startswith("anatomy:")
    assert len(items[0].id.split(":")[1]) == 12
    assert len({i.id for i in items}) == 20


LAYOUTS = {
    "folders, header": ("test/{}_test.csv", False),
    "folders, raw": ("test/{}_test.csv", True),
    "folders, bare names": ("test/{}.csv", True),
    "flat": ("{}_test.csv", False),
    "flat, bare names": ("{}.csv", True),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_csv_layout_gives_the_same_items(layout, folder, tmp_path_factory):
    pattern, raw = LAYOUTS[layout]
    other = tmp_path_factory.mktemp("layout")
    for subject, rows in SET.items():
        write_csv(other / pattern.format(subject), rows, raw=raw)
    assert list(MMLUDataset(path=other)) == list(MMLUDataset(path=folder))
    (other / "notes.txt").write_text("no data")
    assert len(list(MMLUDataset(path=other, subjects=("virology",)))) == 8


def test_header_with_letters_other_order_and_a_mark(tmp_path):
    (tmp_path / "anatomy_test.csv").write_bytes(
        b"\xef\xbb\xbfAnswer,Question,A,B,C,D,source\r\n2,Why?,w, x ,y,z,book\r\nd,How?,1,2,3,4,web\r\n"
    )
    first, second = MMLUDataset(path=tmp_path)
    assert (first.question, first.choices, first.answers) == ("Why?", ("w", "x", "y", "z"), ("C",))
    assert second.answers == ("D",)


@pytest.mark.parametrize("layout", ["test-00000-of-00001.parquet", "all/test-00000-of-00001.parquet",
                                    "test/all.parquet", "test.parquet"])  # fmt: skip
def test_parquet(layout, folder, tmp_path_factory):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = [
        {"question": q, "subject": subject, "choices": choices, "answer": a}
        for subject, found in SET.items()
        for q, choices, a in found
    ]
    path = tmp_path_factory.mktemp("parquet") / layout
    path.parent.mkdir(exist_ok=True)
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    root = path.parent if layout.count("/") == 0 else path.parent.parent
    assert list(MMLUDataset(path=root)) == list(MMLUDataset(path=folder))
    assert len(list(MMLUDataset(path=root, subjects=("virology",)))) == 8
    with pytest.raises(ConfigError, match="virolgy"):
        list(MMLUDataset(path=root, subjects=("virolgy",)))
    parquet.write_table(pyarrow.Table.from_pylist([{"question": "a", "answer": 0}]), path)
    with pytest.raises(DataError, match="row 1, column 'choices'"):
        list(MMLUDataset(path=root))
    path.write_bytes(b"PAR1 this is not PAR1")
    with pytest.raises(DataError, match="Parquet"):
        list(MMLUDataset(path=root))


def test_parquet_by_subject(folder, tmp_path_factory):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    root = tmp_path_factory.mktemp("parquet")
    for subject, found in SET.items():
        rows = [{"question": q, "choices": choices, "answer": a} for q, choices, a in found]
        (root / subject).mkdir()
        parquet.write_table(pyarrow.Table.from_pylist(rows), root / subject / "test-00000-of-00001.parquet")
    assert [i.id for i in MMLUDataset(path=root)] == [i.id for i in MMLUDataset(path=folder)]


def test_splits(folder):
    for name in ("validation", "val", "VAL"):
        data = MMLUDataset(path=folder, split=name)
        assert len(list(data)) == 4
        assert data.settings["split"] == "validation"
    with pytest.raises(ConfigError, match="'dev' is not in") as caught:
        list(MMLUDataset(path=folder, split="dev"))
    assert "test, validation" in caught.value.hint
    with pytest.raises(ConfigError, match="'tset'") as caught:
        MMLUDataset(path=folder, split="tset")
    assert "did you mean 'test'?" in caught.value.hint


def test_subjects(folder):
    one = list(MMLUDataset(path=folder, subjects=("Virology",)))
    assert {i.category for i in one} == {"virology"}
    assert list(MMLUDataset(path=folder, subjects="virology, anatomy")) == list(MMLUDataset(path=folder))
    assert list(MMLUDataset(path=folder, subjects=("virology", "all"))) == list(MMLUDataset(path=folder))
    with pytest.raises(ConfigError, match="'anatomie'") as caught:
        list(MMLUDataset(path=folder, subjects=("virology", "anatomie")))
    assert "did you mean 'anatomy'? There are: anatomy, virology" in caught.value.hint
    with pytest.raises(ConfigError, match="names no subject"):
        MMLUDataset(path=folder, subjects=())


def test_ids_do_not_depend_on_what_else_is_asked_for(folder):
    everything = {i.id: i for i in MMLUDataset(path=folder)}
    for options in ({"limit": 5}, {"limit": 5, "seed": 7}, {"subjects": ("virology",)}, {"idk_frac": 0.5}):
        for item in MMLUDataset(path=folder, **options):
            original = everything[item.id.removesuffix("|idk")]
            assert item.question == original.question
            assert item.unknown_ok or item == original


def test_exact_duplicates_keep_apart_and_keep_their_ids(tmp_path):
    rows = questions("anatomy", 3)
    write_csv(tmp_path / "anatomy_test.csv", [*rows, rows[0], rows[1], rows[0]], raw=True)
    ids = [i.id for i in MMLUDataset(path=tmp_path)]
    assert ids[3:] == [f"{ids[0]}-2", f"{ids[1]}-2", f"{ids[0]}-3"]
    for seed in range(10):
        assert {i.id for i in MMLUDataset(path=tmp_path, limit=2, seed=seed)} <= set(ids)


@settings(deadline=None, max_examples=40)
@given(
    limit=st.one_of(st.none(), st.integers(1, 30)),
    share=st.floats(0, 1),
    seed=st.integers(0, 2**40),
    style=st.sampled_from(["swap", "duplicate"]),
)
def test_items_without_a_right_option(limit, share, seed, style, tmp_path_factory):
    root = tmp_path_factory.getbasetemp() / "mmlu-property"
    if not root.exists():
        for subject, rows in SET.items():
            write_csv(root / f"{subject}_test.csv", rows, raw=True)
    originals = {i.id: i for i in MMLUDataset(path=root)}
    wrong = {s: {c for _, cs, _ in rows for c in cs if "wrong" in c} for s, rows in SET.items()}
    data = MMLUDataset(path=root, limit=limit, idk_frac=share, seed=seed, idk_style=style)
    items = list(data)
    assert items == list(data)
    assert len(items) == min(limit or 20, 20)
    assert sum(i.unknown_ok for i in items) == round(share * len(items))
    order = list(originals)
    positions = [order.index(i.id.removesuffix("|idk")) for i in items]
    assert positions == sorted(set(positions))
    for item in items:
        if not item.unknown_ok:
            assert item == originals[item.id]
            continue
        original = originals[item.id.removesuffix("|idk")]
        assert item.id.endswith("|idk")
        assert item.category == f"{original.category}|unanswerable"
        assert item.answers == ()
        right = "ABCD".index(original.answers[0])
        assert [i for i in range(4) if item.choices[i] != original.choices[i]] == [right]
        if style == "swap":
            assert len(set(item.choices)) == 4
            assert item.choices[right] in wrong[original.category] - set(original.choices)
        else:
            assert Counter(item.choices).most_common(1)[0][1] == 2
            assert item.choices[right] in original.choices


def test_the_seed_decides(folder):
    def drawn(seed):
        return [(i.id, i.choices) for i in MMLUDataset(path=folder, limit=10, idk_frac=0.5, seed=seed)]

    assert drawn(1) == drawn(1)
    assert len({json.dumps(drawn(seed)) for seed in range(6)}) == 6
    sample = sorted(random.Random(3).sample(range(20), 6))
    every = [i.id for i in MMLUDataset(path=folder)]
    assert [i.id for i in MMLUDataset(path=folder, limit=6, seed=3)] == [every[i] for i in sample]


ABOUT = ["None of the above", "none of these.", "All of the above", "Both A and B", "Neither (a) nor (c)",
         "All of these choices", "Both of the above", "Neither", "A and C only", "None of the options is correct",
         "both are true", "All the above"]  # fmt: skip
NOT_ABOUT = ["Both rivers", "Nonexistent", "All mammals", "above zero", "A", "Neither party may recover", "I and II",
             "Vitamins B and K", "any other place", "100% or above", "The choice of law"]  # fmt: skip


@pytest.mark.parametrize("text", ABOUT)
def test_options_about_options_are_known(text):
    assert _ABOUT_OPTIONS.search(text)


@pytest.mark.parametrize("text", NOT_ABOUT)
def test_other_options_are_not_taken_for_them(text):
    assert not _ABOUT_OPTIONS.search(text)


@pytest.mark.parametrize("style", ["swap", "duplicate"])
def test_no_right_option_is_left_behind(style, tmp_path):
    rows = questions("anatomy", 9)
    # With the right option gone, "None of the above" would be right, and so would a copy of it.
    rows += [("Odd 1?", ["x1", "x2", "x3", "None of the above"], 0), ("Odd 2?", ["y1", "Y1.", "y3", "y4"], 0)]
    rows += [("Odd 3?", ["z1", "z2", "z3", "All of these"], 3)]
    write_csv(tmp_path / "anatomy_test.csv", rows, raw=True)
    for seed in range(5):
        items = [i for i in MMLUDataset(path=tmp_path, idk_frac=10 / 12, seed=seed, idk_style=style) if i.unknown_ok]
        assert len(items) == 10
        assert not {"Odd 1?", "Odd 2?"} & {i.question for i in items}
    items = {i.question: i for i in MMLUDataset(path=tmp_path, idk_frac=1, idk_style=style)}
    assert items["Odd 1?"].choices[1:3] == ("x2", "x3")
    assert not {"x1", "None of the above"} & set(items["Odd 1?"].choices)
    assert items["Odd 2?"].choices[2:] == ("y3", "y4")
    assert not {"y1", "Y1."} & set(items["Odd 2?"].choices)
    assert items["Odd 3?"].choices[:3] == ("z1", "z2", "z3")
    for item in items.values():
        assert not any(_ABOUT_OPTIONS.search(c) for c in item.choices)


def test_a_swap_that_cannot_be_made_is_refused_with_the_way_out(tmp_path):
    same = ["wrong, wrong", "wrong, not wrong", "not wrong, wrong", "not wrong, not wrong"]
    write_csv(tmp_path / "moral_scenarios_test.csv", [(f"Scenario {i}?", same, i % 4) for i in range(8)], raw=True)
    write_csv(tmp_path / "virology_test.csv", SET["virology"], raw=True)
    items = list(MMLUDataset(path=tmp_path, idk_frac=0.5))
    assert {i.category for i in items if i.unknown_ok} == {"virology|unanswerable"}
    with pytest.raises(ConfigError, match="asks for 10 items without a right option; 8 can") as caught:
        list(MMLUDataset(path=tmp_path, idk_frac=0.6))
    assert "--idk-style duplicate" in caught.value.hint
    assert sum(i.unknown_ok for i in MMLUDataset(path=tmp_path, idk_frac=0.6, idk_style="duplicate")) == 10


@pytest.mark.parametrize(
    "options",
    [{"limit": 0}, {"limit": -3}, {"idk_frac": -0.1}, {"idk_frac": 1.01}, {"idk_frac": float("nan")},
     {"idk_frac": True}, {"idk_style": "swop"}],
)  # fmt: skip
def test_options_that_make_no_sense(options, folder):
    with pytest.raises(ConfigError) as caught:
        MMLUDataset(path=folder, **options)
    assert caught.value.hint


def test_a_percentage_is_recognised(folder):
    with pytest.raises(ConfigError) as caught:
        MMLUDataset(path=folder, idk_frac=30)
    assert "30% is 0.3" in caught.value.hint


BAD_ROWS = {
    "five cells": (b"q,a,b,c,A\n", 1, 1, None),
    "a letter too far": (b"q,a,b,c,d,A\nq2,a,b,c,d,E\n", 2, 2, "answer"),
    "no answer": (b"q,a,b,c,d,\n", 1, 1, "answer"),
    "blank question": (b'" ",a,b,c,d,A\n', 1, 1, "question"),
    "header, index too far": (",".join(HEADER).encode() + b"\nq,a,b,c,d,4\n", 1, 2, "answer"),
    "header, short row": (",".join(HEADER).encode() + b"\nq,a,b,c,d,1\nq,a,b\n", 2, 3, None),
    "open quote": (b'q,a,b,c,d,A\n"q2,a,b,c,d,B\n', 2, 2, None),
    "latin-1": (b"q,a,b,c,d,A\nq\xe9,a,b,c,d,B\n", 2, 2, "column 1"),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_bad_rows_are_named(case, tmp_path):
    content, row, line, column = BAD_ROWS[case]
    (tmp_path / "anatomy_test.csv").write_bytes(content)
    with pytest.raises(DataError) as caught:
        list(MMLUDataset(path=tmp_path))
    assert (caught.value.row, caught.value.line, caught.value.column) == (row, line, column)
    assert "anatomy_test.csv" in str(caught.value)


def test_bad_folders(tmp_path):
    with pytest.raises(DataError, match="no such folder"):
        list(MMLUDataset(path=tmp_path / "none"))
    with pytest.raises(DataError, match="no MMLU files"):
        list(MMLUDataset(path=tmp_path))
    file = tmp_path / "anatomy_test.csv"
    file.write_text("question,option1,option2,answer\na,b,c,0\n")
    with pytest.raises(DataError, match="not MMLU's"):
        list(MMLUDataset(path=tmp_path))
    with pytest.raises(DataError, match="not a folder"):
        list(MMLUDataset(path=file))
    file.write_text("")
    with pytest.raises(DataError, match="empty"):
        list(MMLUDataset(path=tmp_path))


class Hub:
    """Stands in for the package `datasets`: serves what it is given, and records what it was asked for."""

    def __init__(self, monkeypatch, tables):
        self.tables, self.asked = tables, []
        module = types.ModuleType("datasets")
        module.load_dataset = self.load_dataset
        monkeypatch.setitem(sys.modules, "datasets", module)
        monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")

    def load_dataset(self, repository, config, *, split, revision):
        assert (repository, revision) == ("cais/mmlu", REVISION)
        self.asked.append((config, split))
        found = self.tables.get((config, split))
        if found is None:
            raise ConnectionError("could not reach the hub\nat all")
        return found


def hub_rows(subject, *, named=True):
    rows = [{"question": q, "choices": choices, "answer": a} for q, choices, a in SET[subject]]
    return [row | {"subject": subject} for row in rows] if named else rows


def test_hub_serves_all_at_once(monkeypatch, folder):
    hub = Hub(monkeypatch, {("all", "test"): hub_rows("anatomy") + hub_rows("virology")})
    data = MMLUDataset()
    assert list(data) == list(MMLUDataset(path=folder))
    assert hub.asked == [("all", "test")]
    assert data.settings["revision"] == REVISION
    assert [i.category for i in MMLUDataset(subjects=("virology",), limit=1)] == ["virology"]


def test_hub_falls_back_to_one_configuration_for_each_subject(monkeypatch, folder):
    hub = Hub(monkeypatch, {(s, "test"): hub_rows(s, named=False) for s in SET})
    assert list(MMLUDataset(subjects=("virology", "anatomy"))) == list(MMLUDataset(path=folder))
    assert hub.asked == [("all", "test"), ("anatomy", "test"), ("virology", "test")]


def test_hub_training_questions(monkeypatch):
    rows = [{"train": {"question": "q", "subject": "", "choices": ["a", "b", "c", "d"], "answer": 1}}]
    hub = Hub(monkeypatch, {("auxiliary_train", "train"): rows})
    assert [(i.category, i.answers) for i in MMLUDataset(split="auxiliary_train")] == [("auxiliary_train", ("B",))]
    assert hub.asked[0] == ("all", "auxiliary_train")


def test_hub_out_of_reach(monkeypatch):
    hub = Hub(monkeypatch, {})
    with pytest.raises(DataError, match=r"ConnectionError: could not reach the hub$") as caught:
        list(MMLUDataset())
    assert "--path DIR" in caught.value.hint
    assert len(hub.asked) == 2  # not once for each of the subjects


def test_hub_is_not_asked_for_a_subject_that_is_none(monkeypatch):
    hub = Hub(monkeypatch, {})
    with pytest.raises(ConfigError, match="'anatomi'") as caught:
        list(MMLUDataset(subjects=("anatomi",)))
    assert "did you mean 'anatomy'?" in caught.value.hint
    assert hub.asked == []


def test_hub_rows_are_checked(monkeypatch):
    Hub(monkeypatch, {("all", "test"): [{"question": "q", "subject": "s", "choices": ["a", "b"], "answer": 2}]})
    with pytest.raises(DataError, match="cais/mmlu, row 1, column 'answer'"):
        list(MMLUDataset())


def test_missing_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
    with pytest.raises(MissingExtra) as caught:
        list(MMLUDataset())
    assert caught.value.hint == "pip install 'hallcheck[hf]'"
    assert "--path DIR" in str(caught.value)


def test_missing_pyarrow(monkeypatch, tmp_path):
    (tmp_path / "test.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra) as caught:
        list(MMLUDataset(path=tmp_path))
    assert caught.value.hint == "pip install pyarrow"


def test_there_are_57_subjects():
    assert len(set(SUBJECTS)) == len(SUBJECTS) == 57
    assert list(SUBJECTS) == sorted(SUBJECTS)


def test_same_items_in_another_process(folder):
    code = (
        "import sys, json; from hallcheck.datasets.mmlu import MMLUDataset;"
        "print(json.dumps([(i.id, i.choices) for i in MMLUDataset(path=sys.argv[1], limit=9, idk_frac=.4)]))"
    )
    run = subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True)
    here = [[i.id, list(i.choices)] for i in MMLUDataset(path=folder, limit=9, idk_frac=0.4)]
    assert json.loads(run.stdout) == here


@pytest.mark.shared
def test_the_real_set(shared):
    root = shared / "data" / "closed_book" / "mmlu"
    dev = list(MMLUDataset(path=root, split="dev"))
    assert (len(dev), {i.category for i in dev}) == (285, set(SUBJECTS))
    items = list(MMLUDataset(path=root))
    by_id = {i.id: i for i in items}
    assert len(items) == len(by_id) == 14_042
    part = list(MMLUDataset(path=root, limit=600, idk_frac=0.25, seed=5))
    assert sum(i.unknown_ok for i in part) == 150
    for item in part:
        original = by_id[item.id.removesuffix("|idk")]
        changed = [i for i in range(4) if item.choices[i] != original.choices[i]]
        assert changed == (["ABCD".index(original.answers[0])] if item.unknown_ok else [])
