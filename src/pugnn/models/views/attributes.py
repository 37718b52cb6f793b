"""Attributes of nodes as rows of length 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from pugnn.errors import PugnnError
from pugnn.features.structural import Structure
from pugnn.graph import Graph
from pugnn.models.views.rows import CHUNK

#: A view has at most this many columns, and with at least 256 columns at most this many numbers; wider attributes are
#: hashed.
MOST_COLUMNS, MOST_NUMBERS, LEAST_HASHED = 4096, 2**28, 256
#: Attributes must stay below this: the squares of larger ones overflow.
LARGEST = 1e18
#: Shorter rows count as zero.
SHORTEST = 1e-12
#: A spread of no more than this share of the mean is rounding: the column is constant.
CONSTANT = 1e-10

#: Structural attributes take long to compute, and stay as long as their graph does.
_STRUCTURAL: WeakKeyDictionary[Graph, NDArray[np.float32]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Attributes:
    """How the attributes of nodes become rows of length 1, the same way for every graph.

    If most entries are not zero, columns are standardised, since zero then has no special meaning and scales differ;
    and a column of ones is added, without which rows of length 1 would not tell large from small. Words, tags and
    categories, which are mostly zero, stay as they are. Attributes that are too wide are hashed: each
    column is added to, or subtracted from, one of ``width`` columns. A graph without attributes has structural ones.

    Args:
        centre: subtracted from each column, shape ``(F,)``.
        scale: what each column is divided by, shape ``(F,)``.
        width: number of columns.
        standardised: whether columns are standardised, and one of ones is added. Centre and scale do not tell: those of
            columns that are standardised already are 0 and 1, too.
    """

    centre: NDArray[np.float32]
    scale: NDArray[np.float32]
    width: int
    standardised: bool

    @classmethod
    def of(cls, graph: Graph) -> Attributes:
        """As the attributes of a graph suggest."""
        x = _features(graph)
        n, columns = x.shape
        centre, scale = np.zeros(columns, np.float32), np.ones(columns, np.float32)
        filled = sum(np.count_nonzero(part if isinstance(part, np.ndarray) else part.data) for part in _chunks(x))
        standardised = bool(filled > 0.5 * n * columns)
        if standardised:
            mean = sum(_dense(part).sum(axis=0, dtype=np.float64) for part in _chunks(x)) / n
            spread = sum(np.square(_dense(part) - mean).sum(axis=0) for part in _chunks(x)) / n
            centre, spread = mean.astype(np.float32), np.sqrt(spread).astype(np.float32)
            scale = np.where(spread > CONSTANT * np.abs(mean), spread, np.float32(1))
        return cls(centre, scale, most_columns(columns + standardised, n), standardised)

    def tensors(self) -> dict[str, Tensor]:
        """What a model must keep of it, besides the width."""
        learned = {"centre": torch.from_numpy(self.centre), "scale": torch.from_numpy(self.scale)}
        return {**learned, "standardised": torch.tensor(self.standardised)}

    def columns(self, x: NDArray[np.float32] | sp.csr_array) -> NDArray[np.float32] | sp.csr_array:
        """Features of some nodes before they are hashed and scaled, shape ``(n, C)``."""
        if self.standardised:
            standardised = (_dense(x) - self.centre) / self.scale
            x = np.hstack([standardised, np.ones((len(standardised), 1), np.float32)])
        return x

    def columns_of(self, graph: Graph, nodes: slice | NDArray[np.int64]) -> NDArray[np.float32] | sp.csr_array:
        """The same of some nodes of a graph."""
        return self.columns(_features(graph)[nodes])

    def hashing(self, columns: int) -> sp.csr_array | None:
        """The matrix that hashes so many columns, shape ``(C, width)``; none if they are few enough."""
        return _hashing(columns, self.width) if self.width < columns else None

    def rows(self, graph: Graph, nodes: slice = slice(None)) -> Iterator[NDArray[np.float32]]:
        """The attributes of nodes, by default of all, each row at length 1, some at a time, shape ``(n, width)``."""
        hashing = None
        for part in _chunks(_features(graph), nodes):
            x = self.columns(part)
            hashing = self.hashing(x.shape[1]) if hashing is None else hashing
            values = np.array(_dense(x if hashing is None else x @ hashing), dtype=np.float32)
            if not (np.abs(values) < LARGEST).all():
                raise PugnnError(f"features reach {LARGEST:.0e} and more, too large to compare nodes; scale them down")
            yield unit_rows(torch.from_numpy(values)).numpy()


def unit_rows(values: Tensor) -> Tensor:
    """Scale rows to Euclidean length 1; all-zero rows stay zero."""
    return torch.nn.functional.normalize(values, dim=1, eps=SHORTEST)


def _features(graph: Graph) -> NDArray[np.float32] | sp.csr_array:
    if graph.num_features:
        return graph.features
    if graph not in _STRUCTURAL:
        _STRUCTURAL[graph] = Structure().encode(graph)
    return _STRUCTURAL[graph]


def most_columns(columns: int, nodes: int) -> int:
    """How many of so many columns a view has."""
    return min(columns, MOST_COLUMNS, max(LEAST_HASHED, MOST_NUMBERS // max(nodes, 1)))


def _chunks(
    x: NDArray[np.float32] | sp.csr_array, nodes: slice = slice(None)
) -> Iterator[NDArray[np.float32] | sp.csr_array]:
    start, stop, _ = nodes.indices(x.shape[0])
    for first in range(start, stop, CHUNK):  # never all at once: even x[:] copies a sparse matrix
        yield x[first : min(first + CHUNK, stop)]


def _dense(x: NDArray[np.float32] | sp.csr_array) -> NDArray[np.float32]:
    return x if isinstance(x, np.ndarray) else x.toarray()


def _hashing(columns: int, width: int) -> sp.csr_array:
    rng = np.random.default_rng(0)  # the same for every model, so that it need not be saved
    signs = rng.choice(np.array([-1, 1], np.float32), columns)
    return sp.csr_array((signs, rng.integers(width, size=columns), np.arange(columns + 1)), shape=(columns, width))
