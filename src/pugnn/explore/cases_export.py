"""The cases of a room: on which something was decided or noted, as a list and as files."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import shown
from pugnn.explore.room import OPEN, STATUSES, Room
from pugnn.files import write_csv
from pugnn.runs.audit_table import measured_rows, measured_title
from pugnn.store import write_parquet
from pugnn.store.case_log import Case
from pugnn.templates import content_policy, fill_template, resource

#: Cases that a list shows.
MAX_LISTED = 1_000
#: What cases can be asked for by: a status, or having a note.
KINDS = (*STATUSES[1:], "noted")
COLUMNS = ("id", "status", "verdict", "note", "at", "who", "rank", "score")
#: Of one line in a case file.
SHORT = ("status", "at", "who", "rank", "score")
#: Letters that change the direction of others.
BIDI_CONTROLS = dict.fromkeys(
    [0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)], "\N{REPLACEMENT CHARACTER}"
)
#: As `pugnn fit --checked` takes them.
VERDICTS = {"confirmed": "yes", "rejected": "no"}


def case_rows(room: Room, kinds: Collection[str], text: str) -> tuple[list[dict[str, Any]], int]:
    """The newest cases of some kinds of which id, note or shown columns contain a text, and how many there are."""
    found, wanted = [], text.casefold()
    for node in _cases(room):
        case, status = room.cases.get(node, Case()), STATUSES[room.status[node]]
        if status in kinds or ("noted" in kinds and case.note):
            cells = [values[node] for values in room.run.data.shown.values()] if node < room.graph.num_targets else []
            if not wanted or any(wanted in str(each).casefold() for each in (room.plain_id(node), case.note, *cells)):
                found.append(node)
    rows = room.rows(found[:MAX_LISTED])
    for row in rows:
        case = room.cases.get(row["node"], Case())
        row |= {"note": case.note, "at": case.at, "who": case.who}
    return rows, len(found)


def export(room: Room, form: str) -> bytes:
    """All cases as a file."""
    return FORMATS[form][1](room)


def _cases(room: Room) -> list[int]:
    """Positions of all cases, newest first; those that were recorded from a file come last."""
    noted = [node for node, case in room.cases.items() if case.note]
    nodes = dict.fromkeys([*noted, *np.flatnonzero(room.status > OPEN).tolist()])
    # Of those within a millisecond, too, the last comes first.
    return sorted(nodes, key=lambda node: room.cases.get(node, Case()).at)[::-1]


def _table(room: Room) -> dict[str, list[Any]]:
    """All cases by columns, uncut."""
    nodes, table = _cases(room), dict[str, list[Any]]()
    cases = [room.cases.get(node, Case()) for node in nodes]
    targets = [node < room.graph.num_targets for node in nodes]
    table["id"] = [room.plain_id(node) for node in nodes]
    table["status"] = [STATUSES[room.status[node]] for node in nodes]
    table["verdict"] = [VERDICTS.get(status, "") for status in table["status"]]
    table |= {name: [getattr(case, name) for case in cases] for name in ("note", "at", "who")}
    table["rank"] = [int(room.rank[node]) or None if ours else None for node, ours in zip(nodes, targets, strict=True)]
    table["score"] = [float(room.run.scores[node]) if ours else None for node, ours in zip(nodes, targets, strict=True)]
    for name, cells in room.run.data.shown.items():
        told = [cells[node] if ours else None for node, ours in zip(nodes, targets, strict=True)]
        table[f"{name} (shown)" if name in COLUMNS else name] = told
    return table


def _csv(room: Room) -> bytes:
    table, text = _table(room), io.StringIO()
    write_csv(text, table, zip(*table.values(), strict=True))
    return text.getvalue().encode("utf-8", "replace")


def _parquet(room: Room) -> bytes:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "cases.parquet"
        write_parquet(file, {name: _column(cells) for name, cells in _table(room).items()})
        return file.read_bytes()


def _column(cells: list[Any]) -> NDArray[Any]:
    column = np.empty(len(cells), object)
    column[:] = cells
    return column


def _html(room: Room) -> bytes:
    """A case file: one page that needs nothing besides itself."""
    table, style, audit = _table(room), resource(__package__, "cases.css"), room.audit
    del table["verdict"]  # which the status tells in other words
    table["at"] = [_readable(at) for at in table["at"]]
    table["score"] = [None if score is None else f"{score:.3f}" for score in table["score"]]
    measured = audit.estimate() if audit.verdicts else None
    values = {
        "title": room.run.settings.title or shown(room.run.path.resolve().name),
        "columns": list(table),
        "rows": [list(map(_seen, row)) for row in zip(*table.values(), strict=True)],
        "short": SHORT,
        "counts": room.counts,
        "measured": None if measured is None else (measured_title(measured), measured_rows(measured)),
        "style": style,
        "policy": content_policy(style),
    }
    return fill_template(__package__, "cases.html", values).encode("utf-8", "replace")


def _readable(at: str) -> str:
    """A time of the log to the minute."""
    return f"{datetime.fromisoformat(at):%Y-%m-%d %H:%M} UTC" if at else ""


def _seen(cell: Any) -> Any:
    """A cell of which no letter reorders what is around it."""
    return cell.translate(BIDI_CONTROLS) if isinstance(cell, str) else cell


#: Formats by name: the type of the content, and what makes it.
FORMATS: dict[str, tuple[str, Callable[[Room], bytes]]] = {
    "csv": ("text/csv; charset=utf-8", _csv),
    "parquet": ("application/vnd.apache.parquet", _parquet),
    "html": ("text/html; charset=utf-8", _html),
}
