"""A store with its known positives, as commands use it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from pugnn.features.recipe import Recipe
from pugnn.files import as_path
from pugnn.io.arguments import check_arguments
from pugnn.io.ids import ids_of
from pugnn.io.opening import read_tables
from pugnn.io.reading import TableGraph, read_lists
from pugnn.store.format import read_manifest
from pugnn.store.opening import open_store
from pugnn.task import PUTask


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
    wanted = {"id": id, "label": label}
    check_arguments(wanted, on_phase=on_phase)
    say = on_phase or (lambda _: None)
    say(f"verifying {path}")
    graph, manifest = open_store(path, verified=True), read_manifest(as_path(path))
    listed, notes = read_tables(
        {"positives": positives, "truth": truth},
        wanted,
        lambda tables: read_lists(tables, wanted, ids_of(graph), graph.ids, manifest.id_column, say),
    )
    task = PUTask.from_positives(graph, listed["positives"]) if "positives" in listed else None
    recipe = Recipe.from_plain(manifest.recipe)
    return TableGraph(graph, task, listed.get("truth"), recipe, (*manifest.notes, *notes), manifest.id_column)
