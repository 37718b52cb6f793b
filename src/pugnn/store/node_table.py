"""The node table: its ids get their positions, its other columns become attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError, counted, quoted
from pugnn.features.attribute_table import NO_ROWS, AttributeTable, is_number_type
from pugnn.features.kinds import needs_text
from pugnn.features.number_columns import MatrixColumns, NumberColumns, ReadColumns
from pugnn.store.id_types import IdColumn
from pugnn.store.ids import EMPTY, IdTable, text_column
from pugnn.store.tables.column_names import ID, find_column, names_of, require_column
from pugnn.store.tables.number_scan import MAYBE, OTHER_NUMBERS, Irregular, scan_numbers, stack_columns
from pugnn.store.tables.table import Table, Unreadable

#: Columns of a query: DuckDB takes more than twice as long for twice as many.
_COLUMNS_AT_ONCE = 1000

_IRREGULAR = "its rows do not all have the same form"


@dataclass(frozen=True, eq=False)
class NodeTable:
    """A node table that was read; node *i* of the graph is the *i*-th distinct id in it."""

    table: Table  # the table
    column: IdColumn  # its column of ids
    name: str  # name of that column
    names: tuple[str, ...]  # names of the attributes
    stored: tuple[str, ...]  # names of those that are in DuckDB's ``node_rows``, as ``a_0``, ``a_1``, …
    numbers: NumberColumns  # the others, which are purely numeric; one row per node
    rows: int  # number of rows
    count: int  # number of nodes
    row_of: NDArray[np.int64] | None  # the row of each node, if rows were merged; ``None`` if row *i* is node *i*
    notes: tuple[str, ...]  # what was repaired

    def attributes(self, num_nodes: int) -> AttributeTable:
        """The attributes of a graph's nodes, of which those beyond this table have no row."""
        # Not a view: with a thousand columns one takes longer than the queries.
        rows, position = "node_rows", "rowid"
        if not self.stored:
            rows, position = NO_ROWS, "position"
        elif self.row_of is not None:
            rows, position = "node_rows JOIN kept_rows ON first = node_rows.rowid", "position"
        return AttributeTable(
            self.table.connection,
            rows,
            self.names,
            self.table.typed,
            num_nodes,
            self.table.shown,
            self._locate,
            rows=self.count,
            position=position,
            stored=self.stored,
            numbers=self.numbers,
        )

    def cells_as_text(self, wanted: Sequence[str], num_nodes: int) -> dict[str, NDArray[Any]]:
        """The cells of some columns as they are in the table, one per node of a graph; empty where there is none."""
        places = [find_column(self.table, "show", name, ()) for name in wanted]
        pieces = list(self.table.pieces(*(f"c_{at}::VARCHAR AS s_{at}" for at in places))) if places else []
        found = {}
        for number, at in enumerate(places):
            assert at is not None
            texts = np.array([text or "" for piece in pieces for text in piece[number].to_pylist()], dtype=object)
            texts = texts if self.row_of is None else texts[self.row_of]
            found[self.table.names[at]] = np.concatenate([texts, np.full(num_nodes - len(texts), "", dtype=object)])
        return found

    def _locate(self, position: int) -> str:
        return self.table.locate(position if self.row_of is None else int(self.row_of[position]))


def read_nodes(table: Table, wanted: str | None, ids: IdTable, kinds: Mapping[str, str], kind: str = "") -> NodeTable:
    """Read a node table: its ids into ``ids``, its numeric columns, and the others into DuckDB's ``node_rows``.

    ``wanted`` is the user's name of the column of ids, ``kinds`` has the kinds of columns that are known, and ``kind``
    is that of the nodes if there are several.
    """
    at = id_place(table, wanted, kind)
    others = [i for i in range(len(table.names)) if i != at]
    maybe_numbers = [i for i in others if not needs_text(kinds.get(table.names[i]))]
    if not table.by_column and table.typed:  # such as JSON, which is parsed once
        with table.reading():
            table.connection.execute(f"CREATE OR REPLACE TEMP TABLE read_once AS SELECT * FROM {table.sql}")
        table.sql, table.by_column = "read_once", True
    numbers = _numbers_in_text(table, maybe_numbers, kinds) if table.delimited else _typed_numbers(table, maybe_numbers)
    stored = [i for i in others if table.names[i] not in numbers.places]
    columns = [f"c_{i} AS a_{place}" for place, i in enumerate(stored)]
    id_text, id_sql = ids.sql(table, at), table.sql
    if not table.by_column:  # so that the text is parsed once for all of these columns
        columns.append(f"{id_text} AS id")
        id_text, id_sql = "id", "node_rows"
    if columns:
        with table.reading():
            table.connection.execute(
                f"CREATE OR REPLACE TEMP TABLE node_rows AS SELECT {', '.join(columns)} FROM {table.sql}"
            )
    found = [ids.add(texts)[0] for (texts,) in table.pieces(id_text, sql=id_sql)]
    positions = np.concatenate([np.zeros(0, np.int32), *found])
    if not len(positions):
        raise PugnnError(f"{table.shown} has no rows; a node table has one for each node")
    if numbers.names and numbers.rows != len(positions):
        raise Unreadable(table, _IRREGULAR)  # DuckDB sees other rows
    if ids.find(text_column([table.names[at]]))[0] >= 0:
        table.look_for_headers()
    table.reject_cells({"id": positions == EMPTY})
    notes, row_of = table.trimmed_note(ids.trimmed), None
    if len(ids) < len(positions):
        row_of = _first_rows(table, positions, len(stored), numbers, ids)
        repeats = counted(len(positions) - len(ids), "row")
        notes.append(f"{table.shown}: {repeats} skipped, with the same id and attributes as an earlier one")
        table.connection.register("kept_rows", {"first": row_of, "position": np.arange(len(row_of))})
        numbers = numbers.of_rows(row_of)
    return NodeTable(
        table,
        table.id_column(at),
        table.names[at],
        tuple(table.names[i] for i in others),
        tuple(table.names[i] for i in stored),
        numbers,
        len(positions),
        len(ids),
        row_of,
        tuple(notes),
    )


def id_place(table: Table, wanted: str | None, kind: str = "") -> int:
    """The place of the column of ids in a node table; it may have the name of the kind of its nodes."""
    if not table.header:
        raise PugnnError(f"{table.shown} has no header; a node table needs one that names its columns, one of them id")
    return require_column(table, "id", wanted, (*ID, *names_of(kind)), first=True)


def _first_rows(
    table: Table, positions: NDArray[np.int32], stored: int, numbers: NumberColumns, ids: IdTable
) -> NDArray[np.int64]:
    """The first row of each node; an error if its other rows differ."""
    first = np.unique(positions, return_index=True)[1]
    again = np.delete(np.arange(len(positions)), first)
    before = first[positions[again]]
    conflicts = []
    if stored:
        table.connection.register("repeats", {"again": again, "first": before})
        differs = " OR ".join(f"one.a_{i} IS DISTINCT FROM other.a_{i}" for i in range(stored))
        conflicts = table.connection.execute(
            f"SELECT again, first FROM repeats JOIN node_rows AS one ON one.rowid = again "
            f"JOIN node_rows AS other ON other.rowid = first WHERE {differs} ORDER BY again LIMIT 1"
        ).fetchall()
    for name in numbers.names:
        column = numbers.column(name)
        one, other = column[again], column[before]
        wrong = (one != other) & ~(np.isnan(one) & np.isnan(other))
        conflicts += [(int(again[at]), int(before[at])) for at in np.flatnonzero(wrong)[:1]]
    if conflicts:
        again_row, first_row = min(conflicts)
        position = int(positions[again_row])
        (node_id,) = ids.texts(position, position + 1)
        raise PugnnError(
            f"{table.locate(again_row)}: id {quoted(node_id)} is already in {table.locate(first_row)}, with other "
            "attributes. Remove one of the rows, or give it another id."
        )
    return first


def _numbers_in_text(table: Table, places: Sequence[int], kinds: Mapping[str, str]) -> NumberColumns:
    """The purely numeric ones of the columns at these places of a table in delimited text.

    ``true`` and the like count as 1 and 0, except in columns whose kind is ``number`` or ``amount``.
    """
    known = np.zeros(len(table.names), dtype=np.uint8)
    for at in places:
        known[at] = MAYBE | OTHER_NUMBERS if kinds.get(table.names[at]) in ("number", "amount") else MAYBE
    blocks = []
    for file in table.delimited:
        delimiter, header = file.dialect
        try:
            blocks += scan_numbers(file.readable.chunks(), delimiter, known, header=header)
        except Irregular:
            raise Unreadable(table, _IRREGULAR) from None
    kept = np.flatnonzero(known)
    numbers = MatrixColumns(tuple(table.names[at] for at in kept), stack_columns(blocks, kept))
    return numbers if table.kept is None else numbers.of_rows(table.kept())


def _typed_numbers(table: Table, places: Sequence[int]) -> NumberColumns:
    """The purely numeric ones of the columns at these places of a table with types."""
    numeric = {
        table.names[at]: f"c_{at}::DOUBLE"
        for at in places
        if table.types[at] == "BOOLEAN" or is_number_type(table.types[at])
    }

    def read(names: Sequence[str]) -> dict[str, NDArray[np.float64]]:
        found: dict[str, NDArray[np.float64]] = {}
        for first in range(0, len(names), _COLUMNS_AT_ONCE):
            some = names[first : first + _COLUMNS_AT_ONCE]
            query = ", ".join(f"{numeric[name]} AS n_{at}" for at, name in enumerate(some))
            with table.reading():
                columns = table.connection.execute(f"SELECT {query} FROM {table.sql}").fetchnumpy()
            found |= {name: np.ma.filled(columns.pop(f"n_{at}"), np.nan) for at, name in enumerate(some)}
        return found

    ((rows,),) = table.query("count(*)")
    return ReadColumns(tuple(numeric), rows, read).finite()
