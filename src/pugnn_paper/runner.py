"""Training the cells of a grid, with their records in one folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from statistics import fmean
from typing import NamedTuple

from pugnn.sweep import Executor, run_all
from pugnn.waiting import duration, part, status_line
from pugnn_paper.cells import Cell, measure
from pugnn_paper.records import Record, RecordStore

#: Seconds between looks at another process's work.
LOOK_EVERY = 1.0


class Outcome(NamedTuple):
    """Records of the cells by key, and the messages of those that could not be trained."""

    records: dict[str, Record]
    failures: dict[str, str]


def run_cells(cells: Iterable[Cell], store: RecordStore, executor: Executor) -> Outcome:
    """Train every cell that has no record yet.

    A cell that cannot be trained, on a graph without features for instance, does not stop the others. Other processes
    may work on the same folder: a cell that one of them is training is left to it.
    """
    wanted = {cell.key: cell for cell in cells}
    records = {key: record for key, record in store.read().items() if key in wanted}
    failures: dict[str, str] = {}
    if len(records) == len(wanted):
        return Outcome(records, failures)
    with executor, part(0, 0), status_line() as line:  # kinds of cells differ a lot
        line.say(_how_far(wanted, records, executor.jobs))
        while missing := [cell for key, cell in wanted.items() if key not in records and key not in failures]:
            done = len(records) + len(failures)
            for cell, result in run_tasks(measure, missing, store, executor):
                if isinstance(result, str):
                    failures[cell.key] = result
                    continue
                records[cell.key] = result
                line.update(_how_far(wanted, records, executor.jobs))
            if len(records) + len(failures) < len(wanted):
                records |= {key: record for key, record in store.read(warn=False).items() if key in wanted}
            if len(records) + len(failures) == done:  # others are working on all that is left
                time.sleep(LOOK_EVERY)
    return Outcome(records, failures)


def run_tasks(
    work: Callable[[Cell], Record], cells: Iterable[Cell], store: RecordStore, executor: Executor
) -> Iterator[tuple[Cell, Record | str]]:
    """Train the cells that are neither done nor claimed by another process, and record each: its record, or why not.

    The record is written here, so that workers need not see the folder.
    """
    claims = dict[str, ExitStack]()

    def claimed() -> Iterator[Cell]:
        for cell in cells:
            claim = claims[cell.key] = ExitStack()
            if claim.enter_context(store.claim(cell.key)) and not store.holds(cell.key):
                yield cell
            else:
                claims.pop(cell.key).close()

    try:
        for cell, result in run_all(executor, work, claimed()):
            if not isinstance(result, str):
                store.append(result)
            claims.pop(cell.key).close()
            yield cell, result
    finally:
        for claim in claims.values():
            claim.close()


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
