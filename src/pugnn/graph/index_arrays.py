"""Checks of arrays that hold positions: compiled code follows them without looking, whatever they hold."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.errors import PugnnError, given, require_type


def reject_masked(values: object, what: str) -> None:
    """Raise if any entry is masked: numpy would use the value under the mask."""
    parts = values if isinstance(values, list | tuple) else [values]
    if any(isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part) for part in parts):
        raise PugnnError(f"{what} hold masked entries; remove them or fill them in")


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


def as_array(values: Any, what: str) -> NDArray[Any]:
    """What a user gives as an array; masked entries and lists of different lengths are errors."""
    reject_masked(values, what)
    try:
        return np.asarray(values)
    except ValueError:
        raise PugnnError(f"{what} must be a list or an array; got lists of different lengths") from None


def positions_within(nodes: Any, size: int, what: str) -> NDArray[np.int64]:
    """Nodes that a user names by their positions, as an array; anything but integers below ``size`` is an error."""
    array = as_array(nodes, what)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        hint = (
            "np.flatnonzero(mask) gives those of a mask" if array.dtype == bool else "Graph.positions(ids) finds them"
        )
        found = f"shape {array.shape} of {array.dtype}"
        raise PugnnError(f"{what} must be a list of positions, from 0 to {size - 1}, got {found}; {hint}")
    if array.size and not 0 <= array.min() <= array.max() < size:
        outside = array.min() if array.min() < 0 else array.max()
        raise PugnnError(f"{what}: node {outside} is not in the graph; positions run from 0 to {size - 1}")
    return array.astype(np.int64, copy=False)


def require_numbers(name: str, values: Any, size: int) -> None:
    """Raise unless this has one number per node, none of them missing."""
    array = as_array(values, name)
    if array.shape != (size,) or array.dtype.kind not in "iuf" or np.isnan(array).any():
        raise PugnnError(f"{name} must have one number per node, {size:,}, none of them missing; got {given(values)}")


def require_graph_parts(features: Any, ids: Any, feature_names: Any) -> None:
    """Raise unless these have the types of a graph's features, ids and names of features."""
    require_type("features", features, np.ndarray | sp.csr_array, "a numpy array or a scipy.sparse.csr_array")
    if not hasattr(ids, "dtype") or not hasattr(ids, "__len__"):
        raise PugnnError(f"ids must be a numpy array; got {given(ids)}")
    require_type("feature_names", feature_names, tuple | None, "a tuple of names")


def require_adjacency(indptr: Any, indices: Any, weights: Any) -> None:
    """Raise unless these can be the arrays of a graph's adjacency matrix in CSR form."""
    for name, array in (("indptr", indptr), ("indices", indices)):
        require_type(name, array, np.ndarray, "a numpy array")
    require_type("weights", weights, np.ndarray | None, "a numpy array")
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
        raise PugnnError(
            f"{what}: the parts of the sparse matrix do not fit together: {error}. Make it again."
        ) from None
    return same
