"""A list of nodes: the known positives, or the true ones."""

from __future__ import annotations

from contextlib import closing

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError, counted
from pugnn.tables.arrow import Batches, Texts
from pugnn.tables.columns import ID, find_column, missing_column, normal
from pugnn.tables.id_types import text_of
from pugnn.tables.ids import EMPTY, UNKNOWN, IdTable
from pugnn.tables.source import Source
from pugnn.tables.wording import quoted


def read_node_list(
    source: Source, wanted: str | None, usual: str | None, table: IdTable, what: str
) -> tuple[NDArray[np.int64], list[str]]:
    """Sorted positions of the nodes in a list, and notes.

    Args:
        source: the table of the list.
        wanted: name of the column of ids in all tables, if the user gave one.
        usual: name of that column in the node table.
        table: the ids of the graph.
        what: what the nodes are, such as ``positives``.
    """
    notes = []
    if source.header:
        at = _column(source, wanted, usual)
    else:
        at = 0
        if len(source.names) > 1:
            raise missing_column(source.shown, source.names, "id", ID)
        notes.append(f"{source.shown}: has no header; its first line is taken as an id")
    id_text = text_of(f"c_{at}", source.types[at], f"{source.shown}, column {source.names[at]!r}")
    trimmed = table.trimmed
    query = f"SELECT {id_text} FROM {source.table}"
    with source.reading(), closing(Batches(source.connection.sql(query))) as stream:
        found = [table.find(ids) for (ids,), _ in stream]
    positions = np.concatenate([np.zeros(0, np.int32), *found])
    if not len(positions):
        raise PugnnError(f"{source.shown} names no {what}; at least one is needed")
    if table.trimmed > trimmed:
        notes.append(f"{source.shown}: white space around {counted(table.trimmed - trimmed, 'id')} left out")
    empty = np.flatnonzero(positions == EMPTY)
    if len(empty):
        raise PugnnError(f"{source.locate(int(empty[0]))}: the id is empty. Fill it in, or remove the row.")
    unknown = np.flatnonzero(positions == UNKNOWN)
    if len(unknown):
        positions = positions.copy()
        positions[unknown] = _without_apostrophe(source, at, unknown, table)
        ids = counted(len(unknown), "id")
        notes.append(f"{source.shown}: the ' before {ids} left out, which keeps spreadsheets from running a formula")
    unique = np.unique(positions).astype(np.int64)
    if len(unique) == len(table):
        raise PugnnError(f"{source.shown} names all {len(table):,} nodes; there is nothing left to find")
    if len(unique) < len(positions):
        again = counted(len(positions) - len(unique), "row")
        notes.append(f"{source.shown}: {again} left out, for ids that stand there more than once")
    return unique, notes


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


def _without_apostrophe(source: Source, column: int, rows: NDArray[np.int64], table: IdTable) -> NDArray[np.int32]:
    """Positions of ids that a run of ours has written with a ``'`` before them, because they begin like a formula."""
    source.connection.register("unknown_rows", {"row": rows})
    cells = source.connection.execute(
        f"SELECT cell::VARCHAR FROM (SELECT c_{column} AS cell, row_number() OVER () - 1 AS row FROM {source.table}) "
        f"JOIN unknown_rows USING (row) ORDER BY row"
    ).fetchall()
    ids = [cell.strip() for (cell,) in cells]
    positions = table.find(Texts.of([text[1:] if text.startswith("'") else text for text in ids]))
    if (positions < 0).any():
        at = int(np.argmax(positions < 0))
        raise _not_a_node(source, int(rows[at]), ids[at], table)
    return positions


def _not_a_node(source: Source, row: int, text: str, table: IdTable) -> PugnnError:
    texts = table.texts()
    alike = [other for other in texts if other.casefold() == text.casefold()]
    hint = f"the graph has {quoted(alike[0])}" if alike else f"its ids look like {', '.join(map(quoted, texts[:3]))}"
    name = "" if source.header or row else ", nor is it the name of a column of ids (id, node, node_id)"
    return PugnnError(
        f"{source.locate(row)}: {quoted(text)} is not a node of the graph{name}; {hint}. Correct it, or remove the row."
    )
