"""The numbers of the page: counts at every position of the slider, and the list of nodes."""

from __future__ import annotations

import json
import math
from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.graph import NO_SOURCE, UNREACHABLE
from pugnn.runs.run import Run

#: The list holds at most this many of the best nodes, with at most this many bytes of ids and shown columns.
MAX_LISTED = 100_000
MAX_BYTES_OF_IDS = 4_000_000

ENDS = ("value", "low", "high")

#: Longer ids and cells are cut in the list.
MAX_ID_LENGTH = 200


def page_data(run: Run) -> dict[str, Any]:
    """Everything that the script of the page needs, in plain values."""
    steps = slider_steps(run.scores[run.others], run.results.threshold)
    return {
        "steps": steps.tolist(),
        "start": int(np.searchsorted(steps, run.results.threshold)),
        "rings": [
            {"nodes": len(members), "reach": _reaching(run.scores[members], steps)} for members in run.rings.values()
        ],
        "measured": _measured(run),
        "hidden": sorted((run.evidence.estimate or {}).get("hidden", {}).get("ranks", [])),
        "truth": _truth(run, steps),
        "list": _list(run),
    }


def island(data: Any) -> str:
    """Data as JSON that is safe inside a script element, whatever text it holds."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def slider_steps(scores: NDArray[np.float64], threshold: float) -> NDArray[np.float64]:
    """Positions of the slider, ascending: the run's threshold exactly, and short decimals.

    Hundredths alone would be useless where all scores lie close together, so there are also steps for every hundredth
    of the nodes and for 1, 2, 5, 10, 20, 50, … nodes. ``scores`` of the nodes that are decided on come best first.
    """
    count = len(scores)
    wanted = {round(count * share / 100) for share in range(1, 100)}
    wanted |= {digit * 10**power for power in range(len(str(count))) for digit in (1, 2, 5)}
    between = [_short_between(scores[size - 1], scores[size]) for size in wanted if 0 < size < count]
    hundredths = [step / 100 for step in range(101)]
    return np.unique([*hundredths, *(step for step in between if step is not None), threshold])


def _short_between(above: float, below: float) -> float | None:
    """The decimal with the fewest digits that is at most ``above`` and more than ``below``; none between equals."""
    if not above > below:
        return None
    for digits in range(2, 16):
        short = math.floor(above * 10.0**digits) / 10.0**digits
        if below < short <= above:
            return short
    return float(above)


def _reaching(scores: NDArray[np.float64], steps: NDArray[np.float64]) -> list[int]:
    """How many scores reach each step."""
    reaching: list[int] = (len(scores) - np.searchsorted(np.sort(scores), steps, side="left")).tolist()
    return reaching


def _measured(run: Run) -> list[dict[str, Any]]:
    """The precision by the number of nodes taken, ascending, as far as it was measured."""
    measured = run.evidence.measured or {"first": [], "decided": None}
    points = {
        each["taken"]: each["precision"] for each in (*measured["first"], measured["decided"]) if each is not None
    }
    return [{"taken": taken, "precision": [points[taken][end] for end in ENDS]} for taken in sorted(points)]


def _truth(run: Run, steps: NDArray[np.float64]) -> dict[str, Any] | None:
    if run.truth is None:
        return None
    scores, positive = run.scores[run.truth.scored], run.truth.positive[run.truth.scored]
    return {
        "nodes": len(scores),
        "positive": int(positive.sum()),
        "reach": _reaching(scores, steps),
        "right": _reaching(scores[positive], steps),
    }


def _list(run: Run) -> dict[str, Any]:
    """The best nodes by columns; columns of numbers are the bytes of a typed array."""
    kept, shown = _kept(run), run.data.shown
    nearest = run.task.nearest[kept]
    named = [*kept.tolist(), *np.setdiff1d(nearest[nearest != NO_SOURCE], kept).tolist()]
    index = {position: place for place, position in enumerate(named)}
    distances = run.task.distances[kept]
    return {
        "kept": len(kept),
        "names": [cut(name) for name in run.task.graph.ids[named].tolist()],
        "scores": _bytes(run.scores[kept], "<f8"),
        "log_odds": _bytes(run.log_odds[kept], "<f8"),
        "rejected": np.flatnonzero(run.known[kept] < 0).tolist(),
        "hops": _bytes(np.where(distances == UNREACHABLE, -1, distances), "<i4"),
        "nearest": _bytes([index.get(position, NO_SOURCE) for position in nearest.tolist()], "<i4"),
        **_classes(run, kept),
        "shown": [{"name": cut(name), "values": [*map(cut, cells[kept])]} for name, cells in shown.items()],
    }


def _kept(run: Run) -> NDArray[np.int64]:
    """Positions of the nodes in the list, best first."""
    best = run.order[:MAX_LISTED]
    columns = [run.task.graph.ids[best].tolist(), *(cells[best] for cells in run.data.shown.values())]
    sizes = sum(np.array([len(island(cut(cell)).encode("utf-8", "replace")) + 1 for cell in each]) for each in columns)
    return best[: max(1, np.searchsorted(np.cumsum(sizes), MAX_BYTES_OF_IDS, side="right"))]


def _classes(run: Run, kept: NDArray[np.int64]) -> dict[str, Any]:
    """True classes of the nodes in the list; −1 where unknown."""
    if run.truth is None:
        return {"classes": None}
    names, positive = run.data.class_of_node, run.truth.positive
    unknown = np.isin(kept, run.truth.test) & ~np.isin(kept, run.truth.scored)
    table: dict[tuple[str, bool], int] = {}
    column = []
    for node, without_class in zip(kept.tolist(), unknown.tolist(), strict=True):
        name = names[node] if names is not None else "positive" if positive[node] else "not positive"
        label = (cut(name), bool(positive[node]))
        column.append(-1 if without_class else table.setdefault(label, len(table)))
    return {
        "classes": [{"name": name, "positive": is_positive} for name, is_positive in table],
        "named": names is not None,
        "class": _bytes(column, "<i4"),
    }


def _bytes(values: Any, kind: str) -> str:
    return b64encode(np.asarray(values, dtype=kind).tobytes()).decode("ascii")


def cut(value: object) -> str:
    """An id or a cell as a list shows it."""
    text = str(value)
    return text if len(text) <= MAX_ID_LENGTH else text[: MAX_ID_LENGTH - 1] + "…"
