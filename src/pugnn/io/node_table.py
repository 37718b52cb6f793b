"""The node table: its ids get their positions, its other columns become the attributes."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError, counted, quoted
from pugnn.features.attributes import NO_ROWS, Attributes
from pugnn.features.kinds import KINDS_OF_TEXT
from pugnn.features.numbers import Numbers
from pugnn.io.arrow import Batches, Texts
from pugnn.io.columns import ID, find_column, missing_column
from pugnn.io.id_types import IdColumn
from pugnn.io.ids import EMPTY, IdTable
from pugnn.io.numbers import IRREGULAR, numbers_in_text, typed_numbers
from pugnn.io.source import Source, Unreadable

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: Numbers of rows that are compared at once.
_NUMBERS_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class NodeTable:
    """A node table that was read; node *i* of the graph is the *i*-th id in it.

    Args:
        source: where it came from.
        column: its column of ids.
        name: name of that column.
        names: names of the attributes.
        stored: names of those that are in DuckDB's ``node_rows``, as ``a_0``, ``a_1``, ….
        numbers: the others, which are numbers alone; one row per node.
        rows: number of rows.
        count: number of nodes.
        row_of: the row of each node, where rows were merged; ``None`` where row *i* is node *i*.
        notes: what was repaired.
    """

    source: Source
    column: IdColumn
    name: str
    names: tuple[str, ...]
    stored: tuple[str, ...]
    numbers: Numbers
    rows: int
    count: int
    row_of: NDArray[np.int64] | None
    notes: tuple[str, ...]

    def attributes(self, num_nodes: int) -> Attributes:
        """The attributes of a graph's nodes, of which those beyond this table have no row."""
        source = self.source
        # The table itself, not a view of it: with a thousand columns a view takes longer than what is asked of it.
        rows, position = "node_rows", "rowid"
        if not self.stored:
            rows, position = NO_ROWS, "position"
        elif self.row_of is not None:
            rows, position = "node_rows JOIN kept_rows ON first = node_rows.rowid", "position"
        return Attributes(
            source.connection,
            rows,
            self.names,
            source.typed,
            num_nodes,
            source.shown,
            self._locate,
            rows=self.count,
            position=position,
            stored=self.stored,
            numbers=self.numbers,
        )

    def _locate(self, position: int) -> str:
        return self.source.locate(position if self.row_of is None else int(self.row_of[position]))


def no_attributes(connection: DuckDBPyConnection, num_nodes: int, origin: str) -> Attributes:
    """What stands for a node table that was not given."""
    return Attributes(connection, NO_ROWS, (), True, num_nodes, origin, str)


def read_nodes(source: Source, wanted: str | None, table: IdTable, kinds: Mapping[str, str]) -> NodeTable:
    """Read a node table: its ids into ``table``, its columns of numbers, and the others into DuckDB's ``node_rows``.

    Args:
        source: the table.
        wanted: the name of its column of ids, if the user gave one.
        table: empty; takes the ids.
        kinds: kinds of columns, as far as they are known before.
    """
    if not source.header:
        raise PugnnError(f"{source.shown} has no header; a node table needs one that names its columns, one of them id")
    at = find_column(source.shown, source.names, "id", wanted, ID, first=True)
    if at is None:
        raise missing_column(source.shown, source.names, "id", ID)
    others = [i for i in range(len(source.names)) if i != at]
    maybe_numbers = [i for i in others if kinds.get(source.names[i]) not in KINDS_OF_TEXT]
    no_words = {name for name, kind in kinds.items() if kind == "number"}
    if not source.by_column and source.typed:  # such as JSON, which is parsed once
        _store(source)
    with ThreadPoolExecutor(1) as beside:
        # Text is read by a thread of our own; for anything else DuckDB is asked, which does one thing at a time.
        scan = beside.submit(numbers_in_text, source, maybe_numbers, no_words) if source.delimited else None
        positions = _positions(source, at, table)
        numbers = typed_numbers(source, maybe_numbers, len(positions)) if scan is None else scan.result()
    if not len(positions):
        raise PugnnError(f"{source.shown} has no rows; a node table has one for each node")
    if numbers.names and numbers.matrix.shape[0] != len(positions):
        raise Unreadable(source, IRREGULAR)  # DuckDB and we see other rows
    if table.find(Texts.of([source.names[at]]))[0] >= 0:
        source.look_for_headers()
    if table.empty:
        row = int(np.argmax(positions == EMPTY))
        raise PugnnError(f"{source.locate(row)}: the id is empty. Fill it in, or remove the row.")
    stored = [i for i in others if source.names[i] not in numbers.places]
    if stored:
        columns = ", ".join(f"c_{i} AS a_{place}" for place, i in enumerate(stored))
        with source.reading():
            source.connection.execute(f"CREATE OR REPLACE TABLE node_rows AS SELECT {columns} FROM {source.table}")
    notes = []
    if table.trimmed:
        notes.append(f"{source.shown}: white space around {counted(table.trimmed, 'id')} left out")
    row_of = None
    if len(table) < len(positions):
        row_of = _merge(source, positions, len(stored), numbers, table)
        left_out = counted(len(positions) - len(table), "row")
        notes.append(f"{source.shown}: {left_out} left out, with the same id and the same attributes as one before")
        source.connection.register("kept_rows", {"first": row_of, "position": np.arange(len(row_of))})
        numbers = numbers.of_rows(row_of)
    return NodeTable(
        source,
        source.id_column(at),
        source.names[at],
        tuple(source.names[i] for i in others),
        tuple(source.names[i] for i in stored),
        numbers,
        len(positions),
        len(table),
        row_of,
        tuple(notes),
    )


def _store(source: Source) -> None:
    with source.reading():
        source.connection.execute(f"CREATE OR REPLACE TABLE read_once AS SELECT * FROM {source.table}")
    source.table, source.by_column = "read_once", True


def _positions(source: Source, at: int, table: IdTable) -> NDArray[np.int32]:
    """The positions of the ids in all rows, as ``table`` gives them."""
    ids = f"SELECT {source.id_text(at)} FROM {source.table}"
    with source.reading(), closing(Batches(source.connection.sql(ids))) as stream:
        positions = [table.add(texts) for (texts,), _ in stream]
    return np.concatenate([np.zeros(0, np.int32), *positions])


def _merge(
    source: Source, positions: NDArray[np.int32], stored: int, numbers: Numbers, table: IdTable
) -> NDArray[np.int64]:
    """The first row of each node, once it is sure that its other rows say the same."""
    highest = np.maximum.accumulate(positions)
    is_first = np.concatenate([[True], positions[1:] > highest[:-1]])  # positions are given in order of appearance
    first = np.flatnonzero(is_first)
    again = np.flatnonzero(~is_first)
    before = first[positions[again]]
    conflicts = []
    if stored:
        source.connection.register("repeats", {"again": again, "first": before})
        differs = " OR ".join(f"one.a_{i} IS DISTINCT FROM other.a_{i}" for i in range(stored))
        conflicts = source.connection.execute(
            f"SELECT again, first FROM repeats JOIN node_rows AS one ON one.rowid = again "
            f"JOIN node_rows AS other ON other.rowid = first WHERE {differs} ORDER BY again LIMIT 1"
        ).fetchall()
    rows = numbers.matrix.tocsr()
    at_once = max(1, _NUMBERS_AT_ONCE // max(len(numbers.names), 1))
    for start in range(0, len(again) if numbers.names else 0, at_once):
        at = slice(start, start + at_once)
        one, other = rows[again[at]].toarray(), rows[before[at]].toarray()
        wrong = ((one != other) & ~(np.isnan(one) & np.isnan(other))).any(axis=1)
        conflicts += [(int(again[at][row]), int(before[at][row])) for row in np.flatnonzero(wrong)[:1]]
    if conflicts:
        again_row, first_row = min(conflicts)
        position = int(positions[again_row])
        (node_id,) = table.texts(position, position + 1)
        raise PugnnError(
            f"{source.locate(again_row)}: id {quoted(node_id)} stands in {source.locate(first_row)} already, with "
            "other attributes. Remove one of the rows, or give it another id."
        )
    return first
