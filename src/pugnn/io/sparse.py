"""Attributes without their zeros: a long table of (id, attribute, value), or a sparse matrix."""

from __future__ import annotations

import os
from contextlib import closing
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.errors import PugnnError, counted, quoted, shown
from pugnn.features.attributes import LARGEST, number_in_text
from pugnn.features.numbers import Numbers
from pugnn.io.arrow import Batches
from pugnn.io.columns import ATTRIBUTE, ID, VALUE, find_column, missing_column
from pugnn.io.ids import EMPTY, UNKNOWN, IdTable
from pugnn.io.node_table import NodeTable
from pugnn.io.source import Source

_ZIP, _MATRIX_MARKET = b"PK\3\4", b"%%MatrixMarket"


def as_matrix(given: Any) -> sp.csr_array | None:
    """The sparse matrix that was given, itself or as the name of a file; ``None`` for anything else."""
    if sp.issparse(given):
        return _checked(given, "attributes")
    if not isinstance(given, str | os.PathLike) or not os.path.isfile(given):
        return None
    name = os.fspath(given)
    try:
        with open(name, "rb") as file:
            first = file.read(len(_MATRIX_MARKET))
        if first.startswith(_ZIP):
            return _checked(sp.load_npz(name), shown(name, 1000))
        if first == _MATRIX_MARKET or name.lower().endswith((".mtx.gz", ".mtx.bz2")):
            return _checked(scipy.io.mmread(name), shown(name, 1000))
    except PugnnError:
        raise
    except Exception as error:  # whatever a reader does not like about a file
        reason = shown(str(error) or type(error).__name__, 200)
        raise PugnnError(f"{shown(name, 1000)} cannot be read as a sparse matrix: {reason}") from None
    return None


def matrix_attributes(matrix: sp.csr_array, nodes: NodeTable) -> Numbers:
    """The columns of a matrix, which has one row for each row of a node table, as attributes of the nodes."""
    rows, table = matrix.shape[0], nodes.source.shown
    if rows != nodes.rows:
        raise PugnnError(
            f"the matrix of attributes has {counted(rows, 'row')}, {table} has {nodes.rows:,}; there must be one for "
            "each node, in the same order"
        )
    if nodes.row_of is not None:
        raise PugnnError(
            f"{table} names some nodes more than once, so that the matrix of attributes has several rows for them. "
            "Remove all but one."
        )
    names = tuple(f"attributes[{at}]" for at in range(matrix.shape[1]))
    return Numbers(names, matrix.tocsc(), given_sparse=True)


def long_attributes(source: Source, wanted: str | None, table: IdTable) -> tuple[Numbers, list[str]]:
    """The attributes in a table of (id, attribute, value), and notes. What is not there is zero.

    Args:
        source: the table.
        wanted: name of the column of ids, if the user gave one.
        table: the ids of the graph.
    """
    at, attribute, value = _columns(source, wanted)
    notes = (
        [] if source.header else [f"{source.shown}: has no header; its columns are taken as id, attribute and value"]
    )
    selected = [source.id_text(at), f"c_{attribute}::VARCHAR"]
    if value is not None:
        text = source.types[value] == "VARCHAR"
        selected.append(number_in_text(f"trim(c_{value})") if text else f"try_cast(c_{value} AS DOUBLE)")
    names, nodes, columns, values = IdTable(), [], [], []
    with (
        source.reading(),
        closing(Batches(source.connection.sql(f"SELECT {', '.join(selected)} FROM {source.table}"))) as stream,
    ):
        for (ids, attributes), numbers in stream:
            nodes.append(table.find(ids))
            columns.append(names.add(attributes))
            values.append(numbers[0].copy() if numbers else np.ones(len(nodes[-1])))
    if not nodes:
        raise PugnnError(f"{source.shown} has no rows; it has one for each attribute of a node")
    node, column, number = np.concatenate(nodes), np.concatenate(columns), np.concatenate(values)
    _refuse_bad_rows(source, node, column, number, value)
    unknown = node == UNKNOWN
    if unknown.all():
        raise PugnnError(
            f"{source.shown} has no id in common with the graph, whose ids look like "
            f"{', '.join(map(quoted, table.texts(0, min(len(table), 3))))}"
        )
    if unknown.any():
        rows = counted(int(unknown.sum()), "row")
        notes.append(f"{source.shown}: {rows} left out, of nodes that are not in the graph")
    if value is None:
        notes.append(f"{source.shown}: has no column of values; each row counts as 1")
    entries = number[~unknown], (node[~unknown], column[~unknown])
    matrix = sp.csc_array(entries, shape=(len(table), len(names)))  # adds up what is there twice
    if matrix.nnz < len(entries[0]):
        twice = counted(len(entries[0]) - matrix.nnz, "row")
        notes.append(f"{source.shown}: the values of {twice} added to another one of the same node and attribute")
    matrix.eliminate_zeros()
    return Numbers(tuple(names.texts()), matrix, given_sparse=True), notes


def _columns(source: Source, wanted: str | None) -> tuple[int, int, int | None]:
    """Places of id, attribute and value, if there is one."""
    if not source.header:
        if len(source.names) not in (2, 3):
            raise PugnnError(f"{source.shown} has no header; it needs the columns id, attribute and value")
        return 0, 1, 2 if len(source.names) == 3 else None
    at = find_column(source.shown, source.names, "id", wanted, ID, first=True)
    attribute = find_column(source.shown, source.names, "attribute", None, ATTRIBUTE, first=True)
    if at is None:
        raise missing_column(source.shown, source.names, "id", ID)
    if attribute is None:
        raise PugnnError(
            f"{source.shown} has no column 'attribute'; a table of attributes has the columns id, attribute and value, "
            "one row for each value that is not zero. Attributes in columns of their own belong in --nodes."
        )
    return at, attribute, find_column(source.shown, source.names, "value", None, VALUE, first=True)


def _refuse_bad_rows(
    source: Source,
    node: NDArray[np.int32],
    column: NDArray[np.int32],
    number: NDArray[np.float64],
    value: int | None,
) -> None:
    for what, wrong in (("id", node == EMPTY), ("attribute", column == EMPTY)):
        if wrong.any():
            row = int(wrong.argmax())
            raise PugnnError(f"{source.locate(row)}: the {what} is empty. Fill it in, or remove the row.")
    wrong = ~(np.abs(number) <= LARGEST)
    if wrong.any():
        assert value is not None
        row = int(wrong.argmax())
        cell = source.cell(row, value)
        if cell is None:
            raise PugnnError(f"{source.locate(row)}: the value is empty. Fill it in, or remove the row.")
        raise PugnnError(
            f"{source.locate(row)}: value {quoted(cell)} is not a finite number. Correct it, or remove the row; "
            "categories and text belong in --nodes."
        )


def _checked(matrix: Any, name: str) -> sp.csr_array:
    if matrix.ndim != 2:
        raise PugnnError(f"{name} must be a matrix, one row per node; it has shape {matrix.shape}")
    if matrix.dtype.kind not in "biuf":
        raise PugnnError(f"{name} must hold numbers; it holds {matrix.dtype}")
    rows = sp.csr_array(matrix, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    if not (np.abs(rows.data) <= LARGEST).all():
        at = int((~(np.abs(rows.data) <= LARGEST)).argmax())
        row = int(np.searchsorted(rows.indptr, at, side="right")) - 1
        raise PugnnError(
            f"{name}, row {row + 1}, column {rows.indices[at] + 1}: {rows.data[at]} is not a finite number"
        )
    return rows
