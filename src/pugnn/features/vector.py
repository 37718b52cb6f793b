"""Vectors: used as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.features.attribute_table import Cells
from pugnn.features.encoding import ENCODINGS, SPARSE_BELOW, ColumnFeatures, Encoding, Reading, say_nothing
from pugnn.graph.arrays import Features, dense

#: Vectors are read this many numbers at a time.
NUMBERS = 1 << 23

#: Nobody can train a model with more inputs than this.
MAX_LENGTH = 1 << 20

#: The vector in a cell, or null; a number in it that cannot be read is null.
VECTOR = "CASE WHEN present THEN try_cast(cell AS FLOAT[]) END"

NO_VECTOR = "is not a list of numbers such as [0.5, 2]"


@ENCODINGS.register("vector")
@dataclass(frozen=True)
class VectorEncoding(Encoding):
    """Lists of numbers, all of the same length, one feature per place."""

    needs_text = True
    group = "used as they are"
    stand_in = "zeros"

    length: int  # of the lists

    @classmethod
    def learn(cls, cells: Cells) -> Self:  # noqa: D102
        missing = cells.missing()
        first = int((~missing).argmax())
        ((length,),) = cells.query(f"len({VECTOR})", f"WHERE position = {first}").fetchall()
        if not length:
            raise cells.complaint(first, NO_VECTOR)
        if length > MAX_LENGTH:
            raise cells.complaint(first, f"has {length:,} numbers; more than {MAX_LENGTH:,} cannot be used")
        return cls(cells.name, cells.count_missing(missing), length)

    def read(self, cells: Cells) -> ColumnFeatures:  # noqa: D102
        missing = cells.missing()
        parts = []
        for stretch, condition in cells.stretches(max(NUMBERS // self.length, 1)):
            present = ~missing[stretch.start : stretch.stop]
            nodes, numbers = _items(cells, condition)
            lengths = np.bincount(nodes - stretch.start, minlength=len(stretch))
            wrong = present & (lengths != self.length)
            if wrong.any():
                at = int(wrong.argmax())
                wrong_length = f"has {lengths[at]:,} numbers where {self.length:,} are expected"
                raise cells.complaint(stretch[at], wrong_length if lengths[at] else NO_VECTOR)
            bad = ~np.isfinite(numbers)
            if bad.any():
                node, place = int(nodes[bad.argmax()]), int(bad.argmax()) % self.length
                raise cells.complaint(node, f"has an item that is not a finite 32-bit number in place {place + 1:,}")
            vectors = np.zeros((len(stretch), self.length), dtype=np.float32)
            vectors[present] = numbers.reshape(-1, self.length)
            mostly_zero = np.count_nonzero(numbers) < SPARSE_BELOW * vectors.size
            parts.append(sp.csr_array(vectors) if mostly_zero else vectors)
        return ColumnFeatures(_stacked(parts), missing)

    @property
    def value_names(self) -> list[str]:  # noqa: D102
        return [f"{self.column}[{place}]" for place in range(self.length)]

    def readings(self) -> list[tuple[str, Reading]]:  # noqa: D102
        return [(self.column, say_nothing)]

    def describe_values(self) -> str:  # noqa: D102
        return f"{self.length:,} numbers, used as they are"


def _stacked(parts: list[Features]) -> Features:
    """Parts below one another: sparse if all are."""
    if all(map(sp.issparse, parts)):
        return sp.csr_array(sp.vstack(parts, format="csr"))
    return np.vstack([dense(part) for part in parts])


def _items(cells: Cells, condition: str) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The node and the value of each item of the vectors, in the order of nodes; NaN for what is not a number."""
    items = cells.query(f"position, unnest({VECTOR}) AS number", f"WHERE {condition}").fetchnumpy()
    nodes, numbers = items["position"], np.ma.filled(items["number"], np.nan)
    if (np.diff(nodes) < 0).any():  # the table's rows are in another order
        order = np.argsort(nodes, kind="stable")
        nodes, numbers = nodes[order], numbers[order]
    return nodes, numbers
