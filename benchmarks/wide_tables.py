"""Measure how fast tables with thousands of mostly zero columns are read, and what is made of them.

    python benchmarks/wide_tables.py        # needs pandas, and PUGNN_DATA for Citeseer; ten minutes on one core

The first table times `read_graph` on CSV, from the file to the graph with its features, each in its own process. Beside
it is pandas, which reads the same node table and does nothing else. The last line is an ordinary table: 40 columns of
numbers, 5 of truth values, 3 of categories, 2 of dates.

The second table is why counts are used as they are: average precision of the unlabelled nodes in per cent, 27 known
positives, mean and standard deviation over the same 10 draws, with the words of two citation networks as 0 and 1.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from measuring import machine, memory_baseline, memory_peak, sized, table
from pugnn import PUNodeClassifier, draw_benchmark, load_dataset, make_method, read_graph
from pugnn.metrics import average_precision
from pugnn_paper.datasets import binarise

SIZES = sized(((890, 2_325, 0.012), (7_575, 12_047, 0.005)), ())
ORDINARY = sized(1_000_000, 1_000)  # nodes
LABELS, DRAWS, EPOCHS = 27, *sized((10, None), (1, 1))


def write_tables(folder: Path) -> list[str]:
    """Write node tables and edges; return their names."""
    rng = np.random.default_rng(0)
    names = []
    for nodes, columns, share in SIZES:
        cells = np.where(rng.random((nodes, columns)) < share, rng.integers(1, 4, (nodes, columns)), 0)
        frame = pd.DataFrame(cells, columns=[f"w_{at}" for at in range(columns)])
        names.append(f"{nodes:,} x {columns:,}")
        _write(folder / names[-1], frame, rng)
    nodes = ORDINARY
    columns = {f"x{at}": rng.normal(size=nodes).round(4) for at in range(30)}
    columns |= {f"k{at}": rng.integers(0, 1000, nodes) for at in range(10)}
    columns |= {f"b{at}": rng.integers(0, 2, nodes) for at in range(5)}
    columns |= {f"c{at}": rng.choice(["red", "green", "blue", "grey"], nodes) for at in range(3)}
    columns |= {f"d{at}": np.datetime64("2020-01-01") + rng.integers(0, 1000, nodes) for at in range(2)}
    names.append(f"{nodes:,} x {len(columns)}")
    _write(folder / names[-1], pd.DataFrame(columns), rng)
    return names


def _write(path: Path, frame: pd.DataFrame, rng: np.random.Generator) -> None:
    path.mkdir()
    frame.insert(0, "id", [f"n{at}" for at in range(len(frame))])
    frame.to_csv(path / "nodes.csv", index=False)
    source, target = frame["id"].to_numpy()[rng.integers(0, len(frame), (2, 2 * len(frame)))]
    pd.DataFrame({"source": source, "target": target}).to_csv(path / "edges.csv", index=False)


def measure(path: Path, reader: str) -> None:
    """Print seconds and peak MB."""
    read_graph([("a", "b")], {"id": ["a", "b"], "x": [1, 2]})  # libraries and kernels are loaded
    memory_baseline()
    began = time.perf_counter()
    pd.read_csv(path / "nodes.csv") if reader == "pandas" else read_graph(path / "edges.csv", path / "nodes.csv")
    print(f"{time.perf_counter() - began:.1f}", f"{memory_peak():.0f}", sep="\t")


def print_times() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in write_tables(Path(folder)):
            for reader in sized(("pugnn", "pandas"), ("pugnn",)):
                command = [sys.executable, __file__, str(Path(folder) / name), reader]
                # The first run may have to compile a kernel.
                runs = [
                    subprocess.run(command, capture_output=True, text=True, check=True).stdout
                    for _ in range(sized(2, 1))
                ]
                megabytes = (Path(folder) / name / "nodes.csv").stat().st_size / 1e6
                rows.append([name, f"{megabytes:.0f}", reader, *runs[-1].strip().split("\t")])
    print(table(["nodes x columns", "MB of CSV", "read by", "seconds", "peak MB"], rows), "\n")


def print_precision() -> None:
    rows = []
    for dataset in sized(("cora", "citeseer"), ("cora",)):
        data = load_dataset(dataset)
        words = binarise(data.graph.features)
        lengths = np.sqrt(np.maximum(words.sum(axis=1), 1))
        dense = words.toarray()
        variants = {
            "as they are, rows of length one": (words.multiply(1 / lengths[:, None])).tocsr().astype(np.float32),
            "0 and 1": words,
            "columns standardised": (dense - dense.mean(axis=0)) / np.maximum(dense.std(axis=0), 1e-9),
        }
        for name, features in variants.items():
            graph = replace(data.graph, features=features)
            cells = [dataset, name]
            for method in ("pu-gnn", "dist-pu"):
                found = [_precision(replace(data, graph=graph), method, seed) for seed in range(DRAWS)]
                cells.append(f"{100 * np.mean(found):.1f} ± {100 * np.std(found):.1f}")
            rows.append(cells)
    print(table(["data set", "words", "pu-gnn", "dist-pu, true prior"], rows))


def _precision(data, method: str, seed: int) -> float:
    drawn = draw_benchmark(data, labels=LABELS, seed=seed)
    unlabelled = drawn.task.unlabelled
    options = {"prior": float(drawn.positive[unlabelled].mean())} if method == "dist-pu" else {}
    classifier = PUNodeClassifier(make_method(method, **options), seed=seed, epochs=EPOCHS, progress=False)
    classifier.fit(data.graph, data.graph.ids[drawn.task.labelled])
    return average_precision(drawn.positive[unlabelled], classifier.predict_proba()[unlabelled, 1])


def main() -> None:
    torch.set_num_threads(1)
    print(machine(), "\n")
    print_times()
    print_precision()


if __name__ == "__main__":
    measure(Path(sys.argv[1]), sys.argv[2]) if len(sys.argv) > 2 else main()
