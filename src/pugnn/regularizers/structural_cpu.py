"""The structural regulariser on the CPU: sampling, similarities and gradients in one pass.

Nothing of size (edges × K) is ever stored: a node's draws are made, used and forgotten a block at a time, small
enough to stay in the first-level cache. The nodes are cut into a fixed number of chunks with about as many edges
each; every chunk adds up the gradients in a table of its own, and these are added in order. So the result does
not depend on how many threads share the chunks.

Threads are plain Python threads, as many as torch uses: the compiled code holds no lock, and unlike OpenMP's they
do not keep a core busy while they wait.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial

import numpy as np
import torch
from numba import njit, uint64
from numpy.typing import NDArray

from pugnn.graph.negatives import nth_non_neighbour, random_below, random_bits
from pugnn.regularizers.lanes import FASTMATH, LANES, dot, exchange, exponential

#: Most threads that can share the work, and tables of gradients held at once.
CHUNKS = 8
#: Draws handled at a time.
BLOCK = 64
#: Up to this degree a rank steps over the neighbours one by one, sixteen draws at a time; above, by bisection.
FEW = 96
#: Fewer pairs than this are not worth the handing over to other threads.
WORTH_THREADS = 100_000


def structural_sums_cpu(
    z: NDArray[np.floating], indptr: NDArray[np.int64], indices: NDArray[np.int32], negatives: int, seed: int
) -> tuple[tuple[float, float], NDArray[np.floating], NDArray[np.floating]]:
    """Both sums and their gradients with respect to ``z``.

    Args:
        z: embedding, shape ``(N, d)``, float32 or float64.
        indptr: row starts, shape ``(N + 1,)``.
        indices: sorted neighbours, shape ``(2E,)``.
        negatives: K.
        seed: draw k of directed edge e comes from (seed, e · K + k).

    Returns:
        ``(A, B)``, and the gradient of each, of shape ``(N, d)``.
    """
    n, d = z.shape
    width = -(-d // LANES) * LANES
    padded = z
    if width != d:
        padded = np.zeros((n, width), dtype=z.dtype)
        padded[:, :d] = z
    bounds = np.searchsorted(indptr, np.linspace(0, len(indices), CHUNKS + 1).astype(np.int64))
    bounds[0], bounds[CHUNKS] = 0, n
    grad_edges = np.zeros(n * width, dtype=z.dtype)
    tables = np.zeros((CHUNKS, n * width), dtype=z.dtype)
    work = partial(_chunk, padded.reshape(-1), width, indptr, indices, negatives, np.uint64(seed), grad_edges)
    threads = min(CHUNKS, torch.get_num_threads()) if len(indices) * negatives >= WORTH_THREADS else 1
    run = map if threads == 1 else _threads(threads).map
    sums = list(run(work, tables, bounds[:-1], bounds[1:]))
    edges, non_edges = (sum(part) for part in zip(*sums, strict=True))
    grad_non_edges = np.add.reduce(tables, axis=0)
    return (
        (edges, non_edges),
        grad_edges.reshape(n, width)[:, :d],
        grad_non_edges.reshape(n, width)[:, :d],
    )


@cache
def _threads(number: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(number, thread_name_prefix="pugnn")


@njit(cache=True, nogil=True, fastmath=FASTMATH)
def _chunk(z, width, indptr, indices, negatives, seed, grad_edges, table, begin, end):  # type: ignore[no-untyped-def]
    """The two sums of the nodes from ``begin`` to ``end``; gradients go to their rows and into the table."""
    drawn = np.empty(BLOCK, dtype=np.int32)
    rows = np.empty(BLOCK, dtype=np.int64)
    products = np.empty(BLOCK, dtype=z.dtype)
    slopes = np.empty(BLOCK, dtype=z.dtype)
    edges, non_edges = 0.0, 0.0
    n = len(indptr) - 1
    for i in range(begin, end):
        start, stop = indptr[i], indptr[i + 1]
        for e in range(start, stop):
            j = indices[e]
            miss = 1 / (1 + exponential(_product(z, width, i * width, j * width)))  # 1 - S
            edges += miss * miss
            # d/dx (1 - S)² = -2 (1 - S)² S. Both directions of an edge add the same, so node i takes its half of
            # both, and no other node's row is touched.
            slope = -4 * miss * miss * (1 - miss)
            for c in range(width):
                grad_edges[i * width + c] += slope * z[j * width + c]
        if n - 1 - (stop - start) == 0:
            continue  # joined to everyone: nobody to draw
        for first in range(start * negatives, stop * negatives, BLOCK):
            count = min(BLOCK, stop * negatives - first)
            _draw(drawn, indices, start, stop, i, n, seed, first)
            for t in range(count):
                rows[t] = drawn[t] * width
                products[t] = _product(z, width, i * width, rows[t])
            products[count:] = -80  # a similarity of zero: the rest of the block adds nothing
            squares = z.dtype.type(0)
            for t in range(BLOCK):
                odds = exponential(-products[t])
                s = 1 / (1 + odds)
                squares += s * s
                slopes[t] = 2 * s * s * s * odds  # d/dx S² = 2 S² (1 - S), and 1 - S = S · odds
            non_edges += squares
            for shift in range(0, width, LANES):
                exchange(z, table, slopes, rows, count, i * width + shift, shift)
    return edges, non_edges


@njit(cache=True, inline="always", fastmath=FASTMATH)
def _product(z, width, left, right):  # type: ignore[no-untyped-def]
    product = dot(z, left, right)
    for shift in range(LANES, width, LANES):
        product += dot(z, left + shift, right + shift)
    return product


@njit(cache=True, inline="always")
def _draw(drawn, indices, start, stop, anchor, n, seed, first):  # type: ignore[no-untyped-def]
    """Fill the block with non-neighbours of the anchor, those of the counters from ``first`` on."""
    candidates = uint64(n - 1 - (stop - start))
    for t in range(BLOCK):
        drawn[t] = np.int32(random_below(random_bits(seed, uint64(first + t)), candidates))
    if stop - start > FEW:
        for t in range(BLOCK):
            drawn[t] = nth_non_neighbour(indices, start, stop, anchor, np.int64(drawn[t]))
        return
    # Step over the excluded nodes in rising order, the anchor in its place among its neighbours.
    anchor_ahead = True
    for e in range(start, stop):
        if anchor_ahead and indices[e] > anchor:
            _step_over(drawn, np.int32(anchor))
            anchor_ahead = False
        _step_over(drawn, indices[e])
    if anchor_ahead:
        _step_over(drawn, np.int32(anchor))


@njit(cache=True, inline="always")
def _step_over(drawn, excluded):  # type: ignore[no-untyped-def]
    for t in range(BLOCK):
        drawn[t] += np.int32(drawn[t] >= excluded)
