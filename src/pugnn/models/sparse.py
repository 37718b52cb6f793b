"""Products of a fixed sparse matrix with a dense one, under autograd."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from pugnn.errors import PugnnError
from pugnn.models.dropout import draw_seed, drop_entries


class SparseMatrix:
    r"""A constant CSR matrix stored with its transpose.

    ``matrix @ dense`` is differentiable with respect to ``dense``: the gradient of :math:`AB` is :math:`A^\top G`, so
    both directions are plain CSR products. If the matrix is ``symmetric``, one layout serves both. ``numbers`` are the
    places of the entries in a larger matrix whose rows these are; dropout depends on them.
    """

    def __init__(
        self,
        matrix: sp.csr_array,
        device: torch.device | str = "cpu",
        *,
        symmetric: bool = False,
        numbers: NDArray[np.int64] | None = None,
    ) -> None:
        self.shape: tuple[int, int] = matrix.shape
        self.values = torch.from_numpy(np.array(matrix.data)).to(device)
        self._rows = _layout(matrix, device)
        self._numbers = numbers
        if symmetric:
            self._columns, self._transposed_values = self._rows, self.values
        else:
            entries = np.arange(matrix.nnz)
            flipped = sp.csr_array((entries, matrix.indices, matrix.indptr), shape=matrix.shape).T.tocsr()
            self._columns = _layout(flipped, device)
            self._places = torch.from_numpy(flipped.data).to(device)  # the position of each entry in the other layout
            self._transposed_values = self.values[self._places]

    def dropout(self, p: float, training: bool) -> SparseMatrix:
        """The same matrix with a share ``p`` of its entries dropped and the others scaled, in training."""
        if not training or p == 0.0:
            return self
        dropped = copy.copy(self)
        if self.values.device.type == "cpu":  # hashing once more is faster than gathering
            seed, places = draw_seed(), self._places.numpy()
            places = places if self._numbers is None else self._numbers[places]
            dropped.values = drop_entries(self.values, p, seed, self._numbers)
            dropped._transposed_values = drop_entries(self._transposed_values, p, seed, places)
        else:
            dropped.values = F.dropout(self.values, p)
            dropped._transposed_values = dropped.values[self._places]
        return dropped

    def __matmul__(self, dense: Tensor) -> Tensor:
        product: Tensor = _Product.apply(self, dense)  # type: ignore[no-untyped-call]
        return product


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: SparseMatrix, dense: Tensor) -> Tensor:
        ctx.matrix = matrix
        return _csr(matrix._rows, matrix.values, matrix.shape) @ dense

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor]:
        matrix = ctx.matrix
        transposed = _csr(matrix._columns, matrix._transposed_values, matrix.shape[::-1])
        return None, transposed @ grad.contiguous()


def _layout(matrix: sp.csr_array, device: torch.device | str) -> tuple[Tensor, Tensor]:
    if matrix.nnz > np.iinfo(np.int32).max:
        raise PugnnError(f"a matrix with {matrix.nnz:,} entries is too large for its 32-bit layout")
    starts, columns = (torch.from_numpy(part.astype(np.int32)).to(device) for part in (matrix.indptr, matrix.indices))
    return starts, columns


def _csr(layout: tuple[Tensor, Tensor], values: Tensor, shape: tuple[int, int]) -> Tensor:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")
        warnings.filterwarnings("ignore", message="Sparse invariant checks are implicitly disabled")  # torch < 2.13
        return torch.sparse_csr_tensor(*layout, values, size=shape, check_invariants=False)
