"""Where the arrays of a graph are kept while it is read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pugnn.features.encoding import FeatureBlocks
from pugnn.graph.adjacency import Adjacency, symmetric_csr
from pugnn.graph.arrays import Features
from pugnn.graph.relations import Relation, directed_rows, joined_rows
from pugnn.store.edge_table import Edges
from pugnn.store.id_types import IdColumn, typed_ids
from pugnn.store.ids import Ids

#: Row starts, neighbours and weights.
Rows: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32] | None]


class GraphArrays:
    """Where the arrays of a graph are kept: in memory; a store overrides this to keep them in files."""

    def collect(self, pieces: Iterable[tuple[str, Edges]]) -> dict[str, Edges]:
        """All edges by relation, given some of one relation at a time."""
        parts: dict[str, list[Edges]] = {}
        for name, piece in pieces:
            parts.setdefault(name, []).append(piece)
        return {name: _joined(mine) for name, mine in parts.items()}

    def merge(self, num_nodes: int, edges: Edges, name: str = "") -> Adjacency:  # noqa: ARG002
        """The adjacency matrix of some edges; ``name`` precedes those of its files."""
        return symmetric_csr(num_nodes, *edges)

    def merge_directed(self, num_nodes: int, edges: Edges, names: tuple[str, str]) -> tuple[Adjacency, Adjacency]:  # noqa: ARG002
        """Likewise of edges with direction: who each node points to, and who points to it."""
        return directed_rows(num_nodes, *edges)

    def discard(self, name: str) -> None:
        """Forget the files of an adjacency matrix, if there are any."""

    def join(self, relations: Sequence[Relation]) -> Rows:
        """Rows of all relations together."""
        return joined_rows(relations)

    def keep_ids(self, ids: Ids, columns: Sequence[IdColumn], listed: int) -> tuple[NDArray[Any], list[str]]:
        """The ids in the type that they have in these columns, and notes; the first ``listed`` are of the first one.

        Without columns they are text.
        """
        return typed_ids(ids, columns, listed)

    def blocks(self) -> FeatureBlocks:
        """Where to collect features."""
        return FeatureBlocks()

    def keep_features(self, blocks: FeatureBlocks, ids: NDArray[Any]) -> Features:  # noqa: ARG002
        """The collected features of the nodes with these ids."""
        return blocks.joined()


def _joined(pieces: list[Edges]) -> Edges:
    sources, targets, weights = zip(*pieces, strict=True)
    joined = None if weights[0] is None else np.concatenate(weights)
    return Edges(np.concatenate(sources), np.concatenate(targets), joined)
