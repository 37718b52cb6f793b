"""The structural regulariser on the CPU: sampling, similarities and gradients in one pass.

Nothing of size (edges × K) is ever stored. The nodes are cut into a fixed number of chunks with about as many
edges each; every chunk adds the gradients of the nodes it drew to an accumulator of its own, and the
accumulators are added up in order. So the result does not depend on how many threads share the chunks.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange, uint64

from pugnn.graph.negatives import nth_non_neighbour, random_below, random_bits

CHUNKS = 8


@njit(cache=True, parallel=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def structural_sums_cpu(z, indptr, indices, negatives, seed):  # type: ignore[no-untyped-def]
    """Both sums and their gradients with respect to ``z``.

    Args:
        z: embedding, shape ``(N, d)``, float32 or float64, C order.
        indptr: row starts, shape ``(N + 1,)``.
        indices: sorted neighbours, shape ``(2E,)``.
        negatives: K.
        seed: uint64; draw k of directed edge e has counter ``e * K + k``.

    Returns:
        ``(A, B)`` as float64 array, gradient of A and gradient of B, each of shape ``(N, d)``.
    """
    n, d = z.shape
    bounds = np.searchsorted(indptr, np.linspace(0, len(indices), CHUNKS + 1).astype(np.int64))
    bounds[0], bounds[CHUNKS] = 0, n
    sums = np.zeros((CHUNKS, 2))
    grad_edges = np.zeros_like(z)
    scattered = np.zeros((CHUNKS, n, d), dtype=z.dtype)
    for chunk in prange(CHUNKS):
        drawn = np.empty(negatives, dtype=np.int64)
        slope = np.empty(negatives, dtype=z.dtype)
        own = np.empty(d, dtype=z.dtype)
        target = scattered[chunk]
        for i in range(bounds[chunk], bounds[chunk + 1]):
            start, stop = indptr[i], indptr[i + 1]
            candidates = n - 1 - (stop - start)
            own[:] = 0
            for e in range(start, stop):
                j = indices[e]
                s = _sigmoid(z[i], z[j])
                sums[chunk, 0] += (s - 1) * (s - 1)
                # d/dx (σ(x) - 1)² = -2 σ (1 - σ)²; twice, for the edge in its other direction
                step = -4 * s * (1 - s) * (1 - s)
                for c in range(d):
                    grad_edges[i, c] += step * z[j, c]
                if candidates > 0:
                    for k in range(negatives):
                        bits = random_bits(seed, uint64(e * negatives + k))
                        rank = np.int64(random_below(bits, uint64(candidates)))
                        drawn[k] = nth_non_neighbour(indices, start, stop, i, rank)
                    for k in range(negatives):
                        s = _sigmoid(z[i], z[drawn[k]])
                        sums[chunk, 1] += s * s
                        slope[k] = 2 * s * s * (1 - s)
                    for k in range(negatives):
                        other = drawn[k]
                        for c in range(d):
                            own[c] += slope[k] * z[other, c]
                            target[other, c] += slope[k] * z[i, c]
            for c in range(d):
                target[i, c] += own[c]
    grad_non_edges = scattered[0]
    for chunk in range(1, CHUNKS):
        grad_non_edges += scattered[chunk]
    return sums.sum(axis=0), grad_edges, grad_non_edges


@njit(cache=True, inline="always", fastmath={"reassoc", "contract", "nsz", "arcp"})
def _sigmoid(left, right):  # type: ignore[no-untyped-def]
    product = left[0] * right[0]
    for c in range(1, len(left)):
        product += left[c] * right[c]
    return 1 / (1 + np.exp(-product))
