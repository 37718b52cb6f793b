"""Attributes apart from the node table: a long table of (id, attribute, value), or a matrix."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from pugnn.errors import PugnnError, counted, quoted, shown
from pugnn.features.attribute_table import MAX_FLOAT
from pugnn.features.number_columns import MatrixColumns
from pugnn.graph.arrays import reject_masked, sound_matrix
from pugnn.store.ids import EMPTY, UNKNOWN, IdTable
from pugnn.store.node_table import NodeTable
from pugnn.store.tables.column_names import ATTRIBUTE, ID, VALUE, find_column, names_of, require_column
from pugnn.store.tables.table import Table

#: Each has a name and becomes a feature; a file that says more is damaged.
MAX_COLUMNS = 10_000_000

_ZIP, _MATRIX_MARKET = b"PK\3\4", b"%%MatrixMarket"


def matrix_of(attributes: Any, nodes: Any) -> sp.csr_array | None:
    """The matrix that was given as attributes, itself or as a file, if they are one, and if its rows have ids."""
    matrix = _as_matrix(attributes)
    if matrix is not None and nodes is None:
        raise PugnnError("a matrix of attributes has no ids; give the ids of its rows, in the same order, as nodes")
    return matrix


def _as_matrix(given: Any) -> sp.csr_array | None:
    if sp.issparse(given) or (isinstance(given, np.ndarray) and given.ndim == 2):
        reject_masked(given, "attributes")
        return _checked(given, "attributes")
    if not isinstance(given, str | os.PathLike) or not os.path.isfile(given):
        return None
    name = os.fspath(given)
    try:
        with open(name, "rb") as file:
            first = file.read(len(_MATRIX_MARKET))
        if first.startswith(_ZIP):
            _require_integer_positions(name)
            return _checked(sp.load_npz(name), shown(name, 1000))
        if first == _MATRIX_MARKET or name.lower().endswith((".mtx.gz", ".mtx.bz2")):
            return _checked(scipy.io.mmread(name), shown(name, 1000))
    except PugnnError:
        raise
    except Exception as error:  # whatever a reader dislikes about a file
        reason = shown(str(error) or type(error).__name__, 200)
        raise PugnnError(f"{shown(name, 1000)} cannot be read as a sparse matrix: {reason}") from None
    return None


def matrix_attributes(matrix: sp.csr_array, nodes: NodeTable) -> MatrixColumns:
    """The columns of a matrix, which has one row for each row of a node table, as attributes of the nodes."""
    rows, table = matrix.shape[0], nodes.table.shown
    if nodes.table.kept is not None and nodes.table.kept().max() < rows:  # there is one for each row of the whole table
        matrix = matrix[nodes.table.kept()]
        rows = matrix.shape[0]
    if rows != nodes.rows:
        raise PugnnError(
            f"the matrix of attributes has {counted(rows, 'row')}, but {table} has {nodes.rows:,}; there must be one "
            "for each node, in the same order"
        )
    if nodes.row_of is not None:
        raise PugnnError(
            f"{table} names some nodes more than once, so the matrix of attributes has several rows for them. Remove "
            "all but one."
        )
    names = tuple(f"attributes[{at}]" for at in range(matrix.shape[1]))
    return MatrixColumns(names, matrix.tocsc())


def long_attributes(table: Table, wanted: str | None, ids: IdTable, kind: str = "") -> tuple[MatrixColumns, list[str]]:
    """The attributes in a table of (id, attribute, value), and notes. What is not listed is zero.

    The column of ids may have the name of the ``kind`` of its nodes.
    """
    at, attribute, value = _columns(table, wanted, kind)
    notes = []
    if not table.header:
        notes.append(f"{table.shown}: has no header; its columns are read as id, attribute and value")
    selected = [table.id_text(at), f"c_{attribute}::VARCHAR", *([] if value is None else [table.number(value)])]
    names, nodes, columns, values = IdTable(), [], [], []
    for texts, attributes, *numbers in table.pieces(*selected):
        nodes.append(ids.find(texts))
        columns += names.add(attributes)
        values += [piece.to_numpy() for piece in numbers] or [np.ones(len(texts))]
    if not sum(map(len, nodes)):
        raise PugnnError(f"{table.shown} has no rows; it has one for each attribute of a node")
    node, column, number = np.concatenate(nodes), np.concatenate(columns), np.concatenate(values)
    bad = {"id": node == EMPTY, "attribute": column == EMPTY, "value": ~(np.abs(number) <= MAX_FLOAT)}
    remedy = "Correct it, or remove the row; categories and text belong in --nodes"
    table.reject_cells(bad, value, f"a finite number. {remedy}")
    unknown = node == UNKNOWN
    if unknown.all():
        raise PugnnError(
            f"{table.shown} has no id in common with the graph, whose ids look like "
            f"{', '.join(map(quoted, ids.texts(0, 3)))}"
        )
    if unknown.any():
        rows = counted(int(unknown.sum()), "row")
        notes.append(f"{table.shown}: {rows} skipped, of nodes that are not in the graph")
    if value is None:
        notes.append(f"{table.shown}: has no column of values; each row counts as 1")
    entries = number[~unknown], (node[~unknown], column[~unknown])
    matrix = sp.csc_array(entries, shape=(len(ids), len(names)))  # adds up duplicates
    if matrix.nnz < len(entries[0]):
        twice = counted(len(entries[0]) - matrix.nnz, "row")
        notes.append(f"{table.shown}: {twice} added to an earlier value of the same node and attribute")
    matrix.eliminate_zeros()
    return MatrixColumns(tuple(names.texts()), matrix), notes


def _columns(table: Table, wanted: str | None, kind: str) -> tuple[int, int, int | None]:
    """Places of id, attribute and value, if there is one."""
    if not table.header:
        if len(table.names) not in (2, 3):
            raise PugnnError(f"{table.shown} has no header; it needs the columns id, attribute and value")
        return 0, 1, 2 if len(table.names) == 3 else None
    at = require_column(table, "id", wanted, (*ID, *names_of(kind)), first=True)
    attribute = find_column(table, "attribute", None, ATTRIBUTE, first=True)
    if attribute is None:
        raise PugnnError(
            f"{table.shown} has no column 'attribute'; a table of attributes has the columns id, attribute and value, "
            "one row for each value that is not zero. Attributes with a column each belong in --nodes."
        )
    return at, attribute, find_column(table, "value", None, VALUE, first=True)


def _require_integer_positions(name: str) -> None:
    """Raise if a file has positions that are not integers: scipy would round them."""
    with np.load(name, allow_pickle=False) as parts:
        for part in {"row", "col", "coords", "indices", "indptr", "offsets"} & set(parts):
            if parts[part].dtype.kind not in "iu":
                raise PugnnError(f"{shown(name, 1000)} is damaged: its {part} are not integers")


def _checked(matrix: Any, name: str) -> sp.csr_array:
    if matrix.ndim != 2:
        raise PugnnError(f"{name} must be a matrix, one row per node; it has shape {matrix.shape}")
    if matrix.dtype.kind not in "biuf":
        raise PugnnError(f"{name} must hold numbers; it holds {matrix.dtype}")
    sound = sound_matrix(matrix, name) if sp.issparse(matrix) else matrix
    if sound.shape[1] > MAX_COLUMNS:
        raise PugnnError(f"{name} has {sound.shape[1]:,} columns; at most {MAX_COLUMNS:,} can be read")
    rows = sp.csr_array(sound, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    if not (np.abs(rows.data) <= MAX_FLOAT).all():
        at = int((~(np.abs(rows.data) <= MAX_FLOAT)).argmax())
        row = int(np.searchsorted(rows.indptr, at, side="right")) - 1
        raise PugnnError(
            f"{name}, row {row + 1}, column {rows.indices[at] + 1}: {rows.data[at]} is not a finite number"
        )
    return rows
