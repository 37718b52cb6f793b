"""Views of the same nodes that differ in their attributes, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pugnn.graph import Graph
from pugnn.views.view_matrix import ViewMatrix


class JoinedViewMatrix:
    """Several :class:`ViewMatrix`, each times a factor, side by side: to be multiplied with, like one of them.

    Directions have the shape ``(1, D, k)``, with D the columns of all views of all parts.
    """

    def __init__(self, parts: Sequence[tuple[ViewMatrix, float]]) -> None:
        self.parts = list(parts)
        self._ends = np.cumsum([int(np.prod(views.shape[1:])) for views, _ in self.parts])

    @property
    def graph(self) -> Graph:
        """That of all parts, whatever their attributes."""
        return self.parts[0][0].graph

    @property
    def shape(self) -> tuple[int, int, int]:
        """Nodes, 1, and columns."""
        return self.parts[0][0].shape[0], 1, int(self._ends[-1])

    @property
    def kept(self) -> bool:
        """Whether rows exist in all parts."""
        return all(views.kept for views, _ in self.parts)

    def split(self, w: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        """Directions in each part, times its factor, shape ``(views, F, k)`` each."""
        pieces = np.split(w[0], self._ends[:-1])
        return [
            np.float32(factor) * piece.reshape(*views.shape[1:], w.shape[2])
            for (views, factor), piece in zip(self.parts, pieces, strict=True)
        ]

    def __matmul__(self, w: NDArray[np.float32]) -> NDArray[np.float32]:
        """The product with directions, shape ``(N, k)``."""
        products = [views @ own for (views, _), own in zip(self.parts, self.split(w), strict=True)]
        total: NDArray[np.float32] = np.sum(products, axis=0, dtype=np.float32)
        return total

    def transposed(self, r: NDArray[np.float32]) -> NDArray[np.float32]:
        """The product of the transposed matrix with ``r``, shape ``(N, k)``, in the shape of directions."""
        parts = [np.float32(factor) * views.transposed(r).reshape(-1, r.shape[1]) for views, factor in self.parts]
        return np.concatenate(parts)[None]

    def subset(self, nodes: NDArray[np.int64]) -> JoinedViewMatrix:
        """The views of some nodes, where rows are kept."""
        return JoinedViewMatrix([(views.subset(nodes), factor) for views, factor in self.parts])


#: What can be multiplied with directions.
AnyViewMatrix: TypeAlias = ViewMatrix | JoinedViewMatrix
