"""Relations: the kinds of edges of a graph that has several, each with rows of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.graph.adjacency import Adjacency, Cleaning, symmetric_csr
from pugnn.graph.arrays import require_adjacency, require_num_nodes
from pugnn.graph.compiling import kernel

#: What is added to the name of a relation with direction: who its nodes point to, and who points to them.
OUT, IN = " out", " in"

_NO_WEIGHTS = np.zeros(0, np.float32)


@dataclass(frozen=True, eq=False)
class Relation:
    """One kind of edge: the neighbours of every node along it, as positions in the graph.

    Args:
        indptr: row starts, shape ``(N + 1,)``.
        indices: neighbours of each node, sorted.
        weights: one positive weight per entry of ``indices``, or ``None``.
        ends: the kinds of nodes that it links; two empty names in a graph with one kind.
        reverse: the name of the same edges in the other direction; empty if they have none, so rows are symmetric.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float32] | None = None
    ends: tuple[str, str] = ("", "")
    reverse: str = ""

    @property
    def num_edges(self) -> int:
        """Number of edges; those of a direction are counted once."""
        return len(self.indices) if self.reverse else len(self.indices) // 2

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Number of neighbours of each node, shape ``(N,)``."""
        return np.diff(self.indptr)


def require_relations(
    relations: Mapping[str, Relation], kinds: Mapping[str, int], num_nodes: int, *, sound: bool
) -> None:
    """Raise unless relations and kinds fit a graph of so many nodes; ``sound`` ones had their arrays checked before."""
    if kinds and sum(kinds.values()) != num_nodes:
        raise PugnnError(f"the kinds have {sum(kinds.values()):,} nodes, but there are {num_nodes:,}")
    for name, relation in relations.items():
        if len(relation.indptr) != num_nodes + 1:
            raise PugnnError(f"the relation {name!r} has {len(relation.indptr) - 1:,} rows, not {num_nodes:,}")
        if not sound:
            require_adjacency(relation.indptr, relation.indices, relation.weights)
        if relation.reverse and relation.reverse not in relations:
            raise PugnnError(f"the relation {name!r} lacks its reverse, {relation.reverse!r}")
        if unknown := [kind for kind in relation.ends if kind and kind not in kinds]:
            raise PugnnError(f"the relation {name!r} links nodes of the kind {unknown[0]!r}, which there is not")


def directed_rows(
    n: int,
    u: NDArray[np.integer[Any]],
    v: NDArray[np.integer[Any]],
    weights: NDArray[np.float32] | None,
    merge: Callable[..., Adjacency] = symmetric_csr,
) -> tuple[Adjacency, Adjacency]:
    """Rows of edges from ``u`` to ``v`` in both directions: who each node points to, and who points to it.

    They are the two halves of the symmetric adjacency between nodes as sources and the same nodes as targets, which
    ``merge`` makes.
    """
    loops = u == v
    if loops.any():
        u, v, weights = u[~loops], v[~loops], None if weights is None else weights[~loops]
    indptr, indices, merged, cleaning = merge(require_num_nodes(2 * n), u, v + np.int32(n), weights)
    middle = int(indptr[n])
    parts = None if merged is None else (merged[:middle], merged[middle:])
    whole = Cleaning(cleaning.rows + int(loops.sum()), int(loops.sum()), cleaning.duplicates, 0)
    forward = indptr[: n + 1].copy(), indices[:middle] - np.int32(n), None if parts is None else parts[0], whole
    return forward, (indptr[n:] - middle, indices[middle:], None if parts is None else parts[1], whole)


def joined_rows(
    relations: Iterable[Relation], shares: Iterable[float] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32] | None]:
    """Rows of all relations together: row starts, sorted neighbours and weights.

    Weights of the same edge in several relations are added. With ``shares``, one for each relation, those of a relation
    are multiplied by its share, and edges without a weight count as 1; relations with the share 0 are left out.
    """
    given = list(relations)
    factors = np.ones(len(given), np.float32) if shares is None else np.array(list(shares), np.float32)
    weighted = shares is not None or any(each.weights is not None for each in given)
    parts = [(each, factor) for each, factor in zip(given, factors, strict=True) if factor > 0]
    found: tuple[Any, Any, Any] | None = None
    for relation, factor in parts:
        values = _NO_WEIGHTS
        if weighted:
            values = np.ones(len(relation.indices), np.float32) if relation.weights is None else relation.weights
            values = values if factor == 1 else factor * values
        rows = relation.indptr, relation.indices, values
        found = rows if found is None else _merge(*found, *rows)
    assert found is not None
    return found[0], found[1], found[2] if weighted else None


def summed_cleaning(parts: Mapping[str, Cleaning]) -> Cleaning:
    """How the edges of all relations were cleaned."""
    names = ("rows", "self_loops", "duplicates", "two_way")
    return Cleaning(*(sum(getattr(each, name) for each in parts.values()) for name in names))


@kernel(nogil=True)
def _merge(indptr, indices, weights, other_indptr, other_indices, other_weights):  # type: ignore[no-untyped-def]
    """Two matrices in CSR form, with sorted rows, added up; weights are empty where there are none."""
    n, weighted = len(indptr) - 1, len(weights) > 0 or len(other_weights) > 0
    starts = np.zeros(n + 1, dtype=np.int64)
    for filling in range(2):
        size = starts[n] if filling else 0
        merged, sums = np.empty(size, dtype=np.int32), np.empty(size if weighted else 0, dtype=np.float32)
        kept = 0
        for row in range(n):
            at, end = indptr[row], indptr[row + 1]
            other, last = other_indptr[row], other_indptr[row + 1]
            while at < end or other < last:
                mine = other == last or (at < end and indices[at] <= other_indices[other])
                theirs = at == end or (other < last and other_indices[other] <= indices[at])
                if filling:
                    merged[kept] = indices[at] if mine else other_indices[other]
                    if weighted:
                        sums[kept] = (weights[at] if mine else np.float32(0)) + (
                            other_weights[other] if theirs else np.float32(0)
                        )
                kept += 1
                at += mine
                other += theirs
            starts[row + 1] = kept
    return starts, merged, sums
