"""The parts of scores that are sums over layers of a graph with several relations; each layer's are exact sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pugnn.explain.attribute_columns import only_structure
from pugnn.explain.exact_parts import view_parts
from pugnn.explain.parts import Parts
from pugnn.graph import Graph
from pugnn.views import LayeredModel


def layer_parts(layered: LayeredModel, graph: Graph, nodes: NDArray[np.int64]) -> Iterator[Parts]:
    """The parts of the log-odds of some nodes, given by position.

    Columns are those of the attributes, then one for places in the layers, and one for closeness to known positives,
    each as far as there are any.

    Places are one part: where a node is hardly differs from where its neighbours are, so what its own place and theirs
    contribute are huge numbers that cancel each other.
    """
    models, layers = zip(*layered.on_layers(graph), strict=True)
    names = [part.name for part in models]
    of_place = [bool(part.structural) or only_structure(graph) for part in models]
    each_layer = zip(models, layers, of_place, strict=True)
    # Node by node: the parts of all nodes on all layers would take much memory.
    found = (view_parts(model, layer, nodes, of_place=of) for model, layer, of in each_layer)
    for of_node in zip(*found, strict=True):
        yield _added_up(graph.num_nodes, names, of_place, of_node, float(layered.constant))


def _added_up(
    count: int, names: Sequence[str], of_place: Sequence[bool], each: Sequence[Parts], constant: float
) -> Parts:
    """The parts of a node, one of ``count``, from those that it has on each layer."""
    widths = [len(parts.own) - parts.closeness for parts in each]
    attributes = max((width for width, of in zip(widths, of_place, strict=True) if not of), default=0)
    place, closeness = any(of_place), any(parts.closeness for parts in each)
    own, around = np.zeros((2, attributes + place + closeness))
    by_node = np.zeros(count)
    relations: dict[str, float] = {}
    columns_of = []  # for each layer, what its columns are among those of all
    for name, of, parts, width in zip(names, of_place, each, widths, strict=True):
        columns = np.array([attributes]) if of else np.arange(width)
        columns = np.append(columns, attributes + place) if parts.closeness else columns
        own[columns] += parts.own
        around[columns] += parts.around
        # In a relation with direction every node is there in two roles.
        by_node += parts.by_node.reshape(-1, count).sum(axis=0)
        relations[name] = relations.get(name, 0.0) + parts.total - parts.base
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
