"""From tables of edges, nodes and known positives to a graph in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pugnn.features.recipe import Recipe
from pugnn.io.arguments import Request
from pugnn.io.assembling import InMemory, TableGraph, assemble


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
    columns = {"source": source, "target": target, "id": id, "weight": weight, "label": label}
    request = Request.of(columns, edges=edges, kinds=kinds, recipe=recipe, show=show, on_phase=on_phase)
    tables = {"edges": edges, "nodes": nodes, "attributes": attributes, "positives": positives, "truth": truth}
    return assemble(request, InMemory(), **tables)
