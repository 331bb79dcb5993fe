"""Tables of questions: what is read, what is refused and where the refusal points."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hallcheck.datasets.sampling import refuse_duplicates
from hallcheck.datasets.table import TableDataset
from hallcheck.errors import ConfigError, DataError
from hallcheck.types import Item

HEADER = "id,question,gold,unknown_ok\n"


def read(folder: Path, content: bytes | str, name: str = "q.csv", **options) -> list[Item]:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(TableDataset(path, **options))


def refused(folder: Path, content: bytes | str, name: str = "q.csv", **options) -> DataError:
    with pytest.raises(DataError) as caught:
        read(folder, content, name, **options)
    assert str(folder / name) in str(caught.value)
    return caught.value


ONE = [("r1", "Which metal is liquid?", ("mercury",), False)]
PLAIN = "id,question,gold,unknown_ok\nr1,Which metal is liquid?,mercury,0\n"
ACCEPTED = {
    "plain": ("q.csv", PLAIN.encode(), ONE),
    "utf-8 mark": ("q.csv", b"\xef\xbb\xbf" + PLAIN.encode(), ONE),
    "two marks": ("q.csv", b"\xef\xbb\xbf\xef\xbb\xbf" + PLAIN.encode(), ONE),
    "utf-16 mark, little": ("q.csv", b"\xff\xfe" + PLAIN.encode("utf-16-le"), ONE),
    "utf-16 mark, big": ("q.csv", b"\xfe\xff" + PLAIN.encode("utf-16-be"), ONE),
    "utf-32 mark": ("q.csv", PLAIN.encode("utf-32"), ONE),
    "semicolons": ("q.csv", PLAIN.replace(",", ";").encode(), ONE),
    "tabs": ("q.tsv", PLAIN.replace(",", "\t").encode(), ONE),
    "bars": ("q.txt", PLAIN.replace(",", "|").encode(), ONE),
    "semicolons, commas in the text": (
        "q.csv",
        b"id;question;gold;unknown_ok\n1;Red, green, or blue, which?;red, or so;0\n",
        [("1", "Red, green, or blue, which?", ("red, or so",), False)],
    ),
    "crlf": ("q.csv", PLAIN.replace("\n", "\r\n").encode(), ONE),
    "lone cr": ("q.csv", PLAIN.replace("\n", "\r").encode(), ONE),
    "no newline at the end": ("q.csv", PLAIN.rstrip("\n").encode(), ONE),
    "blank lines": ("q.csv", b"\n\n" + PLAIN.encode().replace(b"\n", b"\n\n  \n"), ONE),
    "quoted header": ("q.csv", b'"id","question","gold","unknown_ok"\n' + PLAIN.encode().split(b"\n")[1], ONE),
    "space after commas": ("q.csv", b'id, Question , GOLD, Unknown_OK\nr1, "A, or B?", A, no\n',
                           [("r1", "A, or B?", ("A",), False)]),
    "quoted newline and quotes": (
        "q.csv",
        HEADER.encode() + b'7,"Who said ""go""\r\nand when?",nobody,0\n',
        [("7", 'Who said "go"\r\nand when?', ("nobody",), False)],
    ),
    "extra blank cells": ("q.csv", HEADER.encode() + b"1,Why?,so,0, ,\n", [("1", "Why?", ("so",), False)]),
    "gold with bars": ("q.csv", HEADER.encode() + b"1,Why?, so |because||so,0\n",
                       [("1", "Why?", ("so", "because"), False)]),
    "no unknown_ok column": ("q.csv", b"id,question,gold\n1,Why?,so\n", [("1", "Why?", ("so",), False)]),
    "unknown_ok, blank gold": ("q.csv", HEADER.encode() + b"1,Why?,,TRUE\n", [("1", "Why?", (), True)]),
    "json lines": (
        "q.jsonl",
        b'{"id": 3, "question": "How many?", "gold": 42, "unknown_ok": false}\n\n'
        b'{"id": "u", "question": "Why?", "unknown_ok": true}\n',
        [("3", "How many?", ("42",), False), ("u", "Why?", (), True)],
    ),
    "json lines called csv": ("q.csv", b' {"id": "a", "question": "Q?", "gold": "x|y"}',
                              [("a", "Q?", ("x", "y"), False)]),
    "json list": ("q.json", b'[{"id": "a", "question": "Q?", "gold": ["x|y", 1.5, true]}]',
                  [("a", "Q?", ("x|y", "1.5", "true"), False)]),
    "json answers": ("q.ndjson", b'{"ID": "a", "Question": "Q?", "answers": ["x", "x", " "]}\r\n',
                     [("a", "Q?", ("x",), False)]),
    "json marked": ("q.jsonl", b'\xef\xbb\xbf{"id": "a", "question": "Q?", "gold": "x"}\n',
                    [("a", "Q?", ("x",), False)]),
    "json utf-16": ("q.jsonl", '{"id": "é", "question": "Q?", "gold": "x"}\n'.encode("utf-16"),
                    [("é", "Q?", ("x",), False)]),
    "json surrogate pair": ("q.jsonl", rb'{"id": "a", "question": "\ud83d\ude00?", "gold": "x"}',
                            [("a", "😀?", ("x",), False)]),
    "a colon in the name": ("C:q 1.csv", PLAIN.encode(), ONE),
}  # fmt: skip


@pytest.mark.parametrize("case", ACCEPTED)
def test_accepted(case, tmp_path):
    name, content, expected = ACCEPTED[case]
    items = read(tmp_path, content, name)
    assert [(i.id, i.question, i.answers, i.unknown_ok) for i in items] == expected


# name -> (file, bytes, row, line, column, words of the message and its hint)
REFUSED = {
    "empty": ("q.csv", b"", None, None, None, ["empty"]),
    "white space only": ("q.csv", b" \n\r\n", None, None, None, ["empty"]),
    "a mark only": ("q.csv", b"\xef\xbb\xbf", None, None, None, ["empty"]),
    "header only": ("q.csv", HEADER.encode(), None, None, None, ["no rows"]),
    "json empty list": ("q.json", b"[]", None, None, None, ["no rows"]),
    "no question": ("q.csv", b"id,qestion,gold,unknown_ok\n1,a,b,0\n", None, None, "question", ["'qestion'"]),
    "a synonym": ("q.csv", b"id,prompt,gold\n1,a,b\n", None, None, "question", ["rename", "'prompt'"]),
    "no gold": ("q.csv", b"id,question,Answer\n1,a,b\n", None, None, "gold", ["rename", "'Answer'"]),
    "unknown_ok misspelt": ("q.csv", b"id,question,gold,unknow_ok\n1,a,b,0\n", 1, 2, "unknown_ok", ["'unknow_ok'"]),
    "a delimiter nobody uses": ("q.csv", b"id^question^gold\n1^a^b\n", None, None, "question", ["id^question^gold"]),
    "column twice": ("q.csv", b"id,question,gold,Gold \n1,a,b,c\n", None, None, "gold", ["twice"]),
    "duplicate id": ("q.csv", HEADER.encode() + b"7,a,b,0\n8,c,d,0\n 7 ,e,f,0\n", 3, 4, "id", ["'7'", "row 1"]),
    "repeated row without ids": ("q.csv", b"question,gold\na,b\nc,d\na,b\n", 3, 4, "id", ["repeats row 1"]),
    "blank question": ("q.csv", HEADER.encode() + b'1,a,b,0\n2,"  ",x,0\n', 2, 3, "question", ["blank"]),
    "blank row of cells": ("q.csv", HEADER.encode() + b"1,a,b,0\n,,,\n", 2, 3, "question", ["blank"]),
    "blank gold": ("q.csv", HEADER.encode() + b"1,a,b,0\n2,c,,0\n", 2, 3, "gold", ["unknown_ok=1"]),
    "gold of bars": ("q.csv", HEADER.encode() + b"1,a, | ,0\n", 1, 2, "gold", ["blank"]),
    "short row": ("q.csv", HEADER.encode() + b"1,a,b\n", 1, 2, "unknown_ok", ["3 cells", "4"]),
    "long row": ("q.csv", HEADER.encode() + b"1,a, or b,c,0\n", 1, 2, None, ["5 cells", "double quotes"]),
    "line after a quoted newline": (
        "q.csv", HEADER.encode() + b'1,"a\n\nb",c,0\n\n2,d,e,maybe\n', 2, 6, "unknown_ok", ["'maybe'"],
    ),
    "unknown_ok 2": ("q.csv", HEADER.encode() + b"1,a,b,2\n", 1, 2, "unknown_ok", ["'2'", "blank means 0"]),
    "unknown_ok nan": ("q.csv", HEADER.encode() + b"1,a,b,NaN\n", 1, 2, "unknown_ok", ["'nan'"]),
    "unknown_ok list": ("q.jsonl", b'{"id": 1, "question": "a", "gold": "b", "unknown_ok": []}', 1, 1,
                        "unknown_ok", ["a list"]),
    "open quote": ("q.csv", HEADER.encode() + b'1,a,b,0\n2,"c,d,0\n3,e,f,0\n', 2, 3, None, ["never closed"]),
    "open quote in the header": ("q.csv", b'id,"question,gold\n1,a,b\n', None, None, None, ["never closed", "header"]),
    "stray quote": ("q.csv", HEADER.encode() + b'1,"say "go" now",b,0\n', 1, 2, None, ["closing quote", "double"]),
    "nul": ("q.csv", HEADER.encode() + b"1,a,b,0\n2,c\0,d,0\n", 2, 3, "question", ["NUL"]),
    "nul in the header": ("q.csv", b"id,question\0,gold\n1,a,b\n", None, None, "column 2", ["NUL"]),
    "utf-16 without a mark": ("q.csv", PLAIN.encode("utf-16-le"), None, None, None, ["--encoding utf-16-le"]),
    "utf-16 without a mark, big": ("q.csv", PLAIN.encode("utf-16-be"), None, None, None, ["--encoding utf-16-be"]),
    "latin-1": (
        "q.csv", HEADER.encode() + b"1,a,b,0\n2,caf\xe9?,d,0\n", 2, 3, "question",
        ["0xe9", "offset 41", "--encoding latin-1"],
    ),
    "latin-1 with a mark": (
        "q.csv", b"\xef\xbb\xbf" + HEADER.encode() + b"1,caf\xe9?,d,0\n", 1, 2, "question", ["offset 36"],
    ),
    "latin-1 header": ("q.csv", b"id,question,r\xe9ponse\n1,a,b\n", None, None, "column 3", ["offset 13", "line 1"]),
    "cut utf-8": ("q.csv", HEADER.encode() + "1,a,b,é".encode()[:-1], 1, 2, "unknown_ok", ["offset 34"]),
    "cut utf-16": ("q.csv", PLAIN.encode("utf-16")[:-1], None, None, None, ["utf-16", "offset"]),
    "json latin-1": ("q.jsonl", b'{"question": "a", "gold": "b"}\n{"question": "\xe9"}', 2, 2, None, ["offset 45"]),
    "json cut": ("q.jsonl", b'{"question": "a", "gold": "b"}\n\n{"question": "a", "go', 2, 3, None, ["JSON"]),
    "json list as a line": ("q.jsonl", b'["question", "gold"]', 1, 1, None, ["object", "a list"]),
    "csv called jsonl": ("q.jsonl", PLAIN.encode(), 1, 1, None, ["JSON", "one whole JSON object"]),
    "json list of text": ("q.json", b'["a"]', 1, None, None, ["object", "text"]),
    "json nan": ("q.jsonl", b'{"question": "a", "gold": NaN}', 1, 1, None, ["NaN"]),
    "json deep": ("q.jsonl", b'{"question": ' + b"[" * 100_000, 1, 1, None, ["deep"]),
    "json key twice": ("q.jsonl", b'{"question": "a", "gold": "b", "gold": "c"}', 1, 1, None, ["'gold' twice"]),
    "json key in two cases": ("q.jsonl", b'{"question": "a", "gold": "b", "Gold": "c"}', 1, 1, None, ["case"]),
    "json nul": ("q.jsonl", rb'{"question": "a\u0000", "gold": "b"}', 1, 1, "question", ["NUL"]),
    "json half a pair": ("q.jsonl", rb'{"question": "a \ud83d", "gold": "b"}', 1, 1, "question", ["surrogate"]),
    "json without question": ("q.jsonl", b'{"prompt": "a", "gold": "b"}', 1, 1, "question", ["rename", "'prompt'"]),
    "json without gold": ("q.jsonl", b'{"question": "a", "answer": "b"}', 1, 1, "gold", ["rename", "'answer'"]),
    "json null question": ("q.jsonl", b'{"question": null, "gold": "b"}', 1, 1, "question", ["blank"]),
    "json number question": ("q.jsonl", b'{"question": 5, "gold": "b"}', 1, 1, "question", ["a number"]),
    "json object gold": ("q.jsonl", b'{"question": "a", "gold": {"x": 1}}', 1, 1, "gold", ["an object"]),
    "json empty gold": ("q.jsonl", b'{"question": "a", "gold": [null, " "]}', 1, 1, "gold", ["blank"]),
    "json two golds": ("q.jsonl", b'{"question": "a", "gold": "b", "answers": ["c"]}', 1, 1, "answers", ["both"]),
    "json boolean id": ("q.jsonl", b'{"id": true, "question": "a", "gold": "b"}', 1, 1, "id", ["a boolean"]),
    "a zip": ("q.csv", b"PK\x03\x04rest", None, None, None, ["Excel", "CSV"]),
    "gzip": ("q.csv.gz", b"\x1f\x8b\x08\x00", None, None, None, ["gzip"]),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case, tmp_path):
    name, content, row, line, column, words = REFUSED[case]
    error = refused(tmp_path, content, name)
    assert (error.row, error.column) == (row, column)
    if row is not None:
        assert error.line == line
        assert f"row {row}" in str(error)
    for word in words:
        assert word in f"{error} {error.hint}"
    assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("cell", "value"),
    [(c, True) for c in ("1", "TRUE", "True", " yes ", "Y", "1.0")]
    + [(c, False) for c in ("0", "False", "FALSE", "no", "N", "0.0", "", "  ")],
)
def test_unknown_ok_cells(cell, value, tmp_path):
    assert read(tmp_path, HEADER + f"1,a,b,{cell}\n")[0].unknown_ok is value


@pytest.mark.parametrize(
    ("cell", "value"),
    [(c, True) for c in ("true", "1", "1.0", '"yes"', '"true"')]
    + [(c, False) for c in ("false", "0", '"false"', "null", '""')],
)
def test_unknown_ok_in_json(cell, value, tmp_path):
    line = f'{{"question": "a", "gold": "b", "unknown_ok": {cell}}}'
    assert read(tmp_path, line, "q.jsonl")[0].unknown_ok is value


def test_optional_columns_and_meta(tmp_path):
    header = "ID,question,gold,unknown_ok,Category,group,Source Page,\n"
    rows = read(tmp_path, header + "1,a,b,0,history, g1 ,p. 7,\n2,c,d,0,,,,\n")
    assert (rows[0].category, rows[0].group, rows[0].meta["Source Page"]) == ("history", "g1", "p. 7")
    assert (rows[1].category, rows[1].group) == (None, None)
    line = {"question": "a", "gold": "b", "category": 3, "tags": ["x", {"y": None}]}
    item = read(tmp_path, json.dumps(line), "q.jsonl")[0]
    assert (item.category, item.meta) == ("3", {"tags": ["x", {"y": None}]})


OPTIONS = '["red", "A", "blue | green", "4"]'
CHOICES = {
    "letter": (OPTIONS, "B", "B"),
    "lower case": (OPTIONS, "c", "C"),
    "dressed letter": (OPTIONS, "(D)", "D"),
    "text": (OPTIONS, "Red", "A"),
    "text with a bar": (OPTIONS, "blue | green", "C"),
    "letter and text agree": (OPTIONS, "C|blue | green", None),
    "number that is an option": (OPTIONS, "4", "D"),
    "index": (OPTIONS, "0", None),
    "letter that is another option's text": (OPTIONS, "A", None),
    "no such letter": (OPTIONS, "E", None),
    "two options": ("red|blue", "A|B", None),
    "the same option twice": ("red|blue", "A|red", "A"),
    "text of two": ("red|Red |blue", "RED", None),
    "exact text first": ("red|Red |blue", "Red", "B"),
    "letter among copies": ("red|red", "B", "B"),
}


@pytest.mark.parametrize("case", CHOICES)
def test_the_gold_of_a_choice_is_a_letter(case, tmp_path):
    choices, gold, expected = CHOICES[case]
    text = io.StringIO()
    csv.writer(text).writerows([["id", "question", "choices", "gold"], ["1", "Which?", choices, gold]])
    if expected is None:
        error = refused(tmp_path, text.getvalue())
        assert (error.row, error.column) == (1, "gold")
        assert "letter" in error.hint
    else:
        item = read(tmp_path, text.getvalue())[0]
        assert item.answers == (expected,)
        assert item.choices is not None
        assert len(item.choices) == (4 if choices == OPTIONS else choices.count("|") + 1)


@pytest.mark.parametrize(
    ("choices", "word"),
    [
        ('["only one"]', "1 option(s)"),
        (json.dumps([str(i) for i in range(27)]), "27 option(s)"),
        ('["a", " "]', "B is blank"),
        ('["a", null]', "option B"),
        ('"[not json]"', "JSON list"),
        ('{"a": 1}', "an object"),
        ("7", "a number"),
    ],
)
def test_bad_choices_are_refused(choices, word, tmp_path):
    error = refused(tmp_path, f'{{"question": "a", "gold": "A", "choices": {choices}}}', "q.jsonl")
    assert (error.row, error.column) == (1, "choices")
    assert word in str(error)


def test_unknown_ok_choice_has_no_answer(tmp_path):
    line = '{"question": "a", "choices": ["x", 2], "unknown_ok": 1}\n{"question": "b", "gold": "c", "choices": null}'
    first, second = read(tmp_path, line, "q.jsonl")
    assert (first.choices, first.answers, second.choices) == (("x", "2"), (), None)


def test_ids_are_made_from_the_content_and_noted(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("question,gold,id\na,b,\nc,d,own\ne,f,\n")
    data = TableDataset(path)
    ids = [item.id for item in data]
    assert ids[1] == "own"
    assert [(n.code, n.message[:2]) for n in data.notes] == [("ids_made", "2 ")]
    # Order, spelling of the header and other rows do not count; the content does.
    again = read(tmp_path, "Gold,Question\nf,e\nb,a\nb,a?\n", "other.csv")
    assert [again[1].id, again[0].id] == [ids[0], ids[2]]
    assert again[2].id not in ids


def test_gold_of_an_unanswerable_row_is_ignored_and_noted(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text(HEADER + "1,a,b,1\n2,c,,1\n3,d,e,0\n")
    data = TableDataset(path)
    assert [item.answers for item in data] == [(), (), ("e",)]
    assert [(n.code, n.severity, n.message[:2]) for n in data.notes] == [("gold_ignored", "warning", "1 ")]
    assert [item.gold for item in data] == ["", "", "e"]
    assert len(data.notes) == 1  # a second pass does not count again


def test_rows_before_the_bad_one_are_yielded(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text(HEADER + "1,a,b,0\n2,,c,0\n")
    stream = iter(TableDataset(path))
    assert next(stream).id == "1"
    with pytest.raises(DataError, match=r"row 2 \(line 3\), column 'question'"):
        next(stream)


def test_encoding_is_taken_as_given(tmp_path):
    text = HEADER + "1,où est l'été?,ici,0\n"
    assert read(tmp_path, text.encode("latin-1"), encoding="latin-1")[0].question == "où est l'été?"
    assert read(tmp_path, text.encode("utf-16-le"), encoding="utf-16-le")[0].question == "où est l'été?"
    # A byte-order mark is never the text of a table: it is right where the user is wrong.
    assert read(tmp_path, text.encode("utf-8-sig"), encoding="latin-1")[0].question == "où est l'été?"
    error = refused(tmp_path, text.encode(), encoding="ascii")
    assert (error.row, error.column) == (1, "question")
    assert "ascii" in str(error)
    for bad in ("latin-11", "base64", "no such"):
        with pytest.raises(ConfigError, match="--encoding"):
            read(tmp_path, text, encoding=bad)


def test_bad_byte_far_into_the_file(tmp_path):
    rows = b"".join(b"%d,q\xc3\xa9 %d,g,0\n" % (i, i) for i in range(20_000))
    content = HEADER.encode() + rows + b"x,caf\xe9,g,0\n"
    error = refused(tmp_path, content)
    assert (error.row, error.line, error.column) == (20_001, 20_002, "question")
    assert f"byte offset {content.index(bytes([0xE9, 0x2C, 0x67]))}" in str(error)


def test_paths(tmp_path):
    (tmp_path / "questions.csv").write_text(PLAIN)
    with pytest.raises(DataError, match="no such file") as caught:
        list(TableDataset(tmp_path / "question.csv"))
    assert "questions.csv" in caught.value.hint
    with pytest.raises(DataError, match="folder"):
        list(TableDataset(tmp_path))
    with pytest.raises(DataError, match="no such file"):
        list(TableDataset(tmp_path / "no" / "where.csv"))
    with pytest.raises(DataError):
        list(TableDataset("nul\0.csv"))
    assert [i.id for i in TableDataset(str(tmp_path / "questions.csv"))] == ["r1"]


def test_a_ten_megabyte_cell_is_read_and_a_longer_one_refused(tmp_path):
    before = csv.field_size_limit()
    big = "x" * 10_000_000
    assert read(tmp_path, HEADER + f'1,"{big}",g,0\n')[0].question == big
    assert csv.field_size_limit() >= before
    error = refused(tmp_path, HEADER + f"1,a,b,0\n2,{big}{big[:600_000]},g,0\n")
    assert (error.row, error.line) == (2, 3)
    assert "10 MB" in str(error)
    error = refused(tmp_path, json.dumps({"question": big + big, "gold": "a"}), "q.jsonl")
    assert (error.row, error.column) == (1, "question")


def test_the_process_wide_limit_of_csv_is_never_lowered(tmp_path):
    before = csv.field_size_limit(50_000_000)
    try:
        read(tmp_path, PLAIN)
        assert csv.field_size_limit() == 50_000_000
        error = refused(tmp_path, HEADER + f"1,{'x' * 11_000_000},g,0\n")
        assert (error.row, error.column) == (1, "question")
    finally:
        csv.field_size_limit(before)


def test_limit(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text(HEADER + "".join(f"{i},q{i},g,0\n" for i in range(100)))
    ids = [int(item.id) for item in TableDataset(path, limit=10)]
    assert len(set(ids)) == 10
    assert ids == sorted(ids)
    assert ids == [int(item.id) for item in TableDataset(path, limit=10, seed=1234)]
    assert ids != [int(item.id) for item in TableDataset(path, limit=10, seed=1)]
    assert [int(item.id) for item in TableDataset(path, limit=1000)] == list(range(100))
    for bad in (0, -1, 2.5, True):
        with pytest.raises(ConfigError, match="--limit"):
            TableDataset(path, limit=bad)


def test_limit_refuses_bad_rows_that_it_would_leave_out(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text(HEADER + "".join(f"{i},q{i},g,0\n" for i in range(50)) + "50,,g,0\n")
    for seed in range(5):
        with pytest.raises(DataError, match="row 51"):
            next(iter(TableDataset(path, limit=1, seed=seed)))


def test_settings_are_json_and_say_what_selects(tmp_path):
    data = TableDataset(tmp_path / "a.csv", encoding="latin-1", limit=3, seed=9)
    assert json.loads(json.dumps(data.settings)) == {
        "path": str(tmp_path / "a.csv"),
        "encoding": "latin-1",
        "limit": 3,
        "seed": 9,
    }


def test_ids_that_share_a_fingerprint_are_no_duplicates(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text(HEADER + "".join(f"{i},q{i},g,0\n" for i in range(30)) + "17,again,g,0\n")
    data = TableDataset(path)
    stream = refuse_duplicates(data._parsed, fingerprint=lambda _: 0)
    assert [next(stream)[1].id for _ in range(30)] == [str(i) for i in range(30)]
    with pytest.raises(DataError, match="duplicate id '17', first used in row 18"):
        next(stream)


def peak_of(path: Path, rows: int, limit: int | None = None) -> int:
    tracemalloc.start()
    try:
        assert sum(1 for _ in TableDataset(path, limit=limit)) == (limit or rows)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "rows"), [("csv", 50_000), ("jsonl", 50_000)])
def test_memory_is_flat(kind, rows, tmp_path):
    path = tmp_path / f"q.{kind}"
    filler = "what is this about? " * 20
    with path.open("w") as file:
        if kind == "csv":
            file.write(HEADER)
        for i in range(rows):
            if kind == "csv":
                file.write(f"id-{i},{filler}{i},gold {i},0\n")
            else:
                file.write(json.dumps({"id": f"id-{i}", "question": f"{filler}{i}", "gold": i}) + "\n")
    assert path.stat().st_size > 400 * rows
    assert peak_of(path, rows) < 150 * rows + 1_000_000  # one integer in a set for each id


def test_memory_is_flat_with_a_limit(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text(HEADER + "".join(f"{i},{'long ' * 200}{i},g,0\n" for i in range(5_000)))
    assert path.stat().st_size > 5_000_000
    assert peak_of(path, 5_000, limit=1_000) < 1_500_000


def test_reading_a_table_imports_nothing_heavy(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text(PLAIN)
    code = (
        "import sys; from hallcheck.datasets.table import TableDataset; list(TableDataset(sys.argv[1]));"
        "print([m for m in ('numpy', 'scipy', 'pyarrow', 'datasets', 'matplotlib', 'aiohttp') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


cell = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=30)


@settings(deadline=None)
@given(
    rows=st.lists(st.tuples(cell.map(lambda t: t + "?"), cell.map(lambda t: "g" + t.replace("|", ""))), min_size=1),
    delimiter=st.sampled_from(",;\t|"),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_what_a_csv_writer_writes_is_read_back(rows, delimiter, encoding, end, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "round.csv"
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL)
        writer.writerow(["id", "question", "gold"])
        writer.writerows([i, *row] for i, row in enumerate(rows))
    items = list(TableDataset(path))
    assert [(i.question, i.answers) for i in items] == [(q, (g.strip(),)) for q, g in rows]


@settings(deadline=None, max_examples=300)
@given(content=st.binary(max_size=200), head=st.sampled_from([b"", HEADER.encode(), b'{"question": "a", "gold": ']))
def test_no_bytes_raise_anything_but_a_data_error(content, head, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "noise.csv"
    path.write_bytes(head + content)
    try:
        items = list(TableDataset(path))
    except DataError:
        return
    assert all(item.question.strip() and (item.answers or item.unknown_ok) for item in items)


@pytest.mark.shared
def test_the_generator_of_questions_is_read_as_csv_reads_it(shared, tmp_path):
    path = tmp_path / "q.csv"
    tool = shared / "tools" / "gen_questions.py"
    subprocess.run([sys.executable, "-B", str(tool), "200", str(path)], check=True)
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    items = list(TableDataset(path))
    assert [(i.id, i.question, i.gold, i.category) for i in items] == [
        (r["id"], r["question"], r["gold"], r["category"]) for r in rows
    ]
    assert [i.unknown_ok for i in items] == [r["unknown_ok"] == "1" for r in rows]
