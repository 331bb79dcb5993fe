"""What the PNG and the SVG drawings share: the points of the curve, a curve thinned for drawing, label places.

x is the coverage and y the accuracy when answering, both in [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hallcheck.reports.wording import clean, count, finite, part, points, sequence
from hallcheck.types import Report

Box = tuple[float, float, float, float]  # left, low, right, high
CROWD = 12  # from this many points on, labels leave out their "t = "


class Mark(NamedTuple):
    """One point of the curve. `targets`: the thresholds that landed on it; bounds are None where unknown."""

    x: float
    y: float
    label: str
    targets: tuple[float, ...]
    x_bounds: tuple[float, float] | None
    y_bounds: tuple[float, float] | None


class Bin(NamedTuple):
    """One bin of the reliability diagram."""

    low: float
    high: float
    n: float
    confidence: float
    accuracy: float


def marks(report: Report) -> list[Mark]:
    """A point for each threshold where something was answered; thresholds with equal figures share one."""
    found: dict[tuple[float, float], Mark] = {}
    prefix = "t = " if len(points(report)) < CROWD else ""
    for point in points(report):
        x = finite(point.metrics.get("coverage"))
        y = finite(point.metrics.get("accuracy_conditioned_on_answering"))
        if x is None or y is None:
            continue
        old = found.get((x, y))
        if old is not None:
            label = f"{old.label}, {_figure(point.label)}"
            found[x, y] = old._replace(label=label, targets=(*old.targets, point.t))
            continue
        intervals = part(point.metrics, "intervals")
        found[x, y] = Mark(
            x,
            y,
            prefix + _figure(point.label),
            (point.t,),
            _bounds(part(intervals, "coverage")),
            _bounds(part(intervals, "accuracy_conditioned_on_answering")),
        )
    return [mark._replace(label=_short(mark.label)) for mark in found.values()]


def _figure(label: str) -> str:
    """t as the point shows it: cut, not rounded, so that 0.99999 does not read 1."""
    return label if len(label) <= 7 else f"{label[:6]}…"


def _short(label: str) -> str:
    """`t = 0.1, 0.2, 0.3, 0.4` as `t = 0.1 … 0.4`."""
    parts = label.split(", ")
    return label if len(parts) <= 3 else f"{parts[0]} … {parts[-1]}"


def _bounds(interval: Mapping[str, Any]) -> tuple[float, float] | None:
    low, high = finite(interval.get("low")), finite(interval.get("high"))
    return None if low is None or high is None else (max(0.0, low), min(1.0, high))


def subtitle(report: Report, limit: int) -> str:
    """The title of the report for a drawing, saying where the run is partial."""
    return ("PARTIAL RUN · " if report.partial else "") + clean(report.title, limit)


def unanswered(report: Report) -> str:
    """A word on the thresholds that have no point since nothing was answered; "" if there are none."""
    missing = [
        point.label
        for point in points(report)
        if finite(point.metrics.get("accuracy_conditioned_on_answering")) is None
    ]
    if not missing:
        return ""
    shown = missing if len(missing) <= 5 else [*missing[:2], "…", missing[-1]]
    return f"Nothing was answered at t = {', '.join(shown)}."


def curve(report: Report, most: int = 400) -> list[tuple[float, float]]:
    """The risk-coverage curve of a confidence method as (coverage, accuracy), by rising coverage."""
    rows = sequence(part(report.metrics, "confidence"), "curve")
    line = []
    for row in rows:
        x, y = (finite(row.get("coverage")), finite(row.get("accuracy"))) if isinstance(row, Mapping) else (None, None)
        if x is not None and y is not None:
            line.append((x, y))
    return thin(sorted(line, key=lambda at: at[0]), most)


def thin(line: Sequence[tuple[float, float]], most: int) -> list[tuple[float, float]]:
    """`line` in about `most` points that draw alike: of each slice the first, lowest, highest and last stay."""
    if len(line) <= most:
        return list(line)
    slices = max(1, most // 4)
    out: list[tuple[float, float]] = []
    for i in range(slices):
        piece = range(i * len(line) // slices, (i + 1) * len(line) // slices)
        low, high = min(piece, key=lambda j: line[j][1]), max(piece, key=lambda j: line[j][1])
        out += [line[j] for j in sorted({piece[0], low, high, piece[-1]})]
    return out


def bins(report: Report) -> list[Bin]:
    """The bins of the reliability diagram that hold an answer."""
    out = []
    for row in sequence(part(report.metrics, "confidence"), "reliability"):
        values = [finite(row.get(name)) for name in ("low", "high", "n", "mean_confidence", "accuracy")]
        present = [value for value in values if value is not None]
        if len(present) == len(values) and present[2] > 0:
            out.append(Bin(*present))
    return out


def describe_curve(report: Report) -> str:
    """The curve in one sentence, for those who do not see it."""
    said = [f"{mark.label}: coverage {mark.x:.3f}, accuracy {mark.y:.3f}" for mark in marks(report)]
    rest = unanswered(report)
    return "; ".join(said) + "." + (f" {rest}" if rest else "") if said else empty_sentence(report)


def empty_sentence(report: Report) -> str:
    """Why there is nothing to draw."""
    if not any(point.metrics.get("n") for point in points(report)):
        return "No row was scored: there is nothing to draw."
    return "Nothing was answered: the accuracy when answering is undefined."


def describe_bins(report: Report) -> str:
    """The reliability diagram in one sentence."""
    said = [
        f"{count(one.n)} answers at mean confidence {one.confidence:.3f}: accuracy {one.accuracy:.3f}"
        for one in bins(report)
    ]
    return "; ".join(said) + "." if said else "No answer has a confidence: there is nothing to draw."


def obstacles(marks: list[Mark], line: list[tuple[float, float]]) -> list[Box]:
    """What a label should not cover, in data units: points, bars, dashes, curve."""
    boxes: list[Box] = []
    for mark in marks:
        boxes.append((mark.x - 0.012, mark.y - 0.018, mark.x + 0.012, mark.y + 0.018))
        if mark.x_bounds:
            boxes.append((mark.x_bounds[0], mark.y - 0.006, mark.x_bounds[1], mark.y + 0.006))
        if mark.y_bounds:
            boxes.append((mark.x - 0.004, mark.y_bounds[0], mark.x + 0.004, mark.y_bounds[1]))
        boxes += [(mark.x - 0.018, t - 0.012, mark.x + 0.018, t + 0.012) for t in mark.targets]
    boxes += [(x - 0.006, y - 0.012, x + 0.006, y + 0.012) for x, y in line]
    return boxes


def place(
    anchors: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    taken: Sequence[Box],
    bounds: Box,
    reach: float,
) -> list[tuple[float, float]]:
    """Centres for labels of `sizes` near their `anchors`, within `bounds`, clear of each other and of `taken`.

    Greedy: for each label the cheapest of 84 places around its anchor, `reach` and more away. Overlapping another
    label costs most, then leaving the bounds, then covering what is drawn, then distance. Any unit of length does.
    """
    centres: list[tuple[float, float]] = []
    labels: list[Box] = []
    for (x, y), (width, height) in zip(anchors, sizes, strict=True):
        across, up = FARTHEST * reach + width, FARTHEST * reach + height
        nearby = [one for one in taken if _overlap(one, (x - across, y - up, x + across, y + up))]
        best = math.inf
        for near, dx, dy in _PLACES:
            cx = x + dx * reach * near + _sign(dx) * width / 2
            cy = y + dy * reach * near + _sign(dy) * height / 2
            box = (cx - width / 2, cy - height / 2, cx + width / 2, cy + height / 2)
            cost = near + _cost(box, labels, bounds, nearby)
            if cost < best - 1e-9:  # the first of equals, whatever the last digits say
                best, centre, label = cost, (cx, cy), box
        centres.append(centre)
        labels.append(label)
    return centres


def _cost(box: Box, labels: Sequence[Box], bounds: Box, taken: Sequence[Box]) -> float:
    area = (box[2] - box[0]) * (box[3] - box[1])
    hidden = [shared / area for one in labels if (shared := _overlap(box, one))]
    covered = [shared / area for one in taken if (shared := _overlap(box, one))]
    outside = 1 - _overlap(box, bounds) / area
    cost = sum(500 + 100 * shared for shared in hidden) + sum(0.7 + 20 * shared for shared in covered)
    return cost + (200 + 80 * outside if outside > 1e-9 else 0.0)


FARTHEST = 12.0
_PLACES = [
    (near, math.cos(math.radians(angle)), math.sin(math.radians(angle)))
    for near in (1.0, 1.9, 3.0, 4.5, 6.5, 9.0, FARTHEST)
    for angle in (45, 315, 225, 135, 60, 300, 240, 120, 90, 270, 0, 180)
]


def _sign(value: float) -> int:
    return 0 if abs(value) < 1e-9 else 1 if value > 0 else -1


def _overlap(one: Box, other: Box) -> float:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return width * height if width > 0 and height > 0 else 0.0
