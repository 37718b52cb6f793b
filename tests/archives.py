"""Small data sets in the form of files."""

from __future__ import annotations

import io

import numpy as np
import scipy.sparse as sp

from pugnn.datasets import Archive


def path_graph(nodes: int = 4) -> Archive:
    """A path whose nodes are even and odd in turn."""
    nodes_in_order = np.arange(nodes)
    return Archive(
        edge_index=np.stack([nodes_in_order[:-1], nodes_in_order[1:]]).astype(np.int32),
        x=sp.csr_array(np.eye(nodes, dtype=np.float32)),
        y=(nodes_in_order % 2).astype(np.int16),
        missing_nodes=np.asarray([1], dtype=np.int32),
        ids=nodes_in_order.astype(np.int64) + 10,
        class_names=("even", "odd"),
    )


def archive_bytes(archive: Archive) -> bytes:
    """The file of a data set."""
    buffer = io.BytesIO()
    archive.write(buffer)
    return buffer.getvalue()


def truncate(content: bytes) -> bytes:
    return content[:-100]


def change_a_byte(content: bytes) -> bytes:
    middle = content.index(b"x_data.npy") + 60
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
