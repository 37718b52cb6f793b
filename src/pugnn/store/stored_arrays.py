"""The arrays of a store: what each part of a graph is in files that numpy reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from pugnn.errors import PugnnError, shown
from pugnn.features.encoding import FeatureBlocks
from pugnn.graph.arrays import Features, reject_infinite, sound_matrix
from pugnn.graph.digests import array_header
from pugnn.graph.relations import Relation, Relations
from pugnn.graph.stored import TextIds

#: Bytes before the numbers in a file. numpy leaves room in them for a longer shape.
_HEADER = 128

#: Numbers that are written at once.
_AT_ONCE = 1 << 22

#: Files of sparse features, and the arrays of a CSR matrix that are in them.
_SPARSE = {"feature_values": "data", "feature_columns": "indices", "feature_starts": "indptr"}


def damaged(folder: Path, why: str) -> PugnnError:
    """The error for a store that is not as it was written."""
    return PugnnError(f"the graph store {folder} is damaged: {why}. Build it again with `pugnn build`.")


class ArrayFile:
    """An array that is written piece by piece; its first size may be anything."""

    def __init__(self, file: IO[bytes], dtype: DTypeLike) -> None:
        self._file, self.dtype, self.length = file, np.dtype(dtype), 0

    def write(self, numbers: NDArray[Any]) -> None:
        """Append numbers, or rows of numbers."""
        self._file.write(np.ascontiguousarray(numbers, self.dtype).data)
        self.length += len(numbers)


@contextmanager
def new_array(folder: Path, name: str, dtype: DTypeLike, width: int | None = None) -> Iterator[ArrayFile]:
    """A new file of a store, to be written piece by piece; ``width`` is its number of columns, if there are any.

    Not through memory-mapping: on a full disk that would end the process without a message.
    """
    with (folder / f"{name}.npy").open("wb") as file:
        file.write(bytes(_HEADER))
        array = ArrayFile(file, dtype)
        yield array
        header = array_header(array.dtype, (array.length,) if width is None else (array.length, width))
        assert len(header) == _HEADER
        file.seek(0)
        file.write(header)


def write_array(folder: Path, name: str, numbers: NDArray[Any]) -> None:
    """Write a file of a store at once."""
    with new_array(folder, name, numbers.dtype, numbers.shape[1] if numbers.ndim == 2 else None) as file:
        file.write(numbers)


def open_array(folder: Path, name: str) -> NDArray[Any]:
    """An array of a store, memory-mapped."""
    try:
        array: NDArray[Any] = np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
    except Exception as error:  # whatever numpy dislikes about a damaged header
        raise damaged(folder, f"{name}.npy cannot be opened: {shown(str(error), 200)}") from None
    # Not numpy's own class for mapped arrays, whose every slice costs ten times that of an array.
    return array.view(np.ndarray)


def found_arrays(folder: Path) -> dict[str, NDArray[Any]]:
    """All arrays in the folder of a store that is being built, by name, memory-mapped."""
    return {path.stem: open_array(folder, path.stem) for path in folder.glob("*.npy")}


def id_arrays(ids: pa.Array) -> dict[str, NDArray[Any]]:
    """The arrays of a store for ids, integers or text."""
    if pa.types.is_integer(ids.type):
        return {"ids": ids.to_numpy()}
    _, places, letters = ids.buffers()
    starts = np.frombuffer(places, np.int64)[: len(ids) + 1]
    return {"id_starts": starts, "id_letters": np.frombuffer(letters, np.uint8)[: starts[-1]]}


def ids_in(arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.int64] | TextIds:
    """The ids among the arrays of a store."""
    if "ids" not in arrays:
        return TextIds(arrays["id_letters"], arrays["id_starts"])
    if arrays["ids"].ndim != 1 or arrays["ids"].dtype != np.int64:
        raise PugnnError("ids must be 64-bit integers")
    return arrays["ids"]


def write_features(folder: Path, blocks: FeatureBlocks, ids: NDArray[Any]) -> None:
    """Write the features of the nodes with these ids into a store."""
    if blocks.sparse:
        features = blocks.joined()
        reject_infinite(features, ids)
        for name, array in feature_arrays(features).items():
            write_array(folder, name, array)
        return
    at_once = max(1, _AT_ONCE // blocks.width)
    with new_array(folder, "features", np.float32, blocks.width) as file:
        for number, piece in enumerate(blocks.pieces(at_once)):
            reject_infinite(piece, ids, number * at_once)
            file.write(piece)


def feature_arrays(features: Features) -> dict[str, NDArray[Any]]:
    """The arrays of a store for features."""
    if isinstance(features, np.ndarray):
        return {"features": features}
    return {name: getattr(features, part) for name, part in _SPARSE.items()}


def features_in(arrays: Mapping[str, NDArray[Any]], shape: tuple[int, int]) -> Features:
    """The features among the arrays of a store."""
    if "features" in arrays:
        features: Features = arrays["features"]
    else:
        features = sp.csr_array(tuple(arrays[name] for name in _SPARSE), shape=shape)
        sound_matrix(features, "the matrix of features")
    if features.dtype != np.float32:
        raise PugnnError(f"features must be 32-bit floats; they are {features.dtype}")
    return features


def relation_files(relations: Mapping[str, Relation]) -> dict[str, tuple[str, str]]:
    """The files of relations, without ending: for each, the name of the relation and which of its arrays it holds."""
    return {
        f"{relation_prefix(at)}{part}": (name, part)
        for at, (name, relation) in enumerate(relations.items())
        for part in ("indptr", "indices", "weights")
        if getattr(relation, part) is not None
    }


def relation_prefix(at: int) -> str:
    """What the names of the files of a relation begin with."""
    return f"relation_{at}_"


def described(relations: Mapping[str, Relation]) -> list[dict[str, Any]]:
    """What the manifest of a store says of relations."""
    return [{"name": name, "ends": list(each.ends), "reverse": each.reverse} for name, each in relations.items()]


def relations_in(arrays: Mapping[str, NDArray[Any]], entries: Sequence[Mapping[str, Any]]) -> dict[str, Relation]:
    """The relations among the arrays of a store, of which the manifest says this."""
    found = Relations()
    for at, entry in enumerate(entries):
        parts = [arrays[f"{relation_prefix(at)}{part}"] for part in ("indptr", "indices")]
        one, other = map(str, entry["ends"])
        weights = arrays.get(f"{relation_prefix(at)}weights")
        found[str(entry["name"])] = Relation(parts[0], parts[1], weights, (one, other), str(entry["reverse"]))
    return found
