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

#: Longer ids and cells are cut in the list.
MAX_ID_LENGTH = 200


def page_data(run: Run) -> dict[str, Any]:
    """Everything that the script of the page needs, in plain values."""
    steps = slider_steps(run.scores[run.others], run.results.threshold)
    return {
        "steps": steps.tolist(),
        "start": int(np.searchsorted(steps, run.results.threshold)),
        "rings": [
            {"nodes": len(ring.members), "reach": _reaching(run.scores[ring.members], steps)} for ring in run.rings
        ],
        "expected": _expected(run),
        "truth": _truth(run, steps),
        "list": _list(run),
    }


def island(data: dict[str, Any]) -> str:
    """Data as JSON that is safe inside a script element, whatever text it holds."""
    return _safe(json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


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


def _expected(run: Run) -> list[dict[str, Any]]:
    """Bands of precision and recall by the number of nodes taken, ascending; none where they are not known."""
    estimate = run.evidence.estimate
    if estimate is None:
        return []
    points = {each["taken"]: each for each in (*estimate["first"], estimate["decided"]) if each is not None}
    return [
        {
            "taken": taken,
            **{
                name: [points[taken][name][end] for end in ("value", "low", "high")] for name in ("precision", "recall")
            },
        }
        for taken in sorted(points)
    ]


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
    kept, names = _kept(run)
    index = {position: place for place, position in enumerate(names)}
    ids = run.task.graph.ids
    distances = np.where(run.task.distances == UNREACHABLE, -1, run.task.distances)[kept]
    nearest = [index.get(position, NO_SOURCE) for position in run.task.nearest[kept].tolist()]
    listed = {
        "kept": len(kept),
        "names": [_cut(str(ids[position])) for position in names],
        "scores": _bytes(run.scores[kept], "<f8"),
        "log_odds": _bytes(run.log_odds[kept], "<f8"),
        "rejected": np.flatnonzero(run.known[kept] < 0).tolist(),
        "hops": _bytes(distances, "<i4"),
        "nearest": _bytes(nearest, "<i4"),
    }
    shown = [{"name": _cut(name), "values": [*map(_cut, cells[kept])]} for name, cells in run.data.shown.items()]
    return {**listed, **_classes(run, kept), "shown": shown}


def _kept(run: Run) -> tuple[NDArray[np.int64], list[int]]:
    """Positions in the list, best first, and those whose names are needed: the same, then their nearest known."""
    kept: list[int] = []
    charged: set[int] = {NO_SOURCE}
    spent = 0
    ids = run.task.graph.ids
    for position in run.order[:MAX_LISTED].tolist():
        for needed in {position, int(run.task.nearest[position])} - charged:
            spent += _size(_cut(str(ids[needed])))
            charged.add(needed)
        spent += sum(_size(_cut(cells[position])) for cells in run.data.shown.values())
        if spent > MAX_BYTES_OF_IDS and kept:
            break
        kept.append(position)
    listed = np.asarray(kept, dtype=np.int64)
    nearest = run.task.nearest[listed]
    return listed, [*kept, *np.setdiff1d(nearest[nearest != NO_SOURCE], listed).tolist()]


def _classes(run: Run, kept: NDArray[np.int64]) -> dict[str, Any]:
    """True classes of the nodes in the list; −1 where unknown."""
    truth = run.truth
    if truth is None:
        return {"classes": None}
    names = run.data.class_of_node
    table: dict[tuple[str, bool], int] = {}
    column = []
    for position in kept.tolist():
        positive = bool(truth.positive[position])
        name = names[position] if names is not None else "positive" if positive else "not positive"
        label = (_cut(str(name)), positive)
        column.append(table.setdefault(label, len(table)) if run.judged[position] else -1)
    return {
        "classes": [{"name": name, "positive": positive} for name, positive in table],
        "named": names is not None,
        "class": _bytes(column, "<i4"),
    }


def _size(text: str) -> int:
    """Bytes of a text and a comma on the page."""
    return len(_safe(json.dumps(text, ensure_ascii=False)).encode("utf-8", "replace")) + 1


def _bytes(values: Any, kind: str) -> str:
    return b64encode(np.asarray(values, dtype=kind).tobytes()).decode("ascii")


def _cut(text: str) -> str:
    return text if len(text) <= MAX_ID_LENGTH else text[: MAX_ID_LENGTH - 1] + "…"


def _safe(text: str) -> str:
    return text.replace("<", "\\u003c")
