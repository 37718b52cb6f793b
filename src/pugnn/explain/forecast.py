"""How much memory explanations will need at their peak, before they are made."""

from __future__ import annotations

from itertools import chain

import numpy as np

from pugnn.explain.gradients import MAX_NUMBERS
from pugnn.graph import Graph
from pugnn.graph.smoothing import LANES
from pugnn.models import Backbone, Propagation
from pugnn.training.planning import forecast_batches, forecast_whole, scores_whole, width_of
from pugnn.views import LinearViews

#: Numbers of a matrix with a row for each node of the graph and a column for each one explained together.
TOGETHER = 2**23
#: Bytes of such a number: weights in five views, what smoothing needs beside them, and contributions in double.
NUMBER = 5 * 4 + 3 * 4 + 8
#: Bytes per node: ranks, scores, distances, and copies of the contributions of one node.
NODE = 100
#: Bytes per entry of the adjacency of label propagation while it is normalised, in double precision.
ENTRY = 48
#: Attributes in double precision, a block at a time, in a few copies.
BLOCKS = 2**25


def explanation_memory(model: Backbone, graph: Graph, count: int) -> int:
    """Bytes that explaining so many nodes of a graph takes, beside the graph and the model."""
    nodes = graph.num_nodes
    if isinstance(model, LinearViews | Propagation):
        together = min(max(count, 1), max(LANES, TOGETHER // max(nodes, 1)))
        entries = ENTRY * len(graph.indices) if isinstance(model, Propagation) else 0
        return NODE * nodes + NUMBER * nodes * -(-together // LANES) * LANES + entries + BLOCKS
    device = next(chain(model.parameters(), model.buffers())).device
    if not scores_whole(graph, model, str(device)):
        return NODE * nodes + forecast_batches(graph, model, count, with_pairs=False).total
    of_one = nodes * (graph.num_features if isinstance(graph.features, np.ndarray) else width_of(model))
    held = min(count * of_one, max(MAX_NUMBERS, of_one)) + 2 * of_one  # gradients so far, and those of one step
    return NODE * nodes + forecast_whole(graph, model, with_pairs=False).total + 4 * held
