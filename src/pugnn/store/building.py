"""From tables to a store, without holding the edges in memory."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.features.encoding import FeatureBlocks
from pugnn.features.recipe import Recipe
from pugnn.files import as_path, file_states, new_folder, require_new
from pugnn.graph.adjacency import Adjacency, merge_edges
from pugnn.graph.arrays import Features
from pugnn.memory import available_memory
from pugnn.store.arguments import Request
from pugnn.store.edge_table import Edges
from pugnn.store.id_types import SEVERAL_TYPES, IdColumn, common_family
from pugnn.store.ids import IdTable
from pugnn.store.opening import Manifest, listed_files
from pugnn.store.reading import GraphArrays, assemble
from pugnn.store.stored_arrays import (
    features_in,
    found_arrays,
    id_arrays,
    ids_in,
    new_array,
    write_array,
    write_features,
)
from pugnn.store.tables.database import Limits
from pugnn.store.tables.input_files import matching

#: Bytes of memory that are used in any case; with less DuckDB could not read some files at all.
_MIN_MEMORY = 1 << 29


def build_store(
    out: str | os.PathLike[str],
    edges: Any,
    nodes: Any = None,
    *,
    attributes: Any = None,
    source: str | None = None,
    target: str | None = None,
    id: str | None = None,
    weight: str | None = None,
    kinds: Mapping[str, str] | None = None,
    recipe: Recipe | Mapping[str, Any] | None = None,
    on_phase: Callable[[str], None] | None = None,
) -> Manifest:
    """Build a graph store from tables; the graph is the one that :func:`pugnn.read_graph` reads from them.

    Edges need not fit into memory: they are on disk until they are merged, as many rows at a time as fit.

    Args:
        out: the folder to make; it must not exist.
        edges: as in :func:`pugnn.read_graph`, like the other arguments.
    """
    path, columns = as_path(out, "out"), {"source": source, "target": target, "id": id, "weight": weight, "label": None}
    request = Request(columns, edges=edges, kinds=kinds, recipe=recipe, on_phase=on_phase)
    require_new(path)
    with new_folder(path) as folder, unchanged([edges, nodes, attributes]) as inputs:
        place = _InFolder(folder, max(available_memory() // 2, _MIN_MEMORY))
        found = assemble(request, place, place.limits, edges=edges, nodes=nodes, attributes=attributes)
        shutil.rmtree(place.overflow)
        request.say("computing checksums")
        manifest = Manifest(
            files=listed_files(folder),
            cleaning=asdict(found.graph.cleaning),
            recipe=found.recipe.to_plain(),
            feature_names=found.graph.feature_names or (),
            id_column=found.id_column,
            notes=found.notes,
            built_from=inputs,
        )
        manifest.write(folder)
    return manifest


class _InFolder(GraphArrays):
    """Keeps the arrays of a graph in the files of a store, with so many bytes of memory for the rest."""

    def __init__(self, folder: Path, memory: int) -> None:
        self._folder, self._memory = folder, memory
        self.overflow = folder / "overflow"  # for what is not to be held in memory
        self.overflow.mkdir()
        self.limits = Limits(memory, folder.resolve() / "overflow" / "duckdb")

    def collect(self, pieces: Iterable[Edges]) -> Edges:
        for old in self._folder.glob("*.npy"):  # of an attempt to read tables that have been repaired since
            old.unlink()
        paths = [self.overflow / name for name in Edges._fields]
        with ExitStack() as stack:
            files = [stack.enter_context(path.open("wb")) for path in paths]
            for piece in pieces:
                for file, numbers in zip(files, piece, strict=True):
                    file.write(b"" if numbers is None else numbers.data)
        sources, targets = (np.memmap(path, np.int32, "r+") for path in paths[:2])
        weighted = paths[2].stat().st_size > 0
        return Edges(sources, targets, np.memmap(paths[2], np.float32, "r+") if weighted else None)

    def merge(self, num_nodes: int, edges: Edges) -> Adjacency:
        kinds = {"indices": np.int32} if edges.weights is None else {"indices": np.int32, "weights": np.float32}
        with ExitStack() as stack:
            files = [stack.enter_context(new_array(self._folder, name, dtype)) for name, dtype in kinds.items()]

            def write(*parts: NDArray[Any]) -> None:
                for file, numbers in zip(files, parts, strict=False):
                    file.write(numbers)

            indptr, cleaning = merge_edges(num_nodes, *edges, write, self._memory // (8 * len(files)))
        write_array(self._folder, "indptr", indptr)
        arrays = found_arrays(self._folder)
        return arrays["indptr"], arrays["indices"], arrays.get("weights"), cleaning

    def keep_ids(self, ids: IdTable, columns: Sequence[IdColumn], listed: int) -> tuple[NDArray[Any], list[str]]:  # noqa: ARG002
        kind, notes = common_family(columns)
        numbers = ids.integers() if kind in ("integers", "numbers") else None
        whole = numbers is not None and not numbers.null_count
        if not whole and any(column.originals for column in columns):
            notes = [SEVERAL_TYPES]
        elif not whole and kind != "text":
            notes = [f"ids are {kind}; a store keeps all but 64-bit integers as text"]
        for name, array in id_arrays(numbers if whole else ids.arrow).items():
            write_array(self._folder, name, array)
        return ids_in(found_arrays(self._folder)), notes  # type: ignore[return-value]  # text behaves like an array

    def blocks(self) -> FeatureBlocks:
        return FeatureBlocks(self.overflow)

    def keep_features(self, blocks: FeatureBlocks, ids: NDArray[Any]) -> Features:
        write_features(self._folder, blocks, ids)
        return features_in(found_arrays(self._folder), (len(ids), blocks.width))


@contextmanager
def unchanged(given: Sequence[Any]) -> Iterator[list[dict[str, Any]]]:
    """Yield what the files among these are: name, size, time of the last change; raise if that changes meanwhile."""
    names = [os.fspath(name) for name in given if isinstance(name, str | os.PathLike)]
    files = [file for name in names for file in matching(name)]
    before = file_states(files)
    try:
        yield [
            {"file": file, "bytes": size, "modified": datetime.fromtimestamp(changed / 1e9, UTC).isoformat()}
            for file, (size, changed) in before.items()
        ]
    finally:  # also after an error, for which a change may be the reason
        now = file_states(files)
        for file in files:
            if now.get(file) != before.get(file):
                raise PugnnError(f"{file} changed while it was read. Build the store again once it is complete.")
