"""Lists of nodes that somebody has checked: confirmed as positive, or rejected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import Displayed, EmptyTableError, PugnnError, counted, quoted
from pugnn.graph import Graph
from pugnn.io.columns import normal
from pugnn.io.ids import IdTable, ids_of
from pugnn.io.node_list import read_node_list
from pugnn.io.opening import read_tables
from pugnn.io.table import Table

#: The lists, and what they contain.
_LISTS = {"confirmed": "confirmed nodes", "rejected": "rejected nodes"}


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
    id: str | None = None,
    label: str | None = None,
    usual: str | None = None,
) -> Feedback:
    """Read tables of checked nodes, in the form of a table of known positives.

    Args:
        graph: the graph.
        labelled: positions of the known positives.
        known_from: where these come from, for messages.
        confirmed: files with the ids of confirmed nodes.
        rejected: files with the ids of rejected nodes.
        id: name of their column of ids, if it is not a usual one.
        label: name of a column that says, by 1 and 0, which rows count; for the files that have it.
        usual: name of the column of ids in the node table.
    """
    ids = ids_of(graph)
    notes: list[str] = []
    file_of: dict[str, dict[int, str]] = {role: {} for role in _LISTS}
    for role, files in (("confirmed", confirmed), ("rejected", rejected)):
        for file in files:
            try:
                found, more = _read_list(file, role, graph, ids, {"id": id, "label": label}, usual)
            except EmptyTableError:
                notes.append(f"{file}: names no {_LISTS[role]} yet")
                continue
            notes += more
            file_of[role] |= dict.fromkeys(found.tolist(), file)
    for node, file in file_of["rejected"].items():
        name = quoted(str(graph.ids[node]))
        if node in file_of["confirmed"]:
            other = file_of["confirmed"][node]
            raise PugnnError(f"{file} rejects {name}, but {other} confirms it. Remove it from one of them.")
        if np.isin(node, labelled):
            raise PugnnError(f"{file} rejects {name}, which is a known positive of {known_from}. Remove it from one.")
    positions = {role: np.sort(np.fromiter(nodes, np.int64, len(nodes))) for role, nodes in file_of.items()}
    new = np.setdiff1d(positions["confirmed"], labelled)
    repeated = len(positions["confirmed"]) - len(new)
    if repeated:
        notes.append(f"{counted(repeated, 'confirmed node')} known already from {known_from}")
    return Feedback(new, positions["rejected"], tuple(notes))


def _read_list(
    file: str, role: str, graph: Graph, ids: IdTable, wanted: dict[str, str | None], usual: str | None
) -> tuple[NDArray[np.int64], list[str]]:
    def read(tables: dict[str, Table]) -> tuple[NDArray[np.int64], list[str]]:
        table, columns = tables[role], wanted
        if wanted["label"] is None or normal(wanted["label"]) not in map(normal, table.names):
            columns = {**wanted, "label": None}
        found, notes = read_node_list(table, columns, usual, ids, graph.ids, _LISTS[role])
        return found, [*table.notes, *notes]

    return read_tables({role: file}, wanted, read)
