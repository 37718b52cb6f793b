"""Uniform draws from the nodes that are not neighbours of a given node.

* **No rejection.** A node of degree *m* has *M = N − 1 − m* candidates. A rank *r* is drawn from ``0 … M−1``, and the
  *r*-th non-neighbour is found by stepping over the sorted excluded nodes (the neighbours and the node itself). Every
  draw costs one random number, even for hubs.
* **No state.** The random number is a hash of (seed, row, draw) (SplitMix64, a counter-based generator), so draws do
  not depend on order or threads.
* **With replacement**, as the paper's expectation over P(v_i) requires.
"""

from __future__ import annotations

import numpy as np
from numba import uint64
from numpy.typing import ArrayLike, NDArray

from pugnn.errors import require_type, require_whole
from pugnn.graph.arrays import positions_within
from pugnn.graph.compiling import kernel
from pugnn.graph.graph import Graph
from pugnn.graph.random import random_below, random_bits

#: "No candidate": the node is adjacent to every other node.
NO_NEGATIVE = -1


def sample_non_neighbours(graph: Graph, anchors: ArrayLike, draws: int, *, seed: int) -> NDArray[np.int32]:
    """Draw nodes uniformly, with replacement, from the non-neighbours of each anchor.

    ``anchors`` holds A positions; repeated anchors get separate draws. The result has shape ``(A, draws)``, with
    :data:`NO_NEGATIVE` for anchors adjacent to every other node.

    Example:
        >>> triangle_and_one = Graph.from_edges([0, 1, 2], [1, 2, 0], num_nodes=4)
        >>> sample_non_neighbours(triangle_and_one, [0, 1], 3, seed=0)
        array([[3, 3, 3],
               [3, 3, 3]], dtype=int32)
    """
    require_type("graph", graph, Graph, "a pugnn.Graph")
    rows = positions_within(anchors, graph.num_nodes, "anchors")
    require_whole("draws", draws, 0, 2**31 - 1)
    require_whole("seed", seed, 0, 2**64 - 1)
    drawn: NDArray[np.int32] = _sample(graph.indptr, graph.indices, rows, draws, np.uint64(seed))
    return drawn


@kernel(inline="always")
def nth_non_neighbour(indices, start, stop, anchor, rank):  # type: ignore[no-untyped-def]
    """The non-neighbour of ``anchor`` with ``rank`` smaller ones; its neighbours are ``indices[start:stop]``."""
    # Number the nodes other than the anchor without a gap. The t-th neighbour has t smaller neighbours, so the wanted
    # node lies past all neighbours with (number - t) <= rank. That difference never falls, so bisect on it.
    low, high = start, stop
    while low < high:
        middle = (low + high) >> 1
        neighbour = indices[middle]
        number = neighbour - (1 if neighbour > anchor else 0)
        if number - (middle - start) <= rank:
            low = middle + 1
        else:
            high = middle
    number = rank + (low - start)
    return number + (1 if number >= anchor else 0)


@kernel()
def _sample(indptr, indices, anchors, draws, seed):  # type: ignore[no-untyped-def]
    n = len(indptr) - 1
    out = np.empty((len(anchors), draws), dtype=np.int32)
    for row in range(len(anchors)):
        anchor = anchors[row]
        start, stop = indptr[anchor], indptr[anchor + 1]
        candidates = n - 1 - (stop - start)
        for draw in range(draws):
            if candidates == 0:
                out[row, draw] = NO_NEGATIVE
            else:
                bits = random_bits(seed, uint64(row * draws + draw))
                rank = random_below(bits, uint64(candidates))
                out[row, draw] = nth_non_neighbour(indices, start, stop, anchor, np.int64(rank))
    return out
