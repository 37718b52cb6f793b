"""Training the cells of a grid, with their records in one folder."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, nullcontext
from statistics import fmean
from typing import NamedTuple, Protocol, TypeVar

from pugnn import __version__
from pugnn.errors import PugnnError, PugnnWarning
from pugnn_paper.cells import Cell, measure
from pugnn.executors import Executor
from pugnn_paper.records import Record, RecordStore
from pugnn.waiting import duration, part, status_line

#: Seconds between looks at another process's work.
LOOK_EVERY = 1.0
#: How often the same task is started again after its worker was lost.
RETRIES = 3


class Task(Protocol):
    """Something to do that ends in a record with the same key."""

    @property
    def key(self) -> str:
        """Its name."""

    @property
    def pugnn(self) -> str:
        """The version that does it."""


T = TypeVar("T", bound=Task)


class Outcome(NamedTuple):
    """Records of the cells by key, and the messages of those that could not be trained."""

    records: dict[str, Record]
    failures: dict[str, str]


def run_cells(cells: Iterable[Cell], store: RecordStore, executor: Executor, *, progress: bool = True) -> Outcome:
    """Train every cell that has no record yet.

    A cell that cannot be trained, on a graph without features for instance, does not stop the others. Other processes
    may work on the same folder: a cell that one of them is training is left to it.
    """
    wanted = {cell.key: cell for cell in cells}
    records = {key: record for key, record in store.read().items() if key in wanted}
    failures: dict[str, str] = {}
    if len(records) == len(wanted):
        return Outcome(records, failures)
    with executor, part(0, 0), status_line() if progress else nullcontext() as line:  # kinds of cells differ a lot
        if line is not None:
            line.say(_how_far(wanted, records, executor.jobs))
        while missing := [cell for key, cell in wanted.items() if key not in records and key not in failures]:
            done = len(records) + len(failures)
            for cell, result in run_tasks(measure, missing, store, executor):
                if isinstance(result, str):
                    failures[cell.key] = result
                    continue
                records[cell.key] = result
                if line is not None:
                    line.update(_how_far(wanted, records, executor.jobs))
            if len(records) + len(failures) < len(wanted):
                records |= {key: record for key, record in store.read(warn=False).items() if key in wanted}
            if len(records) + len(failures) == done:  # others are working on all that is left
                time.sleep(LOOK_EVERY)
    return Outcome(records, failures)


def run_tasks(
    work: Callable[[T], Record], tasks: Iterable[T], store: RecordStore, executor: Executor
) -> Iterator[tuple[T, Record | str]]:
    """Do the tasks that are neither done nor claimed by another process, and record each: its record, or why not.

    A task is taken when there is room for it, and then claimed. The record is written here, so that workers need not
    see the folder. A task whose worker was lost is started again.
    """
    waiting, claims = iter(tasks), dict[str, ExitStack]()
    running: dict[Future[Record | str], T] = {}
    lost = Counter[str]()
    try:
        while True:
            while len(running) < executor.jobs and (task := next(waiting, None)) is not None:
                claim = claims[task.key] = ExitStack()
                if claim.enter_context(store.claim(task.key)) and not store.holds(task.key):
                    running[executor.submit(attempt, work, task)] = task
                else:
                    claims.pop(task.key).close()
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                task = running.pop(future)
                try:
                    result = future.result()
                except executor.lost:
                    lost[task.key] += 1
                    _report_lost(lost[task.key], executor.jobs)
                    running[executor.submit(attempt, work, task)] = task
                    continue
                if not isinstance(result, str):
                    store.append(result)
                claims.pop(task.key).close()
                yield task, result
    finally:
        for claim in claims.values():
            claim.close()


def attempt(work: Callable[[T], Record], task: T) -> Record | str:
    """What a worker does: a record, or the message of why there is none."""
    if task.pugnn != __version__:
        return f"a worker has pugnn {__version__}, but this is of {task.pugnn}; install the same version everywhere"
    try:
        return work(task)
    except PugnnError as error:
        return str(error)


def _report_lost(times: int, jobs: int) -> None:
    words = "a worker process was killed, often because memory ran out"
    if times > RETRIES:
        raise PugnnError(
            f"{words}, {times} times during the same training. All records are kept: the same command continues from "
            f"there, and needs less memory with fewer --jobs (now {jobs})."
        )
    warnings.warn(f"{words}; its training starts again ({times} of {RETRIES} times)", PugnnWarning, stacklevel=3)


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
