"""Simple CSV tables: edges, features, positives. Every complaint names file, row and value."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.errors import PugnnError, shorten
from pugnn.graph import Graph

#: Matrices with a smaller share of non-zeros than this are kept sparse.
SPARSE_BELOW = 0.25

#: Features and weights are kept in 32 bits.
LARGEST = float(np.finfo(np.float32).max)


def read_graph(edges: Path, features: Path, *, keep_isolated: bool = False) -> Graph:
    """Read a graph from two CSV files with a header line each.

    Args:
        edges: columns ``source`` and ``target``, and ``weight`` if there are weights. Each line is an edge.
        features: column ``id`` and any number of numeric columns. Each line is a node; ids are text.
        keep_isolated: keep nodes of the features file that have no edge, instead of complaining.
    """
    names, ids, matrix, row_of = _read_features(features)
    sources, targets, weights = _read_edges(edges, row_of, features)
    if not sources:
        raise PugnnError(f"{edges} holds no edges below its header; a graph needs some")
    if not keep_isolated:
        bare = set(ids) - set(sources) - set(targets)
        if bare:
            first = min(bare, key=row_of.__getitem__)
            raise PugnnError(
                f"{features}, row {row_of[first]}: node {first!r} has features but no edge in {edges} "
                f"({len(bare):,} such nodes). Remove the rows, or keep the nodes with --keep-isolated."
            )
    dense = np.asarray(matrix, dtype=np.float32)
    sparse = np.count_nonzero(dense) < SPARSE_BELOW * dense.size
    graph = Graph.from_edges(
        sources,
        targets,
        ids=ids,
        features=sp.csr_array(dense) if sparse else dense,
        weights=weights,
        feature_names=names,
    )
    if not graph.num_edges:
        raise PugnnError(f"{edges} holds only self loops (row 2 and on); a graph needs edges between nodes")
    return graph


def read_positives(path: Path, graph: Graph) -> NDArray[np.int64]:
    """Read positions of the known positives from a CSV file with a column ``id``."""
    known = {node_id: position for position, node_id in enumerate(graph.ids.tolist())}
    column, found = None, []
    for number, row in _rows(path):
        if column is None:
            (column,) = _columns(path, row, ("id",))
            continue
        node_id = row[column]
        if node_id not in known:
            raise PugnnError(
                f"{path}, row {number}: {node_id!r} is not a node of the graph, whose ids look like "
                f"{shorten(graph.ids[:3])}. Correct or remove it."
            )
        found.append(known[node_id])
    if not found:
        raise PugnnError(f"{path} names no positives below its header; at least one is needed")
    positions = np.unique(np.asarray(found, dtype=np.int64))
    if len(positions) == graph.num_nodes:
        raise PugnnError(f"{path} names all {len(positions):,} nodes as positives; there is nothing left to find")
    return positions


def _read_features(path: Path) -> tuple[list[str], list[str], list[list[float]], dict[str, int]]:
    names: list[str] = []
    ids: list[str] = []
    matrix: list[list[float]] = []
    row_of: dict[str, int] = {}
    id_column = None
    for number, row in _rows(path):
        if id_column is None:
            (id_column,) = _columns(path, row, ("id",))
            names = [name for at, name in enumerate(row) if at != id_column]
            if not names:
                raise PugnnError(f"{path} has an id column and no features; add numeric columns")
            continue
        node_id = row.pop(id_column)
        if not node_id:
            raise PugnnError(f"{path}, row {number}: the id is empty")
        if node_id in row_of:
            raise PugnnError(f"{path}, row {number}: id {node_id!r} stands in row {row_of[node_id]} already")
        row_of[node_id] = number
        ids.append(node_id)
        matrix.append([_number(path, number, name, cell) for name, cell in zip(names, row, strict=True)])
    if not ids:
        raise PugnnError(f"{path} holds no nodes below its header")
    return names, ids, matrix, row_of


def _read_edges(path: Path, row_of: dict[str, int], features: Path) -> tuple[list[str], list[str], list[float] | None]:
    sources: list[str] = []
    targets: list[str] = []
    weights: list[float] = []
    columns: tuple[int, ...] | None = None
    weight_column = None
    for number, row in _rows(path):
        if columns is None:
            columns = _columns(path, row, ("source", "target"))
            weight_column = row.index("weight") if "weight" in row else None
            nearly = [name for name in row if name.lower() in ("weight", "weights") and name != "weight"]
            if nearly:  # other columns are nobody's concern, but weights that are passed over would be missed
                raise PugnnError(f"{path} has a column {nearly[0]!r}; rename it to 'weight', or remove it")
            continue
        ends = [row[at] for at in columns]
        for end in ends:
            if end not in row_of:
                raise PugnnError(
                    f"{path}, row {number}: node {end!r} has no row in {features}. Add one, or remove the edge."
                )
        sources.append(ends[0])
        targets.append(ends[1])
        if weight_column is not None:
            weight = _number(path, number, "weight", row[weight_column])
            if not np.float32(weight) > 0:
                raise PugnnError(f"{path}, row {number}: weight {row[weight_column]!r} is not positive")
            weights.append(weight)
    return sources, targets, weights if weight_column is not None else None


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Rows with their numbers, the header being row 1; blank lines are passed over."""
    width = None
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            for row in reader:
                cells = [cell.strip() for cell in row]
                if not any(cells):
                    continue
                if width is not None and len(cells) != width:
                    raise PugnnError(f"{path}, row {reader.line_num}: {len(cells)} cells where the header has {width}")
                width = len(cells)
                yield reader.line_num, cells
    except OSError as error:
        raise PugnnError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise PugnnError(f"{path} is not a UTF-8 text file ({error.reason}); save it as UTF-8 CSV") from None
    except csv.Error as error:
        raise PugnnError(f"{path}, row {reader.line_num}: {error}; the file may be cut short") from None
    if width is None:
        raise PugnnError(f"{path} is empty; it needs a header line with column names")


def _columns(path: Path, header: list[str], wanted: tuple[str, ...]) -> tuple[int, ...]:
    for name in wanted:
        if header.count(name) != 1:
            other_separator = len(header) == 1 and any(mark in header[0] for mark in ";\t|")
            remedy = "Separate the columns by commas." if other_separator else f"Rename the right one to {name!r}."
            raise PugnnError(
                f"{path} needs one column named {name!r} in its header line, which has {shorten(header)}. {remedy}"
            )
    return tuple(header.index(name) for name in wanted)


def _number(path: Path, row: int, column: str, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        raise PugnnError(f"{path}, row {row}, column {column!r}: {cell!r} is not a number") from None
    if not math.isfinite(value):
        raise PugnnError(f"{path}, row {row}, column {column!r}: {cell!r} is not finite. Replace or remove it.")
    if abs(value) > LARGEST:
        raise PugnnError(
            f"{path}, row {row}, column {column!r}: {cell!r} is larger than a 32-bit float. Scale it down."
        )
    return value
