"""Layers: a graph with several relations as plain graphs, of all relations together and of each one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from pugnn.errors import PugnnError, shorten
from pugnn.graph.derived import keep_with
from pugnn.graph.graph import Graph
from pugnn.graph.relations import Relation, joined_rows

#: The layer of all relations together.
ALL = "all relations"

T = TypeVar("T")

_layers: WeakKeyDictionary[Graph, dict[str, Graph]] = WeakKeyDictionary()
_fused: WeakKeyDictionary[Graph, tuple[dict[str, float], Graph]] = WeakKeyDictionary()
_structural: WeakKeyDictionary[Graph, Graph] = WeakKeyDictionary()


def _once(kept: WeakKeyDictionary[Graph, T], graph: Graph, make: Callable[[], T]) -> T:
    """What follows from a graph, made once: what else is made of it is found by its identity."""
    if graph not in kept:
        kept[graph] = make()
    return kept[graph]


def layers_of(graph: Graph) -> dict[str, Graph]:
    """Plain graphs by name, whose first nodes are those of the graph: of all relations, and of each relation.

    A relation that target nodes take no part in comes with those that lead to it: venues of papers say something about
    authors through the relation of authors and papers. A layer that would have all relations is left out. A graph with
    one kind of edge has the layer of all alone, which is itself.

    A relation with direction between target nodes is a graph of every node in two roles. The node itself has as
    neighbours those that it points to, in the role of targets (or, for the reverse, those that point to it, in the role
    of sources). So neighbours are those of one direction, and two hops lead to nodes that point to the same ones.
    """
    return _once(_layers, graph, lambda: _make_layers(graph)) if graph.relations else {ALL: graph}


def _make_layers(graph: Graph) -> dict[str, Graph]:
    found = {ALL: replace(graph, relations={}, kinds={})}
    leading, target = _leading(graph), next(iter(graph.kinds), "")
    for name, relation in graph.relations.items():
        names = {*leading[name], name, relation.reverse or name}
        if relation.reverse and target in relation.ends:
            found[name] = _in_two_roles(graph, relation, graph.relations[relation.reverse])
        elif len(names) < len(graph.relations) and relation.reverse not in found:
            rows = joined_rows(graph.relations[each] for each in graph.relations if each in names)
            found[name] = replace(found[ALL], indptr=rows[0], indices=rows[1], weights=rows[2])
    return {name: keep_with(graph, layer) for name, layer in found.items()}


def fused(graph: Graph, weights: Mapping[str, float] | None) -> Graph:
    """A graph with one kind of edge: the sum of its relations, each times its weight; itself without weights."""
    if weights is None:
        return graph
    if missing := [name for name in graph.relations if name not in weights] or [*weights.keys() - graph.relations]:
        raise PugnnError(
            f"the model was trained with the relations {shorten(weights)}, but the graph has "
            f"{shorten(graph.relations) or 'one kind of edge'}: {missing[0]!r} differs. Give the same ones."
        )
    if graph not in _fused or _fused[graph][0] != weights:  # those of another fit
        shares = [weights[name] for name in graph.relations]
        equal = all(share == 1 for share in shares)  # edges then need no weights
        indptr, indices, values = joined_rows(graph.relations.values(), None if equal else shares)
        summed = replace(graph, indptr=indptr, indices=indices, weights=values, relations={})
        _fused[graph] = dict(weights), summed
    return _fused[graph][1]


def structural(layer: Graph) -> Graph:
    """The same layer without attributes, so that nodes are described by where in it they are."""
    none = np.zeros((layer.num_nodes, 0), np.float32)
    bare = partial(replace, layer, features=none, feature_names=None, recipe=None)
    return _once(_structural, layer, lambda: keep_with(layer, bare()))


def has_attributes(graph: Graph) -> bool:
    """Whether nodes have attributes, and not just features that were made from the structure."""
    recipe = graph.recipe or {}
    columns = any(each.get("columns") for each in (recipe, *recipe.get("recipes", ())))  # of the nodes or their edges
    return bool(graph.num_features) and (columns or not recipe.get("structure"))


def _leading(graph: Graph) -> dict[str, tuple[str, ...]]:
    """For each relation those that lead to it from the target kind, on a shortest way; none if it has target nodes."""
    target = next(iter(graph.kinds), "")
    ways: dict[str, tuple[str, ...]] = {target: ()}
    reached = [target]
    for kind in reached:
        for name, relation in graph.relations.items():
            for here, there in (relation.ends, relation.ends[::-1]):
                if here == kind and there not in ways:
                    ways[there] = (*ways[kind], name)
                    reached.append(there)
    return {
        name: min((ways[end] for end in relation.ends if end in ways), key=len, default=())
        for name, relation in graph.relations.items()
    }


def _in_two_roles(graph: Graph, relation: Relation, reverse: Relation) -> Graph:
    n, x = graph.num_nodes, graph.features
    indptr = np.concatenate([relation.indptr, relation.indptr[-1] + reverse.indptr[1:]])
    indices = np.concatenate([relation.indices + np.int32(n), reverse.indices])
    weights = None
    if relation.weights is not None and reverse.weights is not None:
        weights = np.concatenate([relation.weights, reverse.weights])
    features = np.concatenate([x, x]) if isinstance(x, np.ndarray) else sp.csr_array(sp.vstack([x, x], format="csr"))
    ids = np.array([*graph.ids.tolist(), *(f"{each} (other role)" for each in graph.ids.tolist())], dtype=object)
    return Graph(indptr, indices, features, ids, weights, graph.feature_names)
