"""Graphs and tasks in the forms in which users hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from pugnn.errors import PugnnError
from pugnn.features.typed_recipe import AnyRecipe
from pugnn.graph import Graph
from pugnn.graph.arrays import sound_matrix
from pugnn.store.assembly.table_graph import TableGraph
from pugnn.store.reading import read_graph
from pugnn.store.tables.objects import is_frame, is_from
from pugnn.task import PUTask, resolve_positives

_FORMS = "give what read_graph returns, a NetworkX graph, PyG data, a scipy adjacency matrix or a data frame of edges"


def as_graph(given: Any, recipe: AnyRecipe | Mapping[str, Any] | None = None) -> Graph:
    """The graph that a user gave, in any of its forms; see :func:`read_given`."""
    return read_given(given, recipe)[0]


def read_given(given: Any, recipe: AnyRecipe | Mapping[str, Any] | None = None) -> tuple[Graph, tuple[str, ...]]:
    """The graph that a user gave, and notes on how it was read.

    Args:
        given: a graph, what :func:`read_graph` returned, a NetworkX graph, PyG data, an adjacency matrix of scipy's,
            whose entries are weights unless all are 1, or a data frame of edges. NetworkX graphs and data frames are
            read by :func:`read_graph`, so node attributes become features and names stay ids.
        recipe: the recipe of a model, its ``recipe_``, for features as in its training.
    """
    if isinstance(given, Graph):
        return given, ()
    if isinstance(given, TableGraph):
        return given.graph, ()
    several = is_from("torch_geometric.data", "HeteroData", given)
    if is_frame(given) or is_from("networkx", "Graph", given) or several:
        found = read_graph(given, recipe=recipe)
        return found.graph, found.notes
    if is_from("torch_geometric.data", "Data", given):
        return Graph.from_pyg(given), ()
    if sp.issparse(given):
        matrix = sp.coo_array(sound_matrix(given, "the adjacency matrix"))
        return Graph.from_scipy(matrix, weighted=bool((np.asarray(matrix.data) != 1).any())), ()
    hint = "give its graph, " if hasattr(given, "graph") else ""
    hint = "read tables by name with read_graph(mapping), " if isinstance(given, Mapping) else hint
    raise PugnnError(
        f"expected a pugnn.Graph, got {type(given).__name__}; {hint}make one with Graph.from_edges, or {_FORMS}"
    )


def require_edges(graph: Graph) -> None:
    """Raise unless a graph has nodes and edges."""
    if not graph.num_nodes:
        raise PugnnError("the graph is empty: it has no nodes")
    if not graph.num_edges:
        raise PugnnError("the graph has no edges, so there is no structure to learn from; check the edge list")


def given_task(given: Any, positives: Any) -> tuple[PUTask, tuple[str, ...]]:
    """The task of a graph and its known positives, in any form; and notes.

    Without positives, those that were read with the graph.
    """
    graph, notes = read_given(given)
    require_edges(graph)
    if positives is not None:
        return PUTask.from_positives(graph, resolve_positives(graph, positives)), notes
    if isinstance(given, TableGraph) and given.task is not None:
        return given.task, notes
    raise PugnnError("there are no known positives; give their ids, a mask, or a vector of 1 and 0")


def as_task(given: Any) -> PUTask:
    """The task that a user gave, with known positives: itself, or that of tables."""
    task = given.task if isinstance(given, TableGraph) else given
    if isinstance(task, PUTask):
        if not len(task.labelled):
            raise PugnnError("there are no known positives; at least one is needed, and ten or more help a lot")
        return task
    raise PugnnError(
        f"expected a PUTask, a graph with its known positives, got {type(given).__name__}; make one with "
        "PUTask.from_positives(graph, positions), or with read_graph(…, positives=…).task"
    )
