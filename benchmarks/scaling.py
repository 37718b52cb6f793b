"""Measure time and memory of one pugnn training step for 10⁴ … 10⁷ edges on the CPU, one thread.

python benchmarks/scaling.py
"""

from __future__ import annotations

import sys

import numpy as np
import torch

from implementations import DRAWS, WithPugnn
from measuring import interleaved, machine, memory_baseline, memory_peak, peak_memory_of, sized, table, tiny_task
from pugnn.graph import Graph
from pugnn.task import PUTask

EDGES = sized((10**4, 10**5, 10**6, 10**7), (10**3, 10**4))


def random_task(edges: int) -> PUTask:
    """Return a random graph with 4.5 edges per node end, as Pubmed has, and 16 dense features."""
    rng = np.random.default_rng(0)
    nodes = int(edges / 2.25)
    features = rng.random((nodes, 16), dtype=np.float32)
    graph = Graph.from_edges(*rng.integers(0, nodes, (2, edges)), features=features)
    return PUTask.from_positives(graph, np.arange(max(1, nodes // 100)))


def measure_memory(edges: str) -> None:
    torch.set_num_threads(1)
    WithPugnn(tiny_task()).step()  # libraries and kernels are loaded
    model = WithPugnn(random_task(int(edges)))
    model.inputs.gcn_adjacency  # noqa: B018 - part of the data
    before = memory_baseline()
    for _ in range(2):
        model.step()
    print(memory_peak() - before)


def main() -> None:
    torch.set_num_threads(1)
    print(machine(), f"- one thread, K = {DRAWS}, d = 16\n")
    seconds, memory, rows = [], [], []
    for edges in EDGES:
        model = WithPugnn(random_task(edges))
        seconds.append(interleaved({"step": model.step}, sized(2 if edges > 10**6 else 7, 1))["step"])
        memory.append(max(peak_memory_of(__file__, str(edges)), 0.01))
        nodes = model.graph.num_nodes
        rows.append(
            [
                f"{edges:,}",
                f"{nodes:,}",
                f"{1e3 * seconds[-1]:.1f}",
                f"{1e9 * seconds[-1] / edges:.0f}",
                f"{memory[-1]:.0f}",
                f"{1e6 * memory[-1] / nodes:.0f}",
            ]
        )
    print(table(["edges", "nodes", "ms per step", "ns per edge", "peak MB", "bytes per node"], rows))
    for name, values in (("time", seconds), ("memory", memory)):
        slope = np.polyfit(np.log(EDGES), np.log(values), 1)[0]
        last = np.log(values[-1] / values[-2]) / np.log(EDGES[-1] / EDGES[-2])
        print(f"fitted slope of log {name} over log edges: {slope:.2f} (1 is linear); of the last decade: {last:.2f}")


if __name__ == "__main__":
    measure_memory(sys.argv[1]) if len(sys.argv) > 1 else main()
