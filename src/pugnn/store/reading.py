"""Graphs from tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

from pugnn.features.typed_recipe import AnyRecipe
from pugnn.store.arguments import Request
from pugnn.store.assembly.assemble import assemble
from pugnn.store.assembly.input_tables import Inputs
from pugnn.store.assembly.places import GraphArrays
from pugnn.store.assembly.table_graph import TableGraph


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
    edge_type: str | None = None,
    directed: bool = False,
    time: str | Mapping[str, str] | None = None,
    as_of: str | int | date | None = None,
    then: str | int | date | None = None,
    kinds: Mapping[str, str] | None = None,
    recipe: AnyRecipe | Mapping[str, Any] | None = None,
    show: Sequence[str] = (),
    on_phase: Callable[[str], None] | None = None,
) -> TableGraph:
    """Read a graph from tables.

    A table is a file name (CSV, TSV, Parquet, JSON lines; also compressed by gzip, zstd, bzip2 or xz), a pattern that
    matches several files, a pandas or Polars data frame, an Arrow table, or a mapping of names to columns.

    Nodes are in the order of the node table, followed by ids that only occur in the edges, in the order of their first
    appearance. Ids keep their type; if tables disagree, all become text.

    Several kinds of edges are a mapping of names to tables, ``{"pays": frame, "device": "devices.csv"}``, or one table
    with a column that names them. With several kinds of nodes, relations name what they link,
    ``{"user:bought:item": orders}``, nodes are a mapping of kinds to tables, and ``target`` is the kind that is looked
    for: its nodes come first, and only they are labelled and ranked. Ids are text then, those of other kinds
    ``kind:id``.

    Args:
        edges: columns ``source`` and ``target``, and ``weight`` if there are weights; also a list of pairs, or a
            NetworkX graph, whose attributes of edges and nodes are columns; the keys of a multigraph, if they are text,
            name its relations. PyG's ``HeteroData`` has several kinds of nodes; ids are positions within each kind.
        nodes: a column ``id`` and attributes, which become features. Without attributes, features are made from the
            structure.
        attributes: further attributes: a table of ``id``, ``attribute`` and ``value``, or a matrix of scipy's or
            numpy's, also in a file (``.npz`` or Matrix Market), with one row for each row of ``nodes``.
        positives: ids of the known positives: a table with a column ``id``, or a list.
        truth: ids of all true positives in the same form, if they are known.
        source: name of the column of sources, if it is not a usual one (see :mod:`pugnn.store.tables.column_names`).
        target: likewise for targets; with several kinds of nodes, the kind that is looked for.
        id: likewise for the ids of nodes, positives and truth.
        weight: likewise for weights.
        label: likewise for the column of ``positives`` and ``truth`` that says, by 1 and 0, which rows are positive.
        edge_type: name of a column of ``edges`` that says which relation each edge is of; of a NetworkX graph, that of
            an edge attribute.
        directed: make two relations of each one between nodes of the same kind: who each node points to, and who
            points to it.
        time: name of the column with the time of each edge, and of rows of other tables that have it; or such names
            by table: ``{"pays": "paid_at", "positives": "seen_at"}``, where a table is called by its relation, its
            kind of nodes, or ``edges``, ``nodes``, ``attributes`` or ``positives``, and all others by ``""``. Times
            are dates, or all of them whole numbers.
        as_of: read the tables as they were at this moment, a date, date-time or whole number: edges, rows of ``nodes``
            and ``attributes``, and positives that are later do not exist. A date is the end of that day.
        then: a later moment; ``truth`` then are the positives that were known by it.
        kinds: kinds of attribute columns that are not to be guessed, such as ``{"zip": "category"}``; of other kinds
            of nodes than the target, ``{"item.price": "number"}``.
        recipe: the recipe of a model, its ``recipe_``, to make the same features as in its training.
        show: names of columns of ``nodes`` whose cells are wanted as they are, to be shown with the results.
        on_phase: called with a few words at the beginning of each phase.

    Example:
        >>> data = read_graph([("ann", "bob"), ("bob", "cleo")], positives=["bob"])
        >>> data.graph.ids.tolist(), data.known
        (['ann', 'bob', 'cleo'], array([False,  True, False]))
    """
    inputs = Inputs.of(edges, nodes, attributes, target, edge_type)
    request = Request(
        {"source": source, **inputs.columns, "id": id, "weight": weight, "label": label},
        time=time,
        kinds=kinds,
        recipe=recipe,
        show=show,
        on_phase=on_phase,
        directed=directed,
        as_of=as_of,
        then=then,
    )
    return assemble(request, inputs, GraphArrays(), positives=positives, truth=truth)
