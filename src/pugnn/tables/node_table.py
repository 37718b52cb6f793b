"""The node table: its ids get their positions, its other columns become the attributes."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.tables.arrow import batches
from pugnn.tables.attributes import Attributes
from pugnn.tables.columns import ID, find_column, missing_column
from pugnn.tables.id_types import IdColumn, text_of
from pugnn.tables.ids import EMPTY, IdTable
from pugnn.tables.source import Source
from pugnn.tables.wording import counted, quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True, eq=False)
class NodeTable:
    """A node table that was read; node *i* of the graph is the *i*-th id in it.

    Args:
        source: where it came from.
        column: its column of ids.
        name: name of that column.
        names: names of the attributes.
        count: number of nodes.
        row_of: the row of each node, where rows were merged; ``None`` where row *i* is node *i*.
        notes: what was repaired.
    """

    source: Source
    column: IdColumn
    name: str
    names: tuple[str, ...]
    count: int
    row_of: NDArray[np.int64] | None
    notes: tuple[str, ...]

    def attributes(self, num_nodes: int) -> Attributes:
        """The attributes of a graph's nodes, of which those beyond this table have none."""
        source = self.source
        return Attributes(source.connection, "nodes", self.names, source.typed, num_nodes, source.shown, self._locate)

    def _locate(self, position: int) -> str:
        return self.source.locate(position if self.row_of is None else int(self.row_of[position]))


def no_attributes(connection: DuckDBPyConnection, num_nodes: int) -> Attributes:
    """What stands for a node table that was not given."""
    return Attributes(connection, "nodes", (), True, num_nodes, "nodes", str)


def read_nodes(source: Source, wanted: str | None, table: IdTable) -> NodeTable:
    """Read a node table: its ids into ``table``, its attributes into DuckDB's ``nodes``, ready for :class:`Attributes`.

    Args:
        source: the table.
        wanted: the name of its column of ids, if the user gave one.
        table: empty; takes the ids.
    """
    at = find_column(source.shown, source.names, "id", wanted, ID, first=True)
    if at is None:
        raise missing_column(source.shown, source.names, "id", ID)
    others = [i for i in range(len(source.names)) if i != at]
    id_text = text_of(f"c_{at}", source.types[at], f"{source.shown}, column {source.names[at]!r}")
    attributes = "".join(f", c_{i} AS a_{place}" for place, i in enumerate(others))
    execute = source.connection.execute
    with source.reading():
        execute(f"CREATE OR REPLACE TABLE node_rows AS SELECT {id_text} AS id{attributes} FROM {source.table}")
    rows = execute("SELECT count(*) FROM node_rows").fetchall()[0][0]
    if not rows:
        raise PugnnError(f"{source.shown} has no rows; a node table has one for each node")
    table.reserve(rows)
    with closing(batches(source.connection.sql("SELECT id FROM node_rows"))) as stream:
        positions = np.concatenate([table.add(ids) for (ids,), _ in stream])
    if (positions == EMPTY).any():
        row = int(np.argmax(positions == EMPTY))
        raise PugnnError(f"{source.locate(row)}: the id is empty. Fill it in, or remove the row.")
    notes = []
    if table.trimmed:
        notes.append(f"{source.shown}: white space around {counted(table.trimmed, 'id')} left out")
    row_of, positioned = None, "SELECT rowid AS position, * EXCLUDE (id) FROM node_rows"
    if len(table) < rows:
        row_of = _merge(source, positions, len(others), table)
        left_out = counted(rows - len(table), "row")
        notes.append(f"{source.shown}: {left_out} left out, with the same id and the same attributes as one before")
        source.connection.register("kept_rows", {"first": row_of, "position": np.arange(len(row_of))})
        positioned = (
            "SELECT position, * EXCLUDE (id, first, position) FROM node_rows JOIN kept_rows ON first = node_rows.rowid"
        )
    execute(f"CREATE OR REPLACE VIEW nodes AS {positioned}")
    column = IdColumn(source.shown, source.types[at], source.typed)
    return NodeTable(
        source, column, source.names[at], tuple(source.names[i] for i in others), len(table), row_of, tuple(notes)
    )


def _merge(source: Source, positions: NDArray[np.int32], attributes: int, table: IdTable) -> NDArray[np.int64]:
    """The first row of each node, once it is sure that its other rows say the same."""
    highest = np.maximum.accumulate(positions)
    is_first = np.concatenate([[True], positions[1:] > highest[:-1]])  # positions are given in order of appearance
    first = np.flatnonzero(is_first)
    again = np.flatnonzero(~is_first)
    source.connection.register("repeats", {"again": again, "first": first[positions[again]]})
    differs = " OR ".join(f"one.a_{i} IS DISTINCT FROM other.a_{i}" for i in range(attributes)) or "false"
    conflicts = source.connection.execute(
        f"SELECT again, first FROM repeats JOIN node_rows AS one ON one.rowid = again "
        f"JOIN node_rows AS other ON other.rowid = first WHERE {differs} ORDER BY again LIMIT 1"
    ).fetchall()
    if conflicts:
        again_row, first_row = conflicts[0]
        position = int(positions[again_row])
        (node_id,) = table.texts(position, position + 1)
        raise PugnnError(
            f"{source.locate(again_row)}: id {quoted(node_id)} stands in {source.locate(first_row)} already, with "
            "other attributes. Remove one of the rows, or give it another id."
        )
    return first
