"""The structural regulariser on the CPU: sampling, similarities and gradients in one pass.

Nothing of size (edges × K) is ever stored: draws are made and used in blocks that fit in the L1 cache. The nodes are
split into a fixed number of chunks with about equally many edges; each chunk has its own gradient table, and the tables
are added in order, so the result does not depend on the number of threads. These are Python threads, as many as torch
uses: the compiled code releases the GIL, and unlike OpenMP's threads they do not spin while waiting.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from pugnn.graph.compiling import kernel
from pugnn.graph.random import nth_non_neighbour, random_below, random_bits
from pugnn.graph.vectors import CACHE_LINE, aligned
from pugnn.regularisers.lanes import FASTMATH, LANES, collect, dot, exchange, exponential, prefetch
from pugnn.threads import available_threads

#: Maximum number of threads, and number of gradient tables.
CHUNKS = 8
#: Draws handled at a time.
BLOCK = 64
#: Up to this degree, ranks step over the neighbours one by one, sixteen draws at a time; above it, by bisection.
MAX_LINEAR = 192
#: Fewer pairs than this do not justify the overhead of threads.
WORTH_THREADS = 100_000


def structural_sums_cpu(
    z: NDArray[np.floating], indptr: NDArray[np.int64], indices: NDArray[np.int32], negatives: int, seed: int
) -> tuple[tuple[float, float], NDArray[np.floating], NDArray[np.floating]]:
    """``(A, B)`` and the gradient of each with respect to ``z``, shape ``(N, d)``, float32 or float64.

    Draw k of directed edge e is a hash of ``seed`` and e · K + k, where K is ``negatives``.
    """
    n, d = z.shape
    width = -(-d // LANES) * LANES
    table = z
    if width != d or z.ctypes.data % CACHE_LINE:
        table = aligned(np.zeros, (n, width), z.dtype)
        table[:, :d] = z
    bounds = np.searchsorted(indptr, np.linspace(0, len(indices), CHUNKS + 1).astype(np.int64))
    bounds[0], bounds[CHUNKS] = 0, n
    (grad_edges,) = aligned(np.zeros, (1, n * width), z.dtype)
    tables = aligned(np.zeros, (CHUNKS, n * width), z.dtype)
    work = partial(_chunk, table.reshape(-1), width, indptr, indices, negatives, np.uint64(seed), grad_edges)
    threads = min(CHUNKS, available_threads()) if len(indices) * negatives >= WORTH_THREADS else 1
    run = map if threads == 1 else _threads(threads).map
    sums = list(run(work, tables, bounds[:-1], bounds[1:]))
    edges, non_edges = (sum(part) for part in zip(*sums, strict=True))
    grad_non_edges = np.add.reduce(tables, axis=0)
    return (edges, non_edges), grad_edges.reshape(n, width)[:, :d], grad_non_edges.reshape(n, width)[:, :d]


@cache
def _threads(number: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(number, thread_name_prefix="pugnn")


if hasattr(os, "register_at_fork"):  # a forked process inherits the pool without its threads
    os.register_at_fork(after_in_child=_threads.cache_clear)


@kernel(nogil=True, fastmath=FASTMATH, error_model="numpy")
def _chunk(z, width, indptr, indices, negatives, seed, grad_edges, table, begin, end):  # type: ignore[no-untyped-def]
    """The two sums over the nodes from ``begin`` to ``end``; gradients go to their rows and into the table."""
    drawn = np.empty(BLOCK, dtype=np.int32)
    rows = np.empty(BLOCK, dtype=np.int64)
    products = np.empty(BLOCK, dtype=z.dtype)
    slopes = np.empty(BLOCK, dtype=z.dtype)
    times = np.ones(BLOCK, dtype=z.dtype)
    # Constants of the table's precision: Python's would make numba compute in double precision.
    zero, one, two, four = z.dtype.type(0), z.dtype.type(1), z.dtype.type(2), z.dtype.type(4)
    edges, non_edges = 0.0, 0.0
    n = len(indptr) - 1
    for i in range(begin, end):
        own, start, stop = i * width, indptr[i], indptr[i + 1]

        for first in range(start, stop, BLOCK):
            count = min(BLOCK, stop - first)
            for t in range(count):
                rows[t] = indices[first + t] * width
                products[t] = _product(z, width, own, rows[t])
            products[count:] = 80  # a similarity of one, so the rest of the block adds nothing
            squares = zero
            for t in range(BLOCK):
                odds = exponential(products[t])
                miss = one / (one + odds)  # 1 - S, and S = miss · odds
                squares += miss * miss
                # d/dx (1 - S)² = -2 (1 - S)² S. Both directions of an edge contribute equally, so node i takes its
                # half of both and touches no other row.
                slopes[t] = -four * miss * miss * miss * odds
            edges += squares
            for shift in range(0, width, LANES):
                collect(z, grad_edges, slopes, rows, count, own + shift, shift)

        candidates = n - 1 - (stop - start)
        draws = (stop - start) * negatives
        if candidates == 0:
            continue  # adjacent to every other node
        # With more draws than candidates, each candidate is used once, times its number of draws: less work, and no
        # loss of precision from thousands of equal additions.
        counted = draws > candidates
        if counted:
            counts = _count(candidates, draws, seed, start * negatives)
        for first in range(0, candidates if counted else draws, BLOCK):
            count = min(BLOCK, (candidates if counted else draws) - first)
            if counted:
                for t in range(count):
                    drawn[t] = nth_non_neighbour(indices, start, stop, i, np.int64(first + t))
                    times[t] = counts[first + t]
            else:
                _draw(drawn, indices, start, stop, i, n, seed, start * negatives + first)
            for t in range(count):
                # For tables larger than the caches, overlap the memory latency of the rows.
                rows[t] = drawn[t] * width
                prefetch(z, rows[t])
                prefetch(table, rows[t])
            for t in range(count):
                products[t] = _product(z, width, own, rows[t])
            products[count:] = -80  # a similarity of zero, so the rest of the block adds nothing
            squares = zero
            for t in range(BLOCK):
                odds = exponential(-products[t])
                s = one / (one + odds)
                squares += times[t] * s * s
                slopes[t] = two * times[t] * s * s * s * odds  # d/dx S² = 2 S² (1 - S), and 1 - S = S · odds
            non_edges += squares
            for shift in range(0, width, LANES):
                exchange(z, table, slopes, rows, count, own + shift, shift)
        if counted:
            times[:] = one
    return edges, non_edges


@kernel()
def _count(candidates, draws, seed, first):  # type: ignore[no-untyped-def]
    """Number of draws of each candidate, by rank."""
    counts = np.zeros(candidates, dtype=np.int32)
    for t in range(draws):
        counts[random_below(random_bits(seed, uint64(first + t)), uint64(candidates))] += 1
    return counts


@kernel(inline="always", fastmath=FASTMATH)
def _product(z, width, left, right):  # type: ignore[no-untyped-def]
    product = dot(z, left, right)
    for shift in range(LANES, width, LANES):
        product += dot(z, left + shift, right + shift)
    return product


@kernel(inline="always")
def _draw(drawn, indices, start, stop, anchor, n, seed, first):  # type: ignore[no-untyped-def]
    """Fill the block with draws from the anchor's non-neighbours, starting at counter ``first``."""
    candidates = uint64(n - 1 - (stop - start))
    for t in range(BLOCK):
        drawn[t] = np.int32(random_below(random_bits(seed, uint64(first + t)), candidates))
    if stop - start > MAX_LINEAR:
        for t in range(BLOCK):
            drawn[t] = nth_non_neighbour(indices, start, stop, anchor, np.int64(drawn[t]))
        return
    # Step over the excluded nodes, neighbours and anchor, in ascending order.
    anchor_ahead = True
    for e in range(start, stop):
        if anchor_ahead and indices[e] > anchor:
            _step_over(drawn, np.int32(anchor))
            anchor_ahead = False
        _step_over(drawn, indices[e])
    if anchor_ahead:
        _step_over(drawn, np.int32(anchor))


@kernel(inline="always")
def _step_over(drawn, excluded):  # type: ignore[no-untyped-def]
    for t in range(BLOCK):
        drawn[t] += np.int32(drawn[t] >= excluded)
