"""Scores of every method on Cora after a short training, and features of ten tables, as they were recorded.

``python tests/golden/golden.py`` writes ``golden.json`` anew: do that when a result is meant to change, and say so in
the changelog.

Machines round differently, so a recorded value is compared with a tolerance. Each is at least ten times what rounding
moves (``make test-elsewhere``) and a tenth of what a changed formula does (``scripts/mutations.py``).
"""

from __future__ import annotations

import csv
import json
import re
import tempfile
from dataclasses import replace
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
    Centroid,
    DistPU,
    Graph,
    GraphAny,
    LabelPropagation,
    Naive,
    PUNodeClassifier,
    SmoothedLogistic,
    Views,
    draw_benchmark,
    load_dataset,
    read_graph,
)
from pugnn_paper.variants import PUGNNVariant

FILE = Path(__file__).with_name("golden.json")

EPOCHS = 10
NODES = 64
PROJECTIONS = 16

FITS: dict[str, dict[str, Any]] = {
    "pu-gnn": {"method": PUGNN(near_prior=0.6, far_prior=0.3)},
    "pu-gnn cross-entropy": {"method": PUGNNVariant(supervision="cross-entropy")},
    "naive": {"method": Naive()},
    "naive balanced": {"method": Naive(balanced=True)},
    "upu": {"method": UPU(prior=0.4)},
    "nnpu": {"method": NNPU(prior=0.4)},
    "nnpu ascent": {"method": NNPU(prior=0.99)},  # with so high a prior the risk of negatives soon falls below zero
    "dist-pu": {"method": DistPU(prior=0.4)},
    "dist-pu full": {"method": DistPU(prior=0.4, variant="full")},
    "lsdan": {"method": LSDAN(prior=0.4), "learning_rate": 0.1},  # fast enough for its attention to matter
    "grab": {"method": GRAB(rounds=2), "learning_rate": 0.05},
    "label-propagation": {"method": LabelPropagation(prior=0.4)},
    "label-propagation walk": {"method": LabelPropagation(prior=0.4, normalisation="walk")},
    "graphany": {"method": GraphAny(prior=0.4)},
    "views": {"method": Views()},
    "views rewired": {"method": Views(), "rewired": True},  # its own attributes count, too, where links say little
    "centroid": {"method": Centroid()},
    # A stronger penalty than the usual one: the solver converges, and where it stops does not depend on rounding.
    "smoothed-logistic": {"method": SmoothedLogistic(inverse_penalty=0.1)},
    "pu-gnn regulariser": {"method": PUGNN(near_prior=0.6, far_prior=0.3, alpha=1.0, negatives=5)},
    "pu-gnn exact": {
        "method": PUGNNVariant(near_prior=0.6, far_prior=0.3, alpha=1.0, negatives=5, expectation="exact")
    },
    "pu-gnn batches": {"method": PUGNN(near_prior=0.6, far_prior=0.3, alpha=1.0, negatives=5), "batch_size": 512},
    **{
        f"pu-gnn {name}": {"method": PUGNN(near_prior=0.6, far_prior=0.3, negatives=5), "backbone": name}
        for name in ("gcn-linear", "gat", "sage", "appnp", "mlp")
    },
    # With the usual rate a unit of the network comes so close to zero that rounding decides whether it is active.
    "pu-gnn gin": {
        "method": PUGNN(near_prior=0.6, far_prior=0.3, negatives=5),
        "backbone": "gin",
        "learning_rate": 0.003,
    },
    **{
        f"{method.name} negatives": {"method": method, "with_negatives": True}
        for method in (PUGNN(near_prior=0.6, far_prior=0.3), UPU(0.4), DistPU(0.4), LabelPropagation(0.4), Views())
    },
}


#: The default's solver stops where rounding lets it, which moves its scores ten times as far as those of a network.
LOOSER = {name: 10 for name in FITS if name.startswith("views")}


def fit(name: str, rounding: int = 0) -> dict[str, Any]:
    """What a training with seed 0 gives: scores of some of Cora's nodes, and figures of the whole.

    With a number for ``rounding``, the last bit of each feature is drawn by it, as another machine might round.
    """
    torch.set_num_threads(1)
    task = draw_benchmark(load_dataset("cora"), labels=27, seed=0).task
    options = {"epochs": EPOCHS, **FITS[name]} if FITS[name]["method"].trains else dict(FITS[name])
    graph = _rewired(task.graph) if options.pop("rewired", False) else task.graph
    if rounding:
        graph = _rounded(graph, rounding)
    rejected = task.unlabelled[::100] if options.pop("with_negatives", False) else []
    positives, negatives = (np.isin(np.arange(graph.num_nodes), nodes) for nodes in (task.labelled, rejected))
    classifier = PUNodeClassifier(**options, seed=0, progress=False).fit(graph, positives, negatives=negatives)
    scores = classifier.predict_proba()[:, 1]
    last = classifier.log_[-1] if classifier.log_ else {}
    return {
        "scores": scores[:: len(scores) // NODES].tolist(),
        "mean": scores.mean(),
        "spread": scores.std(),
        "prior": classifier.prior_,
        **{f"term {term}": value for term, value in last.items() if term not in ("epoch", "seconds")},
    }


def _rewired(graph: Graph) -> Graph:
    """As many links, between other nodes."""
    once = graph.sources < graph.indices
    return Graph.from_edges(graph.sources[once], graph.indices[once][::-1], features=graph.features)


def _rounded(graph: Graph, seed: int) -> Graph:
    """The same graph, its features moved by one unit in the last place, or not."""
    features = graph.features.copy()
    towards = np.random.default_rng(seed).choice(np.float32([0, 2]), len(features.data))
    features.data = np.nextafter(features.data, towards)
    return replace(graph, features=features)


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


def features(name: str, folder: Path) -> dict[str, Any]:
    """What is recorded of the features that a table of nodes gives."""
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
    return _summary(read_graph(**given).graph.features)


def _write(path: Path, header: list[str], rows: Any) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def _summary(matrix: Any) -> dict[str, Any]:
    """Its size, and sums over all entries with random signs, which any change of an entry changes."""
    matrix = sp.csr_array(matrix, dtype=np.float64)
    rng = np.random.default_rng(0)
    left, right = (2.0 * rng.integers(0, 2, (PROJECTIONS, size)) - 1 for size in matrix.shape)
    return {
        "shape": list(matrix.shape),
        "nonzero": int(matrix.count_nonzero()),
        "length": np.sqrt((matrix.data**2).sum()),
        "sums": ((left @ matrix) * right).sum(axis=1).tolist(),
    }


def found(name: str) -> dict[str, Any]:
    """The values of a training or a table today."""
    if name in FITS:
        return fit(name)
    with tempfile.TemporaryDirectory() as folder:
        return features(name, Path(folder))


def too_far(name: str) -> dict[str, float]:
    """How far values are from those recorded, in units of what rounding may move, where that is more than 1."""
    return differences(name, json.loads(FILE.read_text())[name], found(name))


def differences(name: str, recorded: dict[str, Any], now: dict[str, Any]) -> dict[str, float]:
    """Values that differ by more than rounding may move them, in units of that."""
    if recorded.keys() != now.keys():
        return {"names of the values": np.inf}
    far = {}
    for key, value in recorded.items():
        off = np.abs(np.subtract(now[key], value)) if np.shape(now[key]) == np.shape(value) else np.inf
        far[key] = float(np.max(off / _tolerance(key, recorded))) / LOOSER.get(name, 1)
    return {key: times for key, times in far.items() if not times <= 1}  # not a number is too far


def _tolerance(key: str, recorded: dict[str, Any]) -> Any:
    if key in ("shape", "nonzero"):
        return 0.5
    if "length" in recorded:  # of features
        return 1e-6 * recorded["length"]
    return max(1e-5, 1e-4 * abs(recorded[key])) if key.startswith("term ") else 1e-4


if __name__ == "__main__":
    rows = [f' "{name}": {json.dumps(found(name))}' for name in (*FITS, *TABLES)]
    short = re.sub(r"\d+\.\d{7,}(e-?\d+)?", lambda digits: f"{float(digits[0]):.7g}", ",\n".join(rows))
    FILE.write_text(f"{{\n{short}\n}}\n")
