"""Opening a store: a graph whose arrays stay on disk until they are used; and with its known positives."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from pugnn.errors import require_type
from pugnn.features.recipe import Recipe
from pugnn.files import as_path
from pugnn.graph import Cleaning, Graph
from pugnn.graph.arrays import reject_infinite, require_adjacency
from pugnn.graph.stored import Stored
from pugnn.store.arguments import Request
from pugnn.store.format import MANIFEST, open_arrays, read_manifest, verify
from pugnn.store.ids import ids_of
from pugnn.store.node_lists import read_lists
from pugnn.store.reading import TableGraph
from pugnn.store.stored_arrays import damaged, features_in, ids_in
from pugnn.store.tables.access import read_tables
from pugnn.task import PUTask


def open_store(path: str | os.PathLike[str], *, verified: bool = False) -> Graph:
    """Open a store that :func:`build_store` or ``pugnn build`` wrote.

    The arrays are memory-mapped, and the system reads what is used. All files must be there, each of its length.
    Arrays of positions are read once, to see that all lie within the graph: kernels rely on that.

    Args:
        path: the folder.
        verified: read all files once and compare their checksums, about a second per gigabyte.
    """
    require_type("verified", verified, bool, "True or False")
    folder = as_path(path)
    manifest = read_manifest(folder)
    if verified:
        verify(folder, manifest)
    arrays = open_arrays(folder, manifest)
    try:
        indptr, indices, weights = arrays["indptr"], arrays["indices"], arrays.get("weights")
        require_adjacency(indptr, indices, weights)
        ids = ids_in(arrays)
        features = features_in(arrays, (len(indptr) - 1, len(manifest.feature_names)))
        sums = {name.removesuffix(".npy"): file.sha256 for name, file in manifest.files.items()}
        if verified:
            reject_infinite(features, ids)  # type: ignore[arg-type]
        return Graph(
            indptr,
            indices,
            features,
            ids,  # type: ignore[arg-type]  # behaves like an array where it is text
            weights,
            tuple(manifest.feature_names),
            Cleaning(**manifest.cleaning),
            manifest.recipe,
            Stored(manifest.checksum, (indptr, indices, features, ids, weights), ids, sums),
        )
    except (KeyError, TypeError, ValueError) as error:  # it has a checksum, but `pugnn build` did not write it
        raise damaged(folder, f"{MANIFEST} does not fit the other files: {error}") from None


def read_store(
    path: str | os.PathLike[str],
    *,
    positives: Any = None,
    truth: Any = None,
    id: str | None = None,
    label: str | None = None,
    on_phase: Callable[[str], None] | None = None,
) -> TableGraph:
    """Open a store, verify its checksums, and read lists of known and true positives.

    Args:
        path: the folder.
        positives: as in :func:`pugnn.read_graph`, like the other arguments.
        truth: likewise.
        id: likewise.
        label: likewise.
        on_phase: called with a few words at the beginning of each phase.
    """
    request = Request({"id": id, "label": label}, on_phase=on_phase)
    request.say(f"verifying {path}")
    graph, manifest = open_store(path, verified=True), read_manifest(as_path(path))
    listed, notes = read_tables(
        {"positives": positives, "truth": truth},
        request.columns,
        lambda tables: read_lists(tables, request, ids_of(graph), graph.ids, manifest.id_column),
    )
    task = PUTask.from_positives(graph, listed["positives"]) if "positives" in listed else None
    recipe = Recipe.from_plain(manifest.recipe)
    return TableGraph(graph, task, listed.get("truth"), recipe, (*manifest.notes, *notes), manifest.id_column)
