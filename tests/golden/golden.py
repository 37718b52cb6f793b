"""Scores of every method on Cora and features of ten tables, as digests of their bytes.

``python tests/golden/golden.py`` writes ``golden.json`` anew: do that when a result is meant to change, and say so in
the changelog.
"""

from __future__ import annotations

import csv
import hashlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from pugnn import (
    GRAB,
    LSDAN,
    NNPU,
    PUGNN,
    UPU,
    DistPU,
    LabelPropagation,
    Naive,
    PUNodeClassifier,
    draw_benchmark,
    load_dataset,
    read_graph,
)

FILE = Path(__file__).with_name("golden.json")

FITS: dict[str, dict[str, Any]] = {
    "pu-gnn": {"method": PUGNN(near_prior=0.6, far_prior=0.3)},
    "pu-gnn cross-entropy": {"method": PUGNN(supervision="cross-entropy")},
    "naive": {"method": Naive()},
    "naive balanced": {"method": Naive(balanced=True)},
    "upu": {"method": UPU(prior=0.4)},
    "nnpu": {"method": NNPU(prior=0.4)},
    "dist-pu": {"method": DistPU(prior=0.4)},
    "dist-pu full": {"method": DistPU(prior=0.4, variant="full")},
    "lsdan": {"method": LSDAN(prior=0.4)},
    "grab": {"method": GRAB(rounds=2)},
    "label-propagation": {"method": LabelPropagation(prior=0.4)},
    **{
        f"pu-gnn {name}": {"method": PUGNN(near_prior=0.6, far_prior=0.3, negatives=5), "backbone": name}
        for name in ("gcn-linear", "gat", "gin", "sage", "appnp", "mlp")
    },
}


def machine() -> str:
    """What decides the last bits of a sum besides our code."""
    return f"torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}, numpy {np.__version__}"


def score_digest(name: str, epochs: int | None = 10) -> str:
    """The scores of Cora's nodes after a short training with seed 0."""
    torch.set_num_threads(1)
    task = draw_benchmark(load_dataset("cora"), labels=27, seed=0).task
    options = FITS[name]
    if options["method"].trains:
        options = {**options, "epochs": epochs}
    classifier = PUNodeClassifier(**options, seed=0, progress=False)
    positives = np.zeros(task.graph.num_nodes, dtype=bool)
    positives[task.labelled] = True
    return _digest(classifier.fit(task.graph, positives).predict_proba())


TABLES = [
    "numbers",
    "categories",
    "booleans",
    "texts",
    "vectors",
    "counts",
    "dates",
    "mixed",
    "attributes",
    "structure",
]


def feature_digest(name: str, folder: Path) -> str:
    """The features that a table of nodes gives."""
    rng = np.random.default_rng(TABLES.index(name))
    n = 200
    ids = [f"n{i}" for i in range(n)]
    edges = folder / "edges.csv"
    _write(edges, ["source", "target"], [(ids[a], ids[b]) for a, b in rng.integers(0, n, (600, 2))])
    given: dict[str, Any] = {"edges": str(edges)}
    number = [("" if rng.random() < 0.1 else f"{value:.4g}") for value in rng.lognormal(0, 2, n)]
    whole = [str(value) for value in rng.integers(0, 90, n)]
    category = [("" if rng.random() < 0.05 else f"kind {value}") for value in rng.integers(0, 7, n)]
    boolean = [("yes", "no", "")[value] for value in rng.integers(0, 3, n)]
    words = ["loan", "paid", "late", "fraud", "shop", "travel", "card", "night"]
    text = [" ".join(words[w] for w in rng.integers(0, 8, rng.integers(3, 12))) + f" {i}" for i in range(n)]
    vector = ["[" + ", ".join(f"{v:.3f}" for v in rng.normal(size=4)) + "]" for _ in range(n)]
    counts = rng.poisson(0.05, (n, 40))
    date = [f"2021-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(n)]
    columns: dict[str, dict[str, list[Any]]] = {
        "numbers": {"amount": number, "age": whole},
        "categories": {"kind": category},
        "booleans": {"flag": boolean},
        "texts": {"note": text},
        "vectors": {"embedding": vector},
        "counts": {f"w{j}": [str(v) for v in counts[:, j]] for j in range(40)},
        "dates": {"since": date, "amount": number},
        "mixed": {"amount": number, "kind": category, "flag": boolean, "note": text, "embedding": vector},
        "attributes": {"age": whole},
    }
    if name in columns:
        nodes = folder / "nodes.csv"
        chosen = columns[name]
        _write(nodes, ["id", *chosen], zip(ids, *chosen.values(), strict=True))
        given["nodes"] = str(nodes)
    if name == "attributes":
        long = folder / "long.csv"
        rows = [(ids[i], f"w{j}", counts[i, j]) for i, j in zip(*np.nonzero(counts), strict=True)]
        _write(long, ["id", "attribute", "value"], rows)
        given["attributes"] = str(long)
    return _digest(read_graph(**given).graph.features)


def _write(path: Path, header: list[str], rows: Any) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def _digest(matrix: Any) -> str:
    arrays = [np.asarray(matrix)]
    if sp.issparse(matrix):
        matrix = sp.csr_array(matrix)
        arrays = [matrix.data, matrix.indices, matrix.indptr]
    return hashlib.sha256(b"".join(f"{a.dtype} {a.shape}".encode() + a.tobytes() for a in arrays)).hexdigest()


def record(epochs: int | None = 10) -> dict[str, Any]:
    """All digests."""
    with tempfile.TemporaryDirectory() as folder:
        features = {name: feature_digest(name, Path(folder)) for name in TABLES}
    return {"machine": machine(), "scores": {name: score_digest(name, epochs) for name in FITS}, "features": features}


if __name__ == "__main__":
    full = "--full" in sys.argv  # with every method's own number of epochs, to standard output
    text = json.dumps(record(None if full else 10), indent=1) + "\n"
    sys.stdout.write(text) if full else FILE.write_text(text)
