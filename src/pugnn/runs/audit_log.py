"""The audit of a run: what was drawn and what was found, in an append-only log in its folder."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pugnn.errors import PugnnError, WriteError
from pugnn.evidence.audit import Audit, Event
from pugnn.evidence.purposes import Choice
from pugnn.files import locked, replacing
from pugnn.runs.run import Run
from pugnn.store.case_log import NAME as CASES
from pugnn.store.case_log import read_verdicts

#: The log in the folder of a run, one event per line.
LOG = "audit.jsonl"


def audit_so_far(run: Run) -> dict[str, Any] | None:
    """How far the audit of a run has come, in plain values: nodes drawn, files to fill in, files read, measured."""
    audit = read_audit(run)
    if not audit.events and not audit.verdicts:
        return None
    return {
        "drawn": len(audit.drawn),
        "open": len(audit.open),
        "files": [str(run.path / draw["file"]) for draw in audit.draws],
        "checked": sources(run, audit),
        "measured": audit.estimate().to_plain() if audit.verdicts else None,
        "choice": None if (choice := last_choice(run, audit)) is None else asdict(choice),
    }


def last_choice(run: Run, audit: Audit) -> Choice | None:
    """The list for the purpose that was asked for last, by the verdicts of now; ``None`` if none was."""
    with suppress(OSError, ValueError, LookupError, TypeError):  # no such file, or nothing that was asked for in it
        kept = json.loads((run.path / "audit.json").read_text(encoding="utf-8"))
        return audit.choose(**kept["choice"]["asked"])
    return None


def read_audit(run: Run) -> Audit:
    """The audit of a run as far as it has come."""
    audit = Audit.after(
        run.task, run.others, decided=run.found, prior=run.results.prior, estimate=run.evidence.estimate
    )
    try:
        audit.replay(read_events(run.path))
    except PugnnError as error:
        raise PugnnError(f"{run.path / LOG}: {error}") from None
    return audit.with_verdicts(_of_case_room(run, audit))


def _of_case_room(run: Run, audit: Audit) -> dict[int, bool]:
    """The verdicts that were given in the case room of a run, by position, but those that were revised since."""
    if not (run.path / CASES).exists():
        return {}
    recorded = {  # when, by position
        int(audit.ranking[place]): event.get("at", "")
        for event in audit.events
        for _, place, _ in event.get("verdicts", ())
    }
    cases = read_verdicts(run.path / CASES)
    positions = run.task.graph.find(list(cases)).tolist() if cases else []
    return {
        node: case.verdict == "yes"
        for node, case in zip(positions, cases.values(), strict=True)
        if node >= 0 and case.at >= recorded.get(node, "")
    }


def sources(run: Run, audit: Audit) -> list[str]:
    """The files that hold the verdicts of an audit, in the order in which they were recorded."""
    read = [event["source"] for event in audit.events if event.get("source")]
    return [*dict.fromkeys(read), *([str(run.path / CASES)] if _of_case_room(run, audit) else [])]


def read_events(folder: Path) -> list[Event]:
    """What is in the log of the run in a folder; nothing without a log."""
    return [event for event, _ in _read(folder / LOG)]


@contextmanager
def recording(run: Run) -> Iterator[Audit]:
    """The audit of a run; what happens to it inside is added to the log, all of it or nothing."""
    with locked(run.path) as free:
        if free is False:
            raise PugnnError(f"another process is recording the audit of {run.path}. Wait until it is done.")
        audit = read_audit(run)
        before = len(audit.events)
        yield audit
        if len(audit.events) > before:
            try:
                _append(run.path / LOG, audit.events[before:])
            except WriteError as error:
                raise WriteError(f"nothing was recorded: {error}") from None


def _read(file: Path) -> list[tuple[Event, str]]:
    """The events of a log, each with its seal, which shows whether this line or one before it was changed."""
    try:
        lines = file.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise PugnnError(f"it cannot be read: {error.strerror}") from None
    found: list[tuple[Event, str]] = []
    for number, line in enumerate(lines, 1):
        try:
            event = json.loads(line)
            seal = event.pop("seal")
        except (ValueError, KeyError, TypeError, AttributeError):
            seal = None
        if seal is None or seal != _seal(event, found):
            again = "remove this line and all after it, and record their verdicts again"
            raise PugnnError(f"line {number} was changed or cut off. Restore the file; or {again}.")
        found.append((event, seal))
    return found


def _seal(event: Event, before: list[tuple[Event, str]]) -> str:
    last = before[-1][1] if before else ""
    return hashlib.sha256(f"{last}{json.dumps(event)}".encode()).hexdigest()[:16]


def _append(file: Path, events: list[Event]) -> None:
    """Add lines that are on disk when this returns; if that fails, the log is as it was."""
    found, at = _read(file), datetime.now(UTC).isoformat(timespec="milliseconds")
    for event in events:
        event["at"] = at
        found.append((event, _seal(event, found)))
    with replacing(file) as temporary, temporary.open("w", encoding="ascii") as log:
        log.writelines(json.dumps({**event, "seal": seal}) + "\n" for event, seal in found)
        log.flush()
        os.fsync(log.fileno())
