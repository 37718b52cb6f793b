"""Data sets as ``.npz`` files.

The file in the package and those in the cache and in the folder ``PUGNN_DATA`` share one layout:

| key | type | meaning |
|---|---|---|
| ``num_nodes`` | int64 scalar | N |
| ``edge_index`` | int32 ``(2, E)`` | each undirected edge once, smaller end first |
| ``x_indptr``, ``x_indices``, ``x_data`` | int32, int32, float32 | features in CSR form |
| ``x_shape`` | int64 ``(2,)`` | (N, F) |
| ``y`` | int16 ``(N,)`` | class index of each node |
| ``missing_nodes`` (optional) | int32 | nodes without a true label |
| ``ids`` (optional) | int64 ``(N,)`` | the source's node ids |
| ``class_names`` (optional) | unicode | class index -> name |
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.errors import PugnnError, printable
from pugnn.files import regular
from pugnn.graph.arrays import as_ids, sound_matrix

#: The largest class index, of 16 bits.
MAX_CLASS = 2**15 - 1


@dataclass(frozen=True, eq=False)
class Archive:
    """The content of a file, as in the table above."""

    edge_index: NDArray[np.int32]
    x: sp.csr_array
    y: NDArray[np.int16]
    missing_nodes: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    ids: NDArray[np.int64] | None = None
    class_names: tuple[str, ...] | None = None

    def write(self, file: IO[bytes]) -> None:
        """Write the file."""
        missing = self.missing_nodes.astype(np.int32) if len(self.missing_nodes) else None
        optional = {"missing_nodes": missing, "ids": self.ids, "class_names": self.class_names}
        np.savez_compressed(
            file,
            allow_pickle=False,
            num_nodes=np.int64(len(self.y)),
            edge_index=self.edge_index.astype(np.int32),
            x_indptr=self.x.indptr.astype(np.int32),
            x_indices=self.x.indices.astype(np.int32),
            x_data=self.x.data.astype(np.float32),
            x_shape=np.asarray(self.x.shape, dtype=np.int64),
            y=self.y.astype(np.int16),
            **{key: np.asarray(value) for key, value in optional.items() if value is not None},
        )


def read_archive(path: Path) -> Archive:
    """Read a file; any defect raises a :class:`PugnnError`."""
    try:
        content = regular(path).read_bytes()  # once: another process may be replacing it
        damaged = zipfile.ZipFile(io.BytesIO(content)).testzip()  # compares checksums
        if damaged:
            raise PugnnError(f"its member {damaged} is damaged")
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            return _checked(file)
    except Exception as error:  # damage can surface anywhere in zipfile, zlib, numpy or scipy
        raise PugnnError(f"cannot read the data set file {path}: {error}. Replace it with an intact copy.") from error


def _checked(arrays: Mapping[str, NDArray[Any]]) -> Archive:
    n, y, edge_index = int(arrays["num_nodes"]), arrays["y"], arrays["edge_index"]
    missing, ids, names = (arrays.get(key) for key in ("missing_nodes", "ids", "class_names"))
    missing = np.zeros(0, dtype=np.int32) if missing is None else missing
    class_names = None if names is None else tuple(map(printable, names.astype(np.str_).tolist()))
    for key in ("x_indices", "x_indptr"):
        if arrays[key].dtype.kind not in "iu":
            raise PugnnError(f"{key} must be integers")
    parts = arrays["x_data"].astype(np.float32), arrays["x_indices"], arrays["x_indptr"]
    x = sound_matrix(sp.csr_array(parts, shape=tuple(arrays["x_shape"].tolist())), "x")
    rows = {"y": y.shape, "x": x.shape[:1], "ids": (n,) if ids is None else ids.shape}
    if set(rows.values()) != {(n,)} or edge_index.shape != (2, edge_index.size // 2):
        raise PugnnError(f"shapes disagree: num_nodes is {n}, edge_index {edge_index.shape}, others {rows}")
    for key, nodes in (("edge_index", edge_index), ("missing_nodes", missing)):
        if nodes.dtype.kind not in "iu" or (nodes.size and not 0 <= nodes.min() <= nodes.max() < n):
            raise PugnnError(f"{key} names a node outside 0 to {n - 1}")
    if y.dtype.kind not in "iu" or n == 0 or not 0 <= y.min() <= y.max() <= MAX_CLASS:
        raise PugnnError(f"y must hold one class index, 0 to {MAX_CLASS:,}, for each node")
    if class_names is not None and len(class_names) <= y.max():
        raise PugnnError(f"{len(class_names)} class names for {y.max() + 1} classes")
    if not np.isfinite(x.data).all():
        raise PugnnError("x_data holds a value that is not finite")
    return Archive(edge_index, x, y, missing, None if ids is None else as_ids(ids), class_names)
