"""The parts of a node's log-odds, whatever the model, and the memory that it takes to find them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pugnn.graph import Graph
from pugnn.graph.smoothing import LANES
from pugnn.models import Backbone, Propagation
from pugnn.training.planning import forecast_batches, forecast_whole, scores_whole, width_of
from pugnn.views import VIEWS, LayeredModel, LinearModel

#: How the parts were found: exactly, or by integrated gradients, which leave a small rest.
How = Literal["exact", "gradients"]
#: What the parts add up to.
Unit = Literal["log-odds", "odds"]

#: Nodes are explained together as long as a matrix with a number for each of them and each node has no more than this.
MAX_NUMBERS = 2**23
#: With ``gradients``, as long as these have no more numbers than this.
MAX_GRADIENTS = 2**26
#: Bytes per node: ranks, scores, distances, and copies of the contributions of one node.
NODE_BYTES = 100
#: Bytes per entry of the adjacency of label propagation while it is normalised, in double precision.
ENTRY_BYTES = 48
#: Bytes of attributes in double precision, a block at a time, in a few copies.
BLOCK_BYTES = 2**25
#: If more parts than this are needed to change a decision, it is no single ones that decide.
MAX_PARTS = 100

NOTHING = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Parts:
    """What makes up the log-odds of one node.

    Args:
        total: what the parts add up to, except for the rest that ``gradients`` leave.
        base: what would be left if nothing spoke for or against the node.
        by_node: contribution of each node, its own among them, shape ``(N,)``.
        own: contribution of each of the node's own attributes, shape ``(C,)``; they add up to its own in ``by_node``.
        around: contribution of each attribute of all other nodes together, shape ``(C,)``; and that of ``place``, which
            belongs to no node.
        without: the total, computed anew, if some nodes (positions) and some attributes (columns) were neutral. That is
            average, 0 for ``gradients``, and for a known positive that nothing spreads from it.
        closeness: whether the last column stands for closeness to known positives, which is no attribute.
        place: whether the last column, or that before closeness, stands for places in the layers of the graph.
        unit: what the parts add up to.
        how: how they were found.
        relations: what each relation contributes, if there are several; together the total less the base.
    """

    total: float
    base: float
    by_node: NDArray[np.float64]
    own: NDArray[np.float64]
    around: NDArray[np.float64]
    without: Callable[[NDArray[np.int64], NDArray[np.int64]], float]
    closeness: bool = False
    place: bool = False
    unit: Unit = "log-odds"
    how: How = "exact"
    relations: Mapping[str, float] = field(default_factory=dict)


def largest(values: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Positions of the largest values, so many of them, largest first; equal ones in their order."""
    least = -np.inf if len(values) <= count else np.partition(values, -count)[-count]
    candidates = np.flatnonzero(values >= least)
    return candidates[np.argsort(-values[candidates], kind="stable")][:count]


def smallest_change(
    total: float,
    limit: float,
    contributions: NDArray[np.float64],
    total_without: Callable[[NDArray[np.int64]], float],
) -> tuple[NDArray[np.int64], float] | None:
    """The fewest parts without which a total is on the other side of a limit, largest first, and the total then.

    Parts are taken in the order of their contributions, and the total without them is computed anew. ``None`` if
    :data:`MAX_PARTS` are not enough. The decision is positive from the limit on.
    """
    sign = 1.0 if total >= limit else -1.0
    order = largest(sign * contributions, MAX_PARTS)
    order = order[sign * contributions[order] > 0]
    too_few, changed, count = 0, None, len(order)  # first all of them, then halve the interval
    while count > too_few:
        now = total_without(order[:count])
        if (now >= limit) != (total >= limit):
            changed = (order[:count], now)
        elif changed is None:
            return None
        else:
            too_few = count
        count = (too_few + len(changed[0])) // 2
    return changed


def at_once(numbers: int) -> int:
    """How many nodes are explained together if each takes so many numbers."""
    # Smoothing takes whole vectors of columns, so fewer nodes than a vector has would save nothing.
    return max(LANES, MAX_NUMBERS // max(numbers, 1))


def explanation_memory(model: Backbone, graph: Graph, count: int) -> int:
    """Bytes that explaining so many nodes of a graph takes at its peak, beside the graph and the model."""
    nodes = graph.num_nodes
    if isinstance(model, LayeredModel):  # which holds the weights of all nodes in all views of each layer at once
        held = (len(VIEWS) + 1) * 8 * count * nodes
        return sum(held + explanation_memory(part, layer, count) for part, layer in model.on_layers(graph))
    if isinstance(model, LinearModel | Propagation):
        together = min(max(count, 1), at_once(nodes))
        entries = ENTRY_BYTES * len(graph.indices) if isinstance(model, Propagation) else 0
        # Weights in all views, what smoothing needs beside them, and contributions in double precision.
        of_number = len(VIEWS) * 4 + 3 * 4 + 8
        return NODE_BYTES * nodes + of_number * nodes * -(-together // LANES) * LANES + entries + BLOCK_BYTES
    device = next(chain(model.parameters(), model.buffers())).device
    if not scores_whole(graph, model, str(device)):
        return NODE_BYTES * nodes + forecast_batches(graph, model, count, with_pairs=False).total
    of_one = nodes * (graph.num_features if isinstance(graph.features, np.ndarray) else width_of(model))
    held = min(count * of_one, max(MAX_GRADIENTS, of_one)) + 2 * of_one  # gradients so far, and those of one step
    return NODE_BYTES * nodes + forecast_whole(graph, model, with_pairs=False).total + 4 * held
