"""From integer ids to positions: no text, and no Python object per id."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numba import uint64
from numpy.typing import NDArray

from pugnn.graph.compiling import kernel
from pugnn.io.ids import EMPTY, UNKNOWN, IdTable, integers_in_text
from pugnn.threads import available_threads

if TYPE_CHECKING:
    from pugnn.io.table import Table

#: DuckDB's types of integers that fit into 64 bits with their sign.
INTEGER_TYPES = {f"{sign}{size}" for sign in ("", "U") for size in ("TINYINT", "SMALLINT", "INTEGER")} | {"BIGINT"}

#: Ids that are added at once, and the size of the table at first.
_AT_ONCE, _SLOTS = 1 << 18, 1 << 16


class IntegerIds(IdTable):
    """Ids that are integers in all tables, in the order in which they were first seen.

    A hash table with open addressing: a slot is an id and its position, or −1 if it is free.

    Example:
        >>> ids = IntegerIds()
        >>> ids.add(pa.chunked_array([[7, 5, 7]]), pa.chunked_array([[5, None, 9]]))
        [array([0, 1, 0], dtype=int32), array([ 1, -2,  2], dtype=int32)]
        >>> ids.numbers, len(ids)
        (array([7, 5, 9]), 3)
    """

    def __init__(self) -> None:
        super().__init__()
        self._slots = np.full((_SLOTS, 2), -1, dtype=np.int64)
        self._numbers = np.empty(_SLOTS // 2, dtype=np.int64)
        self._count = 0
        self._threads = available_threads()

    def __len__(self) -> int:
        return self._count

    @property
    def numbers(self) -> NDArray[np.int64]:
        """All ids."""
        return self._numbers[: self._count]

    def integers(self) -> pa.Array:
        """All ids."""
        return pa.array(self.numbers)

    def sql(self, table: Table, at: int) -> str:  # noqa: ARG002
        """SQL for the ids in the column at this place of a table."""
        return f"c_{at}::BIGINT"

    def texts(self, first: int = 0, last: int | None = None) -> list[str]:
        """The ids at positions from ``first`` up to ``last`` as text, by default all of them."""
        return list(map(str, self.numbers[first:last].tolist()))

    def add(self, *columns: pa.ChunkedArray) -> list[NDArray[np.int32]]:
        """The position of each id in columns of the same length; new ids are added row by row, from left to right."""
        numbers = [column.fill_null(0).to_numpy() for column in columns]
        found = np.stack([self._find(part) for part in numbers])
        for at, column in enumerate(columns):
            if column.null_count:
                found[at][column.is_null().to_numpy()] = EMPTY
        if (found == UNKNOWN).any():
            self._add(np.stack(numbers), found)
        return list(found)

    def _look_up(self, texts: pa.Array) -> NDArray[np.integer[Any]]:
        numbers = integers_in_text(texts)
        return np.where(numbers.is_null().to_numpy(), UNKNOWN, self._find(numbers.fill_null(0).to_numpy()))

    def _find(self, numbers: NDArray[np.int64]) -> NDArray[np.int32]:
        """The position of each id, or :data:`UNKNOWN`, in several threads."""
        found = np.empty(len(numbers), dtype=np.int32)
        bounds = np.linspace(0, len(numbers), self._threads + 1).astype(np.int64)
        with ThreadPoolExecutor(self._threads) as pool:
            parts = [slice(*ends) for ends in pairwise(bounds)]
            list(pool.map(lambda part: _find(self._slots, numbers[part], found[part]), parts))
        return found

    def _add(self, numbers: NDArray[np.int64], found: NDArray[np.int32]) -> None:
        rows = max(_AT_ONCE // len(numbers), 1)
        for first in range(0, numbers.shape[1], rows):
            most = self._count + rows * len(numbers)
            if 2 * most > len(self._slots):
                self._slots = np.full((1 << (2 * most).bit_length(), 2), -1, dtype=np.int64)
                self._numbers = np.concatenate([self.numbers, np.empty(len(self._slots) // 2 - self._count, np.int64)])
                _fill(self._slots, self.numbers)
            part = slice(first, first + rows)
            self._count = _add(self._slots, self._numbers, self._count, numbers[:, part], found[:, part])


@kernel(inline="always")
def _slot(slots, number):  # type: ignore[no-untyped-def]
    """The slot of an id, or the free one where it belongs."""
    mixed = uint64(number) * uint64(0x9E3779B97F4A7C15)
    at = np.int64((mixed ^ (mixed >> uint64(32))) & uint64(len(slots) - 1))
    while slots[at, 1] >= 0 and slots[at, 0] != number:
        at = (at + 1) & (len(slots) - 1)
    return at


@kernel(nogil=True)
def _find(slots, numbers, found):  # type: ignore[no-untyped-def]
    for at in range(len(numbers)):
        found[at] = slots[_slot(slots, numbers[at]), 1]


@kernel(nogil=True)
def _fill(slots, numbers):  # type: ignore[no-untyped-def]
    for position in range(len(numbers)):
        at = _slot(slots, numbers[position])
        slots[at, 0], slots[at, 1] = numbers[position], position


@kernel(nogil=True)
def _add(slots, known, count, numbers, found):  # type: ignore[no-untyped-def]
    for row in range(numbers.shape[1]):
        for column in range(numbers.shape[0]):
            if found[column, row] == UNKNOWN:
                at = _slot(slots, numbers[column, row])
                if slots[at, 1] < 0:
                    slots[at, 0], slots[at, 1] = numbers[column, row], count
                    known[count] = numbers[column, row]
                    count += 1
                found[column, row] = slots[at, 1]
    return count
