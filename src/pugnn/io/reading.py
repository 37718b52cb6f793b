"""From tables of edges, nodes and known positives to a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.errors import Displayed, PugnnError, counted, shorten
from pugnn.features.attributes import NO_ROWS, Attributes
from pugnn.features.encoding import FeatureBlocks
from pugnn.features.kinds import chosen_kinds, expand_kinds
from pugnn.features.recipe import Encoded, Recipe
from pugnn.graph import Graph
from pugnn.io.arguments import check_arguments
from pugnn.io.edge_table import EdgeTable
from pugnn.io.id_types import common_family, ids_from_text
from pugnn.io.ids import IdTable
from pugnn.io.node_list import read_node_list
from pugnn.io.node_table import NodeTable, read_nodes
from pugnn.io.opening import read_tables
from pugnn.io.sparse import long_attributes, matrix_attributes, matrix_of
from pugnn.io.table import Table
from pugnn.task import PUTask

#: Lists of nodes, and what they contain.
_LISTS = {"positives": "positives", "truth": "true positives"}


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
        source: name of the column of sources, if it is not a usual one (see :mod:`pugnn.io.columns`).
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
    wanted = {"source": source, "target": target, "id": id, "weight": weight, "label": label}
    known = check_arguments(wanted, edges=edges, kinds=kinds, recipe=recipe, show=show, on_phase=on_phase)
    matrix = matrix_of(attributes, nodes)
    given = {"edges": edges, "nodes": nodes, "positives": positives, "truth": truth}
    given["attributes"] = attributes if matrix is None else None
    say = on_phase or (lambda _: None)
    return read_tables(given, wanted, lambda tables: _read(tables, matrix, wanted, kinds or {}, known, show, say))


def _read(
    tables: dict[str, Table],
    matrix: sp.csr_array | None,
    wanted: Mapping[str, str | None],
    kinds: Mapping[str, str],
    recipe: Recipe | None,
    show: Sequence[str],
    on_phase: Callable[[str], None],
) -> TableGraph:
    if show and "nodes" not in tables:
        raise PugnnError("there are no columns to show: --show names columns of the node table, and none was given")
    notes = [note for table in tables.values() for note in table.notes]
    ids, nodes = IdTable(), None
    if "nodes" in tables:
        on_phase(f"reading {tables['nodes'].shown}")
        nodes = read_nodes(tables["nodes"], wanted["id"], ids, known_kinds(tables["nodes"], kinds, recipe))
        notes += nodes.notes
    on_phase(f"reading {tables['edges'].shown}")
    edge_table = EdgeTable(tables["edges"], wanted)
    edges = edge_table.read(ids)
    if nodes is not None and min(edges.sources.min(), edges.targets.min()) >= nodes.count:
        raise nothing_in_common(tables["edges"].shown, nodes, ids)
    node_ids, notes_on_ids = _node_ids(ids.texts(), nodes, edge_table)
    notes += [*edge_table.notes, *notes_on_ids]
    usual = None if nodes is None else nodes.name
    listed, notes_on_lists = read_lists(tables, wanted, ids, node_ids, usual, on_phase)
    notes += notes_on_lists
    on_phase("building the graph")
    graph = Graph.from_edges(edges.sources, edges.targets, num_nodes=len(ids), weights=edges.weights)
    if not graph.num_edges:
        raise PugnnError(f"{tables['edges'].shown} contains only self loops; a graph needs edges between nodes")
    graph = replace(graph, ids=node_ids)
    notes += notes_on_graph(graph, tables["edges"].shown, nodes)
    on_phase("making features")
    attributes, notes_on_sparse = attributes_of(tables, nodes, graph.num_nodes, matrix, wanted["id"], ids)
    notes += notes_on_sparse
    recipe, encoded = make_features(attributes, kinds, recipe, graph)
    graph = replace(graph, features=encoded.features, feature_names=encoded.names, recipe=recipe.to_plain())
    task = PUTask.from_positives(graph, listed["positives"]) if "positives" in listed else None
    shown = {} if nodes is None else nodes.cells_as_text(show, graph.num_nodes)
    return TableGraph(graph, task, listed.get("truth"), recipe, (*notes, *encoded.notes), usual, shown)


def attributes_of(
    tables: Mapping[str, Table],
    nodes: NodeTable | None,
    num_nodes: int,
    matrix: sp.csr_array | None,
    id_column: str | None,
    ids: IdTable,
) -> tuple[Attributes, list[str]]:
    """All attributes of the nodes: those of the node table and those given in sparse form; and notes."""
    if nodes is None:
        origin = tables["attributes"].shown if "attributes" in tables else "nodes"
        attributes = Attributes(tables["edges"].connection, NO_ROWS, (), True, num_nodes, origin, str)
    else:
        attributes = nodes.attributes(num_nodes)
    if matrix is not None:
        assert nodes is not None
        return attributes.beside(matrix_attributes(matrix, nodes)), []
    if "attributes" not in tables:
        return attributes, []
    sparse, notes = long_attributes(tables["attributes"], id_column, ids)
    return attributes.beside(sparse), notes


def known_kinds(nodes: Table, kinds: Mapping[str, str], recipe: Recipe | None) -> Mapping[str, str]:
    """The kinds of columns of a node table that are known: as in the recipe, or chosen by the user."""
    if recipe is None:
        return chosen_kinds(kinds, nodes.names)
    return {encoding.column: encoding.kind for encoding in recipe.encodings}


def make_features(
    attributes: Attributes,
    kinds: Mapping[str, str],
    recipe: Recipe | None,
    graph: Graph,
    blocks: FeatureBlocks | None = None,
) -> tuple[Recipe, Encoded]:
    """The features of a graph's nodes, by a recipe that is given, or learned with the kinds that the user chose."""
    if recipe is None:
        return Recipe.learn(attributes, expand_kinds(kinds, attributes.names, attributes.origin), graph, blocks)
    return recipe, recipe.apply(attributes, graph, blocks)


def nothing_in_common(shown: str, nodes: NodeTable, ids: IdTable) -> PugnnError:
    """The error for an edge table, by its name in messages, and a node table with different ids."""
    in_nodes = shorten(ids.texts(0, min(nodes.count, 2)))
    in_edges = shorten(ids.texts(nodes.count, nodes.count + 2))
    return PugnnError(
        f"{shown} and {nodes.table.shown} have no id in common: {in_edges} in the former, {in_nodes} in the latter. "
        "Write them the same way, or name the columns that hold them."
    )


def read_lists(
    tables: Mapping[str, Table],
    wanted: Mapping[str, str | None],
    ids: IdTable,
    node_ids: NDArray[Any],
    usual: str | None,
    on_phase: Callable[[str], None],
) -> tuple[dict[str, NDArray[np.int64]], list[str]]:
    """Positions of the known and of the true positives, if they were given, and notes; see :func:`read_node_list`."""
    listed: dict[str, NDArray[np.int64]] = {}
    notes: list[str] = []
    if wanted["label"] is not None and all(len(tables[role].names) == 1 for role in _LISTS if role in tables):
        raise PugnnError(
            f"--label names the column {wanted['label']!r} of known or true positives, but there no list of nodes has "
            "any column but its ids. Leave it out; verdicts on checked nodes go with --checked, without --label."
        )
    for role, what in _LISTS.items():
        if role in tables:
            on_phase(f"reading {tables[role].shown}")
            listed[role], notes_on_list = read_node_list(tables[role], wanted, usual, ids, node_ids, what)
            notes += notes_on_list
    if len(listed) == 2:
        positive = np.union1d(listed["positives"], listed["truth"])
        lacking = len(positive) - len(listed["truth"])
        if lacking:
            added = counted(lacking, "known positive")
            notes.append(f"{tables['truth'].shown}: lacks {added}, which count as true positives")
        listed["truth"] = positive
    return listed, notes


def _node_ids(texts: list[str], nodes: NodeTable | None, edges: EdgeTable) -> tuple[NDArray[Any], list[str]]:
    """The ids of all nodes in their own type, first those of the node table and then those of the edges; and notes."""
    columns = edges.columns if nodes is None else (nodes.column, *edges.columns)
    kind, notes = common_family(columns)
    originals = {text: value for column in columns for text, value in column.originals.items()}
    listed = 0 if nodes is None else nodes.count
    untyped = [] if nodes is None or nodes.table.typed else texts[:listed]
    ids, notes_on_type = ids_from_text(
        texts, kind, originals, untyped if edges.table.typed else untyped + texts[listed:]
    )
    return ids, notes_on_type if originals else notes + notes_on_type


def notes_on_graph(graph: Graph, shown: str, nodes: NodeTable | None) -> list[str]:
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
    if rowless and nodes.names:
        notes.append(f"{shown}: {counted(rowless, 'node')} with no row in {table}; all attributes are missing there")
    elif rowless:
        notes.append(f"{shown}: {counted(rowless, 'node')} with no row in {table}")
    if bare:
        notes.append(f"{table}: {counted(bare, 'node')} with no edge; kept")
    return notes
