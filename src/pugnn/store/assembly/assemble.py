"""From tables to a graph: one way for all tables, whether its arrays stay in memory or become files of a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from pugnn.errors import PugnnError
from pugnn.features.attribute_table import AttributeTable
from pugnn.features.kinds import expand_kinds
from pugnn.features.number_columns import EdgeColumn
from pugnn.features.typed_recipe import AnyRecipe, apply_recipe, learn_recipe, require_names
from pugnn.graph import Graph
from pugnn.graph.relations import IN, OUT
from pugnn.store.arguments import Request
from pugnn.store.assembly.as_of import Clock
from pugnn.store.assembly.edges import merge_relations, read_edges
from pugnn.store.assembly.end_attributes import edge_attributes
from pugnn.store.assembly.input_tables import ONE_KIND, Inputs, Link
from pugnn.store.assembly.nodes import keep_ids, notes_on_nodes, own_kinds, read_kinds, wanted_in
from pugnn.store.assembly.odd_ids import notes_on_spelling
from pugnn.store.assembly.places import GraphArrays
from pugnn.store.assembly.table_graph import Later, TableGraph
from pugnn.store.edge_columns import CHOICES
from pugnn.store.edge_table import EdgeTable
from pugnn.store.node_lists import ListableNodes, read_lists
from pugnn.store.node_table import id_place
from pugnn.store.sparse_attributes import matrix_of
from pugnn.store.tables.access import read_tables
from pugnn.store.tables.column_names import find_column, names_of
from pugnn.store.tables.database import Limits
from pugnn.store.tables.table import Table
from pugnn.store.tables.times import only
from pugnn.task import PUTask


def assemble(
    request: Request, inputs: Inputs, place: GraphArrays, limits: Limits | None = None, **lists: Any
) -> TableGraph:
    """Read what was given, and lists of nodes by role, into a graph whose arrays are kept in a place."""
    if request.recipe is not None and set(request.recipe.kinds) == set(inputs.kinds):
        known, target = request.recipe.kinds[0], inputs.kinds[0]
        if target != known:
            raise PugnnError(f"--target {target}: the model looks for {known!r}. Leave it out, or train another model.")
        inputs = replace(inputs, kinds=request.recipe.kinds)  # in the order that the model knows
    tables, matrices = {**inputs.tables, **lists}, {}
    for kind in inputs.kinds:
        role = inputs.role("attributes", kind)
        matrix = matrix_of(tables.get(role), tables.get(inputs.role("nodes", kind)))
        if matrix is not None:
            tables[role], matrices[kind] = None, matrix
    headers = {name: name for kind in inputs.kinds for name in names_of(kind)}
    return read_tables(
        tables,
        {**headers, **request.columns, **{f"time of {name}": column for name, column in request.time.items()}},
        lambda opened: _assemble(opened, matrices, request, inputs, place),
        limits,
    )


def _assemble(
    tables: dict[str, Table], matrices: Mapping[str, sp.csr_array], request: Request, inputs: Inputs, place: GraphArrays
) -> TableGraph:
    """Tables that are open, as a graph: what exists as of a time, ids, edges, lists of nodes, features; in this order.

    Reading the edges fills what each :class:`EdgeTable` notes and sums up; features of the ends need that.
    """
    columns, target = request.columns, inputs.kinds[0]
    if request.show and inputs.role("nodes", target) not in tables:
        raise PugnnError("there are no columns to show: --show names columns of the node table, and none was given")
    notes = [note for table in tables.values() for note in table.notes]
    clock = Clock(tables, request, inputs)
    tables = clock.tables()
    edge_tables = _edge_tables(tables, request, inputs)
    tables |= _existing_nodes(clock, tables, edge_tables, request, inputs)
    notes += clock.notes
    kinds = read_kinds(tables, matrices, edge_tables, request, inputs)

    relations = read_edges(edge_tables, kinds, request, inputs, place)
    notes += [note for kind in kinds.values() if kind.nodes is not None for note in kind.nodes.notes]
    node_ids, notes_on_ids = keep_ids(kinds, edge_tables, place)
    notes_on_ids += [note for kind in kinds.values() for note in notes_on_spelling(kind.ids, kind.name)]
    nodes, sizes = kinds[target].nodes, {name: len(kind.ids) for name, kind in kinds.items() if len(kinds) > 1}
    usual = nodes.name if nodes is not None else target or None
    listable = ListableNodes(kinds[target].ids, node_ids, usual)
    listed, notes_on_lists, absent = read_lists(tables, request, listable)
    notes += [note for table in edge_tables for note in table.notes] + [*notes_on_ids, *notes_on_lists]

    request.say("building the graph")
    rows, merged, cleaning, notes_on_edges = merge_relations(relations, kinds, request, place)
    several = len(relations) > 1
    del relations
    shown = edge_tables[0].table.shown if len(edge_tables) == 1 else "edges"
    if not cleaning.edges:
        raise PugnnError(f"{shown} contains only self loops; a graph needs edges between different nodes")
    no_features = np.zeros((len(node_ids), 0), np.float32)
    graph = Graph(*rows[:2], no_features, node_ids, rows[2], cleaning=cleaning, relations=merged, kinds=sizes)
    if request.recipe is not None:
        require_names(request.recipe, graph)
    notes += [*notes_on_edges, *notes_on_nodes(kinds, graph.degrees, shown)]

    request.say("making features")
    attributes = {}
    for name, kind in kinds.items():
        attributes[name], notes_on_sparse = kind.attributes(columns["id"], edge_tables[0].table)
        notes += notes_on_sparse
    chosen = _describe_ends(attributes, edge_tables, request, inputs, several=several)
    if request.recipe is None:
        recipe, encoded = learn_recipe(attributes, chosen, graph, place.blocks())
    else:
        recipe, encoded = request.recipe, apply_recipe(request.recipe, attributes, graph, place.blocks())
    notes += encoded.notes
    features = place.keep_features(encoded.blocks, graph.ids)
    graph = replace(graph, features=features, feature_names=encoded.names, recipe=recipe.to_plain())

    task = PUTask.from_positives(graph, listed["positives"]) if "positives" in listed else None
    cells = {} if nodes is None else nodes.cells_as_text(request.show, graph.num_targets)
    later = None if request.then is None else Later(str(request.as_of), str(request.then), absent)
    return TableGraph(graph, task, listed.get("truth"), recipe, tuple(notes), usual, cells, later)


def _edge_tables(tables: Mapping[str, Table], request: Request, inputs: Inputs) -> list[EdgeTable]:
    """The tables of edges; a name of a column is for those of them that have one."""
    opened = [tables[link.role] for link in inputs.links]
    several, columns = len(opened) > 1, request.columns
    found = []
    for link, table in zip(inputs.links, opened, strict=True):
        wanted = {name: wanted_in(table, column, several=several) for name, column in columns.items()}
        chosen = {name: kind for name, kind in request.kinds.items() if name in table.names and kind in CHOICES}
        trained = None if request.recipe is None else _trained_columns(request.recipe, link)
        found.append(EdgeTable(table, wanted, link, directed=request.directed, kinds=chosen, trained=trained))
    for name in ("source", "target", "weight"):
        if several and columns[name] and all(wanted_in(each, columns[name], several=True) is None for each in opened):
            find_column(opened[0], name, columns[name], ())  # which says that it is not there
    return found


def _existing_nodes(
    clock: Clock, tables: Mapping[str, Table], edges: Sequence[EdgeTable], request: Request, inputs: Inputs
) -> dict[str, Table]:
    """Node tables that do not say when, without the nodes whose first edge is later."""
    found = {}
    for kind in inputs.kinds:
        role = inputs.role("nodes", kind)
        if clock.moment is None or role not in tables or clock.knows(role):
            continue
        wanted = wanted_in(tables[role], request.columns["id"], several=kind != ONE_KIND)
        places = {
            each.link.role: [at for at, of in zip(each.ends, each.link.ends, strict=True) if of == kind]
            for each in edges
        }
        later = clock.later(tables[role], id_place(tables[role], wanted, kind), places)
        if later is not None:
            found[role] = only(tables[role], ~later)
    return found


def _trained_columns(recipe: AnyRecipe, link: Link) -> list[EdgeColumn]:
    """The columns of a table of edges that a model was trained with."""
    recipes = [own for kind in dict.fromkeys(link.ends) if (own := recipe.of_kind(kind)) is not None]
    columns = [column for own in recipes for column in own.of_edges]
    mine = {f"{name}{direction}".strip() for name in ("", link.name) for direction in ("", OUT, IN)}
    return [column for column in columns if column.relation in mine or link.name == ""]


def _describe_ends(
    attributes: dict[str, AttributeTable],
    edges: Sequence[EdgeTable],
    request: Request,
    inputs: Inputs,
    *,
    several: bool,
) -> dict[str, dict[str, str]]:
    """Add what edges say of their ends to the attributes of each kind; kinds of columns that are known, by kind.

    Columns have the name of their relation if there are several.
    """
    further = {table.table.names[at] for table in edges for at in table.further}
    for_edges = further & request.kinds.keys()
    chosen = {}
    for kind, own in attributes.items():
        sums = [
            found.renamed(f"{relation if several else ''}{(OUT, IN)[end] if table.directed else ''}".strip())
            for table in edges
            for (relation, end), found in table.sums.items()
            if table.link.ends[end] == kind
        ]
        amounts = dict[str, str]()
        if sums:
            columns, amounts = edge_attributes(sums, own.num_nodes)
            own = attributes[kind] = own.with_edges(columns, tuple(column for each in sums for column in each.of))
        chosen[kind] = amounts
        if request.recipe is None:  # a model knows the kinds of its columns
            wanted = own_kinds(request, inputs, kind)
            named = {name: how for name, how in wanted.items() if name in own.names or name not in for_edges}
            if unread := [name for name, how in wanted.items() if name not in named and how not in CHOICES]:
                raise PugnnError(
                    f"the column {unread[0]!r} of edges cannot be read as {wanted[unread[0]]!r}; a column of edges can "
                    f"be {', '.join(CHOICES)}"
                )
            chosen[kind] |= expand_kinds(named, own.names, own.origin)
    return chosen
