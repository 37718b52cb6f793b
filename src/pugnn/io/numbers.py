"""Reading all columns of numbers of a node table together."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.features.attributes import LARGEST, is_number_type
from pugnn.features.numbers import Numbers
from pugnn.io.number_scan import MAYBE, OTHER_NUMBERS, Irregular, scan_numbers
from pugnn.io.source import Source, Unreadable

#: Why a table in text is read in another way.
IRREGULAR = "its rows are not all of the same form"

#: Numbers of a typed table that are read at once.
_NUMBERS_AT_ONCE = 1 << 24


def numbers_in_text(source: Source, places: Sequence[int], no_words: Collection[str]) -> Numbers:
    """Those of the columns at these places of a table in delimited text that hold numbers alone.

    ``true`` and the like stand for 1 and 0, but not in the columns named in ``no_words``.
    """
    known = np.zeros(len(source.names), dtype=np.uint8)
    for at in places:
        known[at] = MAYBE | OTHER_NUMBERS if source.names[at] in no_words else MAYBE
    blocks = []
    for file in source.delimited:
        try:
            blocks += scan_numbers(file.chunks(), file.dialect.delimiter, known, header=file.dialect.header)
        except Irregular:
            raise Unreadable(source, IRREGULAR) from None
    kept = np.flatnonzero(known)
    return Numbers(tuple(source.names[at] for at in kept), _stacked(blocks, kept))


def typed_numbers(source: Source, places: Sequence[int], rows: int) -> Numbers:
    """Those of the columns at these places of a table with types and so many rows that hold numbers alone."""
    numeric = [at for at in places if source.types[at] == "BOOLEAN" or is_number_type(source.types[at])]
    at_once = max(1, _NUMBERS_AT_ONCE // max(rows, 1))
    names: list[str] = []
    indices, data = [np.zeros(0, np.int32)], [np.zeros(0)]
    for first in range(0, len(numeric), at_once):
        block = numeric[first : first + at_once]
        with source.reading():
            query = f"SELECT {', '.join(f'c_{at}::DOUBLE AS c_{at}' for at in block)} FROM {source.table}"
            columns = source.connection.execute(query).fetchnumpy()
        for at in block:
            numbers = np.ma.filled(columns.pop(f"c_{at}"), np.nan)
            if (np.abs(numbers) > LARGEST).any():  # NaN is not
                continue
            names.append(source.names[at])
            indices.append(np.flatnonzero(numbers).astype(np.int32))
            data.append(numbers[indices[-1]])
    indptr = np.cumsum([len(part) for part in indices])
    entries = np.concatenate(data)
    del data
    matrix = sp.csc_array((entries, np.concatenate(indices), indptr), shape=(rows, len(names)))
    return Numbers(tuple(names), matrix)


def _stacked(blocks: list[sp.csr_array], kept: NDArray[np.int64]) -> sp.csc_array:
    """Some columns of blocks of rows, the blocks below one another; each is given up once it is copied."""
    total = sum(np.bincount(block.indices, minlength=block.shape[1])[kept] for block in blocks) + np.zeros_like(kept)
    indptr = np.concatenate([[0], np.cumsum(total)])
    data, indices = np.empty(indptr[-1]), np.empty(indptr[-1], np.int32)
    free, rows = indptr[:-1].copy(), 0
    blocks.reverse()
    while blocks:
        block = blocks.pop().tocsc()
        for place, column in enumerate(kept.tolist()):
            inside = slice(block.indptr[column], block.indptr[column + 1])
            outside = slice(free[place], free[place] + inside.stop - inside.start)
            data[outside], indices[outside] = block.data[inside], block.indices[inside] + rows
            free[place] = outside.stop
        rows += block.shape[0]
    return sp.csc_array((data, indices, indptr), shape=(rows, len(kept)))
