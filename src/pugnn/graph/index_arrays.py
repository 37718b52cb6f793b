"""Checks of arrays that hold positions: compiled code follows them without looking, whatever they hold."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.errors import PugnnError


def require_rows(starts: NDArray[Any], length: int, what: str) -> None:
    """Raise unless the row starts are 64-bit integers that rise from 0 to this length."""
    if starts.ndim != 1 or starts.dtype != np.int64 or not len(starts):
        raise PugnnError(f"{what} must be a list of 64-bit integers; got shape {starts.shape} of {starts.dtype}")
    if starts[0] != 0 or starts[-1] != length or (starts[1:] < starts[:-1]).any():
        raise PugnnError(f"{what} must rise from 0 to {length:,}, the number of entries")


def require_inside(positions: NDArray[Any], size: int, what: str) -> None:
    """Raise unless these are 32-bit integers from 0 to below ``size``."""
    if positions.ndim != 1 or positions.dtype != np.int32:
        raise PugnnError(f"{what} must be a list of 32-bit integers; got shape {positions.shape} of {positions.dtype}")
    if len(positions) and not 0 <= positions.min() <= positions.max() < size:
        outside = positions.min() if positions.min() < 0 else positions.max()
        raise PugnnError(f"{what} hold the position {outside}, which is not within 0 to {size - 1}")


def require_adjacency(indptr: Any, indices: Any, weights: Any) -> None:
    """Raise unless these can be the arrays of a graph's adjacency matrix in CSR form."""
    for name, array in (("indptr", indptr), ("indices", indices), ("weights", weights)):
        if not isinstance(array, np.ndarray) and not (name == "weights" and array is None):
            raise PugnnError(f"{name} must be a numpy array; got {type(array).__name__}")
    require_rows(indptr, len(indices), "indptr")
    require_inside(indices, len(indptr) - 1, "indices")
    if weights is not None and (weights.dtype != np.float32 or weights.shape != indices.shape):
        raise PugnnError(f"weights must be one 32-bit float per entry; got shape {weights.shape} of {weights.dtype}")


def sound_matrix(matrix: sp.sparray | sp.spmatrix, what: str) -> Any:
    """The same sparse matrix, or an error if its parts do not fit its shape; scipy would crash on such a one."""
    try:
        # A copy, because checks of scipy's tidy up; other formats than these are made of Python's own objects.
        same: Any = copy.copy(matrix if matrix.format in ("csr", "csc", "bsr", "coo", "dia") else matrix.tocoo())
        compressed = same.format in ("csr", "csc", "bsr")
        parts = (same.indptr, same.indices) if compressed else same.coords if same.format == "coo" else ()
        if any(part.dtype.kind not in "iu" for part in parts):
            raise ValueError("positions are not integers")
        if compressed:
            same.check_format(full_check=True)
        elif same.format == "coo":
            same = type(same)((same.data, same.coords), shape=same.shape)  # which are checked
    except Exception as error:  # whatever is wrong with a matrix whose parts somebody has set
        raise PugnnError(f"{what}: the parts of the sparse matrix do not fit together: {error}. Make it again.") from None
    return same
