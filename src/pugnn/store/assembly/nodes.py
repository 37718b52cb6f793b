"""The nodes of a graph by kind: their ids, node tables and attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.errors import PugnnError, counted, quoted, similar
from pugnn.features.attribute_table import NO_ROWS, AttributeTable
from pugnn.features.kinds import chosen_kinds
from pugnn.graph.stored import find_in
from pugnn.store.arguments import Request
from pugnn.store.assembly.input_tables import ONE_KIND, Inputs
from pugnn.store.assembly.places import GraphArrays
from pugnn.store.edge_table import EdgeTable
from pugnn.store.id_types import INTEGER_TYPES, integers_in_text
from pugnn.store.ids import Ids, IdTable
from pugnn.store.node_table import NodeTable, id_place, read_nodes
from pugnn.store.sparse_attributes import long_attributes, matrix_attributes
from pugnn.store.tables.column_names import places_of
from pugnn.store.tables.table import Table

#: So many ids of a kind are looked for among those of another one.
MAX_COMPARED = 1000
#: Names that are as similar as this may be the same one, misspelt.
ALIKE = 0.75


@dataclass(eq=False)
class KindOfNodes:
    """The nodes of one kind; all nodes if there is one."""

    name: str
    ids: IdTable  # to which those are added that only occur in edges
    nodes: NodeTable | None  # their table
    sparse: Table | None  # their attributes apart from it, as a table
    matrix: sp.csr_array | None  # or as a matrix

    def attributes(self, wanted: str | None, other: Table) -> tuple[AttributeTable, list[str]]:
        """All attributes: those of the node table and those given in sparse form; and notes.

        ``wanted`` is the user's name of columns of ids; any ``other`` table knows the connection to DuckDB.
        """
        size = len(self.ids)
        if self.nodes is None:
            nodes = f"nodes of the kind {self.name}" if self.name else "nodes"
            origin = nodes if self.sparse is None else self.sparse.shown
            attributes = AttributeTable(other.connection, NO_ROWS, (), True, size, origin, str)
        else:
            attributes = self.nodes.attributes(size)
        if self.matrix is not None:
            assert self.nodes is not None
            return attributes.beside(matrix_attributes(self.matrix, self.nodes)), []
        if self.sparse is None:
            return attributes, []
        sparse, notes = long_attributes(self.sparse, wanted, self.ids, self.name)
        return attributes.beside(sparse), notes


def read_kinds(
    tables: Mapping[str, Table],
    matrices: Mapping[str, sp.csr_array],
    edges: Sequence[EdgeTable],
    request: Request,
    inputs: Inputs,
) -> dict[str, KindOfNodes]:
    """The kinds of nodes with the ids in their node tables, the target first."""
    found = {}
    for kind in inputs.kinds:
        table, nodes = tables.get(inputs.role("nodes", kind)), None
        wanted = wanted_in(table, request.columns["id"], several=kind != ONE_KIND)
        ids = _new_ids(edges, table, wanted) if kind == ONE_KIND else IdTable()
        if table is not None:
            request.say(f"reading {table.shown}")
            nodes = read_nodes(table, wanted, ids, _known_kinds(table, request, inputs, kind), kind)
        found[kind] = KindOfNodes(kind, ids, nodes, tables.get(inputs.role("attributes", kind)), matrices.get(kind))
    return found


def wanted_in(table: Table | None, name: str | None, *, several: bool) -> str | None:
    """The user's name of a column for this table: of several tables, it is for those that have such a column."""
    if name is None or table is None or not several or places_of(name, table.names):
        return name
    return None


def own_kinds(request: Request, inputs: Inputs, kind: str) -> dict[str, str]:
    """Kinds of columns that the user chose, for the nodes of one kind: ``item.price`` is a column of items."""
    found = {}
    for name, chosen in request.kinds.items():
        before, dot, column = name.partition(".")
        if dot and before in inputs.kinds:
            if before == kind:
                found[column] = chosen
        elif kind == inputs.kinds[0]:
            found[name] = chosen
    return found


def keep_ids(
    kinds: Mapping[str, KindOfNodes], edges: Sequence[EdgeTable], place: GraphArrays
) -> tuple[NDArray[Any], list[str]]:
    """The ids of all nodes, and notes.

    With several kinds all are text: those of the target as they are, others after the name of their kind.
    """
    first, *others = kinds.values()
    if not others:
        columns = [column for table in edges for column in table.columns]
        listed = 0 if first.nodes is None else first.nodes.count
        return place.keep_ids(first.ids, columns if first.nodes is None else [first.nodes.column, *columns], listed)
    texts = [first.ids.arrow]
    for kind in others:
        before, nothing = (pa.scalar(text, pa.large_string()) for text in (f"{kind.name}:", ""))
        named = pc.binary_join_element_wise(before, kind.ids.arrow, nothing)
        same = find_in(first.ids.arrow, named)
        if (same >= 0).any():
            name = named[int((same >= 0).argmax())].as_py()
            raise PugnnError(
                f"{quoted(name)} is the id of a node of the kind {first.name!r}, but also how nodes of the kind "
                f"{kind.name!r} are named, KIND:ID. Give the kind another name."
            )
        texts.append(named)
    names = ", ".join(f"{kind.name}:ID" for kind in others)
    named_so = f"ids are text: those of {first.name} as they are, others as {names}"
    return place.keep_ids(Ids(pa.concat_arrays(texts)), (), 0)[0], [named_so, *_notes_on_shared_ids(kinds.values())]


def _notes_on_shared_ids(kinds: Iterable[KindOfNodes]) -> list[str]:
    """Kinds that have most of their ids in common, and so may be one; numbers, from 1 on, say nothing."""
    notes = []
    for pair in combinations(kinds, 2):
        less, more = pair if len(pair[0].ids) < len(pair[1].ids) else pair[::-1]
        ids, others = less.ids.arrow, more.ids.arrow
        some = ids.take(pa.array(np.linspace(0, len(ids) - 1, MAX_COMPARED, dtype=np.int64)))  # all is slow
        numbers = not integers_in_text(some).null_count
        if numbers and not similar(less.name, [more.name], cutoff=ALIKE):
            continue
        if 2 * np.count_nonzero(find_in(others, some) >= 0) < len(some):
            continue
        common = f"{np.count_nonzero(find_in(others, ids) >= 0):,} of {counted(len(ids), 'id')}"
        notes.append(
            f"{common} of {less.name!r} are also ids of {more.name!r}; they are different nodes. Is one of the kinds "
            "misspelt, or are columns swapped?"
        )
    return notes


def notes_on_nodes(kinds: Mapping[str, KindOfNodes], degrees: NDArray[np.int64], shown: str) -> list[str]:
    """Which nodes lack a row in their table, or an edge; ``shown`` names the edges."""
    notes, first = [], 0
    for kind in kinds.values():
        size = len(kind.ids)
        if kind.nodes is not None:
            table, bare = kind.nodes.table.shown, int((degrees[first : first + size] == 0).sum())
            if size > kind.nodes.count:
                missing = "; all attributes are missing there" if kind.nodes.names else ""
                rowless = counted(size - kind.nodes.count, "node")
                notes.append(f"{shown}: {rowless} with no row in {table}{missing}")
            if bare:
                notes.append(f"{table}: {counted(bare, 'node')} with no edge; kept")
        first += size
    return notes


def _new_ids(edges: Sequence[EdgeTable], nodes: Table | None, id_name: str | None) -> IdTable:
    """An empty table for ids: of integers if all tables have them, otherwise of text."""
    types = [each.table.types[at] for each in edges for at in each.ends]
    if nodes is not None:
        types.append(nodes.types[id_place(nodes, id_name)])
    return IdTable(integers=INTEGER_TYPES.issuperset(types))


def _known_kinds(nodes: Table, request: Request, inputs: Inputs, kind: str) -> Mapping[str, str]:
    """The kinds of columns of a node table that are known: as in the recipe, or chosen by the user."""
    if request.recipe is None:
        return chosen_kinds(own_kinds(request, inputs, kind), nodes.names)
    recipe = request.recipe.of_kind(kind)
    return {} if recipe is None else {encoding.column: encoding.name for encoding in recipe.encodings}
