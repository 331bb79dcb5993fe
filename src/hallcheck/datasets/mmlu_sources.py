"""Where MMLU's questions come from: the Hugging Face hub, or a folder of CSV or Parquet files.

Folder layouts: `SPLIT/SUBJECT_SPLIT.csv`, `SUBJECT_SPLIT.csv`, `SUBJECT.csv`, `SPLIT-*.parquet` (at the top, in `all/`,
or in a folder for each subject) and `SPLIT/*.parquet`. A CSV file is either raw (no header: question, four options,
the right letter) or has the header `question,choice0,choice1,choice2,choice3,answer` with answers counted from 0.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hallcheck.datasets.decoding import check_file, find_encoding
from hallcheck.datasets.rows import Record, csv_records, fold
from hallcheck.errors import ConfigError, DataError, MissingExtra
from hallcheck.registry import suggest

REPOSITORY = "cais/mmlu"
REVISION = "c30699e8356da336a370243923dbaf21066bb9fe"
# Split -> the names that folders and files use for it.
SPLITS = {
    "test": ("test",),
    "dev": ("dev",),
    "validation": ("validation", "val"),
    "auxiliary_train": ("auxiliary_train",),
}
_NAMES = """
    abstract_algebra anatomy astronomy business_ethics clinical_knowledge college_biology college_chemistry
    college_computer_science college_mathematics college_medicine college_physics computer_security conceptual_physics
    econometrics electrical_engineering elementary_mathematics formal_logic global_facts high_school_biology
    high_school_chemistry high_school_computer_science high_school_european_history high_school_geography
    high_school_government_and_politics high_school_macroeconomics high_school_mathematics high_school_microeconomics
    high_school_physics high_school_psychology high_school_statistics high_school_us_history high_school_world_history
    human_aging human_sexuality international_law jurisprudence logical_fallacies machine_learning management marketing
    medical_genetics miscellaneous moral_disputes moral_scenarios nutrition philosophy prehistory
    professional_accounting professional_law professional_medicine professional_psychology public_relations
    security_studies sociology us_foreign_policy virology world_religions
"""
SUBJECTS = tuple(_NAMES.split())
_HEADERS = (
    ("question", "choice0", "choice1", "choice2", "choice3", "answer"),
    ("question", "a", "b", "c", "d", "answer"),
)


class Question(NamedTuple):
    """One question of MMLU; `answer` is the right option's index from 0."""

    subject: str
    question: str
    choices: tuple[str, ...]
    answer: int


def load_questions(path: Path | None, split: str, subjects: Iterable[str] | None) -> list[Question]:
    """The questions of a split, in order; `subjects` None for all of them.

    `path` None asks the hub. Raises DataError, ConfigError (no such split or subject), MissingExtra.
    """
    wanted = None if subjects is None else set(subjects)
    if path is None:
        _check_subjects(wanted, SUBJECTS)
        questions = list(_from_hub(split, wanted))
    else:
        questions = list(_from_folder(path, split, wanted))
    if wanted is not None:
        _check_subjects(wanted, {q.subject for q in questions})
        questions = [q for q in questions if q.subject in wanted]
    if not questions:
        raise DataError(f"no questions in the split {split!r}", path=str(path or REPOSITORY))
    return questions


def _check_subjects(wanted: set[str] | None, known: Iterable[str]) -> None:
    for subject in sorted((wanted or set()) - set(known)):
        raise ConfigError(f"--subjects: unknown subject {subject!r}", hint=suggest(subject, known))


def _from_hub(split: str, wanted: set[str] | None) -> Iterator[Question]:
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # read once, when the hub's client is imported
    try:
        from datasets import load_dataset
    except ImportError as error:
        raise MissingExtra(
            "MMLU from the Hugging Face hub needs the package `datasets` (or give a folder of MMLU files: --path DIR)",
            hint="pip install 'hallcheck[hf]'",
        ) from error

    def load(config: str, its_split: str) -> Any:
        return load_dataset(REPOSITORY, config, split=its_split, revision=REVISION)

    # The hub's client raises whatever its many dependencies raise: offline, refused, moved, damaged.
    try:
        try:
            tables: list[tuple[str | None, Any]] = [(None, load("all", split))]
        except Exception:
            if split == "auxiliary_train":
                tables = [(None, load("auxiliary_train", "train"))]
            else:
                tables = [(name, load(name, split)) for name in SUBJECTS if wanted is None or name in wanted]
    except Exception as error:
        reason = (str(error).splitlines() or [""])[0][:300]
        raise DataError(
            f"the hub gave no data: {type(error).__name__}: {reason}",
            path=REPOSITORY,
            hint="check the network, or give a folder of MMLU files: --path DIR",
        ) from error
    for subject, table in tables:
        for number, row in enumerate(table, 1):
            yield _from_mapping(row.get("train", row), REPOSITORY, number, subject or split)


def _from_folder(path: Path, split: str, wanted: set[str] | None) -> Iterator[Question]:
    if not path.exists():
        raise DataError("no such folder", path=str(path), hint="--path names the folder that holds MMLU's files")
    if not path.is_dir():
        raise DataError("is a file, not a folder", path=str(path), hint=f"--path {path.parent}")
    files = find_files(path, split)
    if not files:
        there = [name for name in SPLITS if name != split and find_files(path, name)]
        if there:
            raise ConfigError(f"--split {split!r} is not in {path}", hint=suggest(split, there))
        raise DataError(
            "holds no MMLU files (*.csv or *.parquet)",
            path=str(path),
            hint=f"expected {split}/SUBJECT_{split}.csv, SUBJECT_{split}.csv or {split}-*.parquet",
        )
    # A Parquet file may hold any subjects, so only CSV files can be left out unread.
    if wanted is not None and all(file.suffix.lower() == ".csv" for _, file in files):
        _check_subjects(wanted, {subject for subject, _ in files})
        files = [(subject, file) for subject, file in files if subject in wanted]
    for subject, file in files:
        yield from _from_csv(file, subject) if file.suffix.lower() == ".csv" else _from_parquet(file, subject)


def find_files(root: Path, split: str) -> list[tuple[str, Path]]:
    """(subject, file) of a split below `root`, in the order of subjects; the first layout that fits counts."""
    names = SPLITS.get(split, (split,))
    for name in names:
        inside = [(_subject(p, name), p) for p in _data_files(root / name)]
        flat = [(_subject(p, name), p) for p in _data_files(root) if p.stem.endswith(f"_{name}")]
        shards = [(split, p) for folder in (root, root / "all", root / "data") for p in _shards(folder, name)]
        apart = [(p.parent.name, p) for p in root.glob("*/*.parquet") if p in _shards(p.parent, name)]
        for found in (inside, flat, shards, apart):
            if found:
                return sorted(found)
    others = [name for names in SPLITS.values() for name in names]
    plain = [
        (p.stem, p)
        for p in _data_files(root)
        if p.suffix.lower() == ".csv" and not p.stem.endswith(tuple(f"_{name}" for name in others))
    ]
    # Bare SUBJECT.csv files are of no named split: they are taken for the one asked for, unless splits are named.
    return sorted(plain) if not any((root / name).is_dir() for name in others) else []


def _data_files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return [p for p in folder.iterdir() if p.suffix.lower() in (".csv", ".parquet") and p.name[0] not in "._"]


def _shards(folder: Path, name: str) -> list[Path]:
    return [
        p
        for p in _data_files(folder)
        if p.suffix.lower() == ".parquet" and (p.stem == name or p.stem.startswith(f"{name}-"))
    ]


def _subject(path: Path, split: str) -> str:
    return path.stem.removesuffix(f"_{split}")


def _from_csv(path: Path, subject: str) -> Iterator[Question]:
    check_file(path)
    encoding = find_encoding(path)
    first = next(csv_records(path, encoding, ",", header=True), None)
    if first is None:
        raise DataError("the file is empty", path=str(path))
    header = tuple(fold(cell) for cell in first.cells)
    has_header = "question" in header and "answer" in header
    order = range(6)
    if has_header:
        named = next((names for names in _HEADERS if set(names) <= set(header)), None)
        if named is None:
            raise DataError(
                f"the header {','.join(header)!r} is not MMLU's", path=str(path), hint=",".join(_HEADERS[0])
            )
        order = [header.index(name) for name in named]  # type: ignore[assignment]
    records = csv_records(path, encoding, ",", header=has_header)
    if has_header:
        next(records)
    for record in records:
        yield _from_record(path, subject, record, list(order), len(header) if has_header else 6)


def _from_record(path: Path, subject: str, record: Record, order: list[int], width: int) -> Question:
    row, line, cells = record
    where: dict[str, Any] = {"path": str(path), "row": row, "line": line}
    if len(cells) != width:
        hint = "MMLU's raw layout is: question, four options, the right letter"
        raise DataError(f"{len(cells)} cells where there must be {width}", **where, hint=hint)
    question, *choices, answer = (cells[index].strip() for index in order)
    index = "ABCD0123".find(answer.upper()) if len(answer) == 1 else -1
    if index < 0:
        raise DataError(f"{answer[:40]!r} is no answer", **where, column="answer", hint="A to D, or 0 to 3")
    return _checked(Question(subject, question, tuple(choices), index % 4), where)


def _from_parquet(path: Path, subject: str) -> Iterator[Question]:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise MissingExtra("reading Parquet needs the package `pyarrow`", hint="pip install pyarrow") from error
    number = 0
    try:
        with ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=1000):
                for row in batch.to_pylist():
                    number += 1
                    yield _from_mapping(row, str(path), number, subject)
    except (ArrowException, OSError) as error:
        raise DataError(f"is no readable Parquet file: {str(error).splitlines()[0]}", path=str(path)) from error


def _from_mapping(row: Mapping[str, Any], path: str, number: int, subject: str) -> Question:
    # `subject`: what to call it where the row does not say (the split, for the training questions of other sets).
    where: dict[str, Any] = {"path": path, "row": number}
    for column in ("question", "choices", "answer"):
        if row.get(column) is None:
            hint = f"the columns are: {', '.join(row)}; needed: question, subject, choices, answer"
            raise DataError("is missing", **where, column=column, hint=hint)
    choices = tuple(str(choice).strip() for choice in row["choices"])
    answer = row["answer"]
    index = "ABCDEFGHIJ".find(answer.strip().upper()) if isinstance(answer, str) and answer.strip() else answer
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(choices):
        raise DataError(f"{answer!r} is no answer", **where, column="answer", hint="an index from 0, or a letter")
    name = str(row.get("subject") or subject)
    return _checked(Question(name, str(row["question"]).strip(), choices, index), where)


def _checked(question: Question, where: Mapping[str, Any]) -> Question:
    if not question.question:
        raise DataError("the question is blank", **where, column="question")
    if len(question.choices) < 2:
        raise DataError("fewer than two options", **where, column="choices")
    return question
