"""From tables to a store, without holding the edges in memory."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from datetime import UTC, date, datetime
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.features.encoding import FeatureBlocks
from pugnn.features.typed_recipe import AnyRecipe
from pugnn.files import as_path, file_states, new_folder, require_new
from pugnn.graph.adjacency import Adjacency, Cleaning, merge_edges
from pugnn.graph.arrays import Features
from pugnn.graph.relations import Relation, directed_rows, joined_rows
from pugnn.memory import available_memory
from pugnn.store.arguments import Request
from pugnn.store.assembly.assemble import assemble
from pugnn.store.assembly.input_tables import Inputs
from pugnn.store.assembly.places import GraphArrays, Rows
from pugnn.store.edge_table import Edges
from pugnn.store.id_types import SEVERAL_TYPES, IdColumn, common_family
from pugnn.store.ids import Ids
from pugnn.store.opening import Manifest, listed_files
from pugnn.store.stored_arrays import (
    described,
    features_in,
    found_arrays,
    id_arrays,
    ids_in,
    new_array,
    open_array,
    write_array,
    write_features,
)
from pugnn.store.tables.database import Limits
from pugnn.store.tables.input_files import matching

#: The arrays of rows.
_ROWS = ("indptr", "indices", "weights")

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
    edge_type: str | None = None,
    directed: bool = False,
    time: str | Mapping[str, str] | None = None,
    as_of: str | int | date | None = None,
    kinds: Mapping[str, str] | None = None,
    recipe: AnyRecipe | Mapping[str, Any] | None = None,
    on_phase: Callable[[str], None] | None = None,
) -> Manifest:
    """Build a graph store from tables; the graph is the one that :func:`pugnn.read_graph` reads from them.

    Edges need not fit into memory: they are on disk until they are merged, as many rows at a time as fit.

    Args:
        out: the folder to make; it must not exist.
        edges: as in :func:`pugnn.read_graph`, like the other arguments.
    """
    path, given = as_path(out, "out"), Inputs.of(edges, nodes, attributes, target, edge_type)
    columns = {"source": source, **given.columns, "id": id, "weight": weight, "label": None}
    request = Request(columns, time=time, kinds=kinds, recipe=recipe, on_phase=on_phase, directed=directed, as_of=as_of)
    require_new(path)
    with new_folder(path) as folder, unchanged(list(given.tables.values())) as inputs:
        place = _InFolder(folder, max(available_memory() // 2, _MIN_MEMORY))
        found = assemble(request, given, place, place.limits)
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
            relations=described(found.graph.relations),
            kinds=list(found.graph.kinds.items()),
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

    def collect(self, pieces: Iterable[tuple[str, Edges]]) -> dict[str, Edges]:
        for old in self._folder.glob("*.npy"):  # of an attempt to read tables that have been repaired since
            old.unlink()
        places: dict[str, list[Path]] = {}
        with ExitStack() as stack:
            files: dict[str, list[IO[bytes]]] = {}
            for name, piece in pieces:
                if name not in files:
                    places[name] = [self.overflow / f"{part}_{len(files)}" for part in Edges._fields]
                    files[name] = [stack.enter_context(path.open("wb")) for path in places[name]]
                for file, numbers in zip(files[name], piece, strict=True):
                    file.write(b"" if numbers is None else numbers.data)
        return {name: _mapped(*paths) for name, paths in places.items()}

    def merge(self, num_nodes: int, edges: Edges, name: str = "") -> Adjacency:
        return self._merge(self._folder, num_nodes, edges, name)

    def _merge(self, folder: Path, num_nodes: int, edges: Edges, name: str) -> Adjacency:
        weighted = edges.weights is not None
        with _new_entries(folder, name, weighted=weighted) as write:
            indptr, cleaning = merge_edges(num_nodes, *edges, write, self._memory // (8 * (1 + weighted)))
        write_array(folder, name + "indptr", indptr)
        return _opened(folder, name, cleaning, weighted=weighted)

    def merge_directed(self, num_nodes: int, edges: Edges, names: tuple[str, str]) -> tuple[Adjacency, Adjacency]:
        def aside(total: int, *both: Any) -> Adjacency:
            return self._merge(self.overflow, total, Edges(*both), "")

        forward, backward = directed_rows(num_nodes, *edges, aside)
        return self._keep(names[0], forward), self._keep(names[1], backward)

    def _keep(self, name: str, rows: Adjacency) -> Adjacency:
        for part, array in zip(_ROWS, rows, strict=False):
            if array is not None:
                write_array(self._folder, name + part, array)  # type: ignore[arg-type]
        return _opened(self._folder, name, rows[3], weighted=rows[2] is not None)

    def discard(self, name: str) -> None:
        for part in _ROWS:
            (self._folder / f"{name}{part}.npy").unlink(missing_ok=True)

    def join(self, relations: Sequence[Relation]) -> Rows:
        total = np.sum([relation.indptr for relation in relations], axis=0)  # entries up to each row, repeats as well
        weighted = any(relation.weights is not None for relation in relations)
        indptr, first = np.zeros(len(total), np.int64), 0
        with _new_entries(self._folder, "", weighted=weighted) as write:
            while first < len(total) - 1:
                most = total[first] + self._memory // (16 * (1 + weighted))
                last = max(first + 1, int(np.searchsorted(total, most, "right")) - 1)
                starts, *entries = joined_rows([_some_rows(relation, first, last) for relation in relations])
                write(*entries)
                indptr[first : last + 1] = indptr[first] + starts
                first = last
        write_array(self._folder, "indptr", indptr)
        return _opened(self._folder, "", Cleaning(), weighted=weighted)[:3]

    def keep_ids(self, ids: Ids, columns: Sequence[IdColumn], listed: int) -> tuple[NDArray[Any], list[str]]:  # noqa: ARG002
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
def _new_entries(folder: Path, name: str, *, weighted: bool) -> Iterator[Callable[..., None]]:
    """Files for the entries of rows; yields a function that appends neighbours, and weights if there are any."""
    types = {"indices": np.int32, "weights": np.float32} if weighted else {"indices": np.int32}
    with ExitStack() as stack:
        files = [stack.enter_context(new_array(folder, name + part, dtype)) for part, dtype in types.items()]

        def write(*parts: NDArray[Any]) -> None:
            for file, numbers in zip(files, parts, strict=False):
                file.write(numbers)

        yield write


def _opened(folder: Path, name: str, cleaning: Cleaning, *, weighted: bool) -> Adjacency:
    indptr, indices, *weights = (open_array(folder, name + part) for part in _ROWS[: 2 + weighted])
    return indptr, indices, weights[0] if weights else None, cleaning


def _mapped(sources: Path, targets: Path, weights: Path) -> Edges:
    """Edges in files, which may be changed in place."""
    one, other = (np.memmap(path, np.int32, "r+") for path in (sources, targets))
    return Edges(one, other, np.memmap(weights, np.float32, "r+") if weights.stat().st_size else None)


def _some_rows(relation: Relation, first: int, last: int) -> Relation:
    inside = slice(int(relation.indptr[first]), int(relation.indptr[last]))
    starts = relation.indptr[first : last + 1] - relation.indptr[first]
    return Relation(starts, relation.indices[inside], None if relation.weights is None else relation.weights[inside])


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
