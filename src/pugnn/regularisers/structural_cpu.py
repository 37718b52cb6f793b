"""The structural regulariser on the CPU: sampling, similarities and gradients in one pass.

Nothing of size (edges × K) is ever stored: a node's draws are made, used and forgotten a block at a time, small
enough to stay in the first-level cache. The nodes are cut into a fixed number of chunks with about as many edges
each; every chunk adds up the gradients in a table of its own, and these are added in order. So the result does
not depend on how many threads share the chunks.

Threads are plain Python threads, as many as torch uses: the compiled code holds no lock, and unlike OpenMP's they
do not keep a core busy while they wait.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any

import numpy as np
import torch
from numba import uint64
from numpy.typing import NDArray

from pugnn.graph.compiling import kernel
from pugnn.graph.negatives import nth_non_neighbour
from pugnn.graph.random import random_below, random_bits
from pugnn.regularisers.lanes import FASTMATH, LANES, collect, dot, exchange, exponential, prefetch

#: Most threads that can share the work, and tables of gradients held at once.
CHUNKS = 8
#: Draws handled at a time.
BLOCK = 64
#: Up to this degree a rank steps over the neighbours one by one, sixteen draws at a time; above, by bisection.
FEW = 192
CACHE_LINE = 64
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
    table = z
    if width != d or z.ctypes.data % CACHE_LINE:
        table = _aligned_zeros((n, width), z.dtype)
        table[:, :d] = z
    bounds = np.searchsorted(indptr, np.linspace(0, len(indices), CHUNKS + 1).astype(np.int64))
    bounds[0], bounds[CHUNKS] = 0, n
    (grad_edges,) = _aligned_zeros((1, n * width), z.dtype)
    tables = _aligned_zeros((CHUNKS, n * width), z.dtype)
    work = partial(_chunk, table.reshape(-1), width, indptr, indices, negatives, np.uint64(seed), grad_edges)
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


def _aligned_zeros(shape: tuple[int, int], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Zeros that start at a cache line, so that a row of 16 float32 fills one line instead of touching two."""
    zeros = np.zeros(shape[0] * shape[1] + CACHE_LINE // dtype.itemsize, dtype=dtype)
    skip = -zeros.ctypes.data % CACHE_LINE // dtype.itemsize
    return zeros[skip : skip + shape[0] * shape[1]].reshape(shape)


@cache
def _threads(number: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(number, thread_name_prefix="pugnn")


if hasattr(os, "register_at_fork"):  # a forked process has none of the threads, whatever their pool believes
    os.register_at_fork(after_in_child=_threads.cache_clear)


@kernel(nogil=True, fastmath=FASTMATH, error_model="numpy")
def _chunk(z, width, indptr, indices, negatives, seed, grad_edges, table, begin, end):  # type: ignore[no-untyped-def]
    """The two sums of the nodes from ``begin`` to ``end``; gradients go to their rows and into the table."""
    drawn = np.empty(BLOCK, dtype=np.int32)
    rows = np.empty(BLOCK, dtype=np.int64)
    products = np.empty(BLOCK, dtype=z.dtype)
    slopes = np.empty(BLOCK, dtype=z.dtype)
    times = np.ones(BLOCK, dtype=z.dtype)
    # Numbers of the table's own precision: with Python's, numba would compute in double precision.
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
            products[count:] = 80  # a similarity of one: the rest of the block adds nothing
            squares = zero
            for t in range(BLOCK):
                odds = exponential(products[t])
                miss = one / (one + odds)  # 1 - S, and S = miss · odds
                squares += miss * miss
                # d/dx (1 - S)² = -2 (1 - S)² S. Both directions of an edge add the same, so node i takes its half
                # of both, and no other node's row is touched.
                slopes[t] = -four * miss * miss * miss * odds
            edges += squares
            for shift in range(0, width, LANES):
                collect(z, grad_edges, slopes, rows, count, own + shift, shift)

        candidates = n - 1 - (stop - start)
        draws = (stop - start) * negatives
        if candidates == 0:
            continue  # joined to everyone: nobody to draw
        # With more draws than candidates, each candidate is taken once, times the number of its draws. That is less
        # work, and a hub's thousands of draws of the same few nodes lose no digits to each other.
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
                # Beyond the caches, a row at a time would wait for memory; so many at once wait together.
                rows[t] = drawn[t] * width
                prefetch(z, rows[t])
                prefetch(table, rows[t])
            for t in range(count):
                products[t] = _product(z, width, own, rows[t])
            products[count:] = -80  # a similarity of zero: the rest of the block adds nothing
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
    """How often each candidate is drawn, by rank."""
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


@kernel(inline="always")
def _step_over(drawn, excluded):  # type: ignore[no-untyped-def]
    for t in range(BLOCK):
        drawn[t] += np.int32(drawn[t] >= excluded)
