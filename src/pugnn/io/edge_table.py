"""The edge table: positions of both ends of each edge, and weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError, counted, quoted, shorten
from pugnn.features.attributes import LARGEST, number_in_text
from pugnn.io.arrow import Batches, Texts
from pugnn.io.columns import SOURCE, TARGET, WEIGHT, find_column, missing_column
from pugnn.io.id_types import IdColumn
from pugnn.io.ids import EMPTY, IdTable
from pugnn.io.source import Source

_SMALLEST = float(np.finfo(np.float32).smallest_subnormal)


@dataclass(frozen=True, eq=False)
class EdgeTable:
    """An edge table that was read.

    Args:
        columns: of the two ends.
        sources: position of the one end of each edge.
        targets: and of the other.
        weights: of the edges, where there are any.
        notes: what was repaired or left out.
    """

    columns: tuple[IdColumn, ...]
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    weights: NDArray[np.float32] | None
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class EdgeReading:
    """An edge table that DuckDB has begun to read.

    Args:
        source: the table.
        ends: places of the columns of the two ends.
        weight: place of the column of weights, if there is one.
        stream: the ends as text, and the weights.
        notes: what was found so far.
    """

    source: Source
    ends: tuple[int, int]
    weight: int | None
    stream: Batches
    notes: tuple[str, ...]


@contextmanager
def begun(source: Source, wanted: Mapping[str, str | None]) -> Iterator[EdgeReading]:
    """Find the columns of an edge table and have DuckDB begin to read it, while others use the time.

    Args:
        source: the table.
        wanted: names of its columns that the user gave: ``source``, ``target``, ``weight``.
    """
    notes = []
    if source.header:
        ends = _end(source, "source", wanted["source"], SOURCE), _end(source, "target", wanted["target"], TARGET)
        weight = find_column(source.shown, source.names, "weight", wanted["weight"], WEIGHT)
        if ends[0] == ends[1]:
            raise PugnnError(f"{source.shown}: source and target are both the column {source.names[ends[0]]!r}")
    else:
        if len(source.names) < 2:
            raise PugnnError(f"{source.shown} has one column; edges need two, source and target, in a header line")
        ends, weight = (0, 1), None
        notes.append(f"{source.shown}: has no header; the first two columns are taken as source and target")
    unused = [name for at, name in enumerate(source.names) if at not in (*ends, weight)]
    if unused:
        notes.append(f"{source.shown}: {'columns' if len(unused) > 1 else 'column'} {shorten(unused)} not used")
    selected = [source.id_text(at) for at in ends]
    if weight is not None:
        selected.append(_number(f"c_{weight}", source.types[weight]))
    with source.reading():
        stream = Batches(source.connection.sql(f"SELECT {', '.join(selected)} FROM {source.table}"))
    with closing(stream):
        yield EdgeReading(source, ends, weight, stream, tuple(notes))


def read_edges(reading: EdgeReading, table: IdTable) -> EdgeTable:
    """Read an edge table to its end; ids that are new are added to ``table``, row by row."""
    source, notes, trimmed = reading.source, list(reading.notes), table.trimmed
    sources, targets, weights = [], [], []
    row, wrong_row, wrong_cell = 0, None, ""
    with source.reading():
        for (left, right), numbers in reading.stream:
            u, v = table.add_pairs(left, right)
            good = {"source": u != EMPTY, "target": v != EMPTY} if table.empty else {}
            if numbers:
                good["weight"] = (numbers[0] >= _SMALLEST) & (numbers[0] <= LARGEST)
            wrong = [(int(np.argmin(cells)), name) for name, cells in good.items() if not cells.all()]
            if wrong:
                first, wrong_cell = min(wrong)
                wrong_row = row + first
                break
            sources.append(u)
            targets.append(v)
            weights += [values.astype(np.float32) for values in numbers]
            row += len(u)
    reading.stream.close()
    if wrong_row is not None:
        raise _complaint(source, wrong_row, wrong_cell, reading.weight)
    if not row:
        raise PugnnError(f"{source.shown} has no rows; a graph needs edges")
    if (table.find(Texts.of([source.names[at] for at in reading.ends])) >= 0).all():
        source.look_for_headers()
    if table.trimmed > trimmed:
        notes.append(f"{source.shown}: white space around {counted(table.trimmed - trimmed, 'id')} left out")
    return EdgeTable(
        tuple(map(source.id_column, reading.ends)),
        np.concatenate(sources),
        np.concatenate(targets),
        np.concatenate(weights) if weights else None,
        tuple(notes),
    )


def _end(source: Source, option: str, wanted: str | None, usual: tuple[str, ...]) -> int:
    at = find_column(source.shown, source.names, option, wanted, usual)
    if at is None:
        raise missing_column(source.shown, source.names, option, usual)
    return at


def _number(column: str, kind: str) -> str:
    return number_in_text(f"trim({column})") if kind == "VARCHAR" else f"TRY_CAST({column} AS DOUBLE)"


def _complaint(source: Source, row: int, name: str, weight: int | None) -> PugnnError:
    where = source.locate(row)
    cell = None if weight is None or name != "weight" else source.cell(row, weight)
    if cell is None:
        return PugnnError(f"{where}: the {name} is empty. Fill it in, or remove the row.")
    return PugnnError(
        f"{where}: weight {quoted(cell)} is not a positive, finite number. Correct it, or remove the row."
    )
