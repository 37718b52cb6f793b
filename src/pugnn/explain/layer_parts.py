"""The parts of scores that are sums over layers of a graph with several relations; each layer's are exact sums."""

from __future__ import annotations

from collections.abc import Iterator

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
    models, found = [], []
    for part, layer in model.on_layers(graph):
        models.append(part)
        found.append(list(view_parts(part, layer, nodes)))
    for of_node in zip(*found, strict=True):
        yield _Sum(graph.num_nodes, models, list(of_node), float(model.constant)).parts()


class _Sum:
    """The parts of one node on each layer, to be added up."""

    def __init__(self, count: int, models: list[LayerPart], parts: list[Parts], constant: float) -> None:
        self.count, self.models, self.each, self.constant = count, models, parts, constant
        widths = [
            len(parts.own) - parts.closeness for model, parts in zip(models, parts, strict=True) if not model.structural
        ]
        self.attributes = max(widths, default=0)
        self.place = self.attributes if any(model.structural for model in models) else None
        self.closeness = any(parts.closeness for parts in self.each)
        self.width = self.attributes + (self.place is not None) + self.closeness

    def parts(self) -> Parts:
        own, around, by_node = np.zeros(self.width), np.zeros(self.width), np.zeros(self.count)
        relations: dict[str, float] = {}
        for model, parts in zip(self.models, self.each, strict=True):
            own += self._columns(model, parts, parts.own)
            around += self._columns(model, parts, parts.around)
            # In a relation with direction every node is there in two roles.
            by_node += parts.by_node.reshape(-1, self.count).sum(axis=0)
            relations[model.name] = relations.get(model.name, 0.0) + parts.total - parts.base
        base = self.constant + sum(parts.base for parts in self.each)
        total = self.constant + sum(parts.total for parts in self.each)
        return Parts(
            total,
            base,
            by_node,
            own,
            around,
            self._without,
            self.closeness,
            self.place is not None,
            relations=relations,
        )

    def _columns(self, model: LayerPart, parts: Parts, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Numbers by column of one layer as numbers by column of all."""
        found = np.zeros(self.width)
        if parts.closeness:
            found[-1], values = values[-1], values[:-1]
        if model.structural:
            assert self.place is not None
            found[self.place] = values.sum()
        else:
            found[: self.attributes] = values
        return found

    def _without(self, nodes: NDArray[np.int64], columns: NDArray[np.int64]) -> float:
        """The log-odds without some nodes and columns, computed anew on each layer."""
        total = self.constant
        for model, parts in zip(self.models, self.each, strict=True):
            width = len(parts.own) - parts.closeness
            if model.structural:
                gone = np.arange(width if self.place in columns else 0)
            else:
                gone = columns[columns < self.attributes]
            if parts.closeness and self.closeness and self.width - 1 in columns:
                gone = np.append(gone, width)
            roles = len(parts.by_node) // self.count
            everywhere = np.concatenate([nodes + role * self.count for role in range(roles)])
            total += parts.without(everywhere, gone)
        return total
