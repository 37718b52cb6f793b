"""Charts as SVG: lines with bands of one standard deviation. Geometry is here, markup in ``lines.svg``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from pugnn.templates import fill_template
from pugnn_paper.pages.wording import spread

_WIDTH, _HEIGHT = 720, 460
_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 582, 34, 396
_LABEL_GAP = 15

# Outlines around 0, 0: shapes help where colours cannot be told apart.
_MARKERS = (
    "M-4,0 A4,4 0 1 0 4,0 A4,4 0 1 0 -4,0 Z",
    "M-3.6,-3.6 H3.6 V3.6 H-3.6 Z",
    "M0,-4.8 L4.4,3.2 H-4.4 Z",
    "M0,-5 L5,0 L0,5 L-5,0 Z",
    "M0,4.8 L4.4,-3.2 H-4.4 Z",
    "M-4.4,-1.5 H-1.5 V-4.4 H1.5 V-1.5 H4.4 V1.5 H1.5 V4.4 H-1.5 V1.5 H-4.4 Z",
)

#: Colours of the style sheet for rows in the foreground and in the background.
STRONG_COLOURS, WEAK_COLOURS = 6, 11


@dataclass(frozen=True)
class Point:
    """Mean and standard deviation (``nan``: unknown) at a position on the horizontal axis."""

    x: float
    mean: float
    deviation: float


@dataclass(frozen=True)
class Series:
    """One row of a line chart; ``strong`` puts it in the foreground."""

    name: str
    measured: Sequence[Point]
    published: Sequence[Point]
    strong: bool


@dataclass(frozen=True)
class Tick:
    """A position on the horizontal axis, its label, and a smaller one below."""

    x: float
    text: str
    under: str = ""


def line_chart(series: Sequence[Series], ticks: Sequence[Tick], *, title: str, x_title: str, log: bool) -> str:
    """Macro-F1 against ``ticks``: measured means with their band, published values hollow and dashed.

    Rows are in the order of their colours. The title is for screen readers; ``log`` concerns the horizontal axis.
    """
    points = [point for row in series for point in (*row.measured, *row.published)]
    if not points:
        return ""
    ends = [point.mean + sign * np.nan_to_num(point.deviation) for point in points for sign in (-1, 1)]
    low, high, step = _range(min(ends), max(ends))
    scaled = math.log if log else float
    first, last = scaled(ticks[0].x), scaled(ticks[-1].x)

    def place(point: Point, deviations: float = 0.0) -> tuple[float, float]:
        across = 0.5 if first == last else (scaled(point.x) - first) / (last - first)
        value = point.mean + deviations * point.deviation if deviations else point.mean  # one draw has no deviation
        up = (min(max(value, low), high) - low) / (high - low)
        # A little air to both sides, so that no marker sits on the axis.
        return _LEFT + 16 + across * (_RIGHT - _LEFT - 32), _BOTTOM - up * (_BOTTOM - _TOP)

    rows: list[dict[str, Any]] = []
    # The background first, so that the foreground lies on top; the place in each decides on colour and marker.
    layers = ([row for row in series if row.strong == strong] for strong in (False, True))
    for number, row in chain.from_iterable(map(enumerate, layers)):
        if not (row.measured or row.published):
            continue
        banded = [point for point in row.measured if not math.isnan(point.deviation)] if row.strong else []
        band = [place(point, 1) for point in banded] + [place(point, -1) for point in reversed(banded)]
        colour = f"strong{number % STRONG_COLOURS}" if row.strong else f"weak{number % WEAK_COLOURS}"
        dots = [
            (*place(point), kind == "measured", f"{row.name}, {kind}: {spread(point.mean, point.deviation)}")
            for kind, points in (("published", row.published), ("measured", row.measured))
            for point in points
        ]
        rows.append(
            {
                "name": row.name,
                "strong": row.strong,
                "paint": f"var(--{colour})",
                "marker": _MARKERS[number % len(_MARKERS)],
                "band": _path(band) if len(banded) > 1 else "",
                "published": _path([place(point) for point in row.published]),
                "measured": _path([place(point) for point in row.measured]),
                "dots": dots,
                "end": place((row.measured or row.published)[-1]),
            }
        )
    for drawn, label in zip(rows, _apart([drawn["end"][1] for drawn in rows]), strict=True):
        x, y = drawn["end"]
        drawn |= {"label": label, "leader": _path([(x + 6, y), (_RIGHT + 4, label), (_RIGHT + 10, label)])}
    values = [low + number * step for number in range(round((high - low) / step) + 1)]
    return fill_template(
        __package__,
        "lines.svg",
        {
            "title": title,
            "x_title": x_title,
            "width": _WIDTH,
            "height": _HEIGHT,
            "left": _LEFT,
            "right": _RIGHT,
            "bottom": _BOTTOM,
            "levels": [(value, place(Point(ticks[0].x, value, 0.0))[1]) for value in values],
            "ticks": [(tick, place(Point(tick.x, low, 0.0))[0]) for tick in ticks],
            "rows": rows,
        },
    )


def _path(points: Sequence[tuple[float, float]]) -> str:
    """A line through the points; none for a single one."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points) if len(points) > 1 else ""


def _range(low: float, high: float) -> tuple[float, float, float]:
    """Round limits around the values, and a round step for four to eight ticks."""
    span = max(high - low, 1.0)
    step = next(step for step in (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0) if span / step <= 7)
    # Scores are percentages, whatever the band says; and an axis needs a length even where all values are equal.
    top = min(100.0, max(math.ceil(high / step), math.floor(low / step) + 1) * step)
    return min(max(0.0, math.floor(low / step) * step), top - step), top, step


def _apart(heights: Sequence[float]) -> list[float]:
    """Heights of labels, moved as little as needed so that none covers another."""
    order = sorted(range(len(heights)), key=heights.__getitem__)
    down, up = ([heights[at] for at in order] for _ in range(2))
    for at in range(1, len(order)):
        down[at] = max(down[at], down[at - 1] + _LABEL_GAP)
        up[-1 - at] = min(up[-1 - at], up[-at] - _LABEL_GAP)
    # Both keep the gap, hence so does their mean, which moves a crowd half up and half down.
    middle = [(one + other) / 2 for one, other in zip(down, up, strict=True)]
    for at in range(len(middle)):
        middle[at] = max(middle[at], _TOP + at * _LABEL_GAP)
    for at in range(len(middle)):
        middle[-1 - at] = min(middle[-1 - at], _BOTTOM - at * _LABEL_GAP)
    return [height for _, height in sorted(zip(order, middle, strict=True))]
