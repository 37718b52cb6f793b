"""Time one training step on the CPU, one thread: PyG, plain PyTorch and pugnn, interleaved in one run.

python benchmarks/step.py            # Pubmed and Cora; needs PUGNN_DATA or a network for Pubmed
"""

from __future__ import annotations

import sys

import torch

from implementations import DRAWS, IMPLEMENTATIONS
from measuring import (
    interleaved,
    machine,
    memory_baseline,
    memory_peak,
    peak_gflops,
    peak_memory_of,
    sized,
    table,
    tiny_task,
)
from pugnn.datasets import load_dataset
from pugnn.task import PUTask, draw_benchmark

ROUNDS = sized(7, 1)


def task_of(name: str) -> PUTask:
    return draw_benchmark(load_dataset(name), label_ratio=0.01, seed=0).task


def measure_memory(implementation: str, name: str) -> None:
    torch.set_num_threads(1)
    IMPLEMENTATIONS[implementation](tiny_task()).step()  # libraries and kernels are loaded, nothing large is held
    model = IMPLEMENTATIONS[implementation](task_of(name))
    before = memory_baseline()
    for _ in range(2):
        model.step()
    print(memory_peak() - before)


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    print(machine(), "- one thread; medians of", ROUNDS, "interleaved rounds")
    peak = peak_gflops()
    for name in sized(("cora", "pubmed"), ("cora",)):
        task = task_of(name)
        models = {key: build(task) for key, build in IMPLEMENTATIONS.items()}
        pairs = len(task.graph.indices) * DRAWS
        print(f"\n{name}: {task.graph}, K = {DRAWS}, d = 16, {pairs:,} drawn pairs per step\n")
        z = torch.randn(task.graph.num_nodes, 16) * 0.3
        with torch.no_grad():
            values = {key: model.regulariser(z).item() for key, model in models.items()}
        print("same regulariser on the same embedding:", ", ".join(f"{k} {v:.4f}" for k, v in values.items()), "\n")

        def regulariser(model, z=z):
            leaf = z.clone().requires_grad_()
            model.regulariser(leaf).backward()

        def network(model):
            model.train()
            model.zero_grad()
            model.network()[1].sum().backward()

        rows = []
        for what, run in (("whole step", lambda m: m.step()), ("regulariser", regulariser), ("GCN", network)):
            seconds = interleaved({key: (lambda m=m, run=run: run(m)) for key, m in models.items()}, ROUNDS)
            rows += [
                [f"{what}, {key}", f"{1e3 * s:.1f}", f"{seconds['PyG'] / s:.1f}", f"{seconds['plain PyTorch'] / s:.1f}"]
                for key, s in seconds.items()
            ]
            if what == "regulariser":
                ours = seconds["pugnn"]
        print(table(["", "ms", "times faster than PyG", "than plain PyTorch"], rows))

        memory = {key: peak_memory_of(__file__, key, name) for key in IMPLEMENTATIONS}
        print(
            "\npeak memory of a step above the model and its data, MB:",
            ", ".join(f"{key} {value:.1f}" for key, value in memory.items()),
        )

        # Per pair: a product of 16 (32 flops), gradients at both ends (64), the sigmoid and its slope (about 26).
        flops = pairs * (32 + 64 + 26)
        floor = flops / (peak * 1e9)
        print(
            f"roofline of the regulariser: {flops / 1e9:.2f} GFLOP at this core's {peak:.0f} GFLOP/s (matrix product) "
            f"= {1e3 * floor:.1f} ms; measured {1e3 * ours:.1f} ms, {100 * floor / ours:.0f} % of it. Bytes: "
            f"{task.graph.num_nodes * 64 / 1e6:.1f} MB of embeddings and as much of gradients, read and written "
            f"{pairs * 192 / 1e6:.0f} MB in rows of 64 bytes out of the caches"
        )


if __name__ == "__main__":
    measure_memory(*sys.argv[1:]) if len(sys.argv) > 1 else main()
