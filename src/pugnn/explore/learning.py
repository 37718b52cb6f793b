"""Fit again: a new run beside the old one, which learns from all verdicts, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import RLock, Thread
from time import monotonic
from typing import Any, Literal

import numpy as np

from pugnn.errors import PugnnError
from pugnn.explore.quality import measured_of
from pugnn.explore.room import Room
from pugnn.processes import end_process
from pugnn.runs.folder import next_free
from pugnn.runs.report.answers import next_round, what_changed
from pugnn.runs.run import Run
from pugnn.store import write_parquet

State = Literal["idle", "running", "done", "failed", "cancelled"]
#: Nodes that are named among those that rose, and that fell.
MOVES = 10
#: Seconds that a training has to end after it was told to.
PATIENCE = 30.0


class Learning:
    """One training at a time, which a page starts, watches and cancels.

    Args:
        room: whose verdicts it learns from.
        open_run: opens the new run.
    """

    def __init__(self, room: Room, open_run: Callable[[Path], Run]) -> None:
        self._room, self._open_run = room, open_run
        self._lock = RLock()
        self._process: subprocess.Popen[str] | None = None
        self._state: State = "idle"
        self._out, self._words, self._error = Path(), "", ""
        self._began = self._ended = 0.0
        self._compared: dict[str, Any] = {}

    @property
    def new_run(self) -> Path | None:
        """The folder of the run that was trained; ``None`` before it is done."""
        return self._out if self._state == "done" else None

    def start(self) -> None:
        """Begin to train with what was decided up to now."""
        with self._lock:
            if self._state == "running":
                raise PugnnError("a training is running; cancel it first, or wait until it is done")
            audit, run = self._room.audit, self._room.run
            if not audit.verdicts:
                raise PugnnError("there is nothing to learn from yet: confirm or reject some nodes first")
            self._out = next_round(run.path.absolute())
            # The verdicts of now: the log goes on, and the new run is to be opened with what it has learnt from.
            checked = next_free(run.path, "verdicts", suffix=".parquet")
            write_parquet(checked, _verdicts(self._room, audit.verdicts))
            command = [
                "fit",
                "--config",
                str(run.path / "run.json"),
                "--checked",
                str(checked),
                "--out",
                str(self._out),
            ]
            self._process = subprocess.Popen(
                [sys.executable, "-m", "pugnn", *command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,  # Ctrl-C in the terminal ends the room, which then ends this
            )
            self._state, self._words, self._error, self._began = "running", "starting", "", monotonic()
            Thread(target=self._watch, args=(self._process,), daemon=True).start()

    def cancel(self) -> None:
        """Stop the training, and wait until it has ended."""
        with self._lock:
            process, running = self._process, self._state == "running"
            if running:
                self._state = "cancelled"
        if process is None or not running:
            return
        end_process(process, PATIENCE)

    def now(self) -> dict[str, Any]:
        """How far it has come, in plain values."""
        with self._lock:
            running, idle = self._state == "running", self._state == "idle"
            seconds = 0.0 if idle else (monotonic() if running else self._ended or monotonic()) - self._began
            return {
                "state": self._state,
                "seconds": round(seconds, 1),
                "words": self._words,
                "run": "" if idle else self._out.name,
                "error": self._error,
                **(self._compared if self._state == "done" else {}),
            }

    def _watch(self, process: subprocess.Popen[str]) -> None:
        """Keep the last line that the training says, and see how it ends."""
        assert process.stderr is not None
        said = [""]
        with process.stderr as lines:
            for line in filter(str.strip, lines):
                said = [*said[-9:], line.strip()]
                self._words = line.strip()
        code = process.wait()
        with self._lock:
            self._ended = monotonic()
            if self._state == "cancelled":
                return
            try:
                if code:
                    raise PugnnError(next((line for line in reversed(said) if line.startswith("error:")), said[-1]))
                self._compared = self._compare()
                self._state = "done"
            except PugnnError as error:
                self._state, self._error = "failed", str(error).removeprefix("error: ")

    def _compare(self) -> dict[str, Any]:
        """Who rose and who fell, and how the measure moved."""
        try:
            record = json.loads((self._out / "run.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise PugnnError(f"the new run {self._out} cannot be read: {error}") from None
        changes = record.get("changes") or {}
        moves = {name: self._moved(changes.get(name, [])[:MOVES]) for name in ("rose", "fell")}
        words = [what_changed(changes)] if changes else []
        after = measured_of_record(record)
        return {
            "changes": {**moves, "words": words},
            "measured": {"before": measured_of(self._room.audit), "after": after},
        }

    def _moved(self, moves: list[dict[str, Any]]) -> list[dict[str, Any]]:
        nodes = self._room.find(each["id"] for each in moves)
        return [
            {"id": str(each["id"]), "node": node, "before": each["rank_before"], "after": each["rank_now"]}
            for each, node in zip(moves, nodes, strict=True)
        ]


def measured_of_record(record: dict[str, Any]) -> dict[str, Any] | None:
    """What a new run, which nobody has checked yet, is expected to be; ``None`` where nothing is known."""
    estimate = record.get("estimate")
    if not estimate or not estimate.get("signal"):
        return None
    positives = estimate["positives"]
    row = {"name": f"positives among {record['unlabelled']:,} unlabelled", **positives, "kind": "count"}
    return {"title": estimate["headline"][0], "rows": [row], "notes": estimate["headline"][1:]}


def _verdicts(room: Room, verdicts: dict[int, bool]) -> dict[str, Any]:
    ids, said = np.empty(len(verdicts), object), np.empty(len(verdicts), object)
    ids[:] = [room.plain_id(node) for node in verdicts]
    said[:] = ["yes" if positive else "no" for positive in verdicts.values()]
    return {"id": ids, "verdict": said}
