"""A list of nodes, the known positives or the true ones, perhaps with a column that labels its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import EmptyTableError, PugnnError, counted, quoted, shorten
from pugnn.features.attribute_table import is_number_type
from pugnn.features.boolean import truth_in_text
from pugnn.store.arguments import Request
from pugnn.store.ids import IdTable
from pugnn.store.listed import ListedRows, id_column
from pugnn.store.tables.column_names import VERDICT, is_label, normal, require_column
from pugnn.store.tables.table import Table

#: Lists of nodes, and what they contain.
_LISTS = {"positives": "positives", "truth": "true positives"}

#: Columns of the scores that a run writes. Whoever gives such rows back has chosen them.
_SCORES = {"score", "decision", "rank"}
_ALL_OF_SCORES = {*_SCORES, "known", "distance", "nearest"}

#: In tables with more columns than this, labels are found by the names of columns alone.
_MAX_EXAMINED = 50


def read_lists(
    tables: Mapping[str, Table], request: Request, ids: IdTable, node_ids: NDArray[Any], usual: str | None
) -> tuple[dict[str, NDArray[np.int64]], list[str]]:
    """Positions of the known and of the true positives, if they were given, and notes; see :func:`read_node_list`."""
    wanted = request.columns
    listed: dict[str, NDArray[np.int64]] = {}
    notes: list[str] = []
    if wanted["label"] is not None and all(len(tables[role].names) == 1 for role in _LISTS if role in tables):
        raise PugnnError(
            f"--label names the column {wanted['label']!r} of known or true positives, but there no list of nodes has "
            "any column but its ids. Leave it out; verdicts on checked nodes go with --checked, without --label."
        )
    for role, what in _LISTS.items():
        if role in tables:
            request.say(f"reading {tables[role].shown}")
            listed[role], notes_on_list = read_node_list(tables[role], wanted, usual, ids, node_ids, what)
            notes += notes_on_list
    if len(listed) == 2:
        positive = np.union1d(listed["positives"], listed["truth"])
        lacking = len(positive) - len(listed["truth"])
        if lacking:
            added = counted(lacking, "known positive")
            notes.append(f"{tables['truth'].shown}: lacks {added}, which count as true positives")
        listed["truth"] = positive
    return listed, notes


def read_node_list(
    table: Table, wanted: Mapping[str, str | None], usual: str | None, ids: IdTable, node_ids: NDArray[Any], what: str
) -> tuple[NDArray[np.int64], list[str]]:
    """Sorted positions of the nodes in a list, and notes.

    Args:
        table: the list.
        wanted: the user's names of columns: ``id`` and ``label``.
        usual: name of the column of ids in the node table.
        ids: the ids of the graph as text.
        node_ids: the ids of the graph.
        what: what the nodes are, such as ``positives``.
    """
    column = id_column(table, wanted["id"], usual)
    if table.bare:
        _reject_vector(table, what)
    label = _label_column(table, column, wanted["label"], what)
    rows = ListedRows.of(table, column, "1.0" if label is None else _label_sql(table, label), ids)
    notes = [] if table.header else [f"{table.shown}: has no header; its first line is read as an id"]
    _reject_contradictions(table, rows.positions, rows.labels, ids)
    taken = np.flatnonzero(rows.labels == 1)
    rows.reject_empty(taken)
    if not len(taken):
        raise EmptyTableError(f"{table.shown} names no {what}; at least one is needed")
    if label is not None:
        chosen = f"{len(taken):,} of {counted(len(rows.labels), 'row')}"
        notes.append(f"{table.shown}: column {table.names[label]!r} says which rows are {what}: {chosen}")
    positions, more = rows.nodes(taken, ids, node_ids)
    unique = np.unique(positions)
    if len(unique) == len(ids):
        raise PugnnError(f"{table.shown} names all {len(ids):,} nodes; there is nothing left to find")
    if len(unique) < len(taken):
        more.append(f"{table.shown}: {counted(len(taken) - len(unique), 'row')} with a repeated id skipped")
    return unique, notes + more


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


def _reject_contradictions(
    table: Table, positions: NDArray[np.int32], labels: NDArray[np.float64], ids: IdTable
) -> None:
    """Raise if a node is labelled positive in one row and negative in another."""
    denied = (labels == 0) | (labels == -1)
    both = denied & (positions >= 0) & np.isin(positions, positions[labels == 1])
    if both.any():
        row = int(both.argmax())
        (node_id,) = ids.texts(int(positions[row]), int(positions[row]) + 1)
        raise PugnnError(
            f"{table.locate(row)}: the label of {quoted(node_id)} says no, but another row says yes. Remove one."
        )


def _label_column(table: Table, ids: int, wanted: str | None, what: str) -> int | None:
    """The place of the column that says which rows are positive, if there is one.

    A list of accounts with a column ``is_fraud`` of 1 and 0 names more than the frauds. If the name of such a column
    leaves no doubt, it is used; otherwise the user must choose.
    """
    others = [at for at in range(len(table.names)) if at != ids]
    if wanted is not None and others:
        at = require_column(table.shown, table.names, "label", wanted, ())
        _reject_other_labels(table, at)
        return at
    if set(table.names) >= _SCORES:
        others = [at for at in others if table.names[at] not in _ALL_OF_SCORES]
    if not others:
        return None
    named = [at for at in others if is_label(table.names[at])]
    examined = others if len(others) <= _MAX_EXAMINED else named
    found = dict(zip(examined, _examine(table, examined), strict=True))
    doubtful = [at for at in examined if at not in named and found[at].may_be_labels]
    if len(named) > 1 and not all(found[at].uniform for at in named):
        doubtful += named
    if doubtful:
        names = [table.names[at] for at in sorted(doubtful)]
        remedy = "name the column with --label COLUMN"
        if VERDICT[0] in map(normal, names):
            remedy = "give the table as --checked FILE, which takes both right and wrong ones"
        raise PugnnError(
            f"{table.shown}: {shorten(names)} may say which rows are {what}, by 1 and 0, or yes and no. If so, "
            f"{remedy}; if not, remove it."
        )
    if not named or found[named[0]].uniform:
        return None
    _reject_other_labels(table, named[0])
    return named[0]


def _label_sql(table: Table, at: int) -> str:
    """SQL for a label: 1 if the row is positive, 0 or −1 if it is not, null or another number otherwise."""
    kind = table.types[at]
    if kind == "BOOLEAN" or is_number_type(kind):
        return f"c_{at}::DOUBLE"
    text = f"(c_{at} ->> '$')" if kind == "JSON" else f"(c_{at}::VARCHAR)"
    return f"(CASE WHEN trim({text}) = '-1' THEN 0 ELSE {truth_in_text(text)} END)::DOUBLE"


@dataclass(frozen=True)
class _Labels:
    """Counts of the cells in a column: all, those present, distinct, true and false."""

    rows: int
    present: int
    distinct: int
    true: int
    false: int

    @property
    def uniform(self) -> bool:
        """Whether all rows say the same, and it is not false."""
        return self.present == self.rows and self.distinct == 1 and not self.false

    @property
    def may_be_labels(self) -> bool:
        """Whether the column may label some rows, although it is not named like one that does."""
        marks = self.true + self.false
        if marks == self.present:
            return bool(self.false) or 0 < self.present < self.rows
        return bool(self.true and self.false) and 2 * marks >= self.present and self.distinct <= 4


def _examine(table: Table, places: list[int]) -> list[_Labels]:
    counts = ["count(*)"]
    for at in places:
        label, cell = _label_sql(table, at), f"nullif(trim(c_{at}::VARCHAR), '')"
        counts += [f"count({cell})", f"count(DISTINCT {cell})"]
        counts += [f"count(*) FILTER ({label} = 1)", f"count(*) FILTER ({label} IN (0, -1))"]
    ((rows, *numbers),) = table.query(", ".join(counts))
    return [_Labels(rows, *numbers[at : at + 4]) for at in range(0, len(numbers), 4)]


def _reject_other_labels(table: Table, at: int) -> None:
    """Raise for the first label that is neither true nor false; an empty one is not a label."""
    with table.reading():
        rows = table.connection.execute(
            f"SELECT row, cell FROM (SELECT row_number() OVER () - 1 AS row, c_{at}::VARCHAR AS cell, "
            f"{_label_sql(table, at)} AS label FROM {table.sql}) "
            "WHERE trim(cell) <> '' AND coalesce(label NOT IN (0, 1, -1), true) ORDER BY row LIMIT 1"
        ).fetchall()
    if rows:
        row, cell = rows[0]
        raise PugnnError(
            f"{table.locate(row)}: column {table.names[at]!r} says {quoted(cell)}, which is neither true nor false "
            "(1/0, yes/no, true/false). Keep only the rows that are positive and remove the column, or name another "
            "one with --label COLUMN."
        )
