"""The features of a store: collected column by column, written row by row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.features.encoding import SPARSE_BELOW, FeatureBlocks, compact
from pugnn.graph.building import Features, reject_infinite
from pugnn.graph.index_arrays import sound_matrix
from pugnn.store.format import found_arrays, new_array, write_array

#: Numbers that are held in memory before they are put on disk, and numbers that are written at once.
_HELD, _AT_ONCE = 1 << 26, 1 << 22

#: Files of sparse features, and the arrays of a CSR matrix that are in them.
_SPARSE = {"feature_values": "data", "feature_columns": "indices", "feature_starts": "indptr"}


class StoredBlocks(FeatureBlocks):
    """Blocks of features that become those of a store; dense ones are on disk meanwhile.

    Args:
        folder: the store.
        overflow: an existing folder for the blocks.
        ids: of the nodes, for messages.
        held: dense numbers that are held in memory before they are put on disk.
    """

    def __init__(self, folder: Path, overflow: Path, ids: NDArray[Any], held: int = _HELD) -> None:
        super().__init__()
        self._folder, self._overflow, self._ids, self._most_held = folder, overflow, ids, held
        self._parts: list[Callable[[slice], Features]] = []  # each gives some rows of adjacent columns
        self._nodes = self._width = self._filled = 0

    def add(self, block: Features) -> None:
        """Add a block to the right of the others."""
        dense = isinstance(block, np.ndarray)
        self._nodes, self._width = block.shape[0], self._width + block.shape[1]
        self._filled += int(np.count_nonzero(block if dense else block.data))
        if dense:
            super().add(block)
        if not dense or sum(each.size for each in self._blocks) >= self._most_held:
            self._put_aside()
        if not dense:
            self._parts.append(block.__getitem__)

    def joined(self) -> Features:
        """All of them, in the store and opened from there."""
        self._put_aside()
        if self._filled < SPARSE_BELOW * self._nodes * self._width:
            write_features(self._folder, compact([rows(slice(0, self._nodes)) for rows in self._parts]), self._ids)
        else:
            at_once = max(1, _AT_ONCE // self._width)
            with new_array(self._folder, "features", np.float32, self._width) as file:
                for first in range(0, self._nodes, at_once):
                    inside = slice(first, min(first + at_once, self._nodes))
                    piece = np.hstack([_dense(rows(inside)) for rows in self._parts])
                    reject_infinite(piece, self._ids, first)
                    file.write(piece)
        return features_in(found_arrays(self._folder), (self._nodes, self._width))

    def _put_aside(self) -> None:
        """Put the dense blocks that are in memory on disk."""
        if not self._blocks:
            return
        path, width = self._overflow / f"block_{len(self._parts)}", sum(block.shape[1] for block in self._blocks)
        with path.open("wb") as file:  # numpy's own way of writing does not say why it fails
            file.write(np.ascontiguousarray(np.hstack(self._blocks), np.float32).data)
        self._blocks.clear()

        def rows(inside: slice) -> NDArray[np.float32]:
            count = (inside.stop - inside.start) * width
            return np.fromfile(path, np.float32, count, offset=4 * inside.start * width).reshape(-1, width)

        self._parts.append(rows)


def write_features(folder: Path, features: Features, ids: NDArray[Any]) -> None:
    """Write features that are in memory, of the nodes with these ids."""
    reject_infinite(features, ids)
    if isinstance(features, np.ndarray):
        write_array(folder, "features", features)
        return
    for name, part in _SPARSE.items():
        write_array(folder, name, getattr(features, part))


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


def _dense(block: Features) -> NDArray[np.float32]:
    return block if isinstance(block, np.ndarray) else block.toarray()
