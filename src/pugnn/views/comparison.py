"""Rows by which nodes are compared."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pugnn.graph import Graph
from pugnn.graph.smoothing import smooth
from pugnn.views.attributes import Attributes, dense
from pugnn.views.node_views import TOGETHER, inverse_lengths, random_signs, squared_lengths, unnamed_views

#: Columns of the rows, at most.
COMPARED = 256


def comparable_rows(graph: Graph, attributes: Attributes) -> NDArray[np.float32]:
    """The smoothed view less its mean, at length 1: similar rows for similar nodes.

    Wide attributes are multiplied with random directions first, which keeps angles roughly as they are.
    """
    views = unnamed_views(graph, attributes)
    if views.width <= COMPARED and views.kept:
        smoothed = views.table("smoothed").copy()
    else:
        rows = views.rows if views.width <= COMPARED else views.rows @ random_signs(views.width, COMPARED)
        smoothed = np.empty(rows.shape, np.float32)
        for first in range(0, rows.shape[1], TOGETHER):
            some = slice(first, first + TOGETHER)
            smoothed[:, some] = smooth(graph, dense(rows[:, some]))
    smoothed *= inverse_lengths(squared_lengths(smoothed))[:, None].astype(np.float32)
    smoothed -= smoothed.mean(axis=0, dtype=np.float64).astype(np.float32)
    smoothed *= inverse_lengths(squared_lengths(smoothed))[:, None].astype(np.float32)
    return smoothed
