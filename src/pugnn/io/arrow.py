"""Columns of a query's result as plain arrays, batch by batch, without an object per cell.

DuckDB hands its results over as an Arrow C stream: three C structures that are stable by specification. Reading them
here, with ctypes, is what makes a million text ids cheap, and needs no further library.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation


#: Batches that are read ahead of the caller, of some hundred thousand cells each.
_AHEAD = 12


class StreamError(Exception):
    """DuckDB stopped in the middle of a result."""


class _Array(ctypes.Structure):
    """``ArrowArray``: one column, or the children of a batch."""


class _Stream(ctypes.Structure):
    """``ArrowArrayStream``: batches one after the other."""


_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", ctypes.c_void_p),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_Stream))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))),
    ("private_data", ctypes.c_void_p),
]

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype = ctypes.c_void_p
_pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]


@dataclass(frozen=True, eq=False)
class Texts:
    """A column of text: value *i* is ``letters[offsets[i]:offsets[i + 1]]`` in UTF-8; a null is empty."""

    offsets: NDArray[np.int32]
    letters: NDArray[np.uint8]

    @classmethod
    def of(cls, values: list[str]) -> Texts:
        """A column of these values."""
        encoded = [value.encode() for value in values]
        offsets = np.concatenate([[0], np.cumsum([len(value) for value in encoded], dtype=np.int64)])
        return cls(offsets.astype(np.int32), np.frombuffer(bytearray().join(encoded), dtype=np.uint8))

    def __len__(self) -> int:
        return len(self.offsets) - 1


#: Text columns and number columns of some rows.
Batch = tuple[list[Texts], list[NDArray[np.float64]]]


class Batches:
    """The columns of a relation of VARCHAR and DOUBLE columns, batch by batch.

    DuckDB reads the first batches from the beginning on, and later ones while the caller works on earlier ones. Until
    this is closed, ask nothing else of the relation's connection.

    Args:
        relation: the relation.
    """

    def __init__(self, relation: DuckDBPyRelation) -> None:
        self._texts = [str(kind) == "VARCHAR" for kind in relation.types]
        self._relation = relation
        self._capsule: Any = None  # owns the stream, once the query has begun
        self._reader = ThreadPoolExecutor(1)
        self._upcoming = deque(self._reader.submit(self._read) for _ in range(_AHEAD))

    def __iter__(self) -> Iterator[Batch]:
        """The batches. Arrays are views of DuckDB's memory: they are valid until the next batch is asked for."""
        while (batch := self._upcoming.popleft().result()) is not None:
            self._upcoming.append(self._reader.submit(self._read))
            try:
                columns = [(batch.children[at].contents, text) for at, text in enumerate(self._texts)]
                yield (
                    [_texts(column) for column, text in columns if text],
                    [_numbers(column) for column, text in columns if not text],
                )
            finally:
                batch.release(ctypes.byref(batch))

    def close(self) -> None:
        """Stop reading, and give back what was read and not asked for.

        Whoever still reads arrays of a batch must have stopped before.
        """
        for future in self._upcoming:
            future.cancel()
        self._reader.shutdown()
        for future in self._upcoming:
            left = None if future.cancelled() or future.exception() else future.result()
            if left is not None:
                left.release(ctypes.byref(left))
        self._upcoming.clear()
        self._capsule = None

    def _read(self) -> _Array | None:
        if self._capsule is None:
            self._capsule = self._relation.__arrow_c_stream__()
        stream, batch = _Stream.from_address(_pointer_of(self._capsule, b"arrow_array_stream")), _Array()
        if stream.get_next(ctypes.byref(stream), ctypes.byref(batch)):
            raise StreamError(stream.get_last_error(ctypes.byref(stream)).decode(errors="replace"))
        return batch if batch.release else None  # a batch that is released already marks the end


def _texts(column: _Array) -> Texts:
    offsets = _buffer(column, 1, np.int32, column.length + 1)
    return Texts(offsets, _buffer(column, 2, np.uint8, int(offsets[-1])))


def _numbers(column: _Array) -> NDArray[np.float64]:
    """Nulls become NaN."""
    numbers = _buffer(column, 1, np.float64, column.length)
    if column.null_count and column.buffers[0]:
        valid = _buffer(column, 0, np.uint8, (column.length + 7) // 8)
        present = np.unpackbits(valid, count=column.length, bitorder="little").astype(bool)
        numbers = np.where(present, numbers, np.nan)
    return numbers


def _buffer(column: _Array, at: int, dtype: Any, length: int) -> NDArray[Any]:
    if not length or not column.buffers[at]:
        return np.zeros(length, dtype=dtype)
    raw = (ctypes.c_uint8 * (length * np.dtype(dtype).itemsize)).from_address(column.buffers[at])
    return np.frombuffer(raw, dtype=dtype)
