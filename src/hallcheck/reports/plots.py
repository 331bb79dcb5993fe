"""rc_curve.png and the reliability diagram, by matplotlib's object interface on Agg (pyplot stays unloaded).

Colours are Okabe and Ito's, which people with any colour vision tell apart; shape and dash tell them apart as well.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hallcheck.reports import drawing
from hallcheck.reports.drawing import Box, Mark
from hallcheck.reports.wording import number, part
from hallcheck.types import Report

SIZE_IN = (7.0, 4.6)
DPI = 160
BLUE, VERMILLION, SKY, INK, GREY, PALE = "#0072B2", "#D55E00", "#56B4E9", "#222222", "#6B6B6B", "#E4E4E4"
# A user's matplotlibrc must not change what a report looks like, or ask for LaTeX.
_STYLE = {
    "font.family": ["DejaVu Sans"],
    "font.size": 9.5,
    "text.usetex": False,
    "text.parse_math": False,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "axes.unicode_minus": True,
    "axes.grid": False,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "figure.autolayout": False,
    "figure.constrained_layout.use": False,
    "savefig.bbox": None,
    "savefig.transparent": False,
    "path.sketch": None,
}


def render(report: Report) -> bytes:
    """rc_curve.png: accuracy when answering (y) against coverage (x), one labelled point for each threshold."""
    with _style():
        return _png(curve_figure(report))


def render_reliability(report: Report) -> bytes:
    """The reliability diagram as PNG: accuracy by bin of confidence, and how many answers each bin holds."""
    with _style():
        return _png(reliability_figure(report))


def curve_figure(report: Report) -> Any:
    """The matplotlib Figure of `render`."""
    figure, axes = _figure("Accuracy when answering against coverage", drawing.subtitle(report, 90))
    axes.set_position((0.095, 0.215, 0.875, 0.635))
    _unit_axes(axes, "Coverage (share of questions answered)", "Accuracy when answering")
    line, marks = drawing.curve(report), drawing.marks(report)
    if not line and not marks:
        axes.text(0.5, 0.5, drawing.empty_sentence(report), ha="center", va="center", fontsize=11, color=GREY)
        return figure
    if line:
        axes.plot(*zip(*line, strict=True), color=BLUE, linewidth=1.6, label="every cut of the confidence", zorder=3)
    elif len(marks) > 1:
        axes.plot([m.x for m in marks], [m.y for m in marks], color=BLUE, linewidth=0.9, alpha=0.35, zorder=2)
    _draw_marks(axes, marks)
    _label_marks(axes, marks, line)
    rest = drawing.unanswered(report)
    if rest:
        figure.text(0.97, 0.012, rest, ha="right", va="bottom", fontsize=8, color=GREY)
    _legend(figure, axes)
    return figure


def reliability_figure(report: Report) -> Any:
    """The matplotlib Figure of `render_reliability`."""
    figure, axes = _figure("Confidence against accuracy", drawing.subtitle(report, 90))
    axes.set_position((0.095, 0.39, 0.875, 0.46))
    _unit_axes(axes, "", "Accuracy")
    axes.tick_params(labelbottom=False)
    found = drawing.bins(report)
    below = figure.add_axes((0.095, 0.2, 0.875, 0.14))
    below.set(xlim=(-0.02, 1.02), xlabel="Confidence", ylabel="Answers")
    _bare(below)
    if not found:
        axes.text(0.5, 0.5, drawing.describe_bins(report), ha="center", va="center", fontsize=11, color=GREY)
        below.set_yticks([])
        return figure
    left, width = [b.low for b in found], [b.high - b.low for b in found]
    accuracies = [b.accuracy for b in found]
    axes.bar(left, accuracies, width, align="edge", color=SKY, alpha=0.45, edgecolor="white", label="accuracy")
    axes.plot([0, 1], [0, 1], linestyle=(0, (4, 3)), color=GREY, linewidth=1, label="perfectly calibrated")
    for one in found:
        axes.plot([one.confidence] * 2, [one.confidence, one.accuracy], color=VERMILLION, linewidth=1.4)
    confidences = [b.confidence for b in found]
    axes.plot(confidences, accuracies, "o", color=BLUE, markersize=5, label="bin: mean confidence, accuracy")
    axes.plot([], [], color=VERMILLION, linewidth=1.4, label="gap")
    below.bar(left, [b.n for b in found], width, align="edge", color=GREY, alpha=0.55, edgecolor="white")
    below.yaxis.get_major_locator().set_params(integer=True, nbins=3)
    c = part(report.metrics, "confidence")
    figure.text(
        0.97,
        0.905,
        f"ECE {number(c.get('ece'))}   Brier {number(c.get('brier'))}",
        ha="right",
        fontsize=8.5,
        color=GREY,
    )
    _legend(figure, axes)
    return figure


@contextmanager
def _style() -> Iterator[None]:
    import matplotlib as mpl

    with mpl.rc_context(_STYLE):
        yield


def _figure(title: str, subtitle: str) -> tuple[Any, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=SIZE_IN, dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)
    figure.text(0.03, 0.937, title, fontsize=12.5, fontweight="bold", va="bottom")
    figure.text(0.03, 0.918, _in_font(subtitle), fontsize=8.5, color=GREY, va="top")
    return figure, figure.add_subplot()


def _in_font(text: str) -> str:
    """`text` with a question mark for what DejaVu Sans cannot draw (it would warn, and draw a box)."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    font = get_font(findfont(FontProperties(family="DejaVu Sans")))
    return "".join(char if font.get_char_index(ord(char)) else "?" for char in text)


def _legend(figure: Any, axes: Any) -> None:
    """Under the axes, where it can cover nothing."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="lower left",
        bbox_to_anchor=(0.087, 0.045),
        ncols=len(labels),
        frameon=False,
        fontsize=8,
        handlelength=1.8,
        columnspacing=1.4,
        borderpad=0,
    )


def _unit_axes(axes: Any, x: str, y: str) -> None:
    ticks = [0, 0.2, 0.4, 0.6, 0.8, 1.0]
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel=x, ylabel=y, xticks=ticks, yticks=ticks)
    axes.grid(color=PALE, linewidth=0.8)
    _bare(axes)


def _bare(axes: Any) -> None:
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(length=3, labelsize=8.5)


def _draw_marks(axes: Any, marks: list[Mark]) -> None:
    """Points with their bars, and a dash at the accuracy that each threshold demands."""
    bars = {"color": BLUE, "linewidth": 1.1, "alpha": 0.55, "zorder": 4, "solid_capstyle": "butt"}
    for mark in marks:
        if mark.x_bounds:
            axes.plot(mark.x_bounds, [mark.y] * 2, **bars)
        if mark.y_bounds:
            axes.plot([mark.x] * 2, mark.y_bounds, **bars)
        for t in mark.targets:
            axes.plot([mark.x - 0.016, mark.x + 0.016], [t, t], color=VERMILLION, linewidth=2.0, zorder=5)
    with_bars = any(mark.x_bounds or mark.y_bounds for mark in marks)
    label = "at threshold t, with intervals" if with_bars else "at threshold t"
    if marks:
        axes.plot([], [], color=VERMILLION, linewidth=2.0, label="accuracy that t demands")
    axes.plot(
        [m.x for m in marks],
        [m.y for m in marks],
        "o",
        color=BLUE,
        markersize=6,
        markeredgecolor="white",
        markeredgewidth=0.9,
        zorder=6,
        label=label,
        clip_on=False,
    )


def _label_marks(axes: Any, marks: list[Mark], line: list[tuple[float, float]]) -> None:
    """Labels beside the points, moved apart, with a thin line back where one had to go far."""
    renderer = axes.figure.canvas.get_renderer()
    size = 8.5 if len(marks) < drawing.CROWD else 7.5
    halo = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.8}
    style = {"ha": "center", "va": "center", "fontsize": size, "zorder": 7, "bbox": halo}
    texts = [axes.text(mark.x, mark.y, mark.label, **style) for mark in marks]
    extents = [text.get_window_extent(renderer) for text in texts]
    to_pixels, to_data = axes.transData.transform, axes.transData.inverted().transform
    anchors = [tuple(to_pixels((mark.x, mark.y))) for mark in marks]
    frame = axes.get_window_extent(renderer)
    reach = 7 * DPI / 72
    centres = drawing.place(
        anchors,
        [(extent.width + 8, extent.height + 6) for extent in extents],
        [_pixel_box(axes, box) for box in drawing.obstacles(marks, line)],
        (frame.x0, frame.y0, frame.x1, frame.y1),
        reach,
    )
    for text, (x, y), extent, anchor in zip(texts, centres, extents, anchors, strict=True):
        text.set_position(to_data((x, y)))
        gap = max(abs(x - anchor[0]) - extent.width / 2, abs(y - anchor[1]) - extent.height / 2)
        if gap > 1.5 * reach:
            end = to_data((x, y - extent.height / 2 if y > anchor[1] else y + extent.height / 2))
            start = to_data(anchor)
            axes.plot([start[0], end[0]], [start[1], end[1]], color=GREY, linewidth=0.6, alpha=0.7, zorder=3)


def _pixel_box(axes: Any, box: Box) -> Box:
    left, low = axes.transData.transform((box[0], box[1]))
    right, high = axes.transData.transform((box[2], box[3]))
    return float(left), float(low), float(right), float(high)


def _png(figure: Any) -> bytes:
    target = io.BytesIO()
    figure.savefig(target, format="png", dpi=DPI, metadata={"Software": None})
    return target.getvalue()
