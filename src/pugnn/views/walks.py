r"""Closeness of nodes to the known positives, by links alone.

A walk from node i that goes on with probability :math:`1 - \beta` at every step, T steps at most, ends at a known
positive with a probability of about

.. math:: p_i = \tilde d_i^{-1/2} \sum_{l \in L} \big(H^{(T)}\big)_{il}

where :math:`H^{(T)}` is the matrix that smooths attributes (:mod:`pugnn.graph.smoothing`), and
:math:`\tilde d_i^{-1/2}` keeps nodes with many links from being close to everything. With :math:`\bar p` the mean of
:math:`p_i` over nodes that are not known positives, closeness is :math:`\log(p_i / \bar p + 0.1)`, minus its mean over
all nodes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pugnn.graph import Graph
from pugnn.graph.derived import derived
from pugnn.graph.smoothing import smoother_of

#: Added to the relative probability before the logarithm, so that far nodes differ little.
FAR = 0.1
#: Sets of known positives whose walks are cached: all of them, and without each of five folds.
MAX_CACHED = 6


def closeness(graph: Graph, known: NDArray[np.float32]) -> NDArray[np.float32]:
    """Closeness of every node to the known positives of each column, shape ``(N, k)``; 0 for a column without any.

    ``known`` is 1 for known positives and 0 for all others, shape ``(N, k)``.
    """
    near: NDArray[np.float32] = np.log(relative_walks(graph, known) + np.float32(FAR))
    near -= near.mean(axis=0, dtype=np.float64).astype(np.float32)
    return near


def relative_walks(graph: Graph, known: NDArray[np.float32]) -> NDArray[np.float32]:
    r""":math:`p_i / \bar p`, shape ``(N, k)``; it must not be changed."""
    positives = np.flatnonzero(known[:, 0]).tobytes()
    if known.shape[1] == 1:
        return derived(graph, "walks", lambda: _walk(graph, known), positives, most=MAX_CACHED)
    walks = _walk(graph, known)
    # The first column has all known positives, and the model of these is scored next.
    derived(graph, "walks", lambda: walks[:, :1].copy(), positives, most=MAX_CACHED)
    return walks


def _walk(graph: Graph, known: NDArray[np.float32]) -> NDArray[np.float32]:
    smoother = smoother_of(graph)
    walks = smoother.root[:, None] * smoother.smooth(known)
    others = np.maximum((known == 0).sum(axis=0), 1)
    mean = (walks * (known == 0)).sum(axis=0, dtype=np.float64) / others
    walks *= np.where(mean > 0, 1 / np.where(mean > 0, mean, 1.0), 0.0).astype(np.float32)
    return walks
