"""What a graph that was opened from a store knows besides its memory-mapped arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pugnn.graph.compiling import kernel
from pugnn.graph.index_arrays import require_rows


class TextIds:
    """Ids that are text, one after the other in one memory-mapped file; a few at a time become Python objects.

    Args:
        letters: the ids in UTF-8, one after the other.
        starts: where each of them begins, and where the last one ends, shape ``(N + 1,)``.

    Example:
        >>> ids = TextIds(np.frombuffer(b"annbobcleo", np.uint8), np.array([0, 3, 6, 10]))
        >>> len(ids), ids[1], ids[[2, 0]], ids[:2].tolist()
        (3, 'bob', array(['cleo', 'ann'], dtype=object), ['ann', 'bob'])
    """

    dtype, ndim = np.dtype(object), 1

    def __init__(self, letters: NDArray[np.uint8], starts: NDArray[np.int64]) -> None:
        require_rows(starts, len(letters), "starts of ids")
        self.letters, self.starts = letters, starts
        self._texts = pa.LargeStringArray.from_buffers(len(starts) - 1, pa.py_buffer(starts), pa.py_buffer(letters))
        self._texts.validate(full=True)  # that they are text

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, int | np.integer):
            return self._texts[int(at)].as_py()
        if isinstance(at, slice):
            texts = self._texts[at]
        else:
            chosen = np.asarray(at)
            positions = np.flatnonzero(chosen) if chosen.dtype == bool else chosen.astype(np.int64)
            texts = self._texts.take(pa.array(np.where(positions < 0, positions + len(self), positions)))
        return texts.to_numpy(zero_copy_only=False)

    def tolist(self) -> list[str]:
        """All ids, each a Python object."""
        texts: list[str] = self._texts.to_pylist()
        return texts


@dataclass(frozen=True, eq=False)
class Stored:
    """The store that a graph was opened from.

    Args:
        path: its folder.
        checksum: stands for its content.
        parts: the graph's arrays, as they were opened.
        ids: of the nodes.
        order: positions of the nodes in the order of their ids, shape ``(N,)``.
        sums: SHA-256 of its files, by name without ending.
    """

    path: Path
    checksum: str
    parts: tuple[Any, ...]
    ids: NDArray[np.int64] | TextIds
    order: NDArray[np.int32]
    sums: Mapping[str, str] = field(default_factory=dict)

    def find(self, wanted: Sequence[Any]) -> NDArray[np.int64]:
        """Positions of the nodes with these ids; −1 where there is none."""
        if isinstance(self.ids, TextIds):
            texts = [each if isinstance(each, str) else None for each in wanted]
            return self.find_texts(pa.array(texts, pa.large_string()))
        numbers = [int(each) if _is_whole(each) else None for each in wanted]
        found = self.find_integers(np.array([number or 0 for number in numbers], np.int64))
        return np.where([number is None for number in numbers], -1, found)

    def find_integers(self, wanted: NDArray[np.int64]) -> NDArray[np.int64]:
        """Likewise, for ids that are integers."""
        assert isinstance(self.ids, np.ndarray)
        places = np.minimum(np.searchsorted(self.ids, wanted, sorter=self.order), len(self.ids) - 1)
        positions = self.order[places].astype(np.int64)
        return np.where(self.ids[positions] == wanted, positions, -1)

    def find_texts(self, wanted: pa.LargeStringArray) -> NDArray[np.int64]:
        """Likewise, for ids that are text; a null is none."""
        assert isinstance(self.ids, TextIds)
        _, places, letters = wanted.buffers()
        starts = np.frombuffer(places, np.int64)[wanted.offset : wanted.offset + len(wanted) + 1]
        wanted_letters = np.frombuffer(letters or b"", np.uint8)
        found: NDArray[np.int64] = _search(self.ids.letters, self.ids.starts, self.order, wanted_letters, starts)
        return np.where(wanted.is_null().to_numpy(zero_copy_only=False), -1, found)


def _is_whole(value: Any) -> bool:
    """Whether a value equals a 64-bit integer, as 1.0 and True do."""
    return isinstance(value, Real) and value % 1 == 0 and -(2**63) <= int(value) < 2**63  # type: ignore[call-overload]


@kernel(nogil=True)
def _search(letters, starts, order, wanted_letters, wanted_starts):  # type: ignore[no-untyped-def]
    found = np.full(len(wanted_starts) - 1, -1, dtype=np.int64)
    for at in range(len(found)):
        first, length = wanted_starts[at], wanted_starts[at + 1] - wanted_starts[at]
        low, high = 0, len(order)
        while low < high:
            middle = (low + high) // 2
            node = order[middle]
            size = starts[node + 1] - starts[node]
            sign, place = 0, 0
            while sign == 0 and place < min(size, length):
                one, other = letters[starts[node] + place], wanted_letters[first + place]
                sign = 1 if one > other else -1 if one < other else 0
                place += 1
            if sign == 0:
                sign = 1 if size > length else -1 if size < length else 0
            if sign == 0:
                found[at] = node
                break
            if sign < 0:
                low = middle + 1
            else:
                high = middle
    return found
