"""Edges into the rows of a symmetric adjacency matrix: sorted by DuckDB, outside memory where it is short."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.graph import Cleaning
from pugnn.graph.compiling import kernel
from pugnn.io.edge_table import EdgePiece
from pugnn.io.table import reason_of
from pugnn.store.format import new_array, write_array

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: Entries of the matrix that are merged at once.
_BATCH = 1 << 20


class SortedEdges:
    """Collects edges, then writes them as rows.

    Args:
        connection: DuckDB's connection to sort with.
        weighted: whether the edges have weights.
        batch: number of entries that are merged at once.
    """

    def __init__(self, connection: DuckDBPyConnection, *, weighted: bool, batch: int = _BATCH) -> None:
        self._connection, self._weighted, self._batch = connection, weighted, batch
        self._rows = self._self_loops = 0
        more = ", weight FLOAT, place BIGINT" if weighted else ""
        with _sorting():
            connection.execute(f"CREATE OR REPLACE TABLE ends (source INTEGER, target INTEGER{more})")

    def add(self, piece: EdgePiece) -> None:
        """Add some edges, given by positions."""
        loops = piece.sources == piece.targets
        columns: dict[str, NDArray[Any]] = {"source": piece.sources, "target": piece.targets}
        if piece.weights is not None:
            columns |= {"weight": piece.weights, "place": np.arange(self._rows, self._rows + len(loops))}
        self._rows += len(loops)
        self._self_loops += int(loops.sum())
        if loops.any():
            columns = {name: values[~loops] for name, values in columns.items()}
        with _sorting():
            self._connection.register("piece", pa.table(columns))
            self._connection.execute("INSERT INTO ends SELECT * FROM piece")
            self._connection.unregister("piece")

    def entries(self) -> str:
        """SQL for the entries of the matrix, one in the row of each end of an edge.

        An entry is one number: the row, the neighbour, and in its lowest bit whether the edge was given towards it.
        """
        more = ", weight, place" if self._weighted else ""
        return (
            f"SELECT (source::BIGINT << 32) | (target::BIGINT << 1) | 1 AS entry{more} FROM ends "
            f"UNION ALL SELECT (target::BIGINT << 32) | (source::BIGINT << 1){more} FROM ends"
        )

    def write(self, folder: Path, num_nodes: int) -> Cleaning:
        """Write row starts, neighbours and weights, repeats merged as by :func:`pugnn.graph.building.symmetric_csr`."""
        degrees, counts = np.zeros(num_nodes, dtype=np.int64), np.zeros(2, dtype=np.int64)
        with ExitStack() as files:
            indices = files.enter_context(new_array(folder, "indices", np.int32))
            weights = files.enter_context(new_array(folder, "weights", np.float32)) if self._weighted else None
            for neighbours, merged in self._merged(degrees, counts):
                indices.write(neighbours)
                if weights is not None:
                    weights.write(merged)
        write_array(folder, "indptr", np.concatenate([[0], np.cumsum(degrees)]))
        with _sorting():
            self._connection.execute("DROP TABLE ends")
        return Cleaning(self._rows, self._self_loops, *counts.tolist())

    def _merged(
        self, degrees: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int32], NDArray[np.float32]]]:
        """Neighbours and their weights, row by row, some at a time; degrees and counts are filled on the way."""
        # Repeats are added up in the order in which they were given, so that a sum is always the same.
        select, order = ("entry, weight", "entry >> 1, place") if self._weighted else ("entry", "entry")
        query = f"SELECT {select} FROM ({self.entries()}) ORDER BY {order}"
        entries, weights = np.zeros(0, np.int64), np.zeros(0, np.float32)
        with _sorting():
            for batch in self._connection.sql(query).to_arrow_reader(self._batch):
                entries = np.concatenate([entries, batch["entry"].to_numpy()])
                if self._weighted:
                    weights = np.concatenate([weights, batch["weight"].to_numpy()])
                # Repeats of the last edge may follow in the next batch.
                whole = int(np.searchsorted(entries, (entries[-1] >> 1) << 1))
                yield self._merge(entries[:whole], weights[:whole], degrees, counts)
                entries, weights = entries[whole:], weights[whole:]
        yield self._merge(entries, weights, degrees, counts)

    def _merge(
        self,
        entries: NDArray[np.int64],
        weights: NDArray[np.float32],
        degrees: NDArray[np.int64],
        counts: NDArray[np.int64],
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        neighbours, merged = np.empty(len(entries), np.int32), np.empty(len(weights), np.float32)
        kept = _merge(entries, weights, degrees, counts, neighbours, merged)
        if not np.isfinite(merged[:kept]).all():
            raise PugnnError("the weights of a repeated edge add up to more than a 32-bit float can hold")
        return neighbours[:kept], merged[:kept]


@contextmanager
def _sorting() -> Iterator[None]:
    """Surrounds every query."""
    import duckdb

    try:
        yield
    except (duckdb.Error, pa.ArrowException) as error:
        raise PugnnError(
            f"the edges cannot be sorted: {reason_of(error)}. Free some disk space, or choose another --out."
        ) from None


@kernel(nogil=True)
def _merge(entries, weights, degrees, counts, neighbours, merged):  # type: ignore[no-untyped-def]
    weighted = len(weights) > 0
    at, kept = 0, 0
    while at < len(entries):
        pair = entries[at] >> 1
        forward, backward, total = 0, 0, 0.0
        while at < len(entries) and entries[at] >> 1 == pair:
            forward += entries[at] & 1
            backward += 1 - (entries[at] & 1)
            if weighted:
                total += weights[at]
            at += 1
        row, neighbour = pair >> 31, pair & 0x7FFFFFFF
        if row < neighbour:  # every pair occurs twice
            counts[0] += max(forward - 1, 0) + max(backward - 1, 0)
            counts[1] += forward > 0 and backward > 0
        neighbours[kept] = neighbour
        if weighted:
            merged[kept] = total
        degrees[row] += 1
        kept += 1
    return kept
