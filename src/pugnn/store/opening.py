"""Opening a store: a graph whose arrays stay on disk until they are used."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.graph import Cleaning, Graph
from pugnn.graph.stored import Stored
from pugnn.store.features import features_in
from pugnn.store.format import MANIFEST, damaged, open_arrays, read_manifest, verify
from pugnn.store.ids import ids_in


def open_store(path: str | os.PathLike[str], *, verified: bool = False) -> Graph:
    """Open a store that :func:`build_store` or ``pugnn build`` wrote.

    Nothing but ``store.json`` is read: the arrays are memory-mapped, and the system reads what is used. All files must
    be there, each of its length.

    Args:
        path: the folder.
        verified: read all files once, compare their checksums, about a second per gigabyte, and see that all
            positions lie within the graph: kernels rely on that.
    """
    folder = Path(path)
    manifest = read_manifest(folder)
    if verified:
        verify(folder, manifest)
    arrays = open_arrays(folder, manifest)
    try:
        indptr, indices, weights = arrays["indptr"], arrays["indices"], arrays.get("weights")
        if verified:
            _require_positions(indptr, indices, arrays["order"])
        ids = ids_in(arrays)
        features = features_in(arrays, (len(indptr) - 1, len(manifest.feature_names)))
        sums = {name.removesuffix(".npy"): file.sha256 for name, file in manifest.files.items()}
        return Graph(
            indptr,
            indices,
            features,
            ids,  # type: ignore[arg-type]  # behaves like an array where it is text
            weights,
            tuple(manifest.feature_names),
            Cleaning(**manifest.cleaning),
            manifest.recipe,
            Stored(folder, manifest.checksum, (indptr, indices, features, ids, weights), ids, arrays["order"], sums),
        )
    except (KeyError, TypeError, ValueError):  # it has a checksum, but `pugnn build` did not write it
        raise damaged(folder, f"{MANIFEST} does not fit the other files") from None


def _require_positions(indptr: NDArray[np.int64], indices: NDArray[np.int32], order: NDArray[Any]) -> None:
    nodes = len(indptr) - 1
    rising = indptr[0] == 0 and indptr[-1] == len(indices) and bool((indptr[1:] >= indptr[:-1]).all())
    inside = all(not len(part) or (part.min() >= 0 and part.max() < nodes) for part in (indices, order))
    if not rising or not inside or len(order) != nodes:
        raise ValueError("a position outside the graph")
