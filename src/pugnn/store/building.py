"""From tables to a store, without holding the edges in memory."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from pugnn.errors import PugnnError
from pugnn.features.encoding import FeatureBlocks
from pugnn.features.recipe import Recipe
from pugnn.files import as_path, new_folder
from pugnn.graph import Cleaning, Graph
from pugnn.graph.building import require_num_nodes
from pugnn.io.arguments import check_arguments
from pugnn.io.database import Limits
from pugnn.io.edge_table import EdgeTable
from pugnn.io.ids import IdTable
from pugnn.io.node_table import NodeTable, read_nodes
from pugnn.io.opening import read_tables
from pugnn.io.reading import attributes_of, known_kinds, make_features, notes_on_graph, nothing_in_common
from pugnn.io.sparse import matrix_of
from pugnn.io.table import Table
from pugnn.memory import available_memory
from pugnn.store.features import write_features
from pugnn.store.format import Manifest, found_arrays, listed_files
from pugnn.store.ids import ids_in, write_ids
from pugnn.store.inputs import unchanged
from pugnn.store.integer_ids import IntegerIds, all_integers
from pugnn.store.sorting import SortedEdges

#: Within a store that is being built: what is not to be held in memory.
_OVERFLOW = "overflow"

#: Bytes that DuckDB gets in any case; with less it could not read some files at all.
_LEAST_MEMORY = 1 << 29


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

    Edges need not fit into memory: DuckDB sorts them, on disk where it must.

    Args:
        out: the folder to make; it must not exist.
        edges: as in :func:`pugnn.read_graph`, like the other arguments.
        nodes: likewise.
        attributes: likewise.
        source: likewise.
        target: likewise.
        id: likewise.
        weight: likewise.
        kinds: likewise.
        recipe: likewise.
        on_phase: called with a few words at the beginning of each phase.
    """
    path, wanted = as_path(out, "out"), {"source": source, "target": target, "id": id, "weight": weight}
    known = check_arguments(wanted, edges=edges, kinds=kinds, recipe=recipe, on_phase=on_phase)
    if os.path.lexists(path):
        raise PugnnError(f"{path} already exists and is not overwritten. Choose another --out, or remove it first.")
    say = on_phase or (lambda _: None)
    with new_folder(path) as folder, unchanged([edges, nodes, attributes]) as inputs:
        matrix = matrix_of(attributes, nodes)
        given = {"edges": edges, "nodes": nodes, "attributes": attributes if matrix is None else None}
        (folder / _OVERFLOW).mkdir()
        building = _Building(folder, wanted, matrix, kinds or {}, known, say)
        limits = Limits(max(available_memory() // 2, _LEAST_MEMORY), folder.resolve() / _OVERFLOW / "duckdb")
        manifest = read_tables(given, wanted, building.build, limits)
        shutil.rmtree(folder / _OVERFLOW)
        say("computing checksums")
        manifest = replace(manifest, files=listed_files(folder), built_from=inputs)
        manifest.write(folder)
    return manifest


@dataclass(frozen=True, eq=False)
class _Building:
    folder: Path
    wanted: Mapping[str, str | None]
    matrix: sp.csr_array | None
    kinds: Mapping[str, str]
    recipe: Recipe | None
    say: Callable[[str], None]

    def build(self, tables: dict[str, Table]) -> Manifest:
        """Write all arrays, and return what is to be said of them."""
        for file in self.folder.glob("*.npy"):  # of an attempt to read tables that have been repaired since
            file.unlink()
        notes = [note for table in tables.values() for note in table.notes]
        edges, node_table = EdgeTable(tables["edges"], self.wanted), tables.get("nodes")
        integers = all_integers(node_table, self.wanted["id"], edges.table, edges.ends)
        ids: IdTable = IntegerIds() if integers else IdTable()
        nodes = None if node_table is None else self._read_nodes(node_table, ids)
        notes += [] if nodes is None else nodes.notes
        cleaning = self._write_edges(edges, ids, nodes)
        notes += edges.notes
        self.say("sorting the ids")
        notes += write_ids(self.folder, ids, nodes, edges)
        arrays = found_arrays(self.folder)
        graph = Graph(
            arrays["indptr"],
            arrays["indices"],
            np.zeros((len(ids), 0), np.float32),
            ids_in(arrays),  # type: ignore[arg-type]  # behaves like an array where it is text
            arrays.get("weights"),
            cleaning=cleaning,
        )
        notes += notes_on_graph(graph, edges.table.shown, nodes)
        self.say("making features")
        attributes, notes_on_sparse = attributes_of(tables, nodes, graph.num_nodes, self.matrix, self.wanted["id"], ids)
        notes += notes_on_sparse
        blocks = FeatureBlocks(self.folder / _OVERFLOW)
        recipe, encoded = make_features(attributes, self.kinds, self.recipe, graph, blocks)
        write_features(self.folder, blocks, graph.ids)
        return Manifest(
            files={},
            cleaning=asdict(cleaning),
            recipe=recipe.to_plain(),
            feature_names=encoded.names,
            id_column=None if nodes is None else nodes.name,
            notes=[*notes, *encoded.notes],
            built_from=[],
        )

    def _read_nodes(self, table: Table, ids: IdTable) -> NodeTable:
        self.say(f"reading {table.shown}")
        kinds = known_kinds(table, self.kinds, self.recipe)
        return read_nodes(table, self.wanted["id"], ids, kinds)

    def _write_edges(self, edges: EdgeTable, ids: IdTable, nodes: NodeTable | None) -> Cleaning:
        shown = edges.table.shown
        self.say(f"reading {shown}")
        sorted_edges = SortedEdges(edges.table.connection.cursor(), weighted=edges.weight is not None)
        lowest = len(ids)
        for piece in edges.pieces(ids):
            lowest = min(lowest, int(piece.sources.min()), int(piece.targets.min()))
            sorted_edges.add(piece)
        if nodes is not None and lowest >= nodes.count:
            raise nothing_in_common(shown, nodes, ids)
        require_num_nodes(len(ids))
        self.say(f"sorting {shown}")
        cleaning = sorted_edges.write(self.folder, len(ids))
        if not cleaning.edges:
            raise PugnnError(f"{shown} contains only self loops; a graph needs edges between nodes")
        return cleaning
