"""What both drawings share: points, the thinned curve, places for labels."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from report_cases import parts, report

from hallcheck.reports import drawing

unit = st.floats(0, 1)


def test_each_answered_threshold_has_a_point_with_its_bounds() -> None:
    own = parts()
    marks = drawing.marks(report(own))
    assert [(mark.x, mark.y) for mark in marks] == [
        (m["coverage"], m["accuracy_conditioned_on_answering"]) for m in own["metrics"].values()
    ]
    assert [mark.label for mark in marks] == ["t = 0.5", "t = 0.75", "t = 0.9", "t = 1.0"]
    assert [mark.targets for mark in marks] == [(0.5,), (0.75,), (0.9,), (1.0,)]
    interval = own["metrics"]["0.5"]["intervals"]["coverage"]
    assert marks[0].x_bounds == (interval["low"], interval["high"])


def test_thresholds_with_equal_figures_share_a_point() -> None:
    own = parts()
    for m in own["metrics"].values():
        m |= {"coverage": 0.5, "accuracy_conditioned_on_answering": 0.5}
    (mark,) = drawing.marks(report(own))
    assert mark.label == "t = 0.5 … 1.0"
    assert mark.targets == (0.5, 0.75, 0.9, 1.0)


def test_a_threshold_without_answers_has_no_point_but_a_word() -> None:
    own = parts()
    own["metrics"]["1.0"]["accuracy_conditioned_on_answering"] = None
    assert len(drawing.marks(report(own))) == 3
    assert drawing.unanswered(report(own)) == "Nothing was answered at t = 1.0."
    assert drawing.unanswered(report()) == ""


def test_the_reason_for_an_empty_drawing_is_the_right_one() -> None:
    own = parts()
    assert drawing.empty_sentence(report(own)).startswith("Nothing was answered")
    assert drawing.empty_sentence(report(name="empty")).startswith("No row was scored")


def test_the_curve_runs_by_rising_coverage_and_skips_nulls() -> None:
    own = parts("confidence")
    curve = own["metrics"]["confidence"]["curve"]
    curve.append({"threshold": None, "coverage": 0.0, "risk": None, "accuracy": None})
    line = drawing.curve(report(own))
    assert line == sorted((one["coverage"], one["accuracy"]) for one in curve[:-1])


@settings(deadline=None)
@given(st.lists(st.tuples(unit, unit), min_size=1, max_size=3000), st.integers(8, 400))
def test_a_thinned_curve_keeps_ends_and_extremes(points: list[tuple[float, float]], most: int) -> None:
    line = sorted(points)
    thin = drawing.thin(line, most)
    assert len(thin) <= most
    assert (thin[0], thin[-1]) == (line[0], line[-1])
    assert max(y for _, y in thin) == max(y for _, y in line)
    assert min(y for _, y in thin) == min(y for _, y in line)
    remaining = iter(line)
    assert all(point in remaining for point in thin)


@settings(deadline=None)
@given(st.lists(st.tuples(unit, unit), min_size=1, max_size=5))
def test_labels_stay_inside_and_off_each_other(anchors: list[tuple[float, float]]) -> None:
    size = (0.08, 0.04)
    places = drawing.place(anchors, [size] * len(anchors), [], (0, 0, 1, 1), 0.02)
    for i, (x, y) in enumerate(places):
        assert x - size[0] / 2 >= 0 - 1e-9
        assert x + size[0] / 2 <= 1 + 1e-9
        assert y - size[1] / 2 >= 0 - 1e-9
        assert y + size[1] / 2 <= 1 + 1e-9
        for other_x, other_y in places[:i]:
            assert abs(x - other_x) >= size[0] - 1e-9 or abs(y - other_y) >= size[1] - 1e-9


def test_bins_without_an_answer_are_left_out() -> None:
    own = parts("confidence")
    rows = own["metrics"]["confidence"]["reliability"]
    rows[0] = {"low": 0.0, "high": 0.1, "n": 0, "mean_confidence": None, "accuracy": None}
    assert len(drawing.bins(report(own))) == sum(1 for row in rows if row["n"])
