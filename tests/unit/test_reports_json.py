"""JSON of the reports: always valid, in order, nothing lost."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_cases import report

from hallcheck.reports.json import dumps, render
from hallcheck.types import Note


def strict(data: bytes) -> Any:
    """Parse, refusing NaN and Infinity as RFC 8259 does."""

    def refuse(name: str) -> Any:
        raise ValueError(name)

    return json.loads(data.decode("utf-8"), parse_constant=refuse)


def test_what_is_not_finite_is_null_at_any_depth() -> None:
    value = {"a": -math.inf, "b": [math.nan, {"c": math.inf}, 1.5], "d": np.float64("nan")}
    assert strict(dumps(value)) == {"a": None, "b": [None, {"c": None}, 1.5], "d": None}


def test_keys_stay_in_the_order_given_and_lines_are_indented_by_two() -> None:
    assert dumps({"z": 1, "a": {"y": True, "b": None}}) == (
        b'{\n  "z": 1,\n  "a": {\n    "y": true,\n    "b": null\n  }\n}\n'
    )


def test_numpy_becomes_plain() -> None:
    value = {"row": np.array([1, 2]), "one": np.float32(0.5), "yes": np.bool_(True), "nan": np.array([np.nan, 1.0])}
    assert strict(dumps(value)) == {"row": [1, 2], "one": 0.5, "yes": True, "nan": [None, 1.0]}


def test_text_is_written_as_it_is_and_a_lone_surrogate_as_its_escape() -> None:
    data = dumps({"q": "où? 物理", "cut": "a\ud83d!"})
    assert "où? 物理".encode() in data
    assert b"a\\ud83d!" in data
    assert strict(data)["cut"] == "a\ud83d!"


def test_numbers_as_keys_read_as_text_and_clashing_keys_are_refused() -> None:
    assert strict(dumps({0.5: 1, 2: 1, None: 1, True: 1})) == {"0.5": 1, "2": 1, "null": 1, "true": 1}
    with pytest.raises(ValueError, match=r"0\.5"):
        dumps({0.5: 1, "0.5": 2})


@pytest.mark.parametrize("value", [object(), {"a": b"bytes"}, {(1, 2): 1}, {"type": int}])
def test_what_has_no_json_form_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        dumps(value)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@settings(deadline=None)
@given(values)
def test_whatever_is_finite_comes_back_the_same(value: Any) -> None:
    assert strict(dumps(value)) == value


def test_render_writes_every_part_of_the_report() -> None:
    note = Note(code="few", severity="warning", message="few rows", advice="ask more")
    whole = strict(render(report(notes=(note,), partial=True)))
    assert list(whole) == ["title", "partial", "run", "metrics", "behavior", "notes", "examples"]
    assert whole["partial"] is True
    assert whole["notes"] == [{"code": "few", "severity": "warning", "message": "few rows", "advice": "ask more"}]
    assert whole["metrics"] == json.loads(json.dumps(report().metrics))
