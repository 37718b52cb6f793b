"""Compare forecast and measured peak memory of trainings on the whole graph and in batches, each in its own process.

    python benchmarks/memory.py [NODES …]      # by default 100,000 and 1,000,000; ten minutes on two cores

Random graphs with ten neighbours and 32 dense attributes per node. The measured value is the peak resident memory over
three epochs, beyond that before the fit, with the graph and all libraries in memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import numpy as np

from measuring import machine, memory_baseline, memory_peak, sized, table
from pugnn.errors import PugnnWarning
from pugnn.graph import Graph
from pugnn.methods import NNPU, PUGNN, Method, Views
from pugnn.task import PUTask
from pugnn.training import TrainingSettings

NEIGHBOURS, ATTRIBUTES = 10, 32
CASES = [
    *(("nnpu", backbone, "whole") for backbone in ("gcn", "gcn-linear", "sage", "gat", "gin", "mlp")),
    ("pu-gnn", "gcn", "whole"),
    ("views", "mlp", "rows"),
    *(("nnpu", backbone, "4096") for backbone in ("gcn", "sage", "gat", "gin")),
    ("pu-gnn", "gcn", "4096"),
    ("pu-gnn", "gcn", "32768"),
]


def task_of(nodes: int) -> PUTask:
    rng = np.random.default_rng(0)
    features = rng.random((nodes, ATTRIBUTES), dtype=np.float32)
    graph = Graph.from_edges(*rng.integers(0, nodes, (2, nodes * NEIGHBOURS // 2)), num_nodes=nodes, features=features)
    return PUTask.from_positives(graph, np.arange(nodes // 100))


def measure(method: str, backbone: str, batch: str, nodes: str) -> None:
    """Print forecast and peak in bytes."""
    warnings.simplefilter("ignore", PugnnWarning)  # near and far nodes of random graphs
    methods: dict[str, Method] = {
        "nnpu": NNPU(prior=0.3),
        "pu-gnn": PUGNN(near_prior=0.6, far_prior=0.3),
        "views": Views(prior=0.3),
    }
    chosen = methods[method]

    def settings(size: int) -> TrainingSettings:
        sizes: dict[str, int | str] = {"whole": 2**60, "rows": "auto"}
        return TrainingSettings(backbone=backbone, epochs=3, batch_size=sizes.get(batch, size))

    chosen.fit(task_of(400), settings(64))  # libraries and kernels are loaded
    task = task_of(int(nodes))
    plan = chosen.plan(task, settings(int(batch) if batch.isdecimal() else 0))
    assert plan is not None
    before = memory_baseline()
    chosen.fit(task, settings(int(batch) if batch.isdecimal() else 0))
    print(plan.forecast.total, round((memory_peak() - before) * 2**20))


def main() -> None:
    print(machine(), "\n")
    rows, worst = [], 0.0
    for nodes in [int(text) for text in sys.argv[1:]] or sized([100_000, 1_000_000], [1000]):
        for case in sized(CASES, CASES[:1]):
            command = [sys.executable, __file__, *case, str(nodes)]
            done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ})
            forecast, measured = map(int, done.stdout.split()[-2:])
            measured = max(measured, 1)
            worst = max(worst, abs(forecast / measured - 1))
            rows.append([" ".join(case), f"{nodes:,}", f"{forecast / 1e6:.0f}", f"{measured / 1e6:.0f}"])
            rows[-1].append(f"{100 * (forecast / measured - 1):+.0f} %")
            print(*rows[-1], file=sys.stderr, flush=True)
    print(table(["method, backbone, batch", "nodes", "forecast MB", "measured MB", "error"], rows))
    print(f"Largest error: {100 * worst:.0f} %.")


if __name__ == "__main__":
    measure(*sys.argv[1:]) if len(sys.argv) > 2 and not sys.argv[1].isdecimal() else main()
