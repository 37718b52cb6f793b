"""What people decide in the case room, kept in an append-only log: nothing that was acknowledged is ever lost."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import Any

from pugnn.errors import PugnnError, WriteError, shown
from pugnn.store.case_log import (
    SCHEMA,
    Case,
    Event,
    Verdict,
    connected_to_read,
    current_cases,
    events_after,
    live,
)

#: Seconds to wait while another process writes.
PATIENCE = 10.0

#: What somebody has done, in words.
TOLD = {"yes": "confirmed", "no": "rejected", "skip": "skipped", "note": "wrote a note on"}


class DecidedSinceError(PugnnError):
    """A decision cannot be undone: it was undone before, or there is a later one."""


class Decisions:
    """The log of a room. Several processes may write to it; each sees what the others have written.

    Args:
        file: the log; it is made with the first decision.
        read_only: never write to it.
    """

    def __init__(self, file: Path, *, read_only: bool = False) -> None:
        self.file, self._read_only = file, read_only
        self.events: list[Event] = []
        self._lock = RLock()  # one connection serves all threads
        self._connection: sqlite3.Connection | None = None

    @property
    def last(self) -> int:
        """The number of the last row, 0 if there is none."""
        return self.events[-1].seq if self.events else 0

    @property
    def cases(self) -> dict[Any, Case]:
        """What is decided of each node, by id."""
        return current_cases(self.events)

    def refresh(self) -> list[Event]:
        """Read what was added since the last time, by this process or another one."""
        with self._lock:
            if self._connection is None and not self.file.exists():
                return []
            try:
                new = events_after(self._connected(), self.last)
            except (sqlite3.Error, ValueError, TypeError) as error:
                raise PugnnError(f"{self.file} cannot be read: {error}. Restore it, or move it away.") from None
            self.events += new
            return new

    def add(self, node: str | int, verdict: Verdict, *, note: str | None, queue: str, who: str) -> Event:
        """Add a decision or a note; it is on disk when this returns."""
        with self._writing():
            seq = self._insert(node, verdict, note, queue, who, None)
        self.refresh()
        return next(event for event in reversed(self.events) if event.seq == seq)

    def undo(self, seq: int | None, *, who: str) -> Event:
        """Take back a decision or a note, the last one unless it is said which; gives what was taken back."""
        with self._writing():
            self.refresh()
            standing = live(self.events)
            taken = next((event for event in reversed(standing) if seq in (None, event.seq)), None)
            if taken is None:
                raise DecidedSinceError("there is nothing to undo: this was undone already")
            for later in reversed(standing):
                if later.seq > taken.seq and later.node == taken.node and later.decides == taken.decides:
                    raise DecidedSinceError(
                        f"{later.who or 'somebody'} {TOLD[later.verdict]} {shown(taken.node)} after that"
                    )
            self._insert(taken.node, "undo", None, taken.queue, who, taken.seq)
        self.refresh()
        return taken

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _insert(self, node: str | int, verdict: str, note: str | None, queue: str, who: str, undoes: int | None) -> int:
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        row = (at, who, json.dumps(node), verdict, note, queue, undoes)
        added = self._connected().execute(
            "INSERT INTO events (at, who, node, verdict, note, queue, undoes) VALUES (?, ?, ?, ?, ?, ?, ?)", row
        )
        assert added.lastrowid is not None
        return added.lastrowid

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """What is done inside is on disk afterwards or, if that fails, nothing of it."""
        with self._lock:
            try:
                connection = self._connected()
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield
                    connection.execute("COMMIT")
                except BaseException:
                    with suppress(sqlite3.Error):  # a full disk has ended the transaction already
                        connection.execute("ROLLBACK")
                    raise
            except sqlite3.Error as error:
                words = f"nothing was saved: {self.file} cannot be written to ({error})"
                raise WriteError(f"{words}. Make room on the disk, and decide again.") from None

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None and self._read_only:
            self._connection = connected_to_read(self.file)
        elif self._connection is None:
            # Without transactions of Python's own, which would begin at other moments than ours.
            connection = sqlite3.connect(self.file, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(SCHEMA)
            self._connection = connection
        return self._connection
