"""Data sets as ``.npz`` files.

The file in the package, the cache and the folder ``PUGNN_DATA`` share one layout:

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

Files written here end with the SHA-256 of all preceding bytes, stored as the zip comment, so that a file and its
checksum are replaced in one step.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from pugnn.errors import PugnnError, printable
from pugnn.files import regular
from pugnn.graph import Graph
from pugnn.graph.arrays import as_ids, sound_matrix

_REQUIRED = ("num_nodes", "edge_index", "x_indptr", "x_indices", "x_data", "x_shape", "y")
_CHECKSUM_LENGTH = 64

#: The largest class index, of 16 bits.
MAX_CLASSES = 2**15 - 1


@dataclass(frozen=True)
class Sizes:
    """The sizes by which a published data set is recognised."""

    nodes: int
    edges: int
    features: int
    class_counts: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Archive:
    """The content of a file, as in the table above."""

    edge_index: NDArray[np.int32]
    x: sp.csr_array
    y: NDArray[np.int16]
    missing_nodes: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    ids: NDArray[np.int64] | None = None
    class_names: tuple[str, ...] | None = None

    @property
    def sizes(self) -> Sizes:
        """Actual sizes, to compare with the published ones."""
        counts = tuple(np.bincount(self.y).tolist())
        return Sizes(len(self.y), self.edge_index.shape[1], int(self.x.shape[1]), counts)


def simple_edges(source: ArrayLike, target: ArrayLike, num_nodes: int) -> NDArray[np.int32]:
    """Each undirected edge once, smaller end first, sorted, without self loops: shape ``(2, E)``."""
    adjacency = Graph.from_edges(source, target, num_nodes=num_nodes).to_scipy()
    upper = sp.triu(adjacency, format="csr").tocoo()
    return np.stack([upper.row, upper.col]).astype(np.int32)


def archive_bytes(archive: Archive) -> bytes:
    """The bytes of an archive's file; deterministic."""
    arrays: dict[str, NDArray[Any]] = {
        "num_nodes": np.asarray(len(archive.y), dtype=np.int64),
        "edge_index": archive.edge_index.astype(np.int32),
        "x_indptr": archive.x.indptr.astype(np.int32),
        "x_indices": archive.x.indices.astype(np.int32),
        "x_data": archive.x.data.astype(np.float32),
        "x_shape": np.asarray(archive.x.shape, dtype=np.int64),
        "y": archive.y.astype(np.int16),
    }
    if len(archive.missing_nodes):
        arrays["missing_nodes"] = archive.missing_nodes.astype(np.int32)
    if archive.ids is not None:
        arrays["ids"] = archive.ids
    if archive.class_names is not None:
        arrays["class_names"] = np.asarray(archive.class_names, dtype=np.str_)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for key, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=False)
            # An explicit ZipInfo has a fixed date, unlike the entries of numpy.savez.
            info = zipfile.ZipInfo(f"{key}.npy")
            file.writestr(info, member.getvalue(), zipfile.ZIP_DEFLATED, compresslevel=9)
        file.comment = b"0" * _CHECKSUM_LENGTH
    body = buffer.getvalue()[:-_CHECKSUM_LENGTH]
    return body + sha256(body).hexdigest().encode()


def read_archive(path: Path, *, verify: bool = False) -> Archive:
    """Read a file, checking its checksum if ``verify`` is set; any defect raises a :class:`PugnnError`."""
    try:
        content = regular(path).read_bytes()
        if verify and sha256(content[:-_CHECKSUM_LENGTH]).hexdigest().encode() != content[-_CHECKSUM_LENGTH:]:
            raise PugnnError("its checksum does not match its content")
        return _parse(content)
    except Exception as error:  # damage can surface anywhere in zipfile, zlib, numpy or scipy
        raise PugnnError(f"cannot read the data set file {path}: {error}. Replace it with an intact copy.") from error


def _parse(content: bytes) -> Archive:
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise PugnnError("it is not a complete .npz file")
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        absent = [key for key in _REQUIRED if key not in file]
        if absent:
            raise PugnnError(f"it lacks the arrays {', '.join(absent)}")
        arrays: dict[str, NDArray[Any]] = {key: file[key] for key in file.files}
    n = int(arrays["num_nodes"])
    shape = tuple(arrays["x_shape"].tolist())
    for key in ("x_indices", "x_indptr"):
        if arrays[key].dtype.kind not in "iu":
            raise PugnnError(f"{key} must be integers")
    x = sp.csr_array((arrays["x_data"].astype(np.float32), arrays["x_indices"], arrays["x_indptr"]), shape=shape)
    x = sound_matrix(x, "x")
    names = arrays.get("class_names")
    archive = Archive(
        edge_index=arrays["edge_index"],
        x=x,
        y=arrays["y"],
        missing_nodes=arrays.get("missing_nodes", np.zeros(0, dtype=np.int32)),
        ids=arrays.get("ids"),
        class_names=None if names is None else tuple(map(printable, names.astype(np.str_).tolist())),
    )
    _check(archive, n)
    return archive


def _check(archive: Archive, n: int) -> None:
    shapes_agree = (
        archive.y.shape == (n,)
        and archive.x.shape[0] == n
        and archive.edge_index.ndim == 2
        and archive.edge_index.shape[0] == 2
        and (archive.ids is None or archive.ids.shape == (n,))
    )
    if not shapes_agree:
        raise PugnnError(
            f"shapes disagree: num_nodes is {n}, y has {archive.y.shape}, x {archive.x.shape}, "
            f"edge_index {archive.edge_index.shape}, ids {None if archive.ids is None else archive.ids.shape}"
        )
    for key, nodes in (("edge_index", archive.edge_index), ("missing_nodes", archive.missing_nodes)):
        if nodes.dtype.kind not in "iu" or (nodes.size and not 0 <= nodes.min() <= nodes.max() < n):
            raise PugnnError(f"{key} names a node outside 0 to {n - 1}")
    if archive.y.dtype.kind not in "iu" or n == 0 or not 0 <= archive.y.min() <= archive.y.max() <= MAX_CLASSES:
        raise PugnnError(f"y must hold one class index, 0 to {MAX_CLASSES:,}, for each node")
    if archive.class_names is not None and len(archive.class_names) <= archive.y.max():
        raise PugnnError(f"{len(archive.class_names)} class names for {archive.y.max() + 1} classes")
    if archive.ids is not None:
        as_ids(archive.ids)
    if not np.isfinite(archive.x.data).all():
        raise PugnnError("x_data holds a value that is not finite")
