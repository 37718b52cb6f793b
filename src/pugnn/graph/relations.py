"""Relations: the kinds of edges of a graph that has several, each with rows of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.errors import Displayed, PugnnError, counted, shorten
from pugnn.graph.adjacency import Adjacency, Cleaning, symmetric_csr
from pugnn.graph.arrays import MAX_NODES, require_adjacency, require_num_nodes

#: What is added to the name of a relation with direction: who its nodes point to, and who points to them.
OUT, IN = " out", " in"


@dataclass(frozen=True, eq=False, repr=False)
class Relation(Displayed):
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

    def _facts(self) -> list[str]:
        ends = [" to ".join(self.ends)] if any(self.ends) else []
        return [counted(self.num_edges, "edge"), *ends]


class Relations(dict[str, Relation]):
    """Relations by name; an unknown name is answered with those that there are."""

    def __missing__(self, name: str) -> Relation:
        raise KeyError(f"there is no relation {name!r}; there are {shorten(self, 20)}")


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
    out, back = (None, None) if merged is None else (merged[:middle], merged[middle:])
    whole = Cleaning(cleaning.rows + int(loops.sum()), int(loops.sum()), cleaning.duplicates, 0)
    forward = indptr[: n + 1].copy(), indices[:middle] - np.int32(n), out, whole
    return forward, (indptr[n:] - middle, indices[middle:], back, whole)


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
    fit = sum(len(each.indices) for each in given) <= MAX_NODES  # scipy would make all positions as long as row starts
    total: sp.csr_array | None = None
    for relation, factor in zip(given, factors, strict=True):
        if factor > 0:
            values: NDArray[Any] | None = relation.weights
            if values is None:
                values = np.ones(len(relation.indices), np.float32 if weighted else np.bool_)
            values = values if factor == 1 else factor * values
            starts = relation.indptr.astype(np.int32 if fit else np.int64, copy=False)
            rows = sp.csr_array((values, relation.indices, starts), shape=(len(starts) - 1, MAX_NODES))
            rows.has_canonical_format = True  # sorted, without repeats: need not be checked
            total = rows if total is None else total + rows
    assert total is not None
    indptr, indices = total.indptr.astype(np.int64, copy=False), total.indices.astype(np.int32, copy=False)
    return indptr, indices, total.data if weighted else None


def summed_cleaning(parts: Mapping[str, Cleaning]) -> Cleaning:
    """How the edges of all relations were cleaned."""
    return Cleaning(*map(sum, zip(*map(astuple, parts.values()), strict=True)))
