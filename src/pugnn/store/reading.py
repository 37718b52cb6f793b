"""From tables to a graph: one way for all tables, whether its arrays stay in memory or become files of a store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.errors import Displayed, PugnnError, counted, shorten
from pugnn.features.attribute_table import NO_ROWS, AttributeTable
from pugnn.features.encoding import FeatureBlocks
from pugnn.features.kinds import chosen_kinds, expand_kinds
from pugnn.features.recipe import Encoded, Recipe
from pugnn.graph import Graph
from pugnn.graph.adjacency import Adjacency, symmetric_csr
from pugnn.graph.arrays import Features
from pugnn.store.arguments import Request
from pugnn.store.edge_table import Edges, EdgeTable
from pugnn.store.id_types import INTEGER_TYPES, IdColumn, typed_ids
from pugnn.store.ids import IdTable
from pugnn.store.node_lists import read_lists
from pugnn.store.node_table import NodeTable, id_place, read_nodes
from pugnn.store.sparse_attributes import long_attributes, matrix_attributes, matrix_of
from pugnn.store.tables.access import read_tables
from pugnn.store.tables.database import Limits
from pugnn.store.tables.table import Table
from pugnn.task import PUTask


@dataclass(frozen=True, eq=False, repr=False)
class TableGraph(Displayed):
    """What was read.

    Args:
        graph: the graph, with the user's ids, features and their names, and the recipe of the features.
        task: the graph with its known positives, if they were given.
        truth: positions of the true positives, sorted, if they were given.
        recipe: how attributes became features.
        notes: what was repaired or left out, one sentence each.
        id_column: name of the column of ids in the node table, if there is one.
        shown: columns of the node table that were asked for: their cells as text, empty where there is none.
    """

    graph: Graph
    task: PUTask | None
    truth: NDArray[np.int64] | None
    recipe: Recipe
    notes: tuple[str, ...]
    id_column: str | None
    shown: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    @cached_property
    def known(self) -> NDArray[np.bool_] | None:
        """Which nodes are known positives, shape ``(N,)``, if they were given."""
        return None if self.task is None else self._mask(self.task.labelled)

    @cached_property
    def positive(self) -> NDArray[np.bool_] | None:
        """Which nodes are true positives, shape ``(N,)``, if they were given."""
        return None if self.truth is None else self._mask(self.truth)

    def _facts(self) -> list[str]:
        known = [] if self.task is None else [counted(len(self.task.labelled), "known positive")]
        true = [] if self.truth is None else [counted(len(self.truth), "true positive")]
        return [*self.graph._facts(), *known, *true, counted(len(self.notes), "note")]

    def _mask(self, positions: NDArray[np.int64]) -> NDArray[np.bool_]:
        mask = np.zeros(self.graph.num_nodes, dtype=np.bool_)
        mask[positions] = True
        return mask


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
    show: Sequence[str] = (),
    on_phase: Callable[[str], None] | None = None,
) -> TableGraph:
    """Read a graph from tables.

    A table is a file name (CSV, TSV, Parquet, JSON lines; also compressed by gzip, zstd, bzip2 or xz), a pattern that
    matches several files, a pandas or Polars data frame, an Arrow table, or a mapping of names to columns.

    Nodes are in the order of the node table, followed by ids that only occur in the edges, in the order of their first
    appearance. Ids keep their type; if tables disagree, all become text.

    Args:
        edges: columns ``source`` and ``target``, and ``weight`` if there are weights; also a list of pairs, or a
            NetworkX graph, which brings its node attributes.
        nodes: a column ``id`` and attributes, which become features. Without attributes, features are made from the
            structure.
        attributes: further attributes: a table of ``id``, ``attribute`` and ``value``, or a matrix of scipy's or
            numpy's, also in a file (``.npz`` or Matrix Market), with one row for each row of ``nodes``.
        positives: ids of the known positives: a table with a column ``id``, or a list.
        truth: ids of all true positives in the same form, if they are known.
        source: name of the column of sources, if it is not a usual one (see :mod:`pugnn.store.tables.column_names`).
        target: likewise for targets.
        id: likewise for the ids of nodes, positives and truth.
        weight: likewise for weights.
        label: likewise for the column of ``positives`` and ``truth`` that says, by 1 and 0, which rows are positive.
        kinds: kinds of attribute columns that are not to be guessed, such as ``{"zip": "category"}``.
        recipe: the recipe of a model, its ``recipe_``, to make the same features as in its training.
        show: names of columns of ``nodes`` whose cells are wanted as they are, to be shown with the results.
        on_phase: called with a few words at the beginning of each phase.

    Example:
        >>> data = read_graph([("ann", "bob"), ("bob", "cleo")], positives=["bob"])
        >>> data.graph.ids.tolist(), data.known
        (['ann', 'bob', 'cleo'], array([False,  True, False]))
    """
    columns = {"source": source, "target": target, "id": id, "weight": weight, "label": label}
    request = Request(columns, edges=edges, kinds=kinds, recipe=recipe, show=show, on_phase=on_phase)
    tables = {"edges": edges, "nodes": nodes, "attributes": attributes, "positives": positives, "truth": truth}
    return assemble(request, GraphArrays(), **tables)


class GraphArrays:
    """Where the arrays of a graph are kept: in memory; a store overrides this to keep them in files."""

    def collect(self, pieces: Iterable[Edges]) -> Edges:
        """All edges, given some at a time."""
        sources, targets, weights = zip(*pieces, strict=True)
        joined = None if weights[0] is None else np.concatenate(weights)
        return Edges(np.concatenate(sources), np.concatenate(targets), joined)

    def merge(self, num_nodes: int, edges: Edges) -> Adjacency:
        """The adjacency matrix of some edges."""
        return symmetric_csr(num_nodes, *edges)

    def keep_ids(self, ids: IdTable, columns: Sequence[IdColumn], listed: int) -> tuple[NDArray[Any], list[str]]:
        """The ids in the type that they have in these columns, and notes; the first ``listed`` are of the first one."""
        return typed_ids(ids, columns, listed)

    def blocks(self) -> FeatureBlocks:
        """Where to collect features."""
        return FeatureBlocks()

    def keep_features(self, blocks: FeatureBlocks, ids: NDArray[Any]) -> Features:  # noqa: ARG002
        """The collected features of the nodes with these ids."""
        return blocks.joined()


def assemble(request: Request, place: GraphArrays, limits: Limits | None = None, **given: Any) -> TableGraph:
    """Read the tables that were given, by role, into a graph whose arrays are kept in a place."""
    matrix = matrix_of(given["attributes"], given["nodes"])
    if matrix is not None:
        given["attributes"] = None
    return read_tables(given, request.columns, lambda tables: _assemble(tables, matrix, request, place), limits)


def _assemble(
    tables: dict[str, Table], matrix: sp.csr_array | None, request: Request, place: GraphArrays
) -> TableGraph:
    columns, say, shown = request.columns, request.say, tables["edges"].shown
    if request.show and "nodes" not in tables:
        raise PugnnError("there are no columns to show: --show names columns of the node table, and none was given")
    notes = [note for table in tables.values() for note in table.notes]
    edge_table, nodes = EdgeTable(tables["edges"], columns), None
    ids = _new_ids(edge_table, tables.get("nodes"), columns["id"])
    if "nodes" in tables:
        say(f"reading {tables['nodes'].shown}")
        kinds = _known_kinds(tables["nodes"], request)
        nodes = read_nodes(tables["nodes"], columns["id"], ids, kinds)
        notes += nodes.notes
    say(f"reading {shown}")
    edges = place.collect(edge_table.pieces(ids))
    if nodes is not None:
        _require_common_ids(edges, shown, nodes, ids)
    id_columns = edge_table.columns if nodes is None else (nodes.column, *edge_table.columns)
    node_ids, notes_on_ids = place.keep_ids(ids, id_columns, 0 if nodes is None else nodes.count)
    usual = None if nodes is None else nodes.name
    listed, notes_on_lists = read_lists(tables, request, ids, node_ids, usual)
    notes += [*edge_table.notes, *notes_on_ids, *notes_on_lists]
    say("building the graph")
    indptr, indices, weights, cleaning = place.merge(len(ids), edges)
    del edges
    if not cleaning.edges:
        raise PugnnError(f"{shown} contains only self loops; a graph needs edges between nodes")
    graph = Graph(indptr, indices, np.zeros((len(ids), 0), np.float32), node_ids, weights, cleaning=cleaning)
    notes += _notes_on_graph(graph, shown, nodes)
    say("making features")
    attributes, notes_on_sparse = _attributes_of(tables, nodes, graph.num_nodes, matrix, columns["id"], ids)
    recipe, encoded = _make_features(attributes, request, graph, place.blocks())
    notes += [*notes_on_sparse, *encoded.notes]
    features = place.keep_features(encoded.blocks, graph.ids)
    graph = replace(graph, features=features, feature_names=encoded.names, recipe=recipe.to_plain())
    task = PUTask.from_positives(graph, listed["positives"]) if "positives" in listed else None
    cells = {} if nodes is None else nodes.cells_as_text(request.show, graph.num_nodes)
    return TableGraph(graph, task, listed.get("truth"), recipe, tuple(notes), usual, cells)


def _new_ids(edges: EdgeTable, nodes: Table | None, id_name: str | None) -> IdTable:
    """An empty table for ids: of integers if all tables have them, otherwise of text."""
    kinds = [edges.table.types[at] for at in edges.ends]
    if nodes is not None:
        kinds.append(nodes.types[id_place(nodes, id_name)])
    return IdTable(integers=INTEGER_TYPES.issuperset(kinds))


def _attributes_of(
    tables: Mapping[str, Table],
    nodes: NodeTable | None,
    num_nodes: int,
    matrix: sp.csr_array | None,
    id_column: str | None,
    ids: IdTable,
) -> tuple[AttributeTable, list[str]]:
    """All attributes of the nodes: those of the node table and those given in sparse form; and notes."""
    if nodes is None:
        origin = tables["attributes"].shown if "attributes" in tables else "nodes"
        attributes = AttributeTable(tables["edges"].connection, NO_ROWS, (), True, num_nodes, origin, str)
    else:
        attributes = nodes.attributes(num_nodes)
    if matrix is not None:
        assert nodes is not None
        return attributes.beside(matrix_attributes(matrix, nodes)), []
    if "attributes" not in tables:
        return attributes, []
    sparse, notes = long_attributes(tables["attributes"], id_column, ids)
    return attributes.beside(sparse), notes


def _known_kinds(nodes: Table, request: Request) -> Mapping[str, str]:
    """The kinds of columns of a node table that are known: as in the recipe, or chosen by the user."""
    if request.recipe is None:
        return chosen_kinds(request.kinds, nodes.names)
    return {encoding.column: encoding.name for encoding in request.recipe.encodings}


def _make_features(
    attributes: AttributeTable, request: Request, graph: Graph, blocks: FeatureBlocks
) -> tuple[Recipe, Encoded]:
    """The features of a graph's nodes, by a recipe that is given, or learned with the kinds that the user chose."""
    if request.recipe is None:
        kinds = expand_kinds(request.kinds, attributes.names, attributes.origin)
        return Recipe.learn(attributes, kinds, graph, blocks)
    return request.recipe, request.recipe.apply(attributes, graph, blocks)


def _require_common_ids(edges: Edges, shown: str, nodes: NodeTable, ids: IdTable) -> None:
    if min(edges.sources.min(), edges.targets.min()) >= nodes.count:
        in_nodes = shorten(ids.texts(0, min(nodes.count, 2)))
        in_edges = shorten(ids.texts(nodes.count, nodes.count + 2))
        raise PugnnError(
            f"{shown} and {nodes.table.shown} have no id in common: {in_edges} in the former, {in_nodes} in the "
            "latter. Write them the same way, or name the columns that hold them."
        )


def _notes_on_graph(graph: Graph, shown: str, nodes: NodeTable | None) -> list[str]:
    """What was merged and dropped in a graph, and which nodes lack a row or an edge; ``shown`` names the edges."""
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
    table = nodes.table.shown
    rowless, bare = graph.num_nodes - nodes.count, int((graph.degrees == 0).sum())
    if rowless:
        missing = "; all attributes are missing there" if nodes.names else ""
        notes.append(f"{shown}: {counted(rowless, 'node')} with no row in {table}{missing}")
    if bare:
        notes.append(f"{table}: {counted(bare, 'node')} with no edge; kept")
    return notes
