"""Columns of a query's result as numpy arrays, batch by batch, without a Python object per cell."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import nanoarrow
import numpy as np
from numpy.typing import NDArray

#: Batches that are read ahead of the caller, of some hundred thousand cells each.
_AHEAD = 12


class StreamError(Exception):
    """A query failed while its result was being read."""


@dataclass(frozen=True, eq=False)
class Texts:
    """A column of text: value *i* is ``letters[offsets[i]:offsets[i + 1]]`` in UTF-8; a null is empty."""

    offsets: NDArray[np.int32]
    letters: NDArray[np.uint8]

    def __post_init__(self) -> None:
        for array in (self.offsets, self.letters):
            array.setflags(write=False)  # as DuckDB's memory is: kernels are compiled for one kind alone

    @classmethod
    def of(cls, values: list[str]) -> Texts:
        """A column of these values."""
        encoded = [value.encode() for value in values]
        offsets = np.concatenate([[0], np.cumsum([len(value) for value in encoded], dtype=np.int64)])
        return cls(offsets.astype(np.int32), np.frombuffer(b"".join(encoded), dtype=np.uint8))

    def __len__(self) -> int:
        return len(self.offsets) - 1


#: Text columns and number columns of some rows.
Batch = tuple[list[Texts], list[NDArray[np.float64]]]


class Batches:
    """The columns of a relation of VARCHAR and DOUBLE columns, batch by batch; arrays are views of DuckDB's memory.

    Batches are read ahead in a thread of its own. Until this is closed, do not use the relation's connection.

    Args:
        relation: of DuckDB, or anything else that offers an Arrow C stream.
    """

    def __init__(self, relation: Any) -> None:
        self._relation = relation
        self._stream: Any = None  # once the query has started
        self._reader = ThreadPoolExecutor(1)
        self._upcoming = deque(self._reader.submit(self._read) for _ in range(_AHEAD))

    def __iter__(self) -> Iterator[Batch]:
        while (batch := self._upcoming.popleft().result()) is not None:
            self._upcoming.append(self._reader.submit(self._read))
            yield batch

    def close(self) -> None:
        """Stop reading."""
        for future in self._upcoming:
            future.cancel()
        self._reader.shutdown()
        self._upcoming.clear()
        self._stream = None

    def _read(self) -> Batch | None:
        if self._stream is None:
            self._stream = nanoarrow.c_array_stream(self._relation)
        try:
            batch = self._stream.get_next()
        except StopIteration:
            return None
        except RuntimeError as error:  # nanoarrow's own, whose class is private; the message is DuckDB's
            raise StreamError(getattr(error, "message", str(error))) from None
        # The rows of a batch may be a slice of its columns, which may be slices themselves.
        columns = [_Column(column, batch.offset + column.offset, batch.length) for column in batch.children]
        return [c.texts() for c in columns if c.is_text], [c.numbers() for c in columns if not c.is_text]


class _Column:
    """Some rows of an Arrow array of text or numbers; the arrays made of it keep its memory alive."""

    def __init__(self, array: Any, first: int, length: int) -> None:
        if array.schema.format not in ("u", "g"):
            kind = nanoarrow.Schema(array.schema).type.name.lower()
            raise StreamError(f"cannot use a column of Arrow type {kind}; only string and double are known")
        self.is_text = array.schema.format == "u"
        self._view, self._rows, self._length = array.view(), slice(first, first + length), length
        self._has_nulls = array.null_count != 0 and len(self._buffer(0, np.uint8)) > 0

    def texts(self) -> Texts:
        if not self._length:  # then Arrow need not have any offsets
            return Texts.of([])
        offsets, letters = self._buffer(1, np.int32)[self._rows.start : self._rows.stop + 1], self._buffer(2, np.uint8)
        lengths, present = np.diff(offsets), self._present()
        if not lengths[~present].any():
            return Texts(offsets, letters)
        letters = letters[offsets[0] : offsets[-1]][np.repeat(present, lengths)]  # without those of nulls
        return Texts(np.concatenate([np.zeros(1, np.int32), np.cumsum(lengths * present, dtype=np.int32)]), letters)

    def numbers(self) -> NDArray[np.float64]:
        """Nulls become NaN."""
        numbers = self._buffer(1, np.float64)[self._rows]
        return np.where(self._present(), numbers, np.nan) if self._has_nulls else numbers

    def _present(self) -> NDArray[np.bool_]:
        if not self._has_nulls:
            return np.ones(self._length, dtype=np.bool_)
        bits = np.unpackbits(self._buffer(0, np.uint8), count=self._rows.stop, bitorder="little")
        return bits[self._rows].astype(np.bool_)

    def _buffer(self, at: int, dtype: Any) -> NDArray[Any]:
        return np.frombuffer(self._view.buffer(at), dtype=dtype)
