"""Digests of a graph's parts, which tell whether data have changed. Nothing is copied to be hashed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from pugnn.graph.stored import TextIds

if TYPE_CHECKING:
    from pugnn.graph.graph import Graph

#: What the digest of ids is called.
NODES = "ids or order of nodes"

#: Bytes of an array, and ids, that are hashed at once.
_BLOCK, _IDS = 1 << 24, 1 << 16


def graph_digests(graph: Graph) -> dict[str, str]:
    """A digest of each part of a graph, by what it is called in messages.

    A graph in a store has the same ones as in memory, except those of ids that are text.
    """
    x: Any = graph.features
    ids: Any = graph.ids
    attributes, nodes = {"features": x}, {"ids": ids}
    if not isinstance(x, np.ndarray):
        attributes = {"feature_values": x.data, "feature_columns": x.indices, "feature_starts": x.indptr}
    if isinstance(ids, TextIds):
        nodes = {"id_letters": ids.letters, "id_starts": ids.starts}
    parts: dict[str, Mapping[str, NDArray[Any] | None]] = {
        "edges": {"indptr": graph.indptr, "indices": graph.indices},
        "edge weights": {"weights": graph.weights},
        NODES: nodes,
        "attributes": attributes,
    }
    for name, relation in graph.relations.items():
        rows = ("indptr", "indices", "weights")
        parts[f"relation {name}"] = {f"{name} {part}": getattr(relation, part) for part in rows}
    known = {} if graph.stored is None else graph.stored.sums
    return {
        part: digest_of_texts(known.get(name) or _digest(array) for name, array in arrays.items() if array is not None)
        for part, arrays in parts.items()
    }


def digest_of_texts(texts: Iterable[str]) -> str:
    """A digest of some texts, in their order."""
    return hashlib.sha256(json.dumps(list(texts)).encode()).hexdigest()


def update(hashed: hashlib._Hash, array: NDArray[Any]) -> None:
    """Hash the numbers of an array, row by row."""
    rows = max(1, _BLOCK // max(1, array[:1].nbytes))
    for first in range(0, len(array), rows):
        hashed.update(np.ascontiguousarray(array[first : first + rows]).data)


def array_header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """What precedes the numbers of an array in a file of numpy's."""
    header = BytesIO()
    npy.write_array_header_1_0(header, {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": shape})
    return header.getvalue()


def _digest(array: NDArray[Any]) -> str:
    """Of an array of numbers that of its file in a store; other values are hashed as JSON."""
    if array.dtype.kind in "biuf":
        hashed = hashlib.sha256(array_header(array.dtype, array.shape))
        update(hashed, array)
    else:
        hashed = hashlib.sha256()
        for first in range(0, len(array), _IDS):
            hashed.update(json.dumps(array[first : first + _IDS].tolist(), default=str).encode())
    return hashed.hexdigest()
