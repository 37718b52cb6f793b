"""The edge table: positions of both ends of each edge, and weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError, shorten
from pugnn.features.attributes import LARGEST
from pugnn.io.columns import SOURCE, TARGET, WEIGHT, find_column, require_column
from pugnn.io.id_types import IdColumn
from pugnn.io.ids import EMPTY, IdTable, text_column
from pugnn.io.table import Table

_SMALLEST = float(np.finfo(np.float32).smallest_subnormal)


@dataclass(frozen=True, eq=False)
class EdgeTable:
    """An edge table that was read."""

    columns: tuple[IdColumn, ...]  # those of the two ends
    sources: NDArray[np.int32]  # position of the source of each edge
    targets: NDArray[np.int32]  # position of its target
    weights: NDArray[np.float32] | None  # of the edges, if there are any
    notes: tuple[str, ...]  # what was repaired or left out


def read_edges(table: Table, wanted: Mapping[str, str | None], ids: IdTable) -> EdgeTable:
    """Read an edge table; new ids are added to ``ids``, row by row. ``wanted`` has the user's names of columns."""
    notes, trimmed = [], ids.trimmed
    if table.header:
        ends = tuple(
            require_column(table.shown, table.names, end, wanted[end], usual)
            for end, usual in (("source", SOURCE), ("target", TARGET))
        )
        weight = find_column(table.shown, table.names, "weight", wanted["weight"], WEIGHT)
        if ends[0] == ends[1]:
            raise PugnnError(f"{table.shown}: source and target are both the column {table.names[ends[0]]!r}")
    else:
        if len(table.names) < 2:
            raise PugnnError(f"{table.shown} has one column; edges need two, source and target, in a header line")
        ends, weight = (0, 1), None
        notes.append(f"{table.shown}: has no header; the first two columns are read as source and target")
    unused = [name for at, name in enumerate(table.names) if at not in (*ends, weight)]
    if unused:
        notes.append(f"{table.shown}: {'columns' if len(unused) > 1 else 'column'} {shorten(unused)} not used")
    selected = [table.id_text(at) for at in ends] + ([] if weight is None else [table.number(weight)])
    positions, numbers = [np.zeros((2, 0), np.int32)], [np.zeros(0)]
    for source, target, *more in table.pieces(*selected):
        positions.append(np.stack(ids.add(source, target)))
        numbers += [piece.to_numpy() for piece in more]
    sources, targets = np.concatenate(positions, axis=1)
    bad = {"source": sources == EMPTY, "target": targets == EMPTY}
    weights = None if weight is None else np.concatenate(numbers)
    if weights is not None:
        bad["weight"] = ~((weights >= _SMALLEST) & (weights <= LARGEST))
    table.reject_cells(bad, weight, "a positive, finite number. Correct it, or remove the row")
    if not len(sources):
        raise PugnnError(f"{table.shown} has no rows; a graph needs edges")
    if (ids.find(text_column([table.names[at] for at in ends])) >= 0).all():
        table.look_for_headers()
    return EdgeTable(
        tuple(map(table.id_column, ends)),
        sources,
        targets,
        None if weights is None else weights.astype(np.float32),
        (*notes, *table.trimmed_note(ids, trimmed)),
    )
