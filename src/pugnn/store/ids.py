"""The ids of a store: 64-bit integers or text, and the order in which they are searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from pugnn.errors import PugnnError, quoted
from pugnn.graph.stored import TextIds
from pugnn.io.id_types import SEVERAL_TYPES, IdColumn, common_family
from pugnn.io.ids import IdTable
from pugnn.store.format import write_array


def write_ids(folder: Path, ids: IdTable, columns: Sequence[IdColumn]) -> list[str]:
    """Write all ids and their order: as integers if these columns say that they are, and nothing is lost; and notes."""
    kind, notes = common_family(columns)
    if any(column.originals for column in columns):
        notes = [SEVERAL_TYPES]
    elif kind in ("integers", "numbers"):
        numbers = ids.integers()
        if not numbers.null_count:
            write_array(folder, "ids", numbers.to_numpy())
            write_array(folder, "order", np.argsort(numbers.to_numpy()).astype(np.int32))
            return notes
        odd = quoted(ids.arrow.filter(numbers.is_null())[0].as_py())
        notes = [f"ids are kept as text: not all are integers of 64 bits, such as {odd}"]
    if kind not in ("text", "integers"):
        notes = [f"ids are {kind}; a store keeps them as text"]
    texts = ids.arrow
    _, places, letters = texts.buffers()
    starts = np.frombuffer(places, np.int64)[: len(texts) + 1]
    write_array(folder, "id_starts", starts)
    write_array(folder, "id_letters", np.frombuffer(letters, np.uint8)[: starts[-1]])
    write_array(folder, "order", pc.sort_indices(texts).to_numpy().astype(np.int32))
    return notes


def ids_in(arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.int64] | TextIds:
    """The ids among the arrays of a store."""
    if "ids" not in arrays:
        return TextIds(arrays["id_letters"], arrays["id_starts"])
    if arrays["ids"].ndim != 1 or arrays["ids"].dtype != np.int64:
        raise PugnnError("ids must be 64-bit integers")
    return arrays["ids"]
