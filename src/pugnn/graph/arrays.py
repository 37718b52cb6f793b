"""Checks of the arrays that users give, and of those that kernels follow without looking, whatever they hold."""

from __future__ import annotations

import copy
import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from pugnn.errors import PugnnError, given, require_type, require_whole, shorten

Features: TypeAlias = NDArray[np.float32] | sp.csr_array

#: Positions are stored in 32 bits.
MAX_NODES = np.iinfo(np.int32).max
#: Minimum memory per node while a graph is built, excluding edges and features.
BYTES_PER_NODE = 40
_POSITIONS = "Graph.positions(ids) finds those of ids, np.flatnonzero(mask) those of a mask"


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


def as_array(values: Any, what: str) -> NDArray[Any]:
    """What a user gives as an array; masked entries and lists of different lengths are errors."""
    reject_masked(values, what)
    try:
        return np.asarray(values)
    except ValueError:
        raise PugnnError(f"{what} must be a list or an array; got lists of different lengths") from None


def positions_within(nodes: Any, size: int, what: str, hint: str = _POSITIONS) -> NDArray[np.int64]:
    """Nodes that a user names by their positions, as an array; anything but integers below ``size`` is an error."""
    array = as_array(nodes, what)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        found = f"shape {array.shape} of {array.dtype}"
        raise PugnnError(f"{what} must be a list of positions, whole numbers from 0 to {size - 1}; got {found}; {hint}")
    _require_inside(array, size, what, hint)
    return array.astype(np.int64, copy=False)


def _require_inside(positions: NDArray[Any], size: int, what: str, hint: str) -> None:
    if positions.size and not 0 <= positions.min() <= positions.max() < size:
        outside = positions.min() if positions.min() < 0 else positions.max()
        raise PugnnError(f"{what}: node {outside} is not in the graph; positions run from 0 to {size - 1}; {hint}")


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
    require_type("indptr", indptr, np.ndarray, "a numpy array")
    parts = [("indices", indices, np.int32)] + ([] if weights is None else [("weights", weights, np.float32)])
    for name, array, kind in parts:
        require_type(name, array, np.ndarray, "a numpy array")
        if array.dtype != kind or array.shape != (len(indices),):
            found = f"shape {array.shape} of {array.dtype}"
            raise PugnnError(f"{name} must be a list of {len(indices):,} {kind.__name__}; got {found}")
    require_rows(indptr, len(indices), "indptr")
    _require_inside(indices, len(indptr) - 1, "indices", _POSITIONS)


def sound_matrix(matrix: sp.sparray | sp.spmatrix, what: str) -> Any:
    """The same sparse matrix, or an error if its parts do not fit its shape; scipy would crash on them."""
    compressed = matrix.format in ("csr", "csc", "bsr")
    try:
        # A copy, because checks of scipy's tidy up; other formats become COO.
        same: Any = copy.copy(matrix if compressed else matrix.tocoo())
        if any(part.dtype.kind not in "iu" for part in ((same.indptr, same.indices) if compressed else same.coords)):
            raise ValueError("positions are not integers")
        if compressed:
            same.check_format(full_check=True)
            return same
        return type(same)((same.data, same.coords), shape=same.shape)  # which are checked
    except Exception as error:  # whatever is wrong with a matrix whose parts were set by hand
        raise PugnnError(f"{what}: the parts of the sparse matrix do not fit together: {error}") from None


def listed(values: Any, what: str) -> list[Any]:
    """The values of a list, an array or another collection; text is none, nor is a number."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable) or getattr(values, "ndim", 1) != 1:
        raise PugnnError(f"{what} must be a list; got {given(values)}")
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def as_ids(ids: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """One-dimensional array of unique ids; mixed types are preserved."""
    reject_masked(ids, "ids")
    if isinstance(ids, np.ndarray):
        array = ids
    else:
        values = listed(ids, "ids")
        array = np.fromiter(values, dtype=object, count=len(values))
        if {type(value) for value in values} in ({int}, {str}):
            typed = np.asarray(values)
            # Not where numpy would turn large integers into floats or strip trailing NULs.
            array = typed if typed.dtype.kind in "iuU" and typed.tolist() == values else array
    if array.ndim != 1:
        raise PugnnError(f"ids must be one-dimensional, these have shape {array.shape}")
    values = array.tolist()
    if array.dtype.kind not in "iuU":
        for value in values:
            _check_id(value)
    if len(set(values)) != len(values):
        twice = [node_id for node_id, times in Counter(values).items() if times > 1]
        raise PugnnError(f"node ids must be unique; these appear more than once: {shorten(twice)}")
    return array


def _check_id(value: Any) -> None:
    try:
        hash(value)
        missing = value is None or bool(value != value)  # NaN differs from itself
    except (TypeError, ValueError):
        raise PugnnError(f"{value!r} cannot be a node id; use numbers, text or tuples") from None
    if missing:
        raise PugnnError(f"a node id is missing: {value!r}. Every node needs one.")


def ends_from_ids(ends: ArrayLike, lookup: dict[Any, int]) -> NDArray[np.int64]:
    """Positions of edge ends given as ids."""
    reject_masked(ends, "edge ends")
    ids = listed(ends, "edge ends")
    try:
        unknown = [end for end in ids if end not in lookup]
    except TypeError:
        raise PugnnError("edge ends must be node ids, one for each edge; got lists") from None
    if unknown:
        raise PugnnError(f"{len(unknown):,} edge ends are not among the node ids: {shorten(unknown)}")
    return np.fromiter((lookup[end] for end in ids), dtype=np.int64, count=len(ids))


def require_num_nodes(num_nodes: Any) -> int:
    """The number of nodes as an int, if 32-bit positions and memory allow it."""
    require_whole("num_nodes", num_nodes, 0)
    n = int(num_nodes)
    if n > MAX_NODES:
        raise PugnnError(f"{n:,} nodes are more than 32-bit positions can hold")
    if n * BYTES_PER_NODE > _memory():
        raise PugnnError(f"{n:,} nodes need more memory than this machine has; if edge ends are ids, pass `ids`")
    return n


def _memory() -> float:
    """Bytes of physical memory, or infinity if unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return math.inf


def as_weights(weights: ArrayLike, rows: int) -> NDArray[np.float32]:
    """One positive weight per edge."""
    array = _as_numbers(weights, "edge weights")
    if array.shape != (rows,):
        raise PugnnError(f"edge weights have shape {array.shape}, expected ({rows},): one per edge")
    bad = np.flatnonzero(~(np.isfinite(array) & (array > 0)))
    if len(bad):
        raise PugnnError(f"edge weights must be positive and finite; edge {bad[0]} has weight {array[bad[0]]}")
    return array


def dense(rows: Features) -> NDArray[np.float32]:
    """Rows that may be sparse as an array."""
    return rows if isinstance(rows, np.ndarray) else rows.toarray()


def as_features(features: ArrayLike | sp.sparray | sp.spmatrix) -> Features:
    """A float32 copy, CSR if sparse; a flat list of numbers becomes one column."""
    if sp.issparse(features):
        rows = sp.csr_array(sound_matrix(features, "the matrix of features"))
        _require_real(rows.dtype, "features")
        matrix = sp.csr_array(rows, dtype=np.float32, copy=True)
        matrix.sum_duplicates()
        return matrix
    dense = _as_numbers(features, "features")
    if dense.ndim not in (1, 2):
        raise PugnnError(f"features have shape {dense.shape}, expected (number of nodes, number of features)")
    return dense[:, None] if dense.ndim == 1 else dense


def reject_infinite(features: Features, ids: NDArray[Any], first: int = 0) -> None:
    """Raise if a feature is infinite or NaN; the first row belongs to node ``first`` of those with these ids."""
    if np.isfinite(features.data if sp.issparse(features) else features).all():
        return
    coo = sp.coo_array(features)
    at = int(np.flatnonzero(~np.isfinite(coo.data))[0])
    node = ids[[first + coo.row[at]]].tolist()[0]
    found = f"{coo.data[at]} at node {node!r}, column {coo.col[at]}"
    raise PugnnError(f"features hold a value that is not finite: {found}. Replace or drop it.")


def _as_numbers(values: ArrayLike, what: str) -> NDArray[np.float32]:
    """A float32 copy, independent of the caller's array."""
    array = as_array(values, what)
    _require_real(array.dtype, what)
    try:
        with np.errstate(over="ignore"):  # callers reject infinite values and name their position
            return np.array(array, dtype=np.float32, order="C")
    except (TypeError, ValueError) as error:
        raise PugnnError(f"{what} must be numbers: {error}") from None


def _require_real(dtype: np.dtype[Any], what: str) -> None:
    if dtype.kind not in "biufO":  # objects are converted one by one
        raise PugnnError(f"{what} must be real numbers; got {'text' if dtype.kind in 'US' else dtype}")
