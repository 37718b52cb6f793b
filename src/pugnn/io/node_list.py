"""A list of nodes: the known positives, or the true ones."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError, counted, quoted
from pugnn.io.arrow import Batches, Texts
from pugnn.io.columns import ID, find_column, missing_column, normal
from pugnn.io.id_types import positions_of_values
from pugnn.io.ids import EMPTY, UNKNOWN, IdTable
from pugnn.io.labels import find_label, label_number
from pugnn.io.source import Source

#: Stands for a row whose label says that it is none of the list.
_LEFT_OUT = -3


def read_node_list(
    source: Source,
    wanted: Mapping[str, str | None],
    usual: str | None,
    table: IdTable,
    ids: NDArray[Any],
    what: str,
) -> tuple[NDArray[np.int64], list[str]]:
    """Sorted positions of the nodes in a list, and notes.

    Args:
        source: the table of the list.
        wanted: names of columns that the user gave: ``id`` and ``label``.
        usual: name of the column of ids in the node table.
        table: the ids of the graph as text.
        ids: the ids of the graph.
        what: what the nodes are, such as ``positives``.
    """
    notes = []
    if source.header:
        at = _column(source, wanted["id"], usual)
    else:
        at = 0
        if len(source.names) > 1:
            raise missing_column(source.shown, source.names, "id", ID)
        notes.append(f"{source.shown}: has no header; its first line is taken as an id")
    if source.bare:
        _refuse_vector(source, what)
    label = find_label(source, at, wanted["label"], what)
    trimmed = table.trimmed
    selected = source.id_text(at) + ("" if label is None else f", {label_number(source, label)}")
    found, labels = [np.zeros(0, np.int32)], [np.zeros(0)]
    with source.reading(), closing(Batches(source.connection.sql(f"SELECT {selected} FROM {source.table}"))) as stream:
        for (texts,), numbers in stream:
            found.append(table.find(texts))
            labels += [number.copy() for number in numbers] or [np.ones(len(texts))]
    positions, taken = np.concatenate(found), np.concatenate(labels) == 1
    _refuse_both(source, positions, taken, np.concatenate(labels), table)
    positions[~taken] = _LEFT_OUT
    if not taken.any():
        raise PugnnError(f"{source.shown} names no {what}; at least one is needed")
    if label is not None:
        chosen = f"{int(taken.sum()):,} of {counted(len(positions), 'row')}"
        notes.append(f"{source.shown}: column {source.names[label]!r} says which rows are {what}: {chosen}")
    if table.trimmed > trimmed:
        notes.append(f"{source.shown}: white space around {counted(table.trimmed - trimmed, 'id')} left out")
    empty = np.flatnonzero(positions == EMPTY)
    if len(empty):
        raise PugnnError(f"{source.locate(int(empty[0]))}: the id is empty. Fill it in, or remove the row.")
    unknown = np.flatnonzero(positions == UNKNOWN)
    if len(unknown):
        positions[unknown], protected = _otherwise_written(source, at, unknown, table, ids)
        if protected:
            quotes = counted(protected, "id")
            notes.append(
                f"{source.shown}: the ' before {quotes} left out, which keeps spreadsheets from running a formula"
            )
    unique = np.unique(positions[taken]).astype(np.int64)
    if len(unique) == len(table):
        raise PugnnError(f"{source.shown} names all {len(table):,} nodes; there is nothing left to find")
    if len(unique) < taken.sum():
        again = counted(int(taken.sum()) - len(unique), "row")
        notes.append(f"{source.shown}: {again} left out, for ids that stand there more than once")
    return unique, notes


def _refuse_both(
    source: Source,
    positions: NDArray[np.int32],
    taken: NDArray[np.bool_],
    labels: NDArray[np.float64],
    table: IdTable,
) -> None:
    """Complain of a node of which one row says that it counts, and another that it does not."""
    denied = (labels == 0) | (labels == -1)
    both = np.isin(positions, np.intersect1d(positions[taken], positions[denied])) & denied & (positions >= 0)
    if both.any():
        row = int(both.argmax())
        (node_id,) = table.texts(int(positions[row]), int(positions[row]) + 1)
        raise PugnnError(
            f"{source.locate(row)}: the label of {quoted(node_id)} says no, and that of another row yes. Remove one."
        )


def _column(source: Source, wanted: str | None, usual: str | None) -> int:
    there = {normal(name) for name in source.names}
    for name in (wanted, usual):
        if name is not None and normal(name) in there:
            at = find_column(source.shown, source.names, "id", name, ())
            assert at is not None
            return at
    at = find_column(source.shown, source.names, "id", None, ID, first=True)
    if at is None:
        if len(source.names) > 1:
            raise missing_column(source.shown, source.names, "id", ID)
        return 0
    return at


def _refuse_vector(source: Source, what: str) -> None:
    """Refuse numbers that may be one entry per node as well as ids."""
    if source.types[0] in ("VARCHAR", "BOOLEAN"):
        return
    with source.reading():
        ((repeats, entries),) = source.connection.execute(
            f"SELECT count(*) > count(DISTINCT cell), coalesce(bool_and(cell IN (-1, 0, 1)), false) "
            f"FROM (SELECT try_cast(c_0 AS DOUBLE) AS cell FROM {source.table})"
        ).fetchall()
    if repeats and entries:
        raise PugnnError(
            f"{source.shown}: these numbers may be a vector with one entry per node, or the ids 0 and 1 several times. "
            f"Give the ids of the {what}, each once."
        )


def _otherwise_written(
    source: Source, column: int, rows: NDArray[np.int64], table: IdTable, ids: NDArray[Any]
) -> tuple[NDArray[np.int32], int]:
    """Positions of ids that are not written as in the other tables, and how many of them had a ``'`` before them.

    A run of ours writes one before ids that begin like a formula.
    """
    source.connection.register("unknown_rows", {"row": rows})
    cells = source.connection.execute(
        f"SELECT cell::VARCHAR FROM (SELECT c_{column} AS cell, row_number() OVER () - 1 AS row FROM {source.table}) "
        f"JOIN unknown_rows USING (row) ORDER BY row"
    ).fetchall()
    texts = [cell.strip() for (cell,) in cells]
    positions = table.find(Texts.of([text[1:] if text.startswith("'") else text for text in texts]))
    protected = int((positions >= 0).sum())
    lacking = np.flatnonzero(positions < 0)
    if len(lacking):
        positions[lacking] = positions_of_values([texts[at] for at in lacking], ids)
    if (positions < 0).any():
        at = int(np.argmax(positions < 0))
        raise _not_a_node(source, int(rows[at]), texts[at], table)
    return positions, protected


def _not_a_node(source: Source, row: int, text: str, table: IdTable) -> PugnnError:
    texts = table.texts()
    alike = [other for other in texts if other.casefold() == text.casefold()]
    hint = f"the graph has {quoted(alike[0])}" if alike else f"its ids look like {', '.join(map(quoted, texts[:3]))}"
    name = "" if source.header or row else ", nor is it the name of a column of ids (id, node, node_id)"
    return PugnnError(
        f"{source.locate(row)}: {quoted(text)} is not a node of the graph{name}; {hint}. Correct it, or remove the row."
    )
