r"""Views of a node: attributes of its wider neighbourhood, its own, and those of its neighbours.

With :math:`\bar X` the attributes, each row at length 1, and :math:`\hat A` the normalised adjacency, the views are

.. math:: S = \overline{H^{(T)}}, \quad H^{(t+1)} = (1 - \beta) \hat A H^{(t)} + \beta \bar X, \quad H^{(0)} = \bar X;
    \qquad \bar X; \qquad N = \overline{D^{-1} A \bar X}

where the bar scales rows to length 1, :math:`T = 10` and :math:`\beta = 0.15`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from pugnn.errors import PugnnError
from pugnn.features.structural import Structure
from pugnn.graph import Graph
from pugnn.models.inputs import GraphInputs

#: The names of the views. The first one is the base that the others are compared with.
VIEWS = ("smoothed", "own", "neighbours")
STEPS, RESTART = 10, 0.15
#: A view has at most this many columns, and with at least 256 columns at most this many numbers; wider attributes are
#: hashed.
MOST_COLUMNS, MOST_NUMBERS = 4096, 2**26
#: Attributes must stay below this: the squares of larger ones overflow.
LARGEST = 1e18
#: Columns that are smoothed at a time.
BLOCK = 256


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
    """

    centre: NDArray[np.float32]
    scale: NDArray[np.float32]
    width: int

    @classmethod
    def of(cls, graph: Graph) -> Attributes:
        """As the attributes of a graph suggest."""
        x = _features(graph)
        n, columns = x.shape
        centre, scale = np.zeros(columns, np.float32), np.ones(columns, np.float32)
        if np.count_nonzero(x if isinstance(x, np.ndarray) else x.data) > 0.5 * n * columns:
            dense = _dense(x).astype(np.float64)
            centre, spread = (part.astype(np.float32) for part in (dense.mean(axis=0), dense.std(axis=0)))
            scale = np.where(spread > 0, spread, np.float32(1))
            columns += 1
        return cls(centre, scale, min(columns, MOST_COLUMNS, max(BLOCK, MOST_NUMBERS // n)))

    def tensors(self) -> dict[str, Tensor]:
        """What a model must keep of it, besides the width."""
        return {"centre": torch.from_numpy(self.centre), "scale": torch.from_numpy(self.scale)}

    def columns(self, graph: Graph) -> NDArray[np.float32] | sp.csr_array:
        """The attributes of all nodes before they are hashed and scaled, shape ``(N, C)``."""
        x = _features(graph)
        if self.centre.any() or (self.scale != 1).any():
            standardised = (_dense(x) - self.centre) / self.scale
            x = np.hstack([standardised, np.ones((len(standardised), 1), np.float32)])
        return x

    def hashing(self, columns: int) -> sp.csr_array | None:
        """The matrix that hashes so many columns, shape ``(C, width)``; none if they are few enough."""
        return _hashing(columns, self.width) if self.width < columns else None

    def rows(self, inputs: GraphInputs) -> Tensor:
        """The attributes of all nodes of a graph, each row at length 1, shape ``(N, width)``."""
        x = self.columns(inputs.graph)
        hashing = self.hashing(x.shape[1])
        if hashing is not None:
            x = x @ hashing
        values = torch.from_numpy(np.array(_dense(x), dtype=np.float32)).to(inputs.device)
        if not (values.abs() < LARGEST).all():
            raise PugnnError(f"features reach {LARGEST:.0e} and more, too large to compare nodes; scale them down")
        return unit_rows(values)


def view(name: str, attributes: Tensor, inputs: GraphInputs) -> Tensor:
    """One of :data:`VIEWS`, from attributes with rows of length 1."""
    if name == "own":
        return attributes
    if name == "neighbours":
        return unit_rows(inputs.mean_adjacency @ attributes)
    return unit_rows(smooth(attributes, inputs))


def side_by_side(rows_of: Callable[[str], Tensor], weights: Tensor) -> Tensor:
    """The views that have a weight, each times the root of it, as one matrix."""
    return torch.cat(
        [weight.sqrt() * rows_of(name) for name, weight in zip(VIEWS, weights, strict=True) if weight > 0], dim=1
    )


def smooth(values: Tensor, inputs: GraphInputs) -> Tensor:
    """Personalised PageRank of the columns: T steps with restart β, a block of columns at a time."""
    smoothed = torch.empty_like(values)
    for at in range(0, values.shape[1], BLOCK):
        start = values[:, at : at + BLOCK].contiguous()
        block = start
        for _ in range(STEPS):
            block = torch.lerp(inputs.gcn_adjacency @ block, start, RESTART)
        smoothed[:, at : at + BLOCK] = block
    return smoothed


def unit_rows(values: Tensor) -> Tensor:
    """Scale rows to Euclidean length 1; all-zero rows stay zero."""
    return torch.nn.functional.normalize(values, dim=1)


def _features(graph: Graph) -> NDArray[np.float32] | sp.csr_array:
    return graph.features if graph.num_features else Structure().encode(graph)


def _dense(x: NDArray[np.float32] | sp.csr_array) -> NDArray[np.float32]:
    return x if isinstance(x, np.ndarray) else x.toarray()


def _hashing(columns: int, width: int) -> sp.csr_array:
    rng = np.random.default_rng(0)  # the same for every model, so that it need not be saved
    signs = rng.choice(np.array([-1, 1], np.float32), columns)
    return sp.csr_array((signs, rng.integers(width, size=columns), np.arange(columns + 1)), shape=(columns, width))
