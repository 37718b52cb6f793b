"""Attributes of nodes as rows of length 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.features.structure import Structure
from pugnn.graph import Graph
from pugnn.graph.arrays import dense
from pugnn.graph.derived import derived

#: Rows that are handled at a time.
CHUNK = 1 << 16
#: Attributes must stay below this: the squares of larger ones overflow.
MAX_ATTRIBUTE = 1e18
#: Shorter rows count as zero.
MIN_LENGTH = 1e-12
#: A spread of no more than this share of the mean is rounding: the column is constant.
CONSTANT = 1e-10


@dataclass(frozen=True)
class Attributes:
    """How the attributes of nodes become rows of length 1, the same way for every graph.

    If most entries are not zero, columns are standardised, since zero then has no special meaning and scales differ;
    and a column of ones is added, without which rows of length 1 would not tell large from small. Words, tags and
    categories, which are mostly zero, stay as they are. A graph without attributes has structural ones.

    Args:
        centre: subtracted from each column, shape ``(F,)``.
        scale: what each column is divided by, shape ``(F,)``.
        standardised: whether columns are standardised, and one of ones is added. (Centre and scale may be 0 and 1.)
    """

    centre: NDArray[np.float32]
    scale: NDArray[np.float32]
    standardised: bool

    @classmethod
    def of(cls, graph: Graph) -> Attributes:
        """As the attributes of a graph suggest."""
        return derived(graph, "attributes", lambda: cls._suggested(graph))

    @classmethod
    def _suggested(cls, graph: Graph) -> Attributes:
        x = _features(graph)
        n, columns = x.shape
        centre, scale = np.zeros(columns, np.float32), np.ones(columns, np.float32)
        filled = sum(np.count_nonzero(part if isinstance(part, np.ndarray) else part.data) for part in _chunks(x))
        standardised = bool(filled > 0.5 * n * columns)
        if standardised:
            mean = sum(dense(part).sum(axis=0, dtype=np.float64) for part in _chunks(x)) / n
            spread = sum(np.square(dense(part) - mean).sum(axis=0) for part in _chunks(x)) / n
            centre, spread = mean.astype(np.float32), np.sqrt(spread).astype(np.float32)
            scale = np.where(spread > CONSTANT * np.abs(mean), spread, np.float32(1))
        return cls(centre, scale, standardised)

    @property
    def key(self) -> tuple[bytes, bytes, bool]:
        """The same for the same attributes."""
        return self.centre.tobytes(), self.scale.tobytes(), self.standardised

    def rows(self, graph: Graph) -> NDArray[np.float32] | sp.csr_array:
        """The attributes of all nodes, each row at length 1; sparse where most entries are zero."""
        x = _features(graph)
        if not self.standardised and not isinstance(x, np.ndarray):
            _require_small(x.data)
            inverse = inverse_lengths(x.power(2).sum(axis=1, dtype=np.float64))
            scaled = (x.data * np.repeat(inverse, np.diff(x.indptr))).astype(np.float32)
            return sp.csr_array((scaled, x.indices, x.indptr), shape=x.shape)
        found = np.ones((x.shape[0], x.shape[1] + self.standardised), np.float32)
        for first in range(0, len(found), CHUNK):
            part, some = found[first : first + CHUNK], dense(x[first : first + CHUNK])
            part[:, : x.shape[1]] = (some - self.centre) / self.scale if self.standardised else some
            _require_small(part)
            part *= inverse_lengths(np.square(part, dtype=np.float64).sum(axis=1, keepdims=True))
        return found


def _require_small(values: NDArray[np.float32]) -> None:
    if not (np.abs(values) < MAX_ATTRIBUTE).all():
        raise PugnnError(f"features reach {MAX_ATTRIBUTE:.0e} and more, too large to compare nodes; scale them down")


def _features(graph: Graph) -> NDArray[np.float32] | sp.csr_array:
    if graph.num_features:
        return graph.features
    return derived(graph, "structural attributes", lambda: Structure().encode(graph))


def _chunks(x: NDArray[np.float32] | sp.csr_array) -> Iterator[NDArray[np.float32] | sp.csr_array]:
    for first in range(0, x.shape[0], CHUNK):  # never all at once: even x[:] copies a sparse matrix
        yield x[first : first + CHUNK]


def inverse_lengths(squares: NDArray[np.float64], shortest: float = MIN_LENGTH) -> NDArray[np.float64]:
    """1 over lengths; 0 for those that are no more than the shortest."""
    lengths = np.sqrt(squares)
    return np.where(lengths > shortest, 1 / np.maximum(lengths, shortest), 0.0)
