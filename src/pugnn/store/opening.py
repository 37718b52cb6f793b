"""Opening a store: a graph whose arrays stay on disk until they are used."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.graph import Cleaning, Graph
from pugnn.graph.stored import Stored, TextIds
from pugnn.store.features import open_features
from pugnn.store.format import open_array, read_manifest, verify


def open_store(path: str | os.PathLike[str], *, verified: bool = False) -> Graph:
    """Open a store that :func:`build_store` or ``pugnn build`` wrote.

    Nothing but ``store.json`` is read: the arrays are memory-mapped, and the system reads what is used. All files must
    be there, each of its length.

    Args:
        path: the folder.
        verified: read all files once and compare their checksums, about a second per gigabyte.
    """
    folder = Path(path)
    manifest = read_manifest(folder)
    if verified:
        verify(folder, manifest)
    indptr, indices = open_array(folder, "indptr"), open_array(folder, "indices")
    weights = open_array(folder, "weights") if "weights.npy" in manifest.files else None
    ids = open_ids(folder)
    features = open_features(folder, (len(indptr) - 1, len(manifest.feature_names)))
    parts = (indptr, indices, features, ids, weights)
    try:
        return Graph(
            indptr,
            indices,
            features,
            ids,  # type: ignore[arg-type]  # behaves like an array where it is text
            weights,
            tuple(manifest.feature_names),
            Cleaning(**manifest.cleaning),
            manifest.recipe,
            Stored(folder, manifest.checksum, parts, ids, open_array(folder, "order")),
        )
    except TypeError as error:
        raise PugnnError(f"the graph store {folder} cannot be opened: {error}") from None


def open_ids(folder: Path) -> NDArray[np.int64] | TextIds:
    """The ids of the nodes."""
    if (folder / "ids.npy").exists():
        return open_array(folder, "ids")
    return TextIds(open_array(folder, "id_letters"), open_array(folder, "id_starts"))
