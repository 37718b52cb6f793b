"""Nodes that somebody has checked: confirmed as positive, or rejected."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import Displayed, EmptyTableError, PugnnError, counted, quoted, reject_all, shorten
from pugnn.graph import Graph
from pugnn.store.case_log import is_sqlite, read_verdicts
from pugnn.store.ids import ids_of
from pugnn.store.node_lists import ListableNodes, ListedRows, id_column, read_node_list
from pugnn.store.tables.access import read_tables
from pugnn.store.tables.column_names import VERDICT, find_column, places_of
from pugnn.store.tables.table import Table

_NONE = np.zeros(0, np.int64)

#: What is wrong with a verdict on a node, by position, in words that follow its id; empty if nothing is.
Complaint = Callable[[int, bool], str]

#: The column that names the draw of an audit.
AUDIT = "audit"


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
    complain: Callable[[set[str]], Complaint] = lambda _: lambda *_: "",
) -> Feedback:
    """Read tables of checked nodes.

    Args:
        graph: the graph.
        labelled: positions of the known positives.
        known_from: where these come from, for messages.
        confirmed: files with the ids of confirmed nodes, in the form of a table of known positives.
        rejected: likewise of rejected nodes.
        checked: tables with a column ``verdict`` of yes and no, logs of a case room, or mappings of ids to verdicts;
            one, or a list of them.
        negative: positions of nodes that are known negatives otherwise.
        id: name of the column of ids, if it is not a usual one.
        label: name of a column that says, by 1 and 0, which rows of confirmed and rejected nodes count; for the files
            that have it.
        usual: name of the column of ids in the node table.
        complain: gives, for what the column ``audit`` of a checked table says, its complaint.
    """
    several = isinstance(checked, list | tuple)
    given: list[tuple[str, Any, str]] = [("confirmed", file, "") for file in confirmed]
    given += [("rejected", file, "") for file in rejected]
    for at, each in enumerate(checked if several else [checked]):
        given.append(("checked", _as_table(each), f"checked[{at}]" if several else "checked"))
    notes, wanted = list[str](), {"id": id, "label": label}
    read = partial(_read_table, ListableNodes(ids_of(graph), graph.ids, usual), wanted, complain)
    place_of: dict[bool, dict[int, str]] = {True: {}, False: {}}
    for role, content, name in given:
        place = os.fspath(content) if isinstance(content, str | os.PathLike) else name
        try:
            *found, more = read_tables({role: content}, wanted, read)
        except EmptyTableError:
            what = "verdicts" if role == "checked" else f"{role} nodes"
            found, more = [_NONE, _NONE], [f"{place}: has no {what} yet"]
        notes += more
        for positive, nodes in zip((True, False), found, strict=True):
            place_of[positive] |= dict.fromkeys(nodes.tolist(), place)
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
    confirmed, rejected = place_of[True], place_of[False]
    for places, others, words in (
        (rejected, confirmed, "{} rejects {}, but {} confirms it"),
        (rejected, dict.fromkeys(labelled.tolist(), known_from), "{} rejects {}, which is a known positive of {}"),
        (confirmed, dict.fromkeys(negative.tolist(), ""), "{} confirms {}, which is one of the negatives"),
    ):
        both = sorted(places.keys() & others.keys())
        said = [words.format(places[node], quoted(str(graph.ids[node])), others[node]) for node in both]
        reject_all(said, str, ". Remove it from one of them.")


def _as_table(given: Any) -> Any:
    """A table of ids and verdicts as :func:`read_tables` takes it: logs and mappings of ids to verdicts become one."""
    if isinstance(given, str | os.PathLike) and is_sqlite(file := Path(os.fsdecode(given))):
        given = {node: case.verdict for node, case in read_verdicts(file).items()}
    if isinstance(given, Mapping) and all(isinstance(each, str) or np.ndim(each) == 0 for each in given.values()):
        return {"id": list(given), "verdict": list(given.values())}
    if isinstance(given, list | tuple | set | frozenset | np.ndarray):
        raise PugnnError(
            "checked nodes come with verdicts: give the file that says yes or no, a data frame with the columns id and "
            f"verdict, or a mapping of ids to verdicts; got {type(given).__name__}"
        )
    return given


def _read_table(
    nodes: ListableNodes,
    wanted: Mapping[str, str | None],
    complain: Callable[[set[str]], Complaint],
    tables: Mapping[str, Table],
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[str]]:
    """Positions of confirmed and of rejected nodes in a table, and notes."""
    ((role, table),) = tables.items()
    if role == "checked":
        return _read_verdicts(table, wanted["id"], nodes, complain)
    has_label = wanted["label"] is not None and places_of(wanted["label"], table.names)
    found, notes = read_node_list(table, wanted if has_label else {**wanted, "label": None}, nodes, f"{role} nodes")
    yes, no = (found, _NONE) if role == "confirmed" else (_NONE, found)
    return yes, no, [*table.notes, *notes]


def _read_verdicts(
    table: Table, wanted: str | None, nodes: ListableNodes, complain: Callable[[set[str]], Complaint]
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[str]]:
    """What a table with a column of verdicts says; rows without one are not checked yet."""
    audits = table.query(f"DISTINCT trim(c_{table.names.index(AUDIT)}::VARCHAR)") if AUDIT in table.names else []
    complaint = complain({name for (name,) in audits if name})
    column = id_column(table, wanted, nodes)
    at = find_column(table, "label", None, VERDICT, first=True)
    if at is None or at == column:
        raise PugnnError(
            f"{table.shown} has no column 'verdict' that says which nodes are right, by yes and no; its columns are "
            f"{shorten(table.names, 20)}. Rename the right one, or give lists of ids with --confirmed and --rejected."
        )
    rows = ListedRows.read(table, column, at, nodes)
    taken = np.flatnonzero(~np.isnan(rows.labels))
    if not len(taken):
        raise EmptyTableError(f"{table.shown} has no verdicts yet")
    positions, notes = rows.find(taken)
    yes, blank = rows.labels[taken] == 1, len(rows.labels) - len(taken)
    said = [complaint(node, verdict) for node, verdict in zip(positions.tolist(), yes.tolist(), strict=True)]
    first = next(filter(None, said), "")
    reject_all(
        [at for at, words in enumerate(said) if first and words == first],
        lambda at: f"{table.locate(int(taken[at]))}: {quoted(str(nodes.all_ids[positions[at]]))}",
        f" {first}",
    )
    verdicts = f"verdicts: {int(yes.sum()):,} yes, {int((~yes).sum()):,} no, {blank:,} not given yet"
    return positions[yes], positions[~yes], [*table.notes, *notes, f"{table.shown}: {verdicts}"]
