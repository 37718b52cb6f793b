"""The parts of scores that are sums over layers of a graph with several relations; each layer's are exact sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pugnn.explain.exact_parts import view_parts
from pugnn.explain.parts import Parts
from pugnn.graph import Graph
from pugnn.views import LayeredViews, LayerPart


def layer_parts(model: LayeredViews, graph: Graph, nodes: NDArray[np.int64]) -> Iterator[Parts]:
    """The parts of the log-odds of some nodes, given by position.

    Columns are those of the attributes, then one for places in the layers, and one for closeness to known positives,
    each as far as there are any.
    """
    models, layers = zip(*model.on_layers(graph), strict=True)
    # Node by node: the parts of all nodes on all layers would take much memory.
    found = (view_parts(part, layer, nodes) for part, layer in zip(models, layers, strict=True))
    for of_node in zip(*found, strict=True):
        yield _added_up(graph.num_nodes, models, of_node, float(model.constant))


def _added_up(count: int, models: Sequence[LayerPart], each: Sequence[Parts], constant: float) -> Parts:
    """The parts of a node, one of ``count``, from those that it has on each layer."""
    widths = [len(parts.own) - parts.closeness for parts in each]
    attributes = max((width for width, model in zip(widths, models, strict=True) if not model.structural), default=0)
    place, closeness = any(model.structural for model in models), any(parts.closeness for parts in each)
    own, around = np.zeros((2, attributes + place + closeness))
    by_node = np.zeros(count)
    relations: dict[str, float] = {}
    columns_of = []  # for each layer, what its columns are among those of all
    for model, parts, width in zip(models, each, widths, strict=True):
        columns = np.full(width, attributes) if model.structural else np.arange(width)
        columns = np.append(columns, attributes + place) if parts.closeness else columns
        for sums, values in ((own, parts.own), (around, parts.around)):
            if model.structural:
                sums[attributes] += values[:width].sum()
            else:
                sums[:attributes] += values[:width]
            if parts.closeness:
                sums[-1] += values[-1]
        # In a relation with direction every node is there in two roles.
        by_node += parts.by_node.reshape(-1, count).sum(axis=0)
        relations[model.name] = relations.get(model.name, 0.0) + parts.total - parts.base
        columns_of.append(columns)

    def without(nodes: NDArray[np.int64], columns: NDArray[np.int64]) -> float:
        """The log-odds without some nodes and columns, computed anew on each layer."""
        total = constant
        for parts, own_columns in zip(each, columns_of, strict=True):
            everywhere = np.concatenate([nodes + first for first in range(0, len(parts.by_node), count)])
            total += parts.without(everywhere, np.flatnonzero(np.isin(own_columns, columns)))
        return total

    base, total = constant + sum(parts.base for parts in each), constant + sum(parts.total for parts in each)
    return Parts(total, base, by_node, own, around, without, closeness, place, relations=relations)
