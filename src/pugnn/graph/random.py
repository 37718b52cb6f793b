"""Random draws for compiled code: numbers, non-neighbours, and sampled neighbourhoods.

**No state.** A random number is a hash of a seed and a counter (SplitMix64), so draws do not depend on order or
threads, and a backward pass can recompute those of the forward pass.

**Non-neighbours**, uniformly and with replacement, without rejection: a node of degree *m* has *M = N − 1 − m*
candidates. A rank is drawn from ``0 … M−1``, and the non-neighbour of that rank is found by bisection among the sorted
neighbours. Every draw costs one random number, even for hubs.

**Neighbourhoods**: what a network reads to compute the outputs of a few nodes of a large graph. Every node keeps at
most ``fan_out`` of its neighbours, drawn uniformly without replacement (Floyd's algorithm) by hashes of (seed, node):
the same ones in every layer, batch, thread and process, so a sample is a part of one random subgraph. Nothing here
has the size of the graph: nodes are numbered by a hash table.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import uint64
from numpy.typing import ArrayLike, NDArray

from pugnn.errors import require_type, require_whole
from pugnn.graph.arrays import positions_within
from pugnn.graph.compiling import kernel
from pugnn.graph.graph import Graph

#: "No candidate": the node is adjacent to every other node.
NO_NEGATIVE = -1


@kernel(inline="always")
def random_bits(seed, counter):  # type: ignore[no-untyped-def]
    """64 random bits for this seed and counter (SplitMix64, Steele et al. 2014)."""
    x = seed + uint64(0x9E3779B97F4A7C15) * (counter + uint64(1))
    x = (x ^ (x >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> uint64(27))) * uint64(0x94D049BB133111EB)
    return x ^ (x >> uint64(31))


@kernel(inline="always")
def random_below(bits, bound):  # type: ignore[no-untyped-def]
    """The high word of ``bits × bound``: uniform on ``0 … bound-1`` to within ``bound / 2**64``; bound < 2**32."""
    low = (bits & uint64(0xFFFFFFFF)) * bound
    high = (bits >> uint64(32)) * bound
    return (high + (low >> uint64(32))) >> uint64(32)


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
    drawn: NDArray[np.int32] = _sample_non_neighbours(graph.indptr, graph.indices, rows, draws, np.uint64(seed))
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
def _sample_non_neighbours(indptr, indices, anchors, draws, seed):  # type: ignore[no-untyped-def]
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


@dataclass(frozen=True)
class Neighbourhood:
    """A sampled subgraph around some nodes, the seeds. Its nodes have local numbers, from 0.

    Args:
        nodes: position in the graph of each node, seeds first, then those found in each hop, shape ``(n,)``.
        rows: local number of each seed; a seed that is given twice has one number.
        indptr: row starts of the sampled neighbours, shape ``(n + 1,)``. Nodes of the last hop have none.
        indices: local numbers of the sampled neighbours.
        places: where each sampled neighbour is in the graph's ``indices``.
        inner: number of nodes for which neighbours were drawn: all but those of the last hop.
    """

    nodes: NDArray[np.int64]
    rows: NDArray[np.int64]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    places: NDArray[np.int64]
    inner: int

    @property
    def sources(self) -> NDArray[np.int64]:
        """The node that each entry of ``indices`` is a neighbour of, by local number."""
        return np.repeat(np.arange(len(self.nodes)), np.diff(self.indptr))


def sample_neighbours(graph: Graph, seeds: NDArray[np.int64], *, hops: int, fan_out: int, seed: int) -> Neighbourhood:
    """The nodes at these positions, at most ``fan_out`` neighbours of each, as many of each of these, and so on.

    ``hops`` is how often neighbours are drawn: the number of layers of the network.

    Example:
        >>> path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
        >>> found = sample_neighbours(path, np.array([2]), hops=2, fan_out=2, seed=0)
        >>> found.nodes, found.indices
        (array([2, 1, 3, 0, 4]), array([1, 2, 3, 0, 0, 4], dtype=int32))
    """
    require_type("graph", graph, Graph, "a pugnn.Graph")
    wanted = positions_within(seeds, graph.num_nodes, "seeds")
    require_whole("hops", hops, 0, 2**31 - 1)
    require_whole("fan_out", fan_out, 1, 2**31 - 1)
    require_whole("seed", seed, 0, 2**64 - 1)
    return Neighbourhood(*_sample_neighbours(graph.indptr, graph.indices, wanted, hops, fan_out, np.uint64(seed)))


@kernel(nogil=True)
def _sample_neighbours(indptr, indices, seeds, hops, fan_out, seed):  # type: ignore[no-untyped-def]
    nodes, rows = np.empty(len(seeds), np.int64), np.empty(len(seeds), np.int64)
    table = _table_for(len(seeds), nodes, 0)
    count = 0
    for t in range(len(seeds)):
        rows[t] = _number(table, seeds[t], count)
        if rows[t] == count:
            nodes[count] = seeds[t]
            count += 1
    starts, places, found = np.zeros(1, np.int64), np.empty(0, np.int64), np.empty(0, np.int32)
    chosen = np.empty(fan_out, np.int64)
    begin = 0
    for _ in range(hops):
        end = count
        starts = _extended(starts, begin + 1, end + 1)
        for i in range(begin, end):
            degree = indptr[nodes[i] + 1] - indptr[nodes[i]]
            starts[i + 1] = starts[i] + min(degree, fan_out)
        more = starts[end] - starts[begin]
        nodes, table = _extended(nodes, count, count + more), _table_for(count + more, nodes, count)
        places, found = _extended(places, starts[begin], starts[end]), _extended(found, starts[begin], starts[end])
        for i in range(begin, end):
            first, size = indptr[nodes[i]], starts[i + 1] - starts[i]
            _choose(chosen, indptr[nodes[i] + 1] - first, size, random_bits(seed, uint64(nodes[i])))
            for t in range(size):
                place = first + chosen[t]
                node = np.int64(indices[place])
                number = _number(table, node, count)
                if number == count:
                    nodes[count] = node
                    count += 1
                places[starts[i] + t], found[starts[i] + t] = place, number
        begin = end
    last = starts[begin]
    starts = _extended(starts, begin + 1, count + 1)
    for i in range(begin + 1, count + 1):
        starts[i] = last
    return nodes[:count].copy(), rows, starts, found, places, begin


@kernel(inline="always")
def _choose(chosen, degree, size, key):  # type: ignore[no-untyped-def]
    """``size`` of the numbers below ``degree``, ascending."""
    if size == degree:
        for t in range(size):
            chosen[t] = t
        return
    for t in range(size):
        top = degree - size + t
        drawn = np.int64(random_below(random_bits(key, uint64(t)), uint64(top + 1)))
        for s in range(t):
            if chosen[s] == drawn:
                drawn = top  # larger than all so far
        at = t
        while at > 0 and chosen[at - 1] > drawn:
            chosen[at] = chosen[at - 1]
            at -= 1
        chosen[at] = drawn


@kernel()
def _extended(array, used, length):  # type: ignore[no-untyped-def]
    """A longer array that begins with the ``used`` entries of this one."""
    longer = np.empty(length, array.dtype)
    for t in range(used):
        longer[t] = array[t]
    return longer


@kernel()
def _table_for(most, nodes, count):  # type: ignore[no-untyped-def]
    """A hash table with room for ``most`` nodes that holds the first ``count`` of ``nodes``.

    An entry has the node in its high 32 bits and its local number in the low ones; −1 is free.
    """
    size = 16
    while size < 2 * most:
        size *= 2
    table = np.full(size, -1, np.int64)
    for t in range(count):
        _number(table, nodes[t], t)
    return table


@kernel(inline="always")
def _number(table, node, new):  # type: ignore[no-untyped-def]
    """The local number of a node; a node that is not in the table yet gets the number ``new``."""
    mask = len(table) - 1
    at = np.int64(random_bits(uint64(0), uint64(node)) & uint64(mask))
    while table[at] >= 0 and table[at] >> 32 != node:
        at = (at + 1) & mask
    if table[at] < 0:
        table[at] = (np.int64(node) << 32) | np.int64(new)
    return table[at] & 0xFFFFFFFF
