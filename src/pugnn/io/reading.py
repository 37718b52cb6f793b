"""Edges, nodes and known positives, in whatever form people have them, as a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.errors import PugnnError, counted, shorten
from pugnn.features.kinds import chosen_kinds, expand_kinds
from pugnn.features.recipe import Recipe
from pugnn.graph import Graph
from pugnn.io.edge_table import EdgeTable, begun, read_edges
from pugnn.io.id_types import common_family, ids_from_text
from pugnn.io.ids import IdTable
from pugnn.io.node_list import read_node_list
from pugnn.io.node_table import NodeTable, no_attributes, read_nodes
from pugnn.io.opening import open_tables
from pugnn.io.scratch import Scratch
from pugnn.io.source import Source, Unreadable
from pugnn.io.sparse import as_matrix, long_attributes, matrix_attributes

#: Lists of nodes, and what is in them.
_LISTS = {"positives": "positives", "truth": "true positives"}


@dataclass(frozen=True, eq=False)
class TableGraph:
    """What was read.

    Args:
        graph: the graph, with the users' ids, features and their names, and the recipe of the features.
        known: which nodes are known positives, shape ``(N,)``, where these were given.
        positive: which nodes are true positives, likewise.
        recipe: how attributes became features.
        notes: what was repaired or left out, one sentence each.
    """

    graph: Graph
    known: NDArray[np.bool_] | None
    positive: NDArray[np.bool_] | None
    recipe: Recipe
    notes: tuple[str, ...]


def read_graph(
    edges: Any,
    nodes: Any = None,
    *,
    attributes: Any = None,
    positives: Any = None,
    truth: Any = None,
    source: str | None = None,
    target: str | None = None,
    id: str | None = None,
    weight: str | None = None,
    label: str | None = None,
    kinds: Mapping[str, str] | None = None,
    recipe: Recipe | Mapping[str, Any] | None = None,
    on_phase: Callable[[str], None] | None = None,
) -> TableGraph:
    """Read a graph from tables.

    A table is the name of a file (CSV, TSV, Parquet, JSON lines; also packed by gzip or zstd), a pattern for many of
    them, a pandas or Polars data frame, an Arrow table, or a mapping of names to columns.

    Nodes stand in the order of the node table; ids that occur in the edges alone follow in the order of their first
    appearance. Ids keep their type; where tables disagree all are text.

    Args:
        edges: columns ``source`` and ``target``, and ``weight`` if there are weights; also a NetworkX graph, whose
            node attributes are the nodes then, or a list of pairs.
        nodes: a column ``id`` and attributes, which become features. Without attributes features are made from the
            structure.
        attributes: further attributes, without their zeros: a table of ``id``, ``attribute`` and ``value``, or a scipy
            matrix, also in a file (``.npz`` or Matrix Market), with one row for each row of ``nodes``.
        positives: ids of the known positives: a table with a column ``id``, or a list.
        truth: ids of all true positives in the same form, where they are known.
        source: name of the column of sources, if it is not a usual one (see :mod:`pugnn.io.columns`).
        target: likewise of targets.
        id: likewise of the ids of nodes, positives and truth.
        weight: likewise of weights.
        label: likewise of the column of ``positives`` and ``truth`` that says, by 1 and 0, which rows count.
        kinds: kinds of attribute columns that are not to be guessed, such as ``{"zip": "category"}``.
        recipe: the recipe of a model, its ``recipe_``, to make the same features as in its training.
        on_phase: called with a few words at the beginning of each phase.

    Example:
        >>> data = read_graph([("ann", "bob"), ("bob", "cleo")], positives=["bob"])
        >>> data.graph.ids.tolist(), data.known
        (['ann', 'bob', 'cleo'], array([False,  True, False]))
    """
    if isinstance(recipe, Mapping):
        recipe = Recipe.from_plain(recipe)
    matrix = None if attributes is None else as_matrix(attributes)
    if matrix is not None and nodes is None:
        raise PugnnError(
            "a matrix of attributes says nothing of whose they are; give the ids of its rows, in their order, as nodes"
        )
    given = {"edges": edges, "nodes": nodes, "positives": positives, "truth": truth}
    given["attributes"] = attributes if matrix is None else None
    wanted = {"source": source, "target": target, "id": id, "weight": weight, "label": label}
    with Scratch() as scratch:
        connection, sources = open_tables(given, wanted, scratch)
        with connection:
            while True:
                try:
                    return _read(sources, matrix, wanted, kinds or {}, recipe, on_phase or _say_nothing)
                except Unreadable as problem:  # a tidy copy takes the place of the table, or it says what is wrong
                    problem.source.repair(problem.source, str(problem))


def _say_nothing(_words: str) -> None:
    return


def _read(
    sources: dict[str, Source],
    matrix: sp.csr_array | None,
    wanted: Mapping[str, str | None],
    kinds: Mapping[str, str],
    recipe: Recipe | None,
    on_phase: Callable[[str], None],
) -> TableGraph:
    notes = [note for source in sources.values() for note in source.notes]
    table, nodes = IdTable(), None
    with begun(sources["edges"], wanted) as reading, ThreadPoolExecutor(1) as beside:
        if "nodes" in sources:
            on_phase(f"reading {sources['nodes'].shown}")
            chosen = _kinds_of_columns(sources["nodes"], kinds, recipe)
            nodes = read_nodes(sources["nodes"], wanted["id"], table, chosen)
            notes += nodes.notes
        on_phase(f"reading {sources['edges'].shown}")
        listed_nodes = len(table)
        texts = beside.submit(table.texts, 0, listed_nodes)  # an object per node takes its time, and edges need none
        edges = read_edges(reading, table)
    if nodes is not None and min(edges.sources.min(), edges.targets.min()) >= nodes.count:
        theirs, ours = shorten(table.texts(nodes.count, nodes.count + 2)), shorten(table.texts(0, min(nodes.count, 2)))
        raise PugnnError(
            f"{sources['edges'].shown} and {nodes.source.shown} have no id in common: {theirs} in the one, {ours} in "
            "the other. Write them the same way, or say which columns hold them."
        )
    ids, notes_on_ids = _ids(sources, texts.result(), table.texts(listed_nodes), nodes, edges)
    notes += [*edges.notes, *notes_on_ids]
    listed: dict[str, NDArray[np.int64]] = {}
    if wanted["label"] is not None and all(len(sources[role].names) == 1 for role in _LISTS if role in sources):
        raise PugnnError(f"there is no column {wanted['label']!r} (--label): no list of nodes has more than its ids")
    for role, what in _LISTS.items():
        if role in sources:
            on_phase(f"reading {sources[role].shown}")
            usual = None if nodes is None else nodes.name
            listed[role], notes_on_list = read_node_list(sources[role], wanted, usual, table, ids, what)
            notes += notes_on_list
    if len(listed) == 2:
        known = np.union1d(listed["positives"], listed["truth"])
        lacking = counted(len(known) - len(listed["truth"]), "known positive")
        if len(known) > len(listed["truth"]):
            notes.append(f"{sources['truth'].shown}: lacks {lacking}, which count as true positives")
        listed["truth"] = known
    on_phase("building the graph")
    graph = Graph.from_edges(edges.sources, edges.targets, num_nodes=len(ids), weights=edges.weights)
    if not graph.num_edges:
        raise PugnnError(f"{sources['edges'].shown} holds only self loops; a graph needs edges between nodes")
    graph = replace(graph, ids=ids)
    notes += _notes_on_graph(graph, sources["edges"].shown, nodes)
    on_phase("making features")
    if nodes is None:
        origin = sources["attributes"].shown if "attributes" in sources else "nodes"
        attributes = no_attributes(sources["edges"].connection, graph.num_nodes, origin)
    else:
        attributes = nodes.attributes(graph.num_nodes)
    if matrix is not None:
        assert nodes is not None
        attributes = attributes.beside(matrix_attributes(matrix, nodes))
    elif "attributes" in sources:
        sparse, notes_on_sparse = long_attributes(sources["attributes"], wanted["id"], table)
        attributes = attributes.beside(sparse)
        notes += notes_on_sparse
    if recipe is None:
        recipe = Recipe.learn(attributes, expand_kinds(kinds, attributes.names, attributes.origin))
    encoded = recipe.apply(attributes, graph)
    graph = replace(graph, features=encoded.features, feature_names=encoded.names, recipe=recipe.to_plain())
    return TableGraph(
        graph,
        known=_mask(listed.get("positives"), len(ids)),
        positive=_mask(listed.get("truth"), len(ids)),
        recipe=recipe,
        notes=(*notes, *encoded.notes),
    )


def _kinds_of_columns(source: Source, kinds: Mapping[str, str], recipe: Recipe | None) -> Mapping[str, str]:
    """The kinds of those columns for which they are known before anything is read."""
    if recipe is not None:
        return {encoding.column: encoding.kind for encoding in recipe.encodings}
    return chosen_kinds(kinds, source.names)


def _mask(positions: NDArray[np.int64] | None, nodes: int) -> NDArray[np.bool_] | None:
    if positions is None:
        return None
    mask = np.zeros(nodes, dtype=np.bool_)
    mask[positions] = True
    return mask


def _ids(
    sources: Mapping[str, Source], texts: list[str], more: list[str], nodes: NodeTable | None, edges: EdgeTable
) -> tuple[NDArray[Any], list[str]]:
    """The ids of all nodes, first those of the node table and then those of the edges, in their own type, and notes."""
    columns = edges.columns if nodes is None else (nodes.column, *edges.columns)
    kind, notes = common_family(columns)
    originals = {text: value for column in columns for text, value in column.originals.items()}
    untyped = [] if nodes is None or nodes.source.typed else texts
    if not sources["edges"].typed:
        untyped = untyped + more
    ids, notes_on_type = ids_from_text(texts + more, kind, originals, untyped)
    return ids, notes_on_type if originals else notes + notes_on_type


def _notes_on_graph(graph: Graph, shown: str, nodes: NodeTable | None) -> list[str]:
    cleaning, notes = graph.cleaning, []
    added = "" if graph.weights is None else ", their weights added"
    if cleaning.self_loops:
        notes.append(f"{shown}: {counted(cleaning.self_loops, 'self loop')} dropped")
    if cleaning.duplicates:
        notes.append(f"{shown}: {counted(cleaning.duplicates, 'duplicate edge')} merged{added}")
    if cleaning.two_way:
        pairs = counted(cleaning.two_way, "edge")
        notes.append(f"{shown}: {pairs} given in both directions merged{added}; direction does not matter")
    if nodes is None:
        return notes
    table = nodes.source.shown
    rowless, bare = graph.num_nodes - nodes.count, int((graph.degrees == 0).sum())
    if rowless and nodes.names:
        notes.append(f"{shown}: {counted(rowless, 'node')} with no row in {table}; all attributes are missing there")
    elif rowless:
        notes.append(f"{shown}: {counted(rowless, 'node')} with no row in {table}")
    if bare:
        notes.append(f"{table}: {counted(bare, 'node')} with no edge; kept")
    return notes
