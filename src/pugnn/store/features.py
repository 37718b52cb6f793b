"""The features of a store: written row by row."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.features.encoding import FeatureBlocks
from pugnn.graph.arrays import Features, reject_infinite, sound_matrix
from pugnn.store.format import new_array, write_array

#: Numbers that are written at once.
_AT_ONCE = 1 << 22

#: Files of sparse features, and the arrays of a CSR matrix that are in them.
_SPARSE = {"feature_values": "data", "feature_columns": "indices", "feature_starts": "indptr"}


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
