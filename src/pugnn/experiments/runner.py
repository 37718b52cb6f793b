"""Running the cells of a grid in several processes, with their records in one folder."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from statistics import fmean
from threading import Thread
from typing import NamedTuple

from joblib import Parallel, delayed, parallel_config
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from pugnn.errors import PugnnError
from pugnn.experiments.cells import Cell, measure
from pugnn.experiments.store import Record, RecordStore

#: Seconds between lines where there is no terminal to draw a bar on, and between looks at another process's work.
LINE_EVERY, LOOK_EVERY = 10.0, 1.0

#: Seconds between looks of a worker at the process that started it.
PARENT_EVERY = 0.2


class Outcome(NamedTuple):
    """Records of the cells by key, and for cells that could not be trained the message."""

    records: dict[str, Record]
    failures: dict[str, str]


@dataclass(frozen=True)
class _Failure:
    key: str
    message: str


def run_cells(cells: Iterable[Cell], store: RecordStore, *, jobs: int, progress: bool = True) -> Outcome:
    """Train every cell that has no record yet.

    A cell that cannot be trained, on a graph without features for instance, does not keep others from it. Other
    processes may work on the same folder: a cell that one of them is at work on is left to it.
    """
    try:
        return _run_cells({cell.key: cell for cell in cells}, store, jobs, progress)
    except BrokenProcessPool:
        raise PugnnError(
            "a process of the grid was ended from outside; often memory has run out. What is recorded is kept: the "
            f"same command goes on from there, and with fewer --jobs (now {jobs}) it needs less memory."
        ) from None


def _run_cells(wanted: dict[str, Cell], store: RecordStore, jobs: int, progress: bool) -> Outcome:
    records = {key: record for key, record in store.read().items() if key in wanted}
    failures: dict[str, str] = {}
    with (
        parallel_config("loky", inner_max_num_threads=1, initializer=end_with_parent, initargs=(os.getpid(),)),
        Parallel(n_jobs=jobs, return_as="generator_unordered") as pool,
        _GridProgress(list(wanted.values()), records, jobs, show=progress) as bar,
    ):
        while missing := [cell for key, cell in wanted.items() if key not in records and key not in failures]:
            done = len(records) + len(failures)
            for result in pool(delayed(_work)(cell, store) for cell in missing):
                if isinstance(result, _Failure):
                    failures[result.key] = result.message
                elif result is not None:
                    records[result["key"]] = result
                    bar.update(records)
            if len(records) + len(failures) < len(wanted):
                records |= {key: record for key, record in store.read(warn=False).items() if key in wanted}
                bar.update(records)
            if len(records) + len(failures) == done:  # others are at work on all that is left
                time.sleep(LOOK_EVERY)
    return Outcome(records, failures)


def _work(cell: Cell, store: RecordStore) -> Record | _Failure | None:
    """Train a cell and record it; ``None`` if another process does, or has done so since we looked."""
    with store.claim(cell.key) as ours:
        if not ours or store.holds(cell.key):
            return None
        try:
            record = measure(cell)
        except PugnnError as error:
            return _Failure(cell.key, str(error))
        store.append(record)
        return record


class _GridProgress:
    """One bar for the whole grid, with the time left from what cells of the same kind took so far."""

    def __init__(self, cells: list[Cell], records: dict[str, Record], jobs: int, *, show: bool) -> None:
        self._cells, self._jobs, self._show = cells, jobs, show
        self._console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("trainings"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=self._console,
            transient=True,
        )
        self._task = self._bar.add_task("trainings", total=len(cells), completed=len(records), left="")
        self._next_line = time.monotonic() + LINE_EVERY

    def __enter__(self) -> _GridProgress:
        if self._show and self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar.live.is_started:
            self._bar.stop()

    def update(self, records: dict[str, Record]) -> None:
        """Show how far it is."""
        if not self._show:
            return
        if self._console.is_terminal:
            self._bar.update(self._task, completed=len(records), left=self._left(records))
        elif time.monotonic() >= self._next_line:
            self._console.print(f"{len(records):,} of {len(self._cells):,} trainings, {self._left(records)}")
            self._next_line = time.monotonic() + LINE_EVERY

    def _left(self, records: dict[str, Record]) -> str:
        if not records:
            return ""
        seconds: dict[tuple[str, str], list[float]] = {}
        for record in records.values():
            kind = (record["cell"]["dataset"], record["cell"]["method"])
            seconds.setdefault(kind, []).append(record["seconds"]["total"])
        means = {kind: fmean(values) for kind, values in seconds.items()}
        other = fmean(means.values())  # for kinds of which none has been seen yet
        rest = sum(means.get((c.dataset, c.method), other) for c in self._cells if c.key not in records)
        return f"about {duration(rest / self._jobs)} left"


def duration(seconds: float) -> str:
    """A time in the unit that suits it.

    Example:
        >>> duration(12.4), duration(600), duration(9000)
        ('12 s', '10 min', '2 h 30 min')
    """
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"


def end_with_parent(parent: int) -> None:
    """End this process soon after the one with this number, its parent.

    A process that is killed cannot end its workers, which would finish their work and then wait for more.
    """
    Thread(target=_watch, args=[parent], name="end with the parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:  # orphans are handed to another process
        time.sleep(PARENT_EVERY)
    os._exit(1)
