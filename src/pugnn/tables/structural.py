"""Features of the graph's structure, for graphs without attributes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numba import njit, uint64
from numpy.typing import NDArray

from pugnn.graph import Graph
from pugnn.graph.random import random_bits
from pugnn.tables.saved import Saved

#: Columns of the positional block.
WIDTH = 128

#: Hops over which the projections spread.
HOPS = 3


@dataclass(frozen=True)
class Structure:
    """Where a node is in the graph, by random projections."""

    width: int = WIDTH

    @classmethod
    def learn(cls, graph: Graph) -> Self:
        """Learn from the graph of the training."""
        del graph
        return cls()

    @property
    def feature_names(self) -> list[str]:
        """Names of the features, in order."""
        return [f"position[{place}]" for place in range(self.width)]

    def describe(self) -> str:
        """What is done, in words and figures."""
        return f"{self.width} random projections of the neighbourhood up to {HOPS} hops"

    def encode(self, graph: Graph) -> NDArray[np.float32]:
        """Features of the nodes of a graph, shape ``(N, width)``."""
        x = projections(id_hashes(graph.ids), self.width)
        degrees = np.maximum(graph.degrees, 1).astype(np.float32)
        mean = sp.csr_array((1 / degrees[graph.sources], graph.indices, graph.indptr), shape=(graph.num_nodes,) * 2)
        total = np.zeros_like(x)
        for _ in range(HOPS):
            x = mean @ x
            x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
            total += x
        return total

    def to_plain(self) -> dict[str, Any]:
        """All that :meth:`from_saved` needs, fit for JSON."""
        return {"width": self.width}

    @classmethod
    def from_saved(cls, saved: Saved) -> Self:
        """What was saved by :meth:`to_plain`."""
        return cls(saved.whole("width", least=1))


def id_hashes(ids: NDArray[Any]) -> NDArray[np.uint64]:
    """A number for each id that depends on its text alone."""
    digests = (hashlib.blake2b(str(i).encode("utf-8", "surrogatepass"), digest_size=8).digest() for i in ids.tolist())
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


@njit(cache=True)
def projections(hashes, width):  # type: ignore[no-untyped-def]
    """Random signs, shape ``(N, width)``."""
    signs = np.empty((len(hashes), width), dtype=np.float32)
    for node in range(len(hashes)):
        for place in range(width):
            bits = random_bits(hashes[node], uint64(place))
            signs[node, place] = 1.0 if bits & uint64(1) else -1.0
    return signs
