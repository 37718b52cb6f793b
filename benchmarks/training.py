"""Time whole PU-GNN trainings (200 epochs) on the four data sets, one thread: PyG, plain PyTorch and pugnn.

    python benchmarks/training.py        # needs PUGNN_DATA; about a quarter of an hour

PyG is timed over a few epochs and scaled. Macro-F1 is on the same draws for plain PyTorch and pugnn, with 27 labels on
Cora, 33 on Citeseer, 197 on Pubmed and 177 on DBLP (label ratio 0.01 of all nodes).
"""

from __future__ import annotations

import sys
import time

import numpy as np
import torch

from implementations import IMPLEMENTATIONS
from measuring import machine, sized, table
from pugnn.datasets import load_dataset
from pugnn.metrics import macro_f1
from pugnn.task import draw_benchmark

EPOCHS, PYG_EPOCHS = sized((200, 4), (3, 2))
DRAWS = sized({"cora": 5, "citeseer": 5, "pubmed": 1, "dblp": 1}, {"cora": 2})


def main() -> None:
    torch.set_num_threads(1)
    print(machine(), "- one thread;", EPOCHS, f"epochs, PyG timed over {PYG_EPOCHS} and scaled\n")
    rows = []
    for name, draws in DRAWS.items():
        data = load_dataset(name)
        seconds: dict[str, list[float]] = {key: [] for key in IMPLEMENTATIONS}
        scores: dict[str, list[float]] = {key: [] for key in IMPLEMENTATIONS}
        for draw in range(draws):
            benchmark = draw_benchmark(data, label_ratio=0.01, seed=draw)
            for key, build in IMPLEMENTATIONS.items():
                epochs = PYG_EPOCHS if key == "PyG" else EPOCHS
                torch.manual_seed(draw)
                model = build(benchmark.task)
                model.step()  # kernels are compiled, caches are warm
                started = time.perf_counter()
                for _ in range(epochs - 1):
                    model.step()
                seconds[key].append((time.perf_counter() - started) * EPOCHS / (epochs - 1))
                decided = model.scores() >= 0.5
                scores[key].append(100 * macro_f1(benchmark.positive[benchmark.scored], decided[benchmark.scored]))
        ours = np.median(seconds["pugnn"])
        for key in IMPLEMENTATIONS:
            spread = f" ± {np.std(scores[key], ddof=1):.1f}" if draws > 1 else ""
            result = "-" if key == "PyG" else f"{np.mean(scores[key]):.1f}{spread}"
            mine = np.median(seconds[key])
            rows.append([f"{name}, {key}", str(draws), f"{mine:.1f}", f"{mine / ours:.1f}", result])
            print(*rows[-1], file=sys.stderr, flush=True)
    print("\n" + table(["", "draws", "seconds", "times pugnn's", "macro-F1"], rows))


if __name__ == "__main__":
    main()
