"""Outlines of the charts. Words and numbers around them are HTML, which stays readable at every width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.runs.run import Run

#: Bars of a histogram, and the size of the box that its outline is drawn in.
BINS, HEIGHT = 50, 100

#: Points of a curve; longer logs are thinned out.
MAX_POINTS = 400

#: Scores that span less than this have an axis of their own instead of one from 0 to 1.
NARROW = 0.25

#: The terms of the losses, for someone who does not know the method.
TERMS = {
    "labelled": "known positives that score too low",
    "unlabelled": "the unlabelled nodes' scores",
    "near": "near nodes: mean score against the expected share",
    "far": "far nodes: mean score against the expected share",
    "edges": "neighbours that look different",
    "non_edges": "strangers that look alike",
    "positive": "risk on the positives",
    "negative": "risk on the negatives",
    "entropy": "undecided scores",
    "mixed_entropy": "undecided scores between nodes",
    "mixup": "scores between nodes",
    "total": "what training minimises",
}


def score_axis(run: Run) -> tuple[float, float]:
    """Range of the histograms."""
    low, high = float(run.scores.min()), float(run.scores.max())
    if high - low >= NARROW:
        return 0.0, 1.0
    margin = max((high - low) * 0.05, 1e-6)
    return max(0.0, low - margin), min(1.0, high + margin)


def histogram(scores: NDArray[np.float64], axis: tuple[float, float]) -> str:
    """Outline of a histogram in a box of ``BINS`` × ``HEIGHT``; even a single node is visible."""
    counts, _ = np.histogram(scores, bins=BINS, range=axis)
    tallest = max(int(counts.max(initial=0)), 1)
    tops = [HEIGHT - max(4.0, HEIGHT * count / tallest) if count else HEIGHT for count in counts.tolist()]
    return f"M0,{HEIGHT}" + "".join(f"V{top:.1f}h1" for top in tops) + f"V{HEIGHT}Z"


def curves(log: Sequence[Mapping[str, float]]) -> list[dict[str, Any]]:
    """Every term of the loss over the epochs, the total first."""
    names = [name for name in (log[0] if log else ()) if name not in ("epoch", "seconds")]
    names.sort(key=lambda name: name != "total")
    return [_curve(name, [float(record[name]) for record in log]) for name in names]


def _curve(name: str, values: list[float]) -> dict[str, Any]:
    low, high = min(0.0, *values), max(0.0, *values)
    span = (high - low) or 1.0
    at = np.unique(np.linspace(0, len(values) - 1, min(len(values), MAX_POINTS)).round().astype(int))
    across = 100 / max(len(values) - 1, 1)
    points = [f"{place * across:.2f},{HEIGHT * (high - values[place]) / span:.2f}" for place in at.tolist()]
    return {
        "name": name.replace("_", " "),
        "meaning": TERMS.get(name, ""),
        "path": "M" + "L".join(points) + ("h100" if len(points) == 1 else ""),
        "zero": round(HEIGHT * high / span, 2),
        "first": values[0],
        "last": values[-1],
    }
