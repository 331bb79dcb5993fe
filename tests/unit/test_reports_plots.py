"""The PNG drawings: what stands where, readable, the same each time, nobody's settings touched."""

from __future__ import annotations

import struct
import subprocess
import sys
from typing import Any

import matplotlib as mpl
import pytest
from report_cases import FIXTURE, NAMES, mapped, parts, report

from hallcheck.reports import plots


def size(png: bytes) -> tuple[int, int]:
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def points_of(figure: Any) -> list[tuple[float, float]]:
    (line,) = [line for line in figure.axes[0].lines if line.get_marker() == "o"]
    return list(zip(line.get_xdata(), line.get_ydata(), strict=True))


def labels_of(figure: Any) -> list[Any]:
    return list(figure.axes[0].texts)


@pytest.mark.parametrize("name", NAMES)
def test_both_drawings_are_png_of_seven_inches_at_160_dpi(name: str) -> None:
    assert size(plots.render(report(name=name))) == (1120, 736)
    assert size(plots.render_reliability(report(name=name))) == (1120, 736)


def test_the_points_are_the_metrics_with_bars_and_labels() -> None:
    own = parts()
    figure = plots.curve_figure(report(own))
    wanted = [(m["coverage"], m["accuracy_conditioned_on_answering"]) for m in own["metrics"].values()]
    assert points_of(figure) == wanted
    assert [text.get_text() for text in labels_of(figure)] == [f"t = {key}" for key in own["metrics"]]
    drawn = {(tuple(line.get_xdata()), tuple(line.get_ydata())) for line in figure.axes[0].lines}
    for (x, y), m in zip(wanted, own["metrics"].values(), strict=True):
        across, up = m["intervals"]["coverage"], m["intervals"]["accuracy_conditioned_on_answering"]
        assert ((across["low"], across["high"]), (y, y)) in drawn
        assert ((x, x), (up["low"], up["high"])) in drawn


def test_the_demanded_accuracy_is_marked_at_y_equal_t() -> None:
    figure = plots.curve_figure(report())
    marked = {
        line.get_ydata()[0]
        for line in figure.axes[0].lines
        if line.get_color() == plots.VERMILLION and len(line.get_ydata())
    }
    assert marked == {0.5, 0.75, 0.9, 1.0}


def test_a_confidence_method_draws_its_whole_curve() -> None:
    curve = parts("confidence")["metrics"]["confidence"]["curve"]
    figure = plots.curve_figure(report(name="confidence"))
    longest = max(figure.axes[0].lines, key=lambda line: len(line.get_xdata()))
    assert list(longest.get_xdata()) == [one["coverage"] for one in curve]
    assert list(longest.get_ydata()) == [one["accuracy"] for one in curve]


def crowded(n: int) -> dict[str, Any]:
    own = parts()
    base = own["metrics"]["0.5"]
    own["metrics"] = {
        str(i / n): base | {"coverage": 1 - 0.9 * i / n, "accuracy_conditioned_on_answering": 0.6 + 0.3 * i / n}
        for i in range(n)
    }
    return own


@pytest.mark.parametrize("own", [parts(), parts("confidence"), crowded(9), crowded(19)])
def test_labels_do_not_overlap_and_stay_on_the_page(own: dict[str, Any]) -> None:
    with plots._style():
        figure = plots.curve_figure(report(own))
        renderer = figure.canvas.get_renderer()
        boxes = [text.get_window_extent(renderer) for text in labels_of(figure)]
    page = figure.bbox
    for i, box in enumerate(boxes):
        assert page.x0 <= box.x0
        assert box.x1 <= page.x1
        assert page.y0 <= box.y0
        assert box.y1 <= page.y1
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_where_nothing_was_answered_the_drawing_says_so() -> None:
    own = parts()
    for m in own["metrics"].values():
        m |= {"coverage": 0.0, "accuracy_conditioned_on_answering": None}
    (text,) = labels_of(plots.curve_figure(report(own)))
    assert text.get_text() == "Nothing was answered: the accuracy when answering is undefined."
    (text,) = labels_of(plots.curve_figure(report(name="empty")))
    assert text.get_text() == "No row was scored: there is nothing to draw."
    (text,) = labels_of(plots.reliability_figure(report()))
    assert text.get_text() == "No answer has a confidence: there is nothing to draw."


def test_a_partial_run_says_so() -> None:
    figure = plots.curve_figure(report(partial=True))
    assert any(text.get_text().startswith("PARTIAL RUN") for text in figure.texts)


def test_reliability_draws_each_bin_where_it_is() -> None:
    rows = [one for one in parts("confidence")["metrics"]["confidence"]["reliability"] if one["n"]]
    figure = plots.reliability_figure(report(name="confidence"))
    assert points_of(figure) == [(one["mean_confidence"], one["accuracy"]) for one in rows]
    heights = [bar.get_height() for bar in figure.axes[1].patches]
    assert heights == [one["n"] for one in rows]


@pytest.mark.parametrize("title", ["物理 🙂 $x^2$ \\frac", "$unclosed", "\x1b[31m\u202ered\n\ud83d", "", "t " * 500])
def test_any_title_is_drawn_without_warning(title: str) -> None:
    assert size(plots.render(report(title=title))) == (1120, 736)


@pytest.mark.parametrize("name", NAMES)
def test_nulls_everywhere_and_nothing_at_all_are_survived(name: str) -> None:
    own = parts(name)
    own |= {key: mapped(own[key], lambda _: None) for key in ("metrics", "behavior", "run", "examples")}
    for damaged in (report(own), report(metrics={}, behavior={}, run={}, examples={})):
        assert size(plots.render(damaged)) == (1120, 736)
        assert size(plots.render_reliability(damaged)) == (1120, 736)


def test_the_same_report_gives_the_same_bytes_whatever_the_user_set() -> None:
    plain = plots.render(report())
    with mpl.rc_context({"text.usetex": True, "axes.grid": True, "font.size": 30, "savefig.bbox": "tight"}):
        assert plots.render(report()) == plain
        assert mpl.rcParams["font.size"] == 30


def test_pyplot_and_scipy_are_not_loaded() -> None:
    code = (
        "import json, sys\n"
        "from hallcheck.types import Report\n"
        "from hallcheck.reports import html, markdown, plots, table\n"
        "assert 'matplotlib' not in sys.modules and 'numpy' not in sys.modules\n"
        f"own = json.loads(open({str(FIXTURE)!r}, encoding='utf-8').read())['confidence']\n"
        "report = Report(**{**own, 'notes': ()})\n"
        "for module in (html, markdown, table): module.render(report)\n"
        "assert 'matplotlib' not in sys.modules and 'numpy' not in sys.modules\n"
        "plots.render(report)\n"
        "assert 'matplotlib.pyplot' not in sys.modules and 'scipy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
