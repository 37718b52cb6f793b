"""Charts as SVG text: lines with bands of one standard deviation, and a heat map."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from pugnn.experiments.pages.style import colour
from pugnn.experiments.pages.wording import spread

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


@dataclass(frozen=True)
class Point:
    """Mean and standard deviation (``nan``: unknown) at a place of the horizontal axis."""

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
    """A place on the horizontal axis, what stands there, and below that."""

    x: float
    text: str
    under: str = ""


@dataclass(frozen=True)
class HeatCell:
    """One cell of a heat map: its column and line, what it says, and the value that colours it (``None``: none)."""

    column: str
    line: str
    text: str
    under: str
    value: float | None


def line_chart(series: Sequence[Series], ticks: Sequence[Tick], *, title: str, x_title: str, log: bool) -> str:
    """Macro-F1 against ``ticks``: measured means with their band, published values hollow and dashed.

    Args:
        series: the rows, in the order of their colours.
        ticks: the places of the horizontal axis that are named.
        title: what screen readers say.
        x_title: name of the horizontal axis.
        log: horizontal axis on a logarithmic scale.
    """
    points = [point for row in series for point in (*row.measured, *row.published)]
    if not points:
        return ""
    widths = [0.0 if math.isnan(point.deviation) else point.deviation for point in points]
    low, high, step = _range(
        min(point.mean - width for point, width in zip(points, widths, strict=True)),
        max(point.mean + width for point, width in zip(points, widths, strict=True)),
    )
    first, last = (_scaled(tick.x, log) for tick in (ticks[0], ticks[-1]))

    def place(point: Point, shift: float = 0.0) -> tuple[float, float]:
        across = 0.5 if first == last else (_scaled(point.x, log) - first) / (last - first)
        width = shift * point.deviation if shift else 0.0  # one draw has no deviation, and a line needs none
        up = (min(max(point.mean + width, low), high) - low) / (high - low)
        # A little air to both sides, so that no marker sits on the axis.
        return _LEFT + 16 + across * (_RIGHT - _LEFT - 32), _BOTTOM - up * (_BOTTOM - _TOP)

    parts = [*_axes(ticks, low, high, step, [place(Point(tick.x, low, 0.0))[0] for tick in ticks], x_title)]
    # The background first, so that the foreground lies on top.
    painted = sorted(_painted(series), key=lambda entry: entry[0].strong)
    ends = {row.name: place((row.measured or row.published)[-1]) for row, _ in painted if row.measured or row.published}
    labels = _apart([y for _, y in ends.values()])
    heights = dict(zip(ends, labels, strict=True))
    for row, number in painted:
        if row.name not in ends:
            continue
        paint, shape = colour(number, row.strong), _MARKERS[number % len(_MARKERS)]
        parts.append('<g class="series">')
        banded = [point for point in row.measured if not math.isnan(point.deviation)]
        if row.strong and len(banded) > 1:
            edge = [place(point, 1) for point in banded] + [place(point, -1) for point in reversed(banded)]
            parts.append(f'<polygon points="{_path(edge)}" fill="{paint}" fill-opacity="0.09"/>')
        parts += _line([place(point) for point in row.published], paint, 'stroke-width="1.2" stroke-dasharray="4 4"')
        parts += _line([place(point) for point in row.measured], paint, f'stroke-width="{2.2 if row.strong else 1.1}"')
        for kind, dots, fill in (
            ("published", row.published, "var(--page, #fff)"),
            ("measured", row.measured, paint),
        ):
            for point in dots:
                x, y = place(point)
                told = escape(f"{row.name}, {kind}: {spread(point.mean, point.deviation)}")
                parts.append(
                    f'<path d="{shape}" transform="translate({x:.1f} {y:.1f}) scale({1 if row.strong else 0.6})" '
                    f'fill="{fill}" stroke="{paint}" stroke-width="1.2"><title>{told}</title></path>'
                )
        parts += _label(row, ends[row.name], heights[row.name], paint)
        parts.append("</g>")
    return _svg(_WIDTH, _HEIGHT, title, parts)


def heat_map(
    cells: Sequence[HeatCell],
    columns: Sequence[str],
    lines: Sequence[str],
    *,
    title: str,
    column_title: str,
    line_title: str,
) -> str:
    """Cells coloured by their value, darker where it is higher, each with its text and a smaller one below."""
    wide, high, left, top = 124, 58, 84, 52
    values = [cell.value for cell in cells if cell.value is not None]
    low, span = (min(values), max(values) - min(values)) if values else (0.0, 0.0)
    middle = left + wide * len(columns) / 2
    parts = [
        _text(middle, 16, column_title, quiet=True),
        *(_text(left + wide * (at + 0.5), 42, name) for at, name in enumerate(columns)),
        _text(left - 12, 42, line_title, anchor="end", quiet=True),
        *(_text(left - 12, top + high * (at + 0.5) + 4, name, anchor="end") for at, name in enumerate(lines)),
    ]
    for cell in cells:
        x, y = left + wide * columns.index(cell.column), top + high * lines.index(cell.line)
        if cell.value is None:
            fill = 'fill="none" stroke="var(--rule, #d9d9d9)"'
        else:
            opacity = 0.06 + 0.54 * ((cell.value - low) / span if span else 0.5)
            fill = f'fill="var(--heat, #2f78b7)" fill-opacity="{opacity:.2f}"'
        told = escape(f"{column_title} {cell.column}, {line_title} {cell.line}: {cell.text}; {cell.under}")
        parts += [
            f'<g><title>{told}</title><rect x="{x + 1}" y="{y + 1}" width="{wide - 2}" height="{high - 2}" {fill}/>',
            _text(x + wide / 2, y + 25, cell.text),
            _text(x + wide / 2, y + 43, cell.under, small=True),
            "</g>",
        ]
    return _svg(left + wide * len(columns) + 4, top + high * len(lines) + 8, title, parts)


def _svg(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(title)}" font-family="system-ui, sans-serif" font-size="13" fill="currentColor">'
        + "".join(parts)
        + "</svg>"
    )


def _text(x: float, y: float, text: str, *, anchor: str = "middle", quiet: bool = False, small: bool = False) -> str:
    size = ' font-size="11.5"' if small else ""
    paint = ' fill="var(--quiet, #626262)"' if quiet else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{size}{paint}>{escape(text)}</text>'


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _line(points: Sequence[tuple[float, float]], paint: str, how: str) -> Iterator[str]:
    if len(points) > 1:
        yield f'<polyline points="{_path(points)}" fill="none" stroke="{paint}" stroke-linejoin="round" {how}/>'


def _label(row: Series, end: tuple[float, float], height: float, paint: str) -> Iterator[str]:
    x, y = end
    yield (
        f'<polyline points="{x + 6:.1f},{y:.1f} {_RIGHT + 4},{height:.1f} {_RIGHT + 10},{height:.1f}" fill="none" '
        f'stroke="{paint}" stroke-width="0.8" stroke-opacity="0.7"/>'
    )
    weight = "600" if row.strong else "400"
    shade = "currentColor" if row.strong else "var(--quiet, #626262)"
    yield (
        f'<text x="{_RIGHT + 14}" y="{height + 4:.1f}" font-weight="{weight}" fill="{shade}">{escape(row.name)}</text>'
    )


def _painted(series: Sequence[Series]) -> Iterator[tuple[Series, int]]:
    """Each row with its place among those of its kind, which decides colour and marker."""
    counts = {True: 0, False: 0}
    for row in series:
        yield row, counts[row.strong]
        counts[row.strong] += 1


def _scaled(x: float, log: bool) -> float:
    return math.log(x) if log else x


def _range(low: float, high: float) -> tuple[float, float, float]:
    """Round limits around the values, and a round step for four to eight ticks."""
    span = max(high - low, 1.0)
    step = next(step for step in (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0) if span / step <= 7)
    # Scores are percentages, whatever the band says; and an axis needs a length even where all values are equal.
    top = min(100.0, max(math.ceil(high / step), math.floor(low / step) + 1) * step)
    return min(max(0.0, math.floor(low / step) * step), top - step), top, step


def _axes(
    ticks: Sequence[Tick], low: float, high: float, step: float, places: Sequence[float], x_title: str
) -> Iterator[str]:
    for number in range(round((high - low) / step) + 1):
        value = low + number * step
        y = _BOTTOM - (value - low) / (high - low) * (_BOTTOM - _TOP)
        yield f'<line x1="{_LEFT}" x2="{_RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="var(--rule, #d9d9d9)"/>'
        yield _text(_LEFT - 8, y + 4, f"{value:g}", anchor="end", quiet=True)
    for tick, x in zip(ticks, places, strict=True):
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_BOTTOM}" y2="{_BOTTOM + 5}" stroke="currentColor"/>'
        yield _text(x, _BOTTOM + 20, tick.text)
        yield _text(x, _BOTTOM + 36, tick.under, quiet=True, small=True)
    yield _text((_LEFT + _RIGHT) / 2, _HEIGHT - 8, x_title, quiet=True)
    yield _text(4, 16, "macro-F1 (%)", anchor="start", quiet=True)
    yield from _legend()


def _legend() -> Iterator[str]:
    for x, fill, dashes, words in (
        (_RIGHT - 356, "currentColor", "none", "measured, ± one standard deviation"),
        (_RIGHT - 72, "var(--page, #fff)", "4 4", "published"),
    ):
        yield f'<path d="M{x},12 h28" stroke="currentColor" stroke-width="1.4" stroke-dasharray="{dashes}"/>'
        yield f'<circle cx="{x + 14}" cy="12" r="4" fill="{fill}" stroke="currentColor" stroke-width="1.2"/>'
        yield _text(x + 34, 16, words, anchor="start", quiet=True)


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
