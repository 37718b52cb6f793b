"""The audit of a run: what was drawn and what was found, in an append-only log in its folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from pugnn.errors import PugnnError, WriteError
from pugnn.evidence.audit import Audit, Event
from pugnn.files import locked
from pugnn.runs.run import Run

#: The log in the folder of a run, one event per line.
LOG = "audit.jsonl"


def new_audit(run: Run) -> Audit:
    """An audit of a run's ranking of the unlabelled nodes in which nothing has happened yet."""
    estimate = run.evidence.estimate
    ranks = [] if estimate is None else estimate["hidden"].get("ranks", [])
    return Audit(
        run.task.graph,
        run.others,
        decided=run.found,
        ranks=np.array(ranks, np.float64),
        expected=run.results.prior * len(run.others),
        not_typical=_why_not_typical(run, len(ranks)),
    )


def _why_not_typical(run: Run, hidden: int) -> str:
    """Why hidden positives cannot narrow what is measured; empty if they can."""
    estimate = run.evidence.estimate
    if estimate is None or hidden < 2:
        return "no known positives were hidden in this run"
    if not run.evidence.signal:
        return "hidden positives rank no better than by chance"
    if estimate["caveat"]:
        return "the known positives may not be typical of all"
    return ""


def audit_so_far(run: Run) -> dict[str, Any] | None:
    """How far the audit of a run has come, in plain values: nodes drawn, files to fill in, files read, measured."""
    audit = read_audit(run)
    if not audit.events:
        return None
    files = sorted(run.path.glob("audit-*.csv"), key=lambda file: (len(file.name), file.name))
    read = dict.fromkeys(event["source"] for event in audit.events if event.get("source"))
    return {
        "drawn": len(audit.drawn),
        "open": len(audit.open),
        "files": [str(file) for file in files],
        "checked": [str(run.path / name) if (run.path / name).exists() else name for name in read],
        "measured": audit.estimate().to_plain() if audit.verdicts else None,
    }


def read_audit(run: Run) -> Audit:
    """The audit of a run as far as it has come."""
    return new_audit(run).replay(_events(run.path / LOG))


@contextmanager
def recording(run: Run) -> Iterator[Audit]:
    """The audit of a run; what happens to it inside is added to the log, all of it or nothing."""
    with locked(run.path) as free:
        if free is False:
            raise PugnnError(f"another process is recording the audit of {run.path}. Wait until it is done.")
        audit = read_audit(run)
        before = len(audit.events)
        yield audit
        _append(run.path / LOG, audit.events[before:])


def next_file(folder: Path) -> Path:
    """The first of ``audit-1.csv``, ``audit-2.csv``, … that is not there."""
    number = 1
    while os.path.lexists(folder / f"audit-{number}.csv"):
        number += 1
    return folder / f"audit-{number}.csv"


def _events(file: Path) -> list[Event]:
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeError) as error:
        raise PugnnError(f"{file} cannot be read: {error}") from None
    found = []
    for number, line in enumerate(text.split("\n")[:-1], 1):  # a last line without an end was never completed
        try:
            event = json.loads(line)
            fields = [[place for _, place, _ in event[name]] for name in ("nodes", "verdicts") if name in event]
            if not fields:
                raise KeyError("nodes")
        except (ValueError, KeyError, TypeError):
            words = "was changed: it is no event of an audit. Restore the file."
            raise PugnnError(f"{file}, line {number} {words}") from None
        found.append(event)
    return found


def _append(file: Path, events: list[Event]) -> None:
    """Add lines that are on disk when this returns."""
    if not events:
        return
    at = datetime.now(UTC).isoformat(timespec="seconds")
    lines = "".join(json.dumps({**event, "at": at}) + "\n" for event in events)
    try:
        with file.open("ab+") as log:
            end = log.seek(0, os.SEEK_END)
            complete = _complete_length(log, end)
            if complete < end:  # a process was killed while it wrote
                log.truncate(complete)
            try:
                log.write(lines.encode())
                log.flush()
                os.fsync(log.fileno())
            except OSError:
                log.truncate(complete)
                raise
    except OSError as error:
        raise WriteError(f"cannot write {file}: {error.strerror}. Nothing was recorded.") from None


def _complete_length(log: Any, end: int) -> int:
    log.seek(0)
    return int(log.read(end).rfind(b"\n")) + 1
