"""The rows of a list of nodes, found in the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError, counted, quoted
from pugnn.store.id_types import positions_of_values
from pugnn.store.ids import EMPTY, UNKNOWN, IdTable, text_column
from pugnn.store.tables.column_names import ID, find_column, normal, require_column
from pugnn.store.tables.table import Table

#: Ids among which one that is spelt like an unknown one is looked for.
_COMPARED = 1_000_000


@dataclass(frozen=True, eq=False)
class ListedRows:
    """The rows of a list: where each id is in the graph, and a label, 1 for those that are meant."""

    table: Table
    column: int  # of the ids
    positions: NDArray[np.int32]
    labels: NDArray[np.float64]
    trimmed: int  # ids that had white space around them before the list was read

    @classmethod
    def of(cls, table: Table, column: int, label: str, ids: IdTable) -> ListedRows:
        """All rows of a table; ``label`` is SQL."""
        trimmed, found, numbers = ids.trimmed, [np.zeros(0, np.int32)], [np.zeros(0)]
        for texts, labels in table.pieces(table.id_text(column), f"({label})::DOUBLE"):
            found.append(ids.find(texts))
            numbers.append(labels.to_numpy())
        return cls(table, column, np.concatenate(found), np.concatenate(numbers), trimmed)

    def reject_empty(self, rows: NDArray[np.int64]) -> None:
        """Raise if one of these rows has no id."""
        empty = np.zeros(len(self.positions), np.bool_)
        empty[rows] = self.positions[rows] == EMPTY
        self.table.reject_cells({"id": empty})

    def nodes(
        self, rows: NDArray[np.int64], ids: IdTable, node_ids: NDArray[Any]
    ) -> tuple[NDArray[np.int64], list[str]]:
        """Positions of the nodes in some rows, and notes; raises for an id that is not in the graph."""
        table, positions = self.table, self.positions[rows]
        notes, unknown = table.trimmed_note(ids, self.trimmed), positions == UNKNOWN
        if unknown.any():
            positions[unknown], protected = _otherwise_written(table, self.column, rows[unknown], ids, node_ids)
            if protected:
                notes.append(
                    f"{table.shown}: the ' before {counted(protected, 'id')} removed, which keeps spreadsheets from "
                    "running a formula"
                )
        return positions.astype(np.int64), notes


def id_column(table: Table, wanted: str | None, usual: str | None) -> int:
    """The place of the column of ids: the one that the user named, or that of the node table, or a usual one."""
    if not table.header:
        return 0 if len(table.names) == 1 else require_column(table.shown, table.names, "id", None, ID)
    present = {normal(name) for name in table.names}
    for name in (wanted, usual):
        if name is not None and normal(name) in present:
            return require_column(table.shown, table.names, "id", name, ())
    find = require_column if len(table.names) > 1 else find_column
    return find(table.shown, table.names, "id", None, ID, first=True) or 0


def _otherwise_written(
    table: Table, column: int, rows: NDArray[np.int64], ids: IdTable, node_ids: NDArray[Any]
) -> tuple[NDArray[np.int32], int]:
    """Positions of ids that are written differently in other tables, and how many of them had a ``'`` before them.

    A run writes one before ids that begin like a formula.
    """
    table.connection.register("unknown_rows", {"row": rows})
    cells = table.connection.execute(
        f"SELECT cell::VARCHAR FROM (SELECT c_{column} AS cell, row_number() OVER () - 1 AS row FROM {table.sql}) "
        f"JOIN unknown_rows USING (row) ORDER BY row"
    ).fetchall()
    texts = [cell.strip() for (cell,) in cells]
    positions = ids.find(text_column([text.removeprefix("'") for text in texts]))
    protected = int((positions >= 0).sum())
    lacking = np.flatnonzero(positions < 0)
    if len(lacking):
        positions[lacking] = positions_of_values([texts[at] for at in lacking], node_ids)
    if (positions < 0).any():
        at = int(np.argmax(positions < 0))
        raise _not_a_node(table, int(rows[at]), texts[at], ids)
    return positions, protected


def _not_a_node(table: Table, row: int, text: str, ids: IdTable) -> PugnnError:
    alike = [other for other in ids.texts(0, _COMPARED) if other.casefold() == text.casefold()]
    looks = f"its ids look like {', '.join(map(quoted, ids.texts(0, 3)))}"
    hint = f"the graph has {quoted(alike[0])}" if alike else looks
    name = "" if table.header or row else ", nor the usual name of a column of ids (id, node, node_id)"
    return PugnnError(
        f"{table.locate(row)}: {quoted(text)} is not a node of the graph{name}; {hint}. Correct it, or remove the row."
    )
