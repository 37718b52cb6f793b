"""The node table: its ids get their positions, its other columns become the attributes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError, counted
from pugnn.tables.arrow import Batches
from pugnn.tables.attributes import Attributes
from pugnn.tables.columns import ID, find_column, missing_column
from pugnn.tables.id_types import IdColumn, text_of
from pugnn.tables.ids import EMPTY, IdTable
from pugnn.tables.source import Source
from pugnn.tables.wording import quoted

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
        # The table itself, not a view of it: with a thousand columns a view takes longer than what is asked of it.
        rows, position = "node_rows", "rowid"
        if self.row_of is not None:
            rows, position = "node_rows JOIN kept_rows ON first = node_rows.rowid", "position"
        return Attributes(
            source.connection, rows, self.names, source.typed, num_nodes, source.shown, self._locate, position
        )

    def _locate(self, position: int) -> str:
        return self.source.locate(position if self.row_of is None else int(self.row_of[position]))


def no_attributes(connection: DuckDBPyConnection, num_nodes: int) -> Attributes:
    """What stands for a node table that was not given."""
    return Attributes(connection, "nodes", (), True, num_nodes, "nodes", str)


def read_nodes(source: Source, wanted: str | None, table: IdTable) -> NodeTable:
    """Read a node table: its ids into ``table``, its attributes into DuckDB's ``node_rows``.

    Args:
        source: the table.
        wanted: the name of its column of ids, if the user gave one.
        table: empty; takes the ids.
    """
    at = find_column(source.shown, source.names, "id", wanted, ID, first=True)
    if at is None:
        raise missing_column(source.shown, source.names, "id", ID)
    others = [i for i in range(len(source.names)) if i != at]
    rows, positions = _positions(source, at, others, table)
    if not rows:
        raise PugnnError(f"{source.shown} has no rows; a node table has one for each node")
    if table.empty:
        row = int(np.argmax(positions == EMPTY))
        raise PugnnError(f"{source.locate(row)}: the id is empty. Fill it in, or remove the row.")
    notes = []
    if table.trimmed:
        notes.append(f"{source.shown}: white space around {counted(table.trimmed, 'id')} left out")
    row_of = None
    if len(table) < rows:
        row_of = _merge(source, positions, len(others), table)
        left_out = counted(rows - len(table), "row")
        notes.append(f"{source.shown}: {left_out} left out, with the same id and the same attributes as one before")
        source.connection.register("kept_rows", {"first": row_of, "position": np.arange(len(row_of))})
    names = tuple(source.names[i] for i in others)
    return NodeTable(source, source.id_column(at), source.names[at], names, len(table), row_of, tuple(notes))


def _positions(source: Source, at: int, others: list[int], table: IdTable) -> tuple[int, NDArray[np.int32]]:
    """Put the attributes into DuckDB's ``node_rows``; returns the number of rows and the positions of their ids."""
    connection, cursor = source.connection, source.connection.cursor()
    id_text = text_of(f"c_{at}", source.types[at], f"{source.shown}, column {source.names[at]!r}")
    attributes = [f"c_{i} AS a_{place}" for place, i in enumerate(others)]

    def store(columns: list[str]) -> None:
        connection.execute(f"CREATE OR REPLACE TABLE node_rows AS SELECT {', '.join(columns)} FROM {source.table}")

    with ThreadPoolExecutor(1) as beside, source.reading():
        if source.by_column:  # ids get their positions while attributes are stored
            ids = f"SELECT {id_text} FROM {source.table}"
            stored = beside.submit(store, attributes or ["NULL"])
        else:
            ids = "SELECT id FROM node_rows"
            stored = beside.submit(store, [f"{id_text} AS id", *attributes])
            stored.result()
        ((rows,),) = cursor.execute(f"SELECT count(*) FROM ({ids})").fetchall()
        table.reserve(rows)
        with closing(Batches(cursor.sql(ids))) as stream:
            positions = [table.add(texts) for (texts,), _ in stream]
        stored.result()
    return rows, np.concatenate([np.zeros(0, np.int32), *positions])


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
