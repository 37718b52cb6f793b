"""The log of a case room: what was decided of nodes, in a SQLite file to which rows are only added."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from pugnn.errors import PugnnError

Verdict = Literal["yes", "no", "skip", "note", "undo"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

#: The log in the folder of a run.
NAME = "cases.sqlite"
#: How every SQLite file begins.
MAGIC = b"SQLite format 3\0"
#: The one table. A node is its id as JSON, so that 7 and "7" differ; ``undoes`` is the row that an undo takes back.
SCHEMA = f"""
    CREATE TABLE IF NOT EXISTS events (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        at TEXT NOT NULL,
        who TEXT NOT NULL,
        node TEXT NOT NULL,
        verdict TEXT NOT NULL CHECK (verdict IN ({", ".join(map(repr, VERDICTS))})),
        note TEXT,
        queue TEXT NOT NULL,
        undoes INTEGER REFERENCES events (seq)
    ) STRICT
"""
COLUMNS = ("seq", "at", "who", "node", "verdict", "note", "queue", "undoes")
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM events WHERE seq > ? ORDER BY seq"


@dataclass(frozen=True)
class Event:
    """A row of the log; ``node`` is the id, ``note`` is ``None`` where the note stays as it was."""

    seq: int
    at: str
    who: str
    node: str | int
    verdict: Verdict
    note: str | None
    queue: str
    undoes: int | None

    @property
    def decides(self) -> bool:
        """Whether it says what the node is, and not just something about it."""
        return self.verdict in ("yes", "no", "skip")


@dataclass(frozen=True)
class Case:
    """What is decided of a node now: the verdict, empty if there is none, the note, and by whom and when."""

    verdict: Literal["", "yes", "no", "skip"] = ""
    note: str = ""
    at: str = ""
    who: str = ""


def read_case_log(file: Path) -> list[Event]:
    """All rows of a log, in their order; an error if the file holds none."""
    try:
        with closing(connected_to_read(file)) as connection:
            return events_after(connection, 0)
    except (sqlite3.Error, ValueError, TypeError) as error:
        raise PugnnError(
            f"{file} is not the log of a case room ({error}). Give the cases.sqlite that `pugnn explore` keeps in the "
            "folder of a run, or a table with a column verdict."
        ) from None


def connected_to_read(file: Path) -> sqlite3.Connection:
    """A connection that only reads; where no file can be made beside the log, it is taken to be at rest."""
    place = file.absolute()
    mode = "mode=ro" if os.access(place.parent, os.W_OK) else "mode=ro&immutable=1"
    return sqlite3.connect(f"{place.as_uri()}?{mode}", uri=True, check_same_thread=False)


def events_after(connection: sqlite3.Connection, seq: int) -> list[Event]:
    """The rows after a certain one."""
    rows = connection.execute(_SELECT, (seq,)).fetchall()
    return [Event(number, at, who, json.loads(node), *rest) for number, at, who, node, *rest in rows]


def live(events: Iterable[Event]) -> list[Event]:
    """The decisions and notes that nobody has undone, in their order."""
    events = list(events)
    undone = {event.undoes for event in events}
    return [event for event in events if event.verdict != "undo" and event.seq not in undone]


def current_cases(events: Iterable[Event]) -> dict[Any, Case]:
    """What all rows together say of each node, by its id."""
    found: dict[Any, Case] = {}
    for event in live(events):
        before = found.get(event.node, Case())
        verdict: Any = event.verdict if event.decides else before.verdict
        note = before.note if event.note is None else event.note
        found[event.node] = Case(verdict, note, event.at, event.who)
    return found


def is_sqlite(file: Path) -> bool:
    """Whether this is a SQLite file."""
    try:
        with file.open("rb") as content:
            return content.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):  # what reads it as a table says what is wrong
        return False


def read_verdicts(file: Path) -> dict[Any, Case]:
    """The nodes of a log that are positive or not, by id; nodes that were skipped or only have a note are left out."""
    return {node: case for node, case in current_cases(read_case_log(file)).items() if case.verdict in ("yes", "no")}
