"""From ids as text to positions, without a Python object per id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.graph.stored import Stored, TextIds

if TYPE_CHECKING:
    from pugnn.io.table import Table

#: In place of a position: an id that is not known, and one that is empty.
UNKNOWN, EMPTY = -1, -2

#: White space as Unicode defines it, and a byte order mark.
WHITE_SPACE = "".join(letter for letter in map(chr, range(0x3001)) if letter.isspace()) + "\ufeff"

_TEXT = pa.large_string()


def text_column(values: list[str]) -> pa.ChunkedArray:
    """A column of these values."""
    return pa.chunked_array([values], _TEXT)


class IdTable:
    """Ids in the order in which they were first seen, without the white space around them.

    Example:
        >>> table = IdTable()
        >>> table.add(text_column(["ann", "bob", " ann"]))
        [array([0, 1, 0], dtype=int32)]
        >>> table.find(text_column(["bob", "cleo", ""])), len(table), table.trimmed
        (array([ 1, -1, -2], dtype=int32), 2, 1)
    """

    def __init__(self) -> None:
        self._ids = pa.array([], _TEXT)
        #: How many of the ids that were looked up had white space around them.
        self.trimmed = 0

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def arrow(self) -> pa.Array:
        """All ids, as text."""
        return self._ids

    def sql(self, table: Table, at: int) -> str:
        """SQL for the ids in the column at this place of a table, in the form that :meth:`add` takes."""
        return table.id_text(at)

    def texts(self, first: int = 0, last: int | None = None) -> list[str]:
        """The ids at positions from ``first`` up to ``last``, by default all of them."""
        texts: list[str] = self._ids[first:last].to_pylist()
        return texts

    def integers(self) -> pa.Array:
        """All ids as integers; null for those that are none."""
        return integers_in_text(self._ids)

    def find(self, column: pa.ChunkedArray) -> NDArray[np.int32]:
        """The position of each id; :data:`UNKNOWN` or :data:`EMPTY` where it has none."""
        trimmed = pc.utf8_trim(column, WHITE_SPACE)
        self.trimmed += int(_differ(trimmed, column).sum())
        return np.where(_is_empty(trimmed), EMPTY, self._look_up(trimmed)).astype(np.int32)

    def _look_up(self, texts: pa.Array) -> NDArray[np.integer[Any]]:
        """The position of each text, or :data:`UNKNOWN`."""
        found: NDArray[np.int32] = pc.fill_null(pc.index_in(texts, value_set=self._ids), UNKNOWN).to_numpy()
        return found

    def add(self, *columns: pa.ChunkedArray) -> list[NDArray[np.int32]]:
        """The position of each id in columns of the same length; new ids are added row by row, from left to right."""
        known = len(self)
        chunks = [self._ids, *(chunk for column in columns for chunk in column.chunks)]
        codes, distinct = _encoded(pa.chunked_array(chunks, _TEXT))
        codes, trimmed = codes[known:], pc.utf8_trim(distinct, WHITE_SPACE)
        untidy = _differ(trimmed, distinct)
        if untidy.any():
            self.trimmed += int(untidy[codes].sum())
            merged, distinct = _encoded(pa.chunked_array([trimmed]))
            codes = merged[codes]
        # Those known already come first, then the new ones; an empty one has no position.
        rows = codes.reshape(len(columns), -1)
        appearance = np.arange(len(distinct)) - known
        if len(columns) > 1:
            row_by_row = rows.T.ravel()
            new = np.flatnonzero(row_by_row >= known)[::-1]
            appearance[row_by_row[new]] = new  # the first one is written last, and stays
        empty = _is_empty(distinct)
        order = np.argsort(np.where(empty, np.iinfo(np.int64).max, appearance))[: len(distinct) - int(empty.sum())]
        position = np.full(len(distinct), EMPTY, dtype=np.int32)
        position[order] = np.arange(len(order), dtype=np.int32)
        self._ids = distinct.take(pa.array(order))
        return list(position[rows])


class _StoredIds(IdTable):
    """The ids of a graph from a store, looked up where they are."""

    def __init__(self, stored: Stored) -> None:
        super().__init__()
        self._stored = stored

    def __len__(self) -> int:
        return len(self._stored.ids)

    def texts(self, first: int = 0, last: int | None = None) -> list[str]:
        return list(map(str, self._stored.ids[first:last].tolist()))

    def _look_up(self, texts: pa.Array) -> NDArray[np.integer[Any]]:
        texts = texts.combine_chunks()
        return self._stored.look_up(texts if isinstance(self._stored.ids, TextIds) else integers_in_text(texts))


def ids_of(graph: Graph) -> IdTable:
    """The ids of a graph as text."""
    if graph.stored is not None:
        return _StoredIds(graph.stored)
    ids = IdTable()
    ids.add(text_column([str(node_id) for node_id in graph.ids.tolist()]))
    if len(ids) < graph.num_nodes:
        raise PugnnError(
            "some ids of the graph are empty, or differ only in type or in white space around them, so that a list "
            "cannot name them; give the nodes other ids"
        )
    return ids


def integers_in_text(texts: pa.Array) -> pa.Array:
    """The integers of 64 bits that texts represent in the usual way, not as ``007`` or ``+7``; null for other texts.

    Example:
        >>> integers_in_text(pa.array(["7", "-12", "007", "9223372036854775808"])).to_pylist()
        [7, -12, None, None]
    """
    digits = pc.utf8_ltrim(texts, "-")
    long = pc.and_(pc.equal(pc.utf8_length(digits), 19), pc.greater(digits, str(2**63 - 1)))
    long = pc.and_(long, pc.not_equal(texts, str(-(2**63))))
    usual = pc.match_substring_regex(texts, r"^(0|-?[1-9][0-9]{0,18})$")
    return pc.cast(pc.if_else(pc.and_not(usual, long), texts, None), pa.int64())


def _encoded(column: pa.ChunkedArray) -> tuple[NDArray[np.int32], pa.Array]:
    """A number for each value, and the distinct values in the order of their numbers and first appearance."""
    encoded = pc.dictionary_encode(column, null_encoding="encode").combine_chunks()
    return encoded.indices.to_numpy(), encoded.dictionary


def _differ(one: pa.Array, other: pa.Array) -> NDArray[np.bool_]:
    differ: NDArray[np.bool_] = pc.fill_null(pc.not_equal(one, other), False).to_numpy(zero_copy_only=False)
    return differ


def _is_empty(values: pa.Array) -> NDArray[np.bool_]:
    empty: NDArray[np.bool_] = pc.fill_null(pc.equal(values, ""), True).to_numpy(zero_copy_only=False)
    return empty
