"""Training the cells of a grid in several processes, with their records in one folder."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from statistics import fmean
from threading import Thread
from typing import NamedTuple

from joblib import Parallel, delayed, parallel_config

from pugnn.errors import PugnnError
from pugnn.experiments.cells import Cell, measure
from pugnn.experiments.store import Record, RecordStore
from pugnn.waiting import status_line

#: Seconds between looks at another process's work, and of a worker at its parent.
LOOK_EVERY, PARENT_EVERY = 1.0, 0.2


class Outcome(NamedTuple):
    """Records of the cells by key, and the messages of those that could not be trained."""

    records: dict[str, Record]
    failures: dict[str, str]


def run_cells(cells: Iterable[Cell], store: RecordStore, *, jobs: int, progress: bool = True) -> Outcome:
    """Train every cell that has no record yet.

    A cell that cannot be trained, on a graph without features for instance, does not stop the others. Other processes
    may work on the same folder: a cell that one of them is training is left to it.
    """
    wanted = {cell.key: cell for cell in cells}
    records = {key: record for key, record in store.read().items() if key in wanted}
    failures: dict[str, str] = {}
    try:
        with (
            parallel_config("loky", inner_max_num_threads=1, initializer=end_with_parent, initargs=(os.getpid(),)),
            Parallel(n_jobs=jobs, return_as="generator_unordered") as pool,
            status_line() if progress else nullcontext() as line,
        ):
            if line is not None:
                line.say(_how_far(wanted, records, jobs))
            while missing := [cell for key, cell in wanted.items() if key not in records and key not in failures]:
                done = len(records) + len(failures)
                for key, result in pool(delayed(_work)(cell, store) for cell in missing):
                    if isinstance(result, str):
                        failures[key] = result
                    elif result is not None:
                        records[key] = result
                        if line is not None:
                            line.update(_how_far(wanted, records, jobs))
                if len(records) + len(failures) < len(wanted):
                    records |= {key: record for key, record in store.read(warn=False).items() if key in wanted}
                if len(records) + len(failures) == done:  # others are working on all that is left
                    time.sleep(LOOK_EVERY)
    except BrokenProcessPool:
        raise PugnnError(
            "a worker process was killed, often because memory ran out. All records are kept: the same command "
            f"continues from there, and needs less memory with fewer --jobs (now {jobs})."
        ) from None
    return Outcome(records, failures)


def _work(cell: Cell, store: RecordStore) -> tuple[str, Record | str | None]:
    """Train a cell and record it. Its key, and its record, or why there is none; ``None`` if another process has it."""
    with store.claim(cell.key) as ours:
        if not ours or store.holds(cell.key):
            return cell.key, None
        try:
            record = measure(cell)
        except PugnnError as error:
            return cell.key, str(error)
        store.append(record)
        return cell.key, record


def _how_far(wanted: Mapping[str, Cell], records: Mapping[str, Record], jobs: int) -> str:
    left = f", about {duration(seconds_left(wanted, records) / jobs)} left" if records else ""
    return f"{len(records):,} of {len(wanted):,} trainings{left}"


def seconds_left(wanted: Mapping[str, Cell], records: Mapping[str, Record]) -> float:
    """Time for the cells without a record, from what cells of the same kind took."""
    seconds: dict[tuple[str, str], list[float]] = {}
    for record in records.values():
        kind = (record["cell"]["dataset"], record["cell"]["method"])
        seconds.setdefault(kind, []).append(record["seconds"]["total"])
    means = {kind: fmean(values) for kind, values in seconds.items()}
    other = fmean(means.values())  # for kinds of which none is finished yet
    return sum(means.get((cell.dataset, cell.method), other) for key, cell in wanted.items() if key not in records)


def duration(seconds: float) -> str:
    """A time in a suitable unit.

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
