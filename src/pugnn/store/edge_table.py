"""The edge table: positions of both ends of each edge, and weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError, shorten
from pugnn.features.attribute_table import MAX_FLOAT
from pugnn.store.id_types import IdColumn
from pugnn.store.ids import EMPTY, IdTable, text_column
from pugnn.store.tables.column_names import SOURCE, TARGET, WEIGHT, find_column, require_column
from pugnn.store.tables.table import Table

_MIN_WEIGHT = float(np.finfo(np.float32).smallest_subnormal)


class Edges(NamedTuple):
    """Positions of both ends of edges, and their weights if there are any."""

    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    weights: NDArray[np.float32] | None


class EdgeTable:
    """An edge table, to be read piece by piece; ``wanted`` has the user's names of columns."""

    def __init__(self, table: Table, wanted: Mapping[str, str | None]) -> None:
        self.table = table
        self.notes: list[str] = []  # what was repaired or left out
        self.ends, self.weight = self._places(wanted)
        unused = [name for at, name in enumerate(table.names) if at not in (*self.ends, self.weight)]
        if unused:
            self.notes.append(f"{table.shown}: {'columns' if len(unused) > 1 else 'column'} {shorten(unused)} not used")

    @property
    def columns(self) -> tuple[IdColumn, ...]:
        """Those of the two ends."""
        return tuple(map(self.table.id_column, self.ends))

    def _places(self, wanted: Mapping[str, str | None]) -> tuple[tuple[int, ...], int | None]:
        """Places of the two ends and of the weights, if there are any."""
        table = self.table
        if not table.header:
            if len(table.names) < 2:
                raise PugnnError(f"{table.shown} has one column; edges need two, source and target, in a header line")
            self.notes.append(f"{table.shown}: has no header; the first two columns are read as source and target")
            return (0, 1), None
        ends = tuple(
            require_column(table, end, wanted[end], usual) for end, usual in (("source", SOURCE), ("target", TARGET))
        )
        if ends[0] == ends[1]:
            raise PugnnError(f"{table.shown}: source and target are both the column {table.names[ends[0]]!r}")
        return ends, find_column(table, "weight", wanted["weight"], WEIGHT)

    def pieces(self, ids: IdTable) -> Iterator[Edges]:
        """All edges, a few million at a time; new ids are added to ``ids``, row by row."""
        table, weight, trimmed, rows = self.table, self.weight, ids.trimmed, 0
        selected = [ids.sql(table, at) for at in self.ends] + ([] if weight is None else [table.number(weight)])
        for source, target, *numbers in table.pieces(*selected):
            sources, targets = ids.add(source, target)
            bad = {"source": sources == EMPTY, "target": targets == EMPTY}
            weights = numbers[0].to_numpy() if numbers else None
            if weights is not None:
                bad["weight"] = ~((weights >= _MIN_WEIGHT) & (weights <= MAX_FLOAT))
            table.reject_cells(bad, weight, "a positive, finite number. Correct it, or remove the row", first=rows)
            rows += len(sources)
            yield Edges(sources, targets, None if weights is None else weights.astype(np.float32))
        if not rows:
            raise PugnnError(f"{table.shown} has no rows; a graph needs edges")
        if (ids.find(text_column([table.names[at] for at in self.ends])) >= 0).all():
            table.look_for_headers()
        self.notes += table.trimmed_note(ids, trimmed)
