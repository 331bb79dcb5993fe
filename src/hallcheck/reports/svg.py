"""The two drawings as inline SVG for the HTML page: no script, no style of their own, colours by the page's classes."""

from __future__ import annotations

import html

from hallcheck.reports import drawing
from hallcheck.reports.drawing import Mark
from hallcheck.types import Report

WIDTH, HEIGHT = 720.0, 440.0
LEFT, RIGHT, TOP, BOTTOM = 62.0, 706.0, 16.0, 392.0
EM = 13.0
_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def curve(report: Report) -> str:
    """Accuracy when answering against coverage."""
    line, marks = drawing.curve(report), drawing.marks(report)
    body = _axes("Coverage (share of questions answered)", "Accuracy when answering", TOP, BOTTOM)
    if not line and not marks:
        body.append(_text(_x(0.5), (TOP + BOTTOM) / 2, drawing.empty_sentence(report), "mid"))
    if line:
        body.append(_polyline(line, "curve"))
    elif len(marks) > 1:
        body.append(_polyline([(mark.x, mark.y) for mark in marks], "faint"))
    body += [part for mark in marks for part in _mark(mark)]
    body += _labels(marks, line)
    return _svg("curve", "Accuracy when answering against coverage", drawing.describe_curve(report), body)


def reliability(report: Report) -> str:
    """Accuracy by bin of confidence, over the number of answers in each bin."""
    low, high = 300.0, 392.0  # the strip of counts below the diagram
    found = drawing.bins(report)
    body = _axes("Confidence", "Accuracy", TOP, low - 24, label_at=high)
    most = max((one.n for one in found), default=1.0)
    for one in found:
        left, right = _x(one.low), _x(one.high)
        top = _y(one.accuracy, TOP, low - 24)
        body.append(_rect(left, top, right - left, low - 24 - top, "bar"))
        height = (high - low) * one.n / most
        body.append(_rect(left, high - height, right - left, height, "count"))
    body.append(_line(_x(0), _y(0, TOP, low - 24), _x(1), _y(1, TOP, low - 24), "ideal"))
    for one in found:
        x = _x(one.confidence)
        ideal, real = _y(one.confidence, TOP, low - 24), _y(one.accuracy, TOP, low - 24)
        body += [_line(x, ideal, x, real, "target"), _dot(x, real)]
    body.append(_line(LEFT, high, RIGHT, high, "axis"))
    body.append(_text(LEFT - 8, low + EM - 3, f"{most:,.0f}", "end small"))
    body.append(_text(LEFT - 8, high, "0", "end small"))
    return _svg("reliability", "Confidence against accuracy", drawing.describe_bins(report), body)


def _svg(name: str, title: str, description: str, body: list[str]) -> str:
    return (
        f'<svg class="figure" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" '
        f'aria-labelledby="{name}-title {name}-desc">'
        f'<title id="{name}-title">{html.escape(title)}</title>'
        f'<desc id="{name}-desc">{html.escape(description)}</desc>' + "".join(body) + "</svg>"
    )


def _x(value: float) -> float:
    return LEFT + (RIGHT - LEFT) * (value + 0.02) / 1.04


def _y(value: float, top: float = TOP, bottom: float = BOTTOM) -> float:
    return bottom - (bottom - top) * (value + 0.02) / 1.04


def _axes(x: str, y: str, top: float, bottom: float, label_at: float | None = None) -> list[str]:
    out = []
    for tick in _TICKS:
        out.append(_line(_x(tick), top, _x(tick), bottom, "grid"))
        out.append(_line(LEFT, _y(tick, top, bottom), RIGHT, _y(tick, top, bottom), "grid"))
        out.append(_text(LEFT - 8, _y(tick, top, bottom) + 4, f"{tick:.1f}", "end small"))
        out.append(_text(_x(tick), (label_at or bottom) + 18, f"{tick:.1f}", "mid small"))
    out += [_line(LEFT, bottom, RIGHT, bottom, "axis"), _line(LEFT, top, LEFT, bottom, "axis")]
    out.append(_text((LEFT + RIGHT) / 2, (label_at or bottom) + 40, x, "mid"))
    middle = (top + bottom) / 2
    out.append(f'<text class="mid" transform="translate(16 {middle:.1f}) rotate(-90)">{html.escape(y)}</text>')
    return out


def _mark(mark: Mark) -> list[str]:
    x, y = _x(mark.x), _y(mark.y)
    out = []
    if mark.x_bounds:
        out.append(_line(_x(mark.x_bounds[0]), y, _x(mark.x_bounds[1]), y, "interval"))
    if mark.y_bounds:
        out.append(_line(x, _y(mark.y_bounds[0]), x, _y(mark.y_bounds[1]), "interval"))
    out += [_line(x - 10, _y(t), x + 10, _y(t), "target") for t in mark.targets]
    return [*out, _dot(x, y)]


def _labels(marks: list[Mark], line: list[tuple[float, float]]) -> list[str]:
    anchors = [(_x(mark.x), _y(mark.y)) for mark in marks]
    sizes = [(0.6 * EM * len(mark.label) + 4, EM + 3) for mark in marks]
    taken = [(_x(box[0]), _y(box[3]), _x(box[2]), _y(box[1])) for box in drawing.obstacles(marks, line)]
    centres = drawing.place(anchors, sizes, taken, (LEFT, TOP, RIGHT, BOTTOM), 10.0)
    out = []
    for mark, (x, y), anchor, (width, height) in zip(marks, centres, anchors, sizes, strict=True):
        gap = max(abs(x - anchor[0]) - width / 2, abs(y - anchor[1]) - height / 2)
        if gap > 15:
            out.append(_line(anchor[0], anchor[1], x, y - height / 2 if y > anchor[1] else y + height / 2, "leader"))
        out.append(_text(x, y + 4.5, mark.label, "mid halo"))
    return out


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'


def _dot(x: float, y: float) -> str:
    return f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'


def _polyline(line: list[tuple[float, float]], kind: str) -> str:
    path = " ".join(f"{_x(x):.1f},{_y(y):.1f}" for x, y in line)
    return f'<polyline class="{kind}" points="{path}"/>'


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{html.escape(text)}</text>'
