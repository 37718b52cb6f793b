"""Compare one pass of the smoothing kernel with the sparse products of scipy and torch, and the copy bandwidth.

    python smoothing.py [NODES ...]

Graphs have heavy-tailed degrees, 20 on average. The kernel does more than a product in the same pass: it scales, and
adds the node itself and the restart. Bytes are those that a pass cannot avoid without a cache: the row of every
neighbour, its index, and own rows read twice and written once.
"""

from __future__ import annotations

import os
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

from measuring import interleaved, machine, sized, table
from pugnn.datasets.planted import Planted
from pugnn.graph import Graph
from pugnn.graph.smoothing import LANES, neighbour_sums
from pugnn.graph.vectors import aligned

COPIED = sized(2**28, 2**20)  # numbers


def copy_bandwidth() -> float:
    """Return bytes read and written per second by a plain copy on all cores."""
    cores = os.cpu_count() or 1
    source, target = np.ones(COPIED, np.float32), np.empty(COPIED, np.float32)
    parts = np.linspace(0, COPIED, cores + 1).astype(int)

    def copy(at: int) -> None:
        np.copyto(target[parts[at] : parts[at + 1]], source[parts[at] : parts[at + 1]])

    def run() -> None:
        with ThreadPoolExecutor(cores) as pool:
            list(pool.map(copy, range(cores)))

    return 2 * source.nbytes / interleaved({"copy": run}, 5)["copy"]


def compare(graph: Graph, columns: int, bandwidth: float) -> list[str]:
    nodes = graph.num_nodes
    padded = -(-columns // LANES) * LANES
    h, x, out = (aligned(np.zeros, (nodes, padded), np.float32) for _ in range(3))
    h[:, :columns] = x[:, :columns] = np.random.default_rng(0).standard_normal((nodes, columns), np.float32)
    p = q = np.full(nodes, 0.5, np.float32)
    matrix, dense = graph.to_scipy(), np.ascontiguousarray(h[:, :columns])
    indptr, indices = torch.from_numpy(matrix.indptr.astype(np.int32)), torch.from_numpy(matrix.indices.copy())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sparse = torch.sparse_csr_tensor(indptr, indices, torch.from_numpy(matrix.data), size=matrix.shape)
    on_torch = torch.from_numpy(dense)
    seconds = interleaved(
        {
            "kernel": lambda: neighbour_sums(
                (graph.indptr, graph.indices, graph.weights), h, out, p=p, q=q, x=x, t=1.0
            ),
            "torch": lambda: sparse @ on_torch,
            "scipy": lambda: matrix @ dense,
        },
        3,
    )
    expected = 0.5 * (matrix[:1000] @ dense + dense[:1000]) + 0.5 * dense[:1000]
    assert np.allclose(out[:1000, :columns], expected, atol=1e-3)
    moved = len(graph.indices) * (4 * columns + 4) + 3 * 4 * nodes * columns
    rate = moved / seconds["kernel"]
    best = min(seconds["torch"], seconds["scipy"])
    return [
        f"{nodes:,}",
        f"{len(graph.indices):,}",
        f"{columns}",
        *(f"{1000 * seconds[name]:.0f}" for name in ("kernel", "torch", "scipy")),
        f"{best / seconds['kernel']:.2f}",
        f"{rate / 1e9:.1f}",
        f"{100 * rate / bandwidth:.0f} %",
    ]


def main() -> None:
    sizes = [int(float(size)) for size in sys.argv[1:]] or sized([100_000, 1_000_000, 3_000_000], [2_000])
    bandwidth = copy_bandwidth()
    print(f"{machine()}, {os.cpu_count()} cores; copy {bandwidth / 1e9:.1f} GB/s (read and written)\n")
    header = ["nodes", "entries", "columns", "kernel ms", "torch ms", "scipy ms", "times faster", "GB/s", "of copy"]
    rows = []
    for nodes in sizes:
        graph, _, _ = Planted(nodes=nodes, features=1).graph()
        rows += [compare(graph, columns, bandwidth) for columns in (33, 64)]
    print(table(header, rows))


if __name__ == "__main__":
    main()
