"""What a graph that was opened from a store knows besides its memory-mapped arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pugnn.graph.arrays import require_rows


class TextIds:
    """Ids that are text in memory-mapped UTF-8 ``letters``; a few at a time become Python objects.

    ``starts`` is where each of them begins, and where the last one ends, shape ``(N + 1,)``.

    Example:
        >>> ids = TextIds(np.frombuffer(b"annbobcleo", np.uint8), np.array([0, 3, 6, 10]))
        >>> len(ids), ids[1], ids[[2, 0]], ids[:2].tolist()
        (3, 'bob', array(['cleo', 'ann'], dtype=object), ['ann', 'bob'])
    """

    dtype, ndim = np.dtype(object), 1

    def __init__(self, letters: NDArray[np.uint8], starts: NDArray[np.int64]) -> None:
        require_rows(starts, len(letters), "starts of ids")
        self.letters, self.starts = letters, starts
        self.arrow = pa.LargeStringArray.from_buffers(len(starts) - 1, pa.py_buffer(starts), pa.py_buffer(letters))
        self.arrow.validate(full=True)  # that they are text

    def __len__(self) -> int:
        return len(self.arrow)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, int | np.integer):
            return self.arrow[int(at)].as_py()
        if isinstance(at, slice):
            texts = self.arrow[at]
        else:
            chosen = np.asarray(at)
            positions = np.flatnonzero(chosen) if chosen.dtype == bool else chosen.astype(np.int64)
            texts = self.arrow.take(pa.array(np.where(positions < 0, positions + len(self), positions)))
        return texts.to_numpy(zero_copy_only=False)

    def tolist(self) -> list[str]:
        """All ids, each a Python object."""
        return self.arrow.to_pylist()  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Stored:
    """The store that a graph was opened from, by the checksum of its content.

    ``parts`` are the graph's arrays as they were opened, ``sums`` SHA-256 of its files by name without ending.
    """

    checksum: str
    parts: tuple[Any, ...]
    ids: NDArray[np.int64] | TextIds
    sums: Mapping[str, str] = field(default_factory=dict)

    @property
    def arrow(self) -> pa.Array:
        """The ids as an array of Arrow's."""
        return self.ids.arrow if isinstance(self.ids, TextIds) else pa.array(self.ids)

    def find(self, wanted: Sequence[Any]) -> NDArray[np.int64]:
        """Positions of the nodes with these ids; −1 where there is none."""
        if isinstance(self.ids, TextIds):
            texts = [each if isinstance(each, str) else None for each in wanted]
            return find_in(self.arrow, pa.array(texts, pa.large_string()))
        whole = [int(each) if _is_whole(each) else None for each in wanted]
        return find_in(self.arrow, pa.array(whole, pa.int64()))


def find_in(ids: pa.Array, wanted: pa.Array) -> NDArray[np.int64]:
    """Positions of values among ids of the same type, which are unique; −1 where there is none, as for a null."""
    coded = wanted.dictionary_encode()
    places = pc.index_in(ids, value_set=coded.dictionary)
    position = np.full(len(coded.dictionary) + 1, -1, np.int64)  # the last one is that of a null
    position[places.drop_null().to_numpy()] = np.flatnonzero(places.is_valid())
    found: NDArray[np.int64] = position[coded.indices.fill_null(len(coded.dictionary)).to_numpy(zero_copy_only=False)]
    return found


def _is_whole(value: Any) -> bool:
    """Whether a value equals a 64-bit integer, as 1.0 and True do."""
    return isinstance(value, Real) and value % 1 == 0 and -(2**63) <= int(value) < 2**63  # type: ignore[call-overload]
