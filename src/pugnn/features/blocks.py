"""Blocks of features, dense and sparse, put together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.graph.building import Features

#: Matrices with a smaller share of non-zeros than this are kept sparse.
SPARSE_BELOW = 0.25


def compact(blocks: Sequence[Features]) -> Features:
    """Blocks with N rows each beside one another: sparse, without stored zeros, if few are filled; else dense."""
    nodes, width = blocks[0].shape[0], sum(block.shape[1] for block in blocks)
    filled = sum(np.count_nonzero(block if _is_dense(block) else block.data) for block in blocks)
    if filled < SPARSE_BELOW * nodes * width:
        # Neighbouring dense blocks become sparse at once: a thousand columns of numbers are one step.
        parts = [
            sp.csr_array(np.hstack(list(g))) if dense else sp.hstack(list(g)) for dense, g in groupby(blocks, _is_dense)
        ]
        joined = sp.csr_array(sp.hstack(parts, format="csr"), dtype=np.float32)
        joined.eliminate_zeros()
        joined.sort_indices()
        return joined
    joined = np.empty((nodes, width), dtype=np.float32)
    start = 0
    for block in blocks:
        joined[:, start : start + block.shape[1]] = _dense(block)
        start += block.shape[1]
    return joined


def stacked(blocks: Sequence[Features]) -> Features:
    """Blocks of the same width below one another: sparse if all are."""
    if any(map(_is_dense, blocks)):
        return np.vstack([_dense(block) for block in blocks])
    return sp.csr_array(sp.vstack(blocks, format="csr"))


def _is_dense(block: Features) -> bool:
    return isinstance(block, np.ndarray)


def _dense(block: Features) -> NDArray[np.float32]:
    return block if isinstance(block, np.ndarray) else block.toarray()
