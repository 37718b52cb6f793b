"""From ids as text to positions, exactly and without an object per id."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.tables import id_kernels
from pugnn.tables.arrow import Texts
from pugnn.tables.id_kernels import EMPTY, UNKNOWN

__all__ = ["EMPTY", "UNKNOWN", "IdTable"]


class IdTable:
    """Ids in the order in which they were first seen. White space around them is left out.

    Example:
        >>> table = IdTable()
        >>> table.add(Texts.of(["ann", "bob", " ann"]))
        array([0, 1, 0], dtype=int32)
        >>> table.find(Texts.of(["bob", "cleo", ""])), len(table), table.trimmed
        (array([ 1, -1, -2], dtype=int32), 2, 1)
    """

    def __init__(self) -> None:
        self._slots = np.zeros(_slots_for(0), dtype=np.uint64)
        self._words = np.zeros(64, dtype=np.uint64)
        self._records = np.zeros(64, dtype=np.int64)
        self._sizes = np.zeros(2, dtype=np.int64)  # ids, words in use
        #: How many of the ids that were looked up had white space around them.
        self.trimmed = 0

    def __len__(self) -> int:
        return int(self._sizes[0])

    def find(self, ids: Texts) -> NDArray[np.int32]:
        """The position of each id; :data:`UNKNOWN` or :data:`EMPTY` where it has none."""
        found = np.empty(len(ids), dtype=np.int32)
        self.trimmed += id_kernels.find(ids.offsets, ids.letters, self._slots, self._words, found)
        return found

    def add(self, ids: Texts) -> NDArray[np.int32]:
        """The position of each id; those that are new are added."""
        return self.add_pairs(ids, Texts.of([]))[0]

    def add_pairs(self, left: Texts, right: Texts) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The positions of the ids in two columns; new ones are added row by row, the left one first."""
        found = self.find(left), self.find(right)
        new = np.concatenate([2 * np.flatnonzero(positions == UNKNOWN) + i for i, positions in enumerate(found)])
        new.sort(kind="stable")  # merges the two columns, which are sorted themselves
        done = 0
        while done < len(new):
            columns = (left.offsets, left.letters, found[0], right.offsets, right.letters, found[1])
            done = id_kernels.add(*columns, new, done, self._slots, self._words, self._records, self._sizes)
            if done < len(new):
                row, side = divmod(int(new[done]), 2)
                offsets = (left, right)[side].offsets
                self.reserve(1 + len(self) // 4, int(offsets[row + 1] - offsets[row]))
        return found

    def texts(self, first: int = 0, last: int | None = None) -> list[str]:
        """The ids at positions from ``first`` up to ``last``; all that there are by default."""
        stop = len(self) if last is None else last
        if first >= stop:
            return []
        letters, offsets = id_kernels.letters(self._words, self._records, first, stop)
        whole: bytes = letters.tobytes()
        texts = whole[:-1].decode().split("\0")  # much faster than one by one, but ids may hold a zero themselves
        if len(texts) == stop - first:
            return texts
        return [whole[start : end - 1].decode() for start, end in pairwise(offsets.tolist())]

    def reserve(self, more: int, longest: int = 0) -> None:
        """Make room for so many more ids, one of them of this length in bytes, so that it is not made bit by bit."""
        ids, words = self._sizes.tolist()
        if ids + more > np.iinfo(np.int32).max:
            raise PugnnError(f"{ids:,} ids and {more:,} more are more than 32-bit positions can hold")
        self._words = _longer(self._words, words + 4 * more + longest // 8 + 2)
        self._records = _longer(self._records, ids + more)
        slots = _slots_for(ids + more)
        if len(self._slots) < slots:
            self._slots = np.zeros(slots, dtype=np.uint64)
            id_kernels.refill(self._slots, self._words, self._records, ids)


def _slots_for(ids: int) -> int:
    """A power of two, so that less than 5 of 8 slots are taken."""
    return 1 << max(10, (8 * ids // 5).bit_length())


def _longer(array: NDArray[Any], least: int) -> NDArray[Any]:
    """The array with room for ``least`` entries, and for more to come."""
    if len(array) >= least:
        return array
    longer = np.zeros(least + least // 4, dtype=array.dtype)
    longer[: len(array)] = array
    return longer
