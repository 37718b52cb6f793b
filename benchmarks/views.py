"""What the default method costs: whole fits on Cora and Pubmed beside PU-GNN's, and growth with the number of edges.

    python benchmarks/views.py        # Pubmed needs PUGNN_DATA; five minutes on two cores

A fit is everything from the graph to the scores of all nodes: views, hidden positives, training and blend. The
synthetic graphs have ten random edges per node and 32 dense attributes; 30 nodes are known positives.
"""

from __future__ import annotations

import resource
import time

import numpy as np

from measuring import machine, sized, table
from pugnn import Graph, PUNodeClassifier
from pugnn.data import load_dataset
from pugnn.errors import PugnnError
from pugnn.task import draw_benchmark

SIZES = sized((10_000, 100_000, 1_000_000), (200, 400))
EPOCHS = sized(None, 2)
EDGES_PER_NODE, ATTRIBUTES, KNOWN = 10, 32, 30


def seconds(graph: Graph, known: np.ndarray, method: str) -> float:
    started = time.perf_counter()
    PUNodeClassifier(method, epochs=EPOCHS, progress=False).fit(graph, np.isin(np.arange(graph.num_nodes), known))
    return time.perf_counter() - started


def random_graph(nodes: int) -> Graph:
    rng = np.random.default_rng(0)
    ends = rng.integers(0, nodes, (2, EDGES_PER_NODE * nodes))
    features = rng.normal(size=(nodes, ATTRIBUTES)).astype(np.float32)
    return Graph.from_edges(*ends[:, ends[0] != ends[1]], num_nodes=nodes, features=features)


def main() -> None:
    print(machine())
    rows = []
    for name in sized(("cora", "pubmed"), ("cora",)):
        try:
            task = draw_benchmark(load_dataset(name), label_ratio=0.005, seed=0).task
        except PugnnError:
            continue  # not in PUGNN_DATA, and not to be had
        for method in ("views", "pu-gnn"):
            seconds(task.graph, task.labelled, method)  # compiles kernels
            found = sorted(seconds(task.graph, task.labelled, method) for _ in range(3))[1]
            rows.append([name, method, f"{found:.1f}"])
    print(table(["data set", "method", "seconds, median of 3"], rows))
    rows, times, edges = [], [], []
    for nodes in SIZES:
        graph = random_graph(nodes)
        edges.append(graph.num_edges)
        times.append(seconds(graph, np.arange(KNOWN), "views"))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        rows.append([f"{nodes:,}", f"{graph.num_edges:,}", f"{times[-1]:.1f}", f"{peak:.1f}"])
    print(table(["nodes", "edges", "seconds", "peak of the process so far, GiB"], rows))
    slope = np.log(times[-1] / times[-2]) / np.log(edges[-1] / edges[-2])
    print(f"From {edges[-2]:,} to {edges[-1]:,} edges, time grows like edges to the power {slope:.2f}.")


if __name__ == "__main__":
    main()
