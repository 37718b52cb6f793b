"""A store with its known positives, as commands use it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from pugnn.features.recipe import Recipe
from pugnn.files import as_path
from pugnn.io.arguments import Request
from pugnn.io.assembling import TableGraph
from pugnn.io.ids import ids_of
from pugnn.io.node_list import read_lists
from pugnn.io.opening import read_tables
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
    request = Request.of({"id": id, "label": label}, on_phase=on_phase)
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
