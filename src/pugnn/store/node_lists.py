"""Lists of nodes: known positives, true ones and checked ones, perhaps with a column that labels the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import EmptyTableError, PugnnError, counted, quoted, reject_all
from pugnn.store.arguments import Request
from pugnn.store.id_types import positions_of_values
from pugnn.store.ids import EMPTY, UNKNOWN, Ids, text_column
from pugnn.store.tables.column_names import ID, find_column, places_of, require_column
from pugnn.store.tables.label_column import NEITHER, label_column, label_sql
from pugnn.store.tables.table import Table

#: Lists of nodes, and what they contain.
_LISTS = {"positives": "positives", "truth": "true positives"}

#: Ids among which one that is spelt like an unknown one is looked for.
_COMPARED = 1_000_000


@dataclass(frozen=True, eq=False)
class ListableNodes:
    """The nodes that a list may name."""

    ids: Ids  # among which those of a list are looked up
    all_ids: NDArray[Any]  # of all nodes as they are in the graph, those of other kinds last
    column: str | None  # name of the column of ids in the node table, if there is one


def read_lists(
    tables: Mapping[str, Table], request: Request, nodes: ListableNodes
) -> tuple[dict[str, NDArray[np.int64]], list[str], int]:
    """Positions of the known and of the true positives, if they were given, and notes; see :func:`read_node_list`.

    As of a moment, lists may name nodes that do not exist yet; these are skipped, and last comes the number of true
    positives among them that are not listed as known.
    """
    wanted = request.columns
    listed: dict[str, NDArray[np.int64]] = {}
    notes: list[str] = []
    absent = {role: None if request.as_of is None else set[str]() for role in _LISTS}
    if wanted["label"] is not None and all(len(tables[role].names) == 1 for role in _LISTS if role in tables):
        raise PugnnError(
            f"--label names the column {wanted['label']!r} of known or true positives, but those lists "
            "contain only a column of ids. Leave it out; verdicts on checked nodes go with --checked, without --label."
        )
    for role, what in _LISTS.items():
        if role in tables:
            request.say(f"reading {tables[role].shown}")
            table, unknown = tables[role], absent[role]
            listed[role], notes_on_list = read_node_list(table, wanted, nodes, what, unknown)
            notes += notes_on_list
            if unknown:
                gone = f"{counted(len(unknown), 'id')} of {what} not in the graph as of {request.as_of}; skipped"
                notes.append(f"{table.shown}: {gone}")
    if len(listed) == 2:
        positive = np.union1d(listed["positives"], listed["truth"])
        lacking = len(positive) - len(listed["truth"])
        if lacking:
            added = counted(lacking, "known positive")
            notes.append(f"{tables['truth'].shown}: lacks {added}, which count as true positives")
        listed["truth"] = positive
    return listed, notes, len((absent["truth"] or set()) - (absent["positives"] or set()))


def read_node_list(
    table: Table, wanted: Mapping[str, str | None], nodes: ListableNodes, what: str, absent: set[str] | None = None
) -> tuple[NDArray[np.int64], list[str]]:
    """Sorted positions of the nodes in a list, and notes; ``what`` says what the nodes are, such as ``positives``.

    ``wanted`` has the user's names of the columns ``id`` and ``label``. Ids that are not in the graph are an error, or
    else added to ``absent``.
    """
    column = id_column(table, wanted["id"], nodes)
    if table.bare:
        _reject_vector(table, what)
    label = label_column(table, column, wanted["label"], what)
    rows = ListedRows.read(table, column, label, nodes, minus=True)
    notes = [] if table.header else [f"{table.shown}: has no header; its first line is read as an id"]
    taken = np.flatnonzero(rows.labels == 1)
    if not len(taken):
        raise EmptyTableError(f"{table.shown} names no {what}; at least one is needed")
    if label is not None:
        chosen = f"{len(taken):,} of {counted(len(rows.labels), 'row')}"
        notes.append(f"{table.shown}: column {table.names[label]!r} says which rows are {what}: {chosen}")
    positions, more = rows.find(taken, absent)
    taken = taken[positions >= 0]
    unique = np.unique(positions[positions >= 0])
    if len(unique) == len(nodes.ids):
        raise PugnnError(f"{table.shown} names all {len(unique):,} nodes; there is nothing left to find")
    if len(unique) < len(taken):
        more.append(f"{table.shown}: {counted(len(taken) - len(unique), 'row')} with a repeated id skipped")
    return unique, notes + more


@dataclass(frozen=True, eq=False)
class ListedRows:
    """The rows of a list: where each id is in the graph, and a label: 1 for yes, 0 for no, NaN if it is empty."""

    table: Table
    column: int  # of the ids
    nodes: ListableNodes
    positions: NDArray[np.int64]
    labels: NDArray[np.float64]
    trimmed: int  # ids that have white space around them

    @classmethod
    def read(
        cls, table: Table, column: int, label: int | None, nodes: ListableNodes, *, minus: bool = False
    ) -> ListedRows:
        """All rows of a table. Without a column of labels, all say yes; ``minus`` allows −1 for no."""
        before, found, numbers = nodes.ids.trimmed, [np.zeros(0, np.int64)], [np.zeros(0)]
        says = "1.0" if label is None else label_sql(table, label, minus=minus)
        for texts, labels in table.pieces(table.id_text(column), f"({says})::DOUBLE"):
            found.append(nodes.ids.find(texts))
            numbers.append(labels.to_numpy())
        positions, trimmed = np.concatenate(found), nodes.ids.trimmed - before
        rows = cls(table, column, nodes, positions, np.concatenate(numbers), trimmed)
        if label is not None:
            rows._reject_bad_labels(label)
        return rows

    def find(self, rows: NDArray[np.int64], absent: set[str] | None = None) -> tuple[NDArray[np.int64], list[str]]:
        """Positions of the nodes in some rows, and notes; raises for an id that is empty, or not in the graph.

        With ``absent``, the latter are added to it, and have a negative position.
        """
        positions = self.positions[rows]
        empty = np.zeros(len(self.positions), np.bool_)
        empty[rows] = positions == EMPTY
        self.table.reject_cells({"id": empty})
        notes, unknown = self.table.trimmed_note(self.trimmed), positions == UNKNOWN
        if unknown.any():
            positions[unknown], protected = self._otherwise_written(rows[unknown], absent)
            if protected:
                notes.append(
                    f"{self.table.shown}: the ' before {counted(protected, 'id')} removed, which keeps spreadsheets "
                    "from running a formula"
                )
        return positions, notes

    def _reject_bad_labels(self, label: int) -> None:
        """Raise for a label that is neither yes nor no, and for a node that has both."""
        table, positions, yes = self.table, self.positions, self.labels == 1
        reject_all(
            np.flatnonzero(self.labels == NEITHER).tolist(),
            lambda row: f"{table.locate(row)}: the {table.names[label]} {quoted(table.cell(row, label))}",
            " is neither yes nor no (true/false, 1/0, positive/negative). Correct it, leave the cell empty, or name "
            "another column with --label COLUMN.",
        )
        both = (self.labels == 0) & (positions >= 0) & np.isin(positions, positions[yes])

        def contradicted(row: int) -> str:
            other = int((yes & (positions == positions[row])).argmax())
            (node_id,) = self.nodes.ids.texts(int(positions[row]), int(positions[row]) + 1)
            return f"{table.locate(row)} rejects {quoted(node_id)}, but {table.locate(other)} confirms it"

        reject_all(np.flatnonzero(both).tolist(), contradicted, ". Remove one of them.")

    def _otherwise_written(self, rows: NDArray[np.int64], absent: set[str] | None) -> tuple[NDArray[np.int64], int]:
        """Positions of ids that are written differently in other tables, and how many of them had a ``'`` before them.

        A run writes one before ids that begin like a formula.
        """
        table, nodes = self.table, self.nodes
        table.connection.register("unknown_rows", {"row": rows})
        cells = table.connection.execute(
            f"SELECT cell::VARCHAR FROM (SELECT c_{self.column} AS cell, row_number() OVER () - 1 AS row FROM "
            f"{table.sql}) JOIN unknown_rows USING (row) ORDER BY row"
        ).fetchall()
        texts = [cell.strip() for (cell,) in cells]
        positions = nodes.ids.find(text_column([text.removeprefix("'") for text in texts]))
        protected, lacking = int((positions >= 0).sum()), np.flatnonzero(positions < 0)
        if len(lacking):
            positions[lacking] = positions_of_values([texts[at] for at in lacking], nodes.all_ids)
        unknown = np.flatnonzero(positions < 0).tolist()
        if absent is not None:
            absent.update(texts[at] for at in unknown)
        elif unknown:
            words = self._not_a_node(int(rows[unknown[0]]), texts[unknown[0]])
            reject_all(unknown, lambda at: f"{table.locate(int(rows[at]))}: {quoted(texts[at])}", words)
        return positions, protected

    def _not_a_node(self, row: int, text: str) -> str:
        """What is wrong with an id, and what may be right."""
        ids, all_ids = self.nodes.ids, self.nodes.all_ids
        others = (str(other) for other in all_ids[len(ids) : len(ids) + _COMPARED].tolist())  # of other kinds
        other = next((other for other in others if other in (text, f"{other.partition(':')[0]}:{text}")), None)
        if other is not None:
            kind = other.partition(":")[0]
            wanted = f" is not a node of the kind that is looked for, but one of the kind {kind!r}"
            return f"{wanted}. Remove the row, or choose --target {kind}."
        alike = [other for other in ids.texts(0, _COMPARED) if other.casefold() == text.casefold()]
        looks = f"its ids look like {', '.join(map(quoted, ids.texts(0, 3)))}"
        hint = f"the graph has {quoted(alike[0])}" if alike else looks
        name = "" if self.table.header or row else ", nor the usual name of a column of ids (id, node, node_id)"
        return f" is not a node of the graph{name}; {hint}. Correct it, or remove the row."


def id_column(table: Table, wanted: str | None, nodes: ListableNodes) -> int:
    """The place of the column of ids: the one that the user named, or that of the node table, or a usual one."""
    if not table.header:
        return 0 if len(table.names) == 1 else require_column(table, "id", None, ID)
    for name in (wanted, nodes.column):
        if name is not None and places_of(name, table.names):
            return require_column(table, "id", name, ())
    if len(table.names) == 1:
        return find_column(table, "id", None, ID, first=True) or 0
    ids = np.flatnonzero(nodes.ids.find(text_column(list(table.names))) >= 0)
    more = f" It seems to have no header: {table.names[ids[0]]!r} is the id of a node." if len(ids) else ""
    return require_column(table, "id", None, ID, first=True, more=more)


def _reject_vector(table: Table, what: str) -> None:
    """Reject numbers that may be one entry per node as well as ids."""
    if table.types[0] in ("VARCHAR", "BOOLEAN"):
        return
    cell = "try_cast(c_0 AS DOUBLE)"
    ((repeats, entries),) = table.query(
        f"count(*) > count(DISTINCT {cell}), coalesce(bool_and({cell} IN (-1, 0, 1)), false)"
    )
    if repeats and entries:
        raise PugnnError(
            f"{table.shown}: these numbers may be a vector with one entry per node, or the ids 0 and 1 several times. "
            f"Give the ids of the {what}, each once."
        )
