"""The ids of a store: 64-bit integers or text, and the order in which they are searched."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pugnn.errors import PugnnError, quoted
from pugnn.graph.stored import TextIds
from pugnn.io.edge_table import EdgeTable
from pugnn.io.id_types import common_family
from pugnn.io.ids import IdTable, integers_in_text
from pugnn.io.node_table import NodeTable
from pugnn.store.format import write_array
from pugnn.store.integer_ids import IntegerIds


def write_ids(folder: Path, ids: IdTable, nodes: NodeTable | None, edges: EdgeTable) -> list[str]:
    """Write all ids and their order; notes on their type."""
    numbers, notes = (ids.numbers, []) if isinstance(ids, IntegerIds) else _as_integers(ids.arrow, nodes, edges)
    if numbers is not None:
        write_array(folder, "ids", numbers)
        write_array(folder, "order", np.argsort(numbers).astype(np.int32))
        return notes
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


def _as_integers(
    texts: pa.Array, nodes: NodeTable | None, edges: EdgeTable
) -> tuple[NDArray[np.int64] | None, list[str]]:
    """The ids as integers, if the tables say that they are, and nothing is lost; and notes."""
    columns = edges.columns if nodes is None else (nodes.column, *edges.columns)
    kind, notes = common_family(columns)
    if any(column.originals for column in columns):
        return None, ["ids are of several types; they are compared, and kept, as text"]
    if kind == "text":
        return None, notes
    column = pa.chunked_array([texts])
    if kind == "numbers" and pc.all(pc.match_substring_regex(column, r"^-?[0-9]+$")).as_py():
        kind = "integers"
    if kind != "integers":
        return None, [f"ids are {kind}; a store keeps them as text"]
    numbers, are_integers = integers_in_text(column)
    if are_integers.all():
        return numbers, notes
    odd = texts[int(are_integers.argmin())].as_py()
    return None, [f"ids are kept as text: not all are integers of 64 bits, such as {quoted(odd)}"]
