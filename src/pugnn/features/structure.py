"""Features of the graph's structure, for graphs without attributes."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from pugnn.graph import Graph
from pugnn.graph.compiling import kernel
from pugnn.graph.random import random_bits
from pugnn.graph.smoothing import neighbour_sums, whole_vectors

#: Number of features, and of hops over which they are smoothed. benchmarks/structural_features.py compares others: with
#: fewer hops too much randomness remains, and more features do not help.
WIDTH, HOPS = 32, 80

_HASHED_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class Structure:
    r"""Where in the graph a node is: random signs, smoothed along the edges until only large regions remain.

    Every node starts with random signs :math:`X^{(0)}` that are a hash of its id's text. One hop is

    .. math:: Y = (D + I)^{-1} (A + I) X^{(h)} - \mathbf{1} \mu^\top, \qquad X^{(h+1)}_i = Y_i / \lVert Y_i \rVert

    with :math:`\mu` the mean over nodes weighted by degree plus one, which smoothing preserves: subtracting it removes
    what all nodes share. Neighbours become similar and nodes of different regions different, as with the leading
    eigenvectors of the graph, of which these are mixtures. Nodes without an edge have zeros. Edge weights are not used.

    The same graph gives the same features, an id has the same signs in every snapshot, and since no eigenvector is
    singled out, a small change of the graph is a small change of the features.
    """

    width: int = WIDTH  # number of features
    hops: int = HOPS  # number of smoothing steps

    @property
    def feature_names(self) -> list[str]:
        """Names of the features, in order."""
        return [f"structure[{place}]" for place in range(self.width)]

    def describe(self) -> str:
        """What is done."""
        return f"{self.width} random signs per node, keyed by its id and smoothed over {self.hops} hops"

    def encode(self, graph: Graph) -> NDArray[np.float32]:
        """Features of the nodes of a graph, shape ``(N, width)``."""
        x = whole_vectors(_signs(hash_ids(graph.ids), self.width))
        smoothed = np.empty_like(x)
        own = graph.degrees + 1
        share = np.where(graph.degrees > 0, 1 / own, 0).astype(np.float32)
        rows = graph.indptr, graph.indices, None
        mean = np.zeros(x.shape[1])  # of random signs
        for _ in range(self.hops):
            neighbour_sums(rows, x, smoothed, p=share, q=share, x=x)
            mean = _centre(smoothed, mean, share, own) / max(own.sum(), 1)
            x, smoothed = smoothed, x
        return x[:, : self.width]


def hash_ids(ids: NDArray[Any]) -> NDArray[np.uint64]:
    """64 bits for each id that depend only on its text, shape ``(N,)``."""
    hashes = np.empty(len(ids), dtype="<u8")
    for first in range(0, len(ids), _HASHED_AT_ONCE):  # each id becomes a Python object
        part = ids[first : first + _HASHED_AT_ONCE].tolist()
        texts = (str(node_id).encode("utf-8", "surrogatepass") for node_id in part)
        digests = b"".join(blake2b(text, digest_size=8).digest() for text in texts)
        hashes[first : first + len(part)] = np.frombuffer(digests, dtype="<u8")
    return hashes


@kernel()
def _signs(hashes, width):  # type: ignore[no-untyped-def]
    signs = np.empty((len(hashes), width), dtype=np.float32)
    for node in range(len(hashes)):
        for place in range(width):
            signs[node, place] = 1 - 2 * np.int64(random_bits(hashes[node], uint64(place)) >> uint64(63))
    return signs


@kernel()
def _centre(x, mean, share, own):  # type: ignore[no-untyped-def]
    """Subtract the mean and normalise rows, in place; returns the sum of the result, weighted by degree plus one."""
    width = x.shape[1]
    total = np.zeros(width)
    for node in range(len(x)):
        if share[node] == 0:  # a node without an edge keeps its zeros
            continue
        row = x[node]
        length = 0.0
        for place in range(width):
            row[place] -= mean[place]
            length += row[place] ** 2
        scale = 1 / np.sqrt(length) if length > 0 else 0.0
        for place in range(width):
            row[place] *= scale
            total[place] += own[node] * row[place]
    return total
