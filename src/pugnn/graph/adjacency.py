"""Edges, in any order and direction, into the rows of a symmetric adjacency matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.graph.arrays import require_num_nodes
from pugnn.graph.compiling import kernel

#: Row starts, sorted neighbours and weights of a symmetric adjacency matrix, and a record of the cleaning.
Adjacency: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32] | None, "Cleaning"]

_NO_WEIGHTS = np.zeros(0, np.float32)


@dataclass(frozen=True)
class Cleaning:
    """How the ``rows`` of edges given were made simple and symmetric.

    ``self_loops`` are dropped. ``duplicates``, repeats in the same direction, and ``two_way`` pairs are merged, and
    their weights added.
    """

    rows: int = 0
    self_loops: int = 0
    duplicates: int = 0
    two_way: int = 0

    @property
    def edges(self) -> int:
        """Undirected edges that remain."""
        return self.rows - self.self_loops - self.duplicates - self.two_way

    def __str__(self) -> str:
        return (
            f"{self.rows:,} edges given, {self.edges:,} kept: {self.self_loops:,} self loops dropped, "
            f"{self.duplicates:,} duplicates merged, {self.two_way:,} two-way pairs merged (direction dropped)"
        )


def symmetric_csr(
    n: int, u: NDArray[np.integer[Any]], v: NDArray[np.integer[Any]], weights: NDArray[np.float32] | None
) -> Adjacency:
    """The adjacency matrix of edges between ``n`` nodes, in memory; see :func:`merge_edges`."""
    parts: list[Any] = [(np.zeros(0, np.int32), _NO_WEIGHTS)]
    indptr, cleaning = merge_edges(n, u, v, weights, lambda *part: parts.append(part))
    neighbours, merged = map(np.concatenate, zip(*parts, strict=True))
    return indptr, neighbours, None if weights is None else merged, cleaning


def merge_edges(
    n: int,
    u: NDArray[np.integer[Any]],
    v: NDArray[np.integer[Any]],
    weights: NDArray[np.float32] | None,
    write: Callable[[NDArray[np.int32], NDArray[np.float32]], None],
    at_once: int = 1 << 62,
) -> tuple[NDArray[np.int64], Cleaning]:
    """Row starts of the symmetric adjacency of edges between ``u`` and ``v``, and a record of the cleaning.

    ``write`` takes sorted neighbours and their weights, some rows at a time: ``at_once`` entries of 8 bytes each, or 16
    with weights. The weights of repeats are added in their order.
    """
    require_num_nodes(n)
    u, v = np.asarray(u, np.int32), np.asarray(v, np.int32)
    given = _NO_WEIGHTS if weights is None else weights
    starts, self_loops = _count_entries(n, u, v, 0, n)
    indptr, counts = np.zeros(n + 1, np.int64), np.zeros(2, np.int64)
    first = 0
    while first < n:
        last = max(first + 1, int(np.searchsorted(starts, starts[first] + at_once, "right")) - 1)
        by_neighbour = starts if last - first == n else _count_entries(n, u, v, first, last)[0]
        entries, merged = _merge_rows(first, last, starts, by_neighbour, u, v, given, indptr, counts)
        if not np.isfinite(merged).all():
            raise PugnnError("the weights of a repeated edge add up to more than a 32-bit float can hold")
        write(entries.view(np.int32), merged)
        first = last
    return indptr, Cleaning(len(u), int(self_loops), *counts.tolist())


@kernel(nogil=True)
def _count_entries(n, u, v, first, last):  # type: ignore[no-untyped-def]
    """Where the entries of each column would start if those in some rows were sorted by column; and self loops."""
    starts = np.zeros(n + 1, dtype=np.int64)
    self_loops = 0
    for edge in range(len(u)):
        if u[edge] == v[edge]:
            self_loops += 1
        else:
            starts[u[edge] + 1] += first <= v[edge] < last
            starts[v[edge] + 1] += first <= u[edge] < last
    for node in range(n):
        starts[node + 1] += starts[node]
    return starts, self_loops


@kernel(nogil=True)
def _merge_rows(first, last, rows, columns, u, v, weights, indptr, counts):  # type: ignore[no-untyped-def]
    # Two counting sorts: by column, then by row; repeats keep their order. An entry is a row, and then a column, with
    # the direction in which the edge was given in the lowest bit.
    weighted = len(weights) > 0
    size, n = columns[-1], len(columns) - 1
    loose = np.empty(size, dtype=np.uint32)
    loose_weights = np.empty(size if weighted else 0, dtype=np.float32)
    free = columns[:-1].copy()
    for edge in range(len(u)):
        if u[edge] != v[edge]:
            for row, column, forward in ((u[edge], v[edge], 1), (v[edge], u[edge], 0)):
                if first <= row < last:
                    loose[free[column]] = 2 * row + forward
                    if weighted:
                        loose_weights[free[column]] = weights[edge]
                    free[column] += 1
    ordered = np.empty(size, dtype=np.uint32)
    ordered_weights = np.empty(len(loose_weights), dtype=np.float32)
    for row in range(first, last):
        free[row] = rows[row] - rows[first]
    for column in range(n):
        for at in range(columns[column], columns[column + 1]):
            row = loose[at] >> 1
            ordered[free[row]] = 2 * column + (loose[at] & 1)
            if weighted:
                ordered_weights[free[row]] = loose_weights[at]
            free[row] += 1
    # Repeats are now adjacent: merge them, moving entries to the front.
    at, kept = 0, 0
    for row in range(first, last):
        while at < free[row]:
            column = ordered[at] >> 1
            forward, backward, total = 0, 0, 0.0
            while at < free[row] and ordered[at] >> 1 == column:
                forward += ordered[at] & 1
                backward += 1 - (ordered[at] & 1)
                if weighted:
                    total += ordered_weights[at]
                at += 1
            if row < column:  # every pair occurs twice
                counts[0] += max(forward - 1, 0) + max(backward - 1, 0)
                counts[1] += forward > 0 and backward > 0
            ordered[kept] = column
            if weighted:
                ordered_weights[kept] = total
            kept += 1
        indptr[row + 1] = indptr[first] + kept
    return ordered[:kept], ordered_weights[:kept] if weighted else ordered_weights
