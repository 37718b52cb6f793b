"""From arrays as people have them to the arrays of a graph, checked and cleaned."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from pugnn.errors import PugnnError, require_whole, shorten
from pugnn.graph.compiling import kernel

Features: TypeAlias = NDArray[np.float32] | sp.csr_array

#: Positions are stored in 32 bits.
MOST_NODES = np.iinfo(np.int32).max
#: The least that a node takes while a graph is built, without edges and features.
BYTES_PER_NODE = 40
_TOO_MANY = "more than 32-bit positions can hold"


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


def refuse_masked(values: object, what: str) -> None:
    """Complain of masked entries: numpy would take what stands under the mask as given."""
    parts = values if isinstance(values, list | tuple) else [values]
    if any(isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part) for part in parts):
        raise PugnnError(f"{what} hold masked entries; leave those out, or fill them with what they should be")


def as_ids(ids: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """One-dimensional array of unique ids; mixed types are kept as they are."""
    refuse_masked(ids, "ids")
    if isinstance(ids, np.ndarray):
        array = ids
    else:
        values = list(ids)
        array = np.fromiter(values, dtype=object, count=len(values))
        if {type(value) for value in values} in ({int}, {str}):
            typed = np.asarray(values)
            # Not as floats, which large numbers below and above zero become, nor without the zero bytes at their end.
            array = typed if typed.dtype.kind in "iuU" and typed.tolist() == values else array
    if array.ndim != 1:
        raise PugnnError(f"ids must be one-dimensional, these have shape {array.shape}")
    listed = array.tolist()
    if array.dtype.kind not in "iuU":
        for value in listed:
            _check_id(value)
    if len(set(listed)) != len(listed):
        seen: set[Any] = set()
        twice = [i for i in listed if i in seen or seen.add(i)]  # type: ignore[func-returns-value]
        raise PugnnError(f"node ids must be unique; these appear more than once: {shorten(twice)}")
    return array


def _check_id(value: Any) -> None:
    try:
        hash(value)
        missing = value is None or bool(value != value)  # (what is not a number differs from itself)
    except (TypeError, ValueError):
        raise PugnnError(
            f"{value!r} cannot be a node id; ids are numbers, text, tuples or other fixed values"
        ) from None
    if missing:
        raise PugnnError(f"a node id is missing: {value!r}. Every node needs one.")


def ends_from_ids(ends: ArrayLike, lookup: dict[Any, int]) -> NDArray[np.int64]:
    """Positions of edge ends that are given as ids."""
    refuse_masked(ends, "edge ends")
    listed = ends.tolist() if isinstance(ends, np.ndarray) else list(ends)  # type: ignore[arg-type]
    try:
        unknown = [end for end in listed if end not in lookup]
    except TypeError:
        raise PugnnError("edge ends must be node ids, one for each edge; got lists") from None
    if unknown:
        raise PugnnError(f"{len(unknown):,} edge ends are not among the node ids: {shorten(unknown)}")
    return np.fromiter((lookup[end] for end in listed), dtype=np.int64, count=len(listed))


def as_positions(ends: ArrayLike) -> NDArray[np.int64]:
    """Edge ends that are given as positions, checked."""
    refuse_masked(ends, "edge ends")
    array = np.asarray(ends)
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.dtype.kind not in "iu":
        raise PugnnError(f"edge ends must be whole numbers, got {array.dtype}; give `ids` where they are ids")
    if array.min() < 0:
        raise PugnnError(f"an edge end is negative ({array.min()}); positions count from 0")
    if array.max() >= MOST_NODES:
        raise PugnnError(f"an edge ends at position {array.max():,}, {_TOO_MANY}; give `ids` where ends are ids")
    return array.astype(np.int64).ravel()


def require_num_nodes(num_nodes: Any) -> int:
    """A number of nodes that positions can count."""
    require_whole("num_nodes", num_nodes, 0)
    n = int(num_nodes)
    if n > MOST_NODES:
        raise PugnnError(f"{n:,} nodes are {_TOO_MANY}")
    if n * BYTES_PER_NODE > _memory():
        raise PugnnError(f"{n:,} nodes need more memory than there is; give `ids` where edge ends are ids")
    return n


def _memory() -> float:
    """Bytes of memory in this machine, where the system says so."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return math.inf


def no_such_node(position: int, n: int) -> PugnnError:
    """The error for an edge whose end is beyond the last node."""
    return PugnnError(f"an edge ends at node {position}, but there are only {n} nodes (0 to {n - 1})")


def as_weights(weights: ArrayLike, rows: int) -> NDArray[np.float32]:
    """One positive weight per edge."""
    array = _as_numbers(weights, "edge weights")
    if array.shape != (rows,):
        raise PugnnError(f"edge weights have shape {array.shape}, expected ({rows},): one per edge")
    if not (np.isfinite(array) & (array > 0)).all():
        bad = int(np.flatnonzero(~(np.isfinite(array) & (array > 0)))[0])
        raise PugnnError(f"edge weights must be positive and finite; edge {bad} has weight {array[bad]}")
    return array


def as_features(features: ArrayLike | sp.sparray | sp.spmatrix) -> Features:
    """A copy in float32, sparse ones as CSR; a list of numbers becomes one column."""
    if sp.issparse(features):
        given = sp.csr_array(features)
        _require_real(given.dtype, "features")
        matrix = sp.csr_array(given, dtype=np.float32, copy=True)
        matrix.sum_duplicates()
        return matrix
    dense = _as_numbers(features, "features")
    return dense[:, None] if dense.ndim == 1 else dense


def _as_numbers(values: ArrayLike, what: str) -> NDArray[np.float32]:
    """A copy in float32: what callers do to theirs stays theirs."""
    refuse_masked(values, what)
    try:
        array = np.asarray(values)
        _require_real(array.dtype, what)
        with np.errstate(over="ignore"):  # what becomes infinite is refused by those who know its place
            return np.array(array, dtype=np.float32, order="C")
    except (TypeError, ValueError) as error:
        if isinstance(error, PugnnError):
            raise
        raise PugnnError(f"{what} must be numbers: {error}") from None


def _require_real(dtype: np.dtype[Any], what: str) -> None:
    if dtype.kind not in "biufO":  # objects are tried one by one
        kind = "complex numbers" if dtype.kind == "c" else "text" if dtype.kind in "US" else str(dtype)
        raise PugnnError(f"{what} must be real numbers; got {kind}")


def symmetric_csr(
    n: int, u: NDArray[np.integer[Any]], v: NDArray[np.integer[Any]], weights: NDArray[np.float32] | None
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32] | None, Cleaning]:
    """The symmetric adjacency of cleaned edges: row starts, sorted neighbours, merged weights, and what was done."""
    require_num_nodes(n)
    given = np.zeros(0, dtype=np.float32) if weights is None else weights
    indptr, indices, merged, counts = _symmetric(n, u, v, given)
    if not np.isfinite(merged).all():
        raise PugnnError("weights of an edge that is given several times add up to more than a 32-bit float holds")
    self_loops, duplicates, two_way = counts.tolist()
    cleaning = Cleaning(rows=len(u), self_loops=self_loops, duplicates=duplicates, two_way=two_way)
    return indptr, indices, None if weights is None else merged, cleaning


@kernel(nogil=True)
def _symmetric(n, u, v, weights):  # type: ignore[no-untyped-def]
    # Two counting sorts. The first puts both ends of every edge into the row of the other. Walking through these rows
    # in order and putting each entry into the row of its *neighbour* transposes the matrix, which leaves its entries
    # where they are, for it is symmetric, and every row sorted, repeats in the order in which they were given.
    weighted = len(weights) > 0
    starts = np.zeros(n + 1, dtype=np.int64)
    self_loops = 0
    for edge in range(len(u)):
        if u[edge] == v[edge]:
            self_loops += 1
        else:
            starts[u[edge] + 1] += 1
            starts[v[edge] + 1] += 1
    for node in range(n):
        starts[node + 1] += starts[node]
    entries = starts[n]
    # An entry is a neighbour and, as its lowest bit, whether the edge was given in the direction towards it.
    loose = np.empty(entries, dtype=np.uint32)
    loose_weights = np.empty(entries if weighted else 0, dtype=np.float32)
    free = starts[:-1].copy()
    for edge in range(len(u)):
        if u[edge] != v[edge]:
            for row, neighbour, forward in ((u[edge], v[edge], 1), (v[edge], u[edge], 0)):
                loose[free[row]] = 2 * neighbour + forward
                if weighted:
                    loose_weights[free[row]] = weights[edge]
                free[row] += 1
    ordered = np.empty(entries, dtype=np.uint32)
    ordered_weights = np.empty(len(loose_weights), dtype=np.float32)
    for node in range(n):  # to compile one array's assignment to another would take longer than all the rest
        free[node] = starts[node]
    for node in range(n):
        for at in range(starts[node], starts[node + 1]):
            row = loose[at] >> 1
            ordered[free[row]] = 2 * node + 1 - (loose[at] & 1)
            if weighted:
                ordered_weights[free[row]] = loose_weights[at]
            free[row] += 1
    # Repeats stand side by side now. They are moved to the front, each pair merged into one entry.
    indptr = np.zeros(n + 1, dtype=np.int64)
    duplicates, two_way, kept, at = 0, 0, 0, 0
    for node in range(n):
        while at < starts[node + 1]:
            neighbour = ordered[at] >> 1
            forward, backward, total = 0, 0, 0.0
            while at < starts[node + 1] and ordered[at] >> 1 == neighbour:
                forward += ordered[at] & 1
                backward += 1 - (ordered[at] & 1)
                if weighted:
                    total += ordered_weights[at]
                at += 1
            if node < neighbour:  # every pair is met twice
                duplicates += max(forward - 1, 0) + max(backward - 1, 0)
                two_way += forward > 0 and backward > 0
            ordered[kept] = neighbour
            if weighted:
                ordered_weights[kept] = total
            kept += 1
        indptr[node + 1] = kept
    counts = np.array([self_loops, duplicates, two_way])
    return indptr, ordered[:kept].astype(np.int32), ordered_weights[:kept].copy() if weighted else weights, counts
