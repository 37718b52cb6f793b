"""From arrays as people have them to the arrays of a graph, checked and cleaned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from pugnn.errors import PugnnError, shorten

Features: TypeAlias = NDArray[np.float32] | sp.csr_array


@dataclass(frozen=True)
class Cleaning:
    """What was done to the edges as given to make them simple and symmetric.

    Args:
        rows: edges as given.
        self_loops: dropped.
        duplicates: repeats of an edge in the same direction, merged (weights are added).
        two_way: pairs given in both directions, merged into one (weights are added).
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


def as_ids(ids: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """One-dimensional array of unique ids; mixed types are kept as they are."""
    if isinstance(ids, np.ndarray):
        array = ids
    else:
        values = list(ids)
        kinds = {type(value) for value in values}
        array = np.empty(len(values), dtype=object)
        array[:] = values
        if len(kinds) == 1 and kinds <= {int, str}:
            array = np.asarray(values)
    if array.ndim != 1:
        raise PugnnError(f"ids must be one-dimensional, these have shape {array.shape}")
    listed = array.tolist()
    if len(set(listed)) != len(listed):
        seen: set[Any] = set()
        twice = [i for i in listed if i in seen or seen.add(i)]  # type: ignore[func-returns-value]
        raise PugnnError(f"node ids must be unique; these appear more than once: {shorten(twice)}")
    return array


def ends_from_ids(ends: ArrayLike, lookup: dict[Any, int]) -> NDArray[np.int64]:
    """Positions of edge ends that are given as ids."""
    listed = ends.tolist() if isinstance(ends, np.ndarray) else list(ends)  # type: ignore[arg-type]
    unknown = [end for end in listed if end not in lookup]
    if unknown:
        raise PugnnError(f"{len(unknown):,} edge ends are not among the node ids: {shorten(unknown)}")
    return np.fromiter((lookup[end] for end in listed), dtype=np.int64, count=len(listed))


def as_positions(ends: ArrayLike) -> NDArray[np.int64]:
    """Edge ends that are given as positions, checked."""
    array = np.asarray(ends)
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.dtype.kind not in "iu":
        raise PugnnError(f"edge ends must be whole numbers, got {array.dtype}; give `ids` where they are ids")
    if array.min() < 0:
        raise PugnnError(f"an edge end is negative ({array.min()}); positions count from 0")
    return array.astype(np.int64).ravel()


def as_weights(weights: ArrayLike, rows: int) -> NDArray[np.float32]:
    """One positive weight per edge."""
    array = np.asarray(weights, dtype=np.float32)
    if array.shape != (rows,):
        raise PugnnError(f"edge weights have shape {array.shape}, expected ({rows},): one per edge")
    if not (np.isfinite(array) & (array > 0)).all():
        bad = int(np.flatnonzero(~(np.isfinite(array) & (array > 0)))[0])
        raise PugnnError(f"edge weights must be positive and finite; edge {bad} has weight {array[bad]}")
    return array


def as_features(features: ArrayLike | sp.sparray | sp.spmatrix) -> Features:
    """A copy in float32, sparse ones as CSR; a list of numbers becomes one column."""
    if sp.issparse(features):
        matrix = sp.csr_array(features, dtype=np.float32, copy=True)
        matrix.sum_duplicates()
        return matrix
    try:
        dense = np.array(features, dtype=np.float32, order="C")  # a copy: what callers do to theirs stays theirs
    except (TypeError, ValueError) as error:
        raise PugnnError(f"features must be a matrix of numbers: {error}") from None
    return dense[:, None] if dense.ndim == 1 else dense


def symmetric_csr(
    n: int, u: NDArray[np.int64], v: NDArray[np.int64], weights: NDArray[np.float32] | None
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32] | None, Cleaning]:
    """The symmetric adjacency of cleaned edges: row starts, sorted neighbours, merged weights, and what was done."""
    if n > np.iinfo(np.int32).max:
        raise PugnnError(f"{n:,} nodes are more than 32-bit positions can hold")
    proper = u != v
    self_loops = len(u) - int(proper.sum())
    if self_loops:
        u, v = u[proper], v[proper]
        weights = None if weights is None else weights[proper]
    directed = len(np.unique(u * n + v))
    pairs, where = np.unique(np.minimum(u, v) * n + np.maximum(u, v), return_inverse=True)
    cleaning = Cleaning(
        rows=len(u) + self_loops,
        self_loops=self_loops,
        duplicates=len(u) - directed,
        two_way=directed - len(pairs),
    )
    low, high = pairs // max(n, 1), pairs % max(n, 1)
    values = np.ones(len(pairs)) if weights is None else np.bincount(where, weights, minlength=len(pairs))
    csr = sp.csr_array(
        (np.concatenate([values, values]), (np.concatenate([low, high]), np.concatenate([high, low]))), shape=(n, n)
    )
    csr.sort_indices()
    merged = None if weights is None else csr.data.astype(np.float32)
    return csr.indptr.astype(np.int64), csr.indices.astype(np.int32), merged, cleaning
