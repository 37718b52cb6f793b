"""From ids as text to positions, exactly and without an object per id."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.io import id_kernels
from pugnn.io.arrow import Texts
from pugnn.io.id_kernels import EMPTY, UNKNOWN

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
        self._beside = ThreadPoolExecutor(1)
        #: How many of the ids that were looked up had white space around them, and how many were empty.
        self.trimmed = self.empty = 0

    def __len__(self) -> int:
        return int(self._sizes[0])

    def find(self, ids: Texts) -> NDArray[np.int32]:
        """The position of each id; :data:`UNKNOWN` or :data:`EMPTY` where it has none."""
        return self._count(*self._find(ids))[0]

    def add(self, ids: Texts) -> NDArray[np.int32]:
        """The position of each id; those that are new are added."""
        return self.add_pairs(ids, Texts.of([]))[0]

    def add_pairs(self, left: Texts, right: Texts) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The positions of the ids in two columns; new ones are added row by row, the left one first."""
        on_the_right = self._beside.submit(self._find, right)
        try:
            found_left, unknown_left = self._count(*self._find(left))
        finally:  # whatever happens here, such as Ctrl-C, the texts must stay until nobody reads them
            wait([on_the_right])
        found_right, unknown_right = self._count(*on_the_right.result())
        if unknown_left or unknown_right:
            rows = [np.flatnonzero(found == UNKNOWN) for found in (found_left, found_right)]
            new = np.concatenate([2 * rows[0], 2 * rows[1] + 1])
            new.sort(kind="stable")  # merges the two columns, which are sorted themselves
            self._add(left, found_left, right, found_right, new)
        return found_left, found_right

    def _find(self, ids: Texts) -> tuple[NDArray[np.int32], tuple[int, int, int]]:
        found = np.empty(len(ids), dtype=np.int32)
        return found, id_kernels.find(ids.offsets, ids.letters, self._slots, self._words, found)

    def _count(self, found: NDArray[np.int32], counts: tuple[int, int, int]) -> tuple[NDArray[np.int32], int]:
        self.trimmed += counts[0]
        self.empty += counts[2]
        return found, counts[1]

    def _add(
        self,
        left: Texts,
        found_left: NDArray[np.int32],
        right: Texts,
        found_right: NDArray[np.int32],
        new: NDArray[np.int64],
    ) -> None:
        columns = (left.offsets, left.letters, found_left, right.offsets, right.letters, found_right)
        done = 0
        while done < len(new):
            done = id_kernels.add(*columns, new, done, self._slots, self._words, self._records, self._sizes)
            if done < len(new):
                row, side = divmod(int(new[done]), 2)
                offsets = (left, right)[side].offsets
                self.reserve(1 + len(self) // 4, int(offsets[row + 1] - offsets[row]))

    def texts(self, first: int = 0, last: int | None = None) -> list[str]:
        """The ids at positions from ``first`` up to ``last``; all that there are by default."""
        stop = len(self) if last is None else last
        if first >= stop:
            return []
        letters, offsets = id_kernels.letters(self._words, self._records, first, stop)
        texts = str(letters[:-1], "utf-8").split(
            "\0"
        )  # much faster than one by one, but ids may hold a zero themselves
        if len(texts) == stop - first:
            return texts
        return [str(letters[start : end - 1], "utf-8") for start, end in pairwise(offsets.tolist())]

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
