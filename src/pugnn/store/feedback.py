"""Nodes that somebody has checked: confirmed as positive, or rejected."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import Displayed, EmptyTableError, PugnnError, counted, quoted, shorten
from pugnn.features.attribute_table import WHITE_SPACE, holds_word, is_number_type
from pugnn.features.boolean import truth_in_text
from pugnn.graph import Graph
from pugnn.store.ids import IdTable, ids_of
from pugnn.store.listed import ListedRows, id_column
from pugnn.store.node_list import read_node_list
from pugnn.store.tables.access import read_tables
from pugnn.store.tables.column_names import VERDICT, find_column, normal
from pugnn.store.tables.table import Table

#: The lists, and what they contain.
_LISTS = {"confirmed": "confirmed nodes", "rejected": "rejected nodes"}

#: In place of a verdict: a cell that is neither yes nor no.
_NEITHER = 2

_NONE = np.zeros(0, np.int64)

#: Positions of confirmed and of rejected nodes, and notes.
_Found = tuple[NDArray[np.int64], NDArray[np.int64], list[str]]


@dataclass(frozen=True, eq=False, repr=False)
class Feedback(Displayed):
    """Checked nodes.

    Args:
        confirmed: positions of the nodes that were confirmed and are not known positives anyway, sorted.
        rejected: positions of the rejected nodes, sorted.
        notes: what was repaired or left out, one sentence each.
    """

    confirmed: NDArray[np.int64]
    rejected: NDArray[np.int64]
    notes: tuple[str, ...]

    def _facts(self) -> list[str]:
        checked = [f"{len(self.confirmed):,} confirmed", f"{len(self.rejected):,} rejected"]
        return [*checked, counted(len(self.notes), "note")]


def read_feedback(
    graph: Graph,
    labelled: NDArray[np.int64],
    known_from: str,
    *,
    confirmed: Sequence[str] = (),
    rejected: Sequence[str] = (),
    checked: Any = (),
    negative: NDArray[np.int64] = _NONE,
    id: str | None = None,
    label: str | None = None,
    usual: str | None = None,
) -> Feedback:
    """Read tables of checked nodes.

    Args:
        graph: the graph.
        labelled: positions of the known positives.
        known_from: where these come from, for messages.
        confirmed: files with the ids of confirmed nodes, in the form of a table of known positives.
        rejected: likewise of rejected nodes.
        checked: tables with a column ``verdict`` of yes and no, or mappings of ids to verdicts; one, or a list of them.
        negative: positions of nodes that are known negatives otherwise.
        id: name of the column of ids, if it is not a usual one.
        label: name of a column that says, by 1 and 0, which rows of confirmed and rejected nodes count; for the files
            that have it.
        usual: name of the column of ids in the node table.
    """
    ids, notes = ids_of(graph), list[str]()
    place_of: dict[bool, dict[int, str]] = {True: {}, False: {}}

    def add(table: Any, role: str, read: Any, empty: str, place: str) -> None:
        """Note what a table says, and where; ``place`` is its name if it is no file."""
        place = os.fspath(table) if isinstance(table, str | os.PathLike) else place
        try:
            *found, more = read_tables({role: table}, {"id": id, "label": label}, read)
        except EmptyTableError:
            found, more = [_NONE, _NONE], [f"{place}: {empty}"]
        notes.extend(more)
        for positive, nodes in zip((True, False), found, strict=True):
            place_of[positive] |= dict.fromkeys(nodes.tolist(), place)

    for role, files in (("confirmed", confirmed), ("rejected", rejected)):
        wanted = {"id": id, "label": label}
        for file in files:
            add(file, role, partial(_read_list, role, graph, ids, wanted, usual), f"names no {_LISTS[role]} yet", role)
    several = isinstance(checked, list | tuple)
    for at, given in enumerate(checked if several else [checked]):
        read, place = partial(_read_verdicts, graph, ids, id, usual), f"checked[{at}]" if several else "checked"
        add(_as_table(given), "checked", read, "has no verdicts yet", place)
    _reject_contradictions(graph, place_of, labelled, known_from, negative)
    positions = {positive: np.array(sorted(nodes), np.int64) for positive, nodes in place_of.items()}
    new = np.setdiff1d(positions[True], labelled)
    repeated = len(positions[True]) - len(new)
    if repeated:
        notes.append(f"{counted(repeated, 'confirmed node')} known already from {known_from}")
    return Feedback(new, positions[False], tuple(notes))


def _reject_contradictions(
    graph: Graph,
    place_of: Mapping[bool, Mapping[int, str]],
    labelled: NDArray[np.int64],
    known_from: str,
    negative: NDArray[np.int64],
) -> None:
    """Raise if one place says that a node is positive, and another one that it is not."""

    def among(nodes: Iterable[int], known: NDArray[np.int64]) -> list[int]:
        found: list[int] = np.intersect1d(list(nodes), known).tolist()
        return found

    for node in sorted(place_of[True].keys() & place_of[False].keys()):
        name, yes, no = quoted(str(graph.ids[node])), place_of[True][node], place_of[False][node]
        raise PugnnError(f"{no} rejects {name}, but {yes} confirms it. Remove it from one of them.")
    for node in among(place_of[False], labelled):
        name, place = quoted(str(graph.ids[node])), place_of[False][node]
        raise PugnnError(f"{place} rejects {name}, which is a known positive of {known_from}. Remove it from one.")
    for node in among(place_of[True], negative):
        name, place = quoted(str(graph.ids[node])), place_of[True][node]
        raise PugnnError(f"{place} confirms {name}, which is one of the negatives. Remove it from one.")


def _as_table(given: Any) -> Any:
    """A table of ids and verdicts as :func:`read_tables` takes it: a mapping of ids to verdicts becomes one."""
    if isinstance(given, Mapping) and all(isinstance(each, str) or np.ndim(each) == 0 for each in given.values()):
        return {"id": list(given), "verdict": list(given.values())}
    if isinstance(given, list | tuple | set | frozenset | np.ndarray):
        raise PugnnError(
            "checked nodes come with verdicts: give the file that says yes or no, a data frame with the columns id and "
            f"verdict, or a mapping of ids to verdicts; got {type(given).__name__}"
        )
    return given


def _read_list(
    role: str, graph: Graph, ids: IdTable, wanted: dict[str, str | None], usual: str | None, tables: dict[str, Table]
) -> _Found:
    table, columns = tables[role], wanted
    if wanted["label"] is None or normal(wanted["label"]) not in map(normal, table.names):
        columns = {**wanted, "label": None}
    found, notes = read_node_list(table, columns, usual, ids, graph.ids, _LISTS[role])
    yes, no = (found, _NONE) if role == "confirmed" else (_NONE, found)
    return yes, no, [*table.notes, *notes]


def _read_verdicts(
    graph: Graph, ids: IdTable, wanted: str | None, usual: str | None, tables: dict[str, Table]
) -> _Found:
    """What a table with a column of verdicts says; rows without one are not checked yet."""
    table = tables["checked"]
    column = id_column(table, wanted, usual)
    at = find_column(table.shown, table.names, "label", None, VERDICT, first=True)
    if at is None or at == column:
        raise PugnnError(
            f"{table.shown} has no column 'verdict' that says which nodes are right, by yes and no; its columns are "
            f"{shorten(table.names, 20)}. Rename the right one, or give lists of ids with --confirmed and --rejected."
        )
    rows = ListedRows.of(table, column, _verdict_sql(table, at), ids)
    if (rows.labels == _NEITHER).any():
        row = int((rows.labels == _NEITHER).argmax())
        raise PugnnError(
            f"{table.locate(row)}: the verdict {quoted(table.cell(row, at))} is neither yes nor no (true/false, 1/0, "
            "positive/negative). Correct it, or leave the cell empty."
        )
    taken = np.flatnonzero(~np.isnan(rows.labels))
    if not len(taken):
        raise EmptyTableError(f"{table.shown} has no verdicts yet")
    rows.reject_empty(taken)
    positions, notes = rows.nodes(taken, ids, graph.ids)
    yes = rows.labels[taken] == 1
    both = ~yes & np.isin(positions, positions[yes])
    if both.any():
        no = int(both.argmax())
        other = int((yes & (positions == positions[no])).argmax())
        denied, granted = (table.locate(int(taken[at])) for at in (no, other))
        name = quoted(str(graph.ids[positions[no]]))
        raise PugnnError(f"{denied} rejects {name}, but {granted} confirms it. Remove one of them.")
    blank = len(rows.labels) - len(taken)
    notes.append(f"{table.shown}: verdicts: {int(yes.sum()):,} yes, {int((~yes).sum()):,} no, {blank:,} not given yet")
    return positions[yes], positions[~yes], [*table.notes, *notes]


def _verdict_sql(table: Table, at: int) -> str:
    """SQL for a verdict: 1 for yes, 0 for no, null for an empty cell, and :data:`_NEITHER` for anything else."""
    kind = table.types[at]
    if kind == "BOOLEAN" or is_number_type(kind):
        cell = f"nullif(c_{at}::DOUBLE, 'NaN'::DOUBLE)"
        truth, blank = f"CASE WHEN {cell} IN (0, 1) THEN {cell} END", f"{cell} IS NULL"
    else:
        text = f"c_{at} ->> '$'" if kind == "JSON" else f"c_{at}::VARCHAR"
        cell = f"trim({text}, '{WHITE_SPACE}')"
        words = f"WHEN {holds_word('positive', cell)} THEN 1 WHEN {holds_word('negative', cell)} THEN 0"
        truth, blank = f"CASE {words} ELSE {truth_in_text(cell)} END", f"coalesce({cell} = '', true)"
    return f"CASE WHEN NOT {blank} THEN coalesce({truth}, {_NEITHER}) END"
