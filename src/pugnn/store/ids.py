"""From ids to positions, without a Python object per id."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numba import uint64
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.graph.compiling import kernel
from pugnn.graph.stored import find_in
from pugnn.store.id_types import integers_in_text
from pugnn.threads import available_threads

if TYPE_CHECKING:
    from pugnn.store.tables.table import Table

#: In place of a position: an id that is not known, and one that is empty.
UNKNOWN, EMPTY = -1, -2

#: White space as Unicode defines it, and a byte order mark.
WHITE_SPACE = "".join(letter for letter in map(chr, range(0x3001)) if letter.isspace()) + "\ufeff"

_TEXT = pa.large_string()

#: Ids that are looked up at once, and slots of an empty table.
_AT_ONCE, _SLOTS = 1 << 20, 1 << 10

#: Those of no texts.
_NO_LETTERS, _NO_STARTS = np.frombuffer(b"", np.uint8), np.frombuffer(bytes(8), np.int64)


def text_column(values: list[str]) -> pa.ChunkedArray:
    """A column of these values."""
    return pa.chunked_array([values], _TEXT)


class Ids:
    """The ids of a graph's nodes by position, among which lists of nodes look up theirs.

    Args:
        arrow: the ids, unique: integers, or text without white space around it.

    Example:
        >>> ids = Ids(pa.array([7, 5]))
        >>> ids.find(text_column(["5", "05", " 7", ""])), ids.trimmed, ids.texts()
        (array([ 1, -1,  0, -2]), 1, ['7', '5'])
    """

    def __init__(self, arrow: pa.Array) -> None:
        self._arrow = arrow
        #: How many of the ids that were looked up had white space around them.
        self.trimmed = 0

    def __len__(self) -> int:
        return len(self._arrow)

    @property
    def arrow(self) -> pa.Array:
        """All ids, as text or as integers."""
        return self._arrow

    def texts(self, first: int = 0, last: int | None = None) -> list[str]:
        """The ids at positions from ``first`` up to ``last``, by default all of them, as text."""
        texts: list[str] = self.arrow[first:last].cast(_TEXT).to_pylist()
        return texts

    def integers(self) -> pa.Array:
        """All ids as integers; null for those that are none."""
        return self.arrow if pa.types.is_integer(self.arrow.type) else integers_in_text(self.arrow)

    def find(self, column: pa.ChunkedArray) -> NDArray[np.int64]:
        """The position of each id, given as text; :data:`UNKNOWN` or :data:`EMPTY` where it has none."""
        texts, ids = self._trim(column.combine_chunks()), self.arrow
        found = find_in(ids, integers_in_text(texts) if pa.types.is_integer(ids.type) else texts)
        return np.where(pc.equal(texts, "").to_numpy(zero_copy_only=False), EMPTY, found)

    def _trim(self, texts: pa.Array) -> pa.Array:
        """Texts without the white space around them, which is counted; nulls are empty."""
        texts = texts.fill_null("")
        if are_tidy(*_buffers(texts)):
            return texts
        trimmed = pc.utf8_trim(texts, WHITE_SPACE)
        self.trimmed += pc.sum(pc.not_equal(trimmed, texts)).as_py() or 0
        return trimmed


class IdTable(Ids):
    """Ids in the order in which they were first seen, to which more are added.

    A hash table of keys: the ids themselves if all are integers, otherwise hashes of their letters; a text that shares
    its hash with an earlier one has the next key.

    Args:
        integers: whether all ids are integers.

    Example:
        >>> table = IdTable()
        >>> table.add(text_column(["ann", "bob", " ann"]))
        [array([0, 1, 0], dtype=int32)]
        >>> table.find(text_column(["bob", "cleo", ""])), len(table), table.trimmed
        (array([ 1, -1, -2]), 2, 1)
        >>> table = IdTable(integers=True)
        >>> table.add(pa.chunked_array([[7, 5, 7]]), pa.chunked_array([[5, None, 9]]))
        [array([0, 1, 0], dtype=int32), array([ 1, -2,  2], dtype=int32)]
    """

    def __init__(self, *, integers: bool = False) -> None:
        super().__init__(pa.array([], pa.int64() if integers else _TEXT))
        self._integers = integers
        self._count = 0
        self._slots = np.full((_SLOTS, 2), -1, np.int64)
        self._keys = np.empty(_SLOTS // 2, np.int64)  # of all ids
        # Text, one after the other, and where each begins; none if the ids are integers.
        self._letters, self._starts = np.empty(0, np.uint8), np.zeros(1, np.int64)
        self._threads = available_threads()

    def __len__(self) -> int:
        return self._count

    @property
    def arrow(self) -> pa.Array:  # noqa: D102
        if self._integers:
            return pa.array(self._keys[: self._count])
        buffers = [None, pa.py_buffer(self._starts), pa.py_buffer(self._letters)]
        return pa.Array.from_buffers(_TEXT, self._count, buffers)

    def sql(self, table: Table, at: int) -> str:
        """SQL for the ids in the column at this place of a table, in the form that :meth:`add` takes."""
        return f"c_{at}::BIGINT" if self._integers else table.id_text(at)

    def add(self, *columns: pa.ChunkedArray) -> list[NDArray[np.int32]]:
        """The position of each id in columns of the same length; new ids are added row by row, from left to right."""
        joined = pa.chunked_array([chunk for column in columns for chunk in column.chunks], columns[0].type)
        values = joined.combine_chunks()
        if self._integers:
            keys = values.fill_null(0).to_numpy(zero_copy_only=False, writable=True)
            empty = values.is_null().to_numpy(zero_copy_only=False)
        else:
            values = self._trim(values)
            letters, starts = _buffers(values)
            keys, empty = np.empty(len(values), np.int64), starts[1:] == starts[:-1]
            self._in_threads(lambda one, other: hash_texts(letters, starts, keys, one, other), 0, len(keys))
        found, width = np.where(empty, np.int32(EMPTY), np.int32(UNKNOWN)), len(columns)
        rows, at_once = len(keys) // width, max(_AT_ONCE // width, 1)

        def visit(count: int, first: int, last: int) -> int:
            return int(visit_keys(self._slots, self._keys, count, keys, width, found, first, last))

        for first in range(0, rows, at_once):
            last, again = min(first + at_once, rows), True
            parts = [slice(column * rows + first, column * rows + last) for column in range(width)]
            while again:
                self._in_threads(partial(visit, -1), first, last)
                unknown = sum(int((found[part] == UNKNOWN).sum()) for part in parts)
                if unknown:
                    self._reserve(unknown)
                    before, self._count = self._count, visit(self._count, first, last)
                    if not self._integers:
                        self._keep_texts(values, found, parts, before)
                again = not self._integers and sum(self._separate(values, keys, found, part) for part in parts) > 0
        return list(found.reshape(width, -1))

    def _in_threads(self, work: Callable[[int, int], Any], first: int, last: int) -> list[Any]:
        """Do some work for all numbers from ``first`` up to ``last``, in ranges."""
        bounds = np.linspace(first, last, self._threads + 1).astype(np.int64).tolist()
        with ThreadPoolExecutor(self._threads) as pool:
            return list(pool.map(work, bounds[:-1], bounds[1:]))

    def _reserve(self, ids: int) -> None:
        """Make room for so many more ids."""
        most = self._count + ids
        if 2 * most > len(self._slots):
            self._slots = np.full((1 << (2 * most).bit_length(), 2), -1, dtype=np.int64)
            self._keys = _longer(self._keys, len(self._slots) // 2)
            fill_slots(self._slots, self._keys, self._count)

    def _keep_texts(self, values: pa.Array, found: NDArray[np.int32], parts: list[slice], before: int) -> None:
        """Keep the letters of ids that are new, from position ``before`` on."""
        rows = np.empty(self._count - before, np.int64)
        for part in parts:
            new = np.flatnonzero(found[part] >= before)[::-1]  # the first one is written last, and stays
            rows[found[part][new] - before] = part.start + new
        letters, starts = _buffers(values.take(pa.array(rows)))
        size = int(self._starts[before])
        self._starts = _longer(self._starts, self._count + 1)
        self._starts[before + 1 : self._count + 1] = size + starts[1:]
        self._letters = _longer(self._letters, size + int(starts[-1]))
        self._letters[size : size + int(starts[-1])] = letters[: starts[-1]]

    def _separate(self, values: pa.Array, keys: NDArray[np.int64], found: NDArray[np.int32], part: slice) -> int:
        """Give texts that have the key of another one the next key, to look for them again; and count them."""
        ids = self.arrow

        def separate(first: int, last: int) -> int:
            same = pc.equal(ids.take(pa.array(np.maximum(found[first:last], 0))), values[first:last])
            wrong = ~same.to_numpy(zero_copy_only=False) & (found[first:last] >= 0)
            others = first + np.flatnonzero(wrong)
            keys[others] += 1
            found[others] = UNKNOWN
            return len(others)

        return sum(self._in_threads(separate, part.start, part.stop)) if len(ids) else 0


def ids_of(graph: Graph) -> Ids:
    """The ids of a graph, as integers or text; with several kinds of nodes, those of the target."""
    if graph.stored is not None:
        return Ids(graph.stored.arrow[: graph.num_targets])
    if (targets := graph.ids[: graph.num_targets]).dtype == np.int64:
        return Ids(pa.array(targets))
    texts = pc.utf8_trim(pa.array([str(each) for each in targets.tolist()], _TEXT), WHITE_SPACE)
    if "" in texts or pc.count_distinct(texts).as_py() < len(texts):
        raise PugnnError(
            "some ids of the graph are empty, or differ only in type or in white space around them, so a list "
            "cannot name them; give the nodes other ids"
        )
    return Ids(texts)


def _buffers(texts: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The letters of texts in UTF-8, and where each of them begins and the last one ends."""
    if not len(texts):
        return _NO_LETTERS, _NO_STARTS
    _, starts, letters = texts.buffers()
    inside = slice(texts.offset, texts.offset + len(texts) + 1)
    return np.frombuffer(letters or b"", np.uint8), np.frombuffer(starts, np.int64)[inside]


def _longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    """The same array, or a copy with room for so many numbers, and for as many more."""
    if size <= len(array):
        return array
    longer = np.empty(2 * size, array.dtype)
    longer[: len(array)] = array
    return longer


@kernel(nogil=True)
def are_tidy(letters, starts):  # type: ignore[no-untyped-def]
    """Whether all texts begin and end with a letter of ASCII, and so not with white space."""
    for at in range(len(starts) - 1):
        if starts[at] < starts[at + 1]:
            one, other = letters[starts[at]], letters[starts[at + 1] - 1]
            if min(one, other) <= 32 or max(one, other) >= 128:
                return False
    return True


@kernel(nogil=True)
def hash_texts(letters, starts, keys, first, last):  # type: ignore[no-untyped-def]
    """Keys for some texts: 64 bits of their letters (FNV-1a)."""
    for at in range(first, last):
        key = uint64(0xCBF29CE484222325)
        for place in range(starts[at], starts[at + 1]):
            key = (key ^ uint64(letters[place])) * uint64(0x100000001B3)
        keys[at] = np.int64(key)


@kernel(inline="always")
def _first_slot(slots, key):  # type: ignore[no-untyped-def]
    mixed = uint64(key) * uint64(0x9E3779B97F4A7C15)
    return np.int64((mixed ^ (mixed >> uint64(32))) & uint64(len(slots) - 1))


@kernel(nogil=True)
def fill_slots(slots, keys, count):  # type: ignore[no-untyped-def]
    """Put so many keys into empty slots; a slot is a key and its position, or −1 if it is free."""
    for position in range(count):
        slot = _first_slot(slots, keys[position])
        while slots[slot, 1] >= 0:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot, 0], slots[slot, 1] = keys[position], position


@kernel(nogil=True)
def visit_keys(slots, known, count, keys, columns, found, first, last):  # type: ignore[no-untyped-def]
    """Find the keys in some rows of columns, and add them if there is a count of those that are known."""
    rows = len(keys) // columns
    for row in range(first, last):
        for column in range(columns):
            at = column * rows + row
            if found[at] == -1:  # not known, or not looked for yet
                slot = _first_slot(slots, keys[at])
                while slots[slot, 1] >= 0 and slots[slot, 0] != keys[at]:
                    slot = (slot + 1) & (len(slots) - 1)
                if slots[slot, 1] < 0 and count >= 0:
                    slots[slot, 0], slots[slot, 1] = keys[at], count
                    known[count] = keys[at]
                    count += 1
                found[at] = slots[slot, 1]
    return count
