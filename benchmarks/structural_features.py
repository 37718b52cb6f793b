"""Compare structural features for a graph without attributes: PU-GNN with its defaults, 20 labels.

    python benchmarks/structural_features.py        # needs PUGNN_DATA; a quarter of an hour on one core

polblogs has no features. Those of the other graphs are used only in the last line of their table. Values are means and
standard deviations over the same 10 draws, macro-F1 and AUC of the test nodes in per cent. `width × hops` are
`pugnn.features.structure.Structure(width, hops)`. The degrees are log(1 + degree) and its mean over the neighbours,
standardised.

The second table of each graph is about new snapshots: a model is trained without 5 % of the nodes and 10 % of the edges
between the others, and scores the whole graph. It has the AUC of the nodes that are new to that model, and of the same
nodes by a model that is trained on the whole graph.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
import torch

from measuring import machine, sized, table
from pugnn import PUNodeClassifier
from pugnn.datasets import Dataset, load_dataset
from pugnn.features.structure import HOPS, WIDTH, Structure
from pugnn.graph import Graph
from pugnn.graph.arrays import Features
from pugnn.metrics import macro_f1, roc_auc
from pugnn.task import PUTask, draw_benchmark

DATASETS = sized(("polblogs", "cora", "citeseer"), ("cora",))
LABELS, DRAWS, EPOCHS = 20, *sized((10, None), (2, 1))


def degrees(graph: Graph) -> np.ndarray:
    own = np.log1p(graph.degrees)
    neighbours = graph.to_scipy() @ own / np.maximum(graph.degrees, 1)
    columns = np.stack([own, neighbours], axis=1)
    return ((columns - columns.mean(axis=0)) / columns.std(axis=0)).astype(np.float32)


SIZES = sized(((32, 3), (32, 10), (32, 40), (32, 80), (32, 160), (16, 80), (64, 80)), ((32, 80),))
CHOSEN = f"{WIDTH} × {HOPS}"
VARIANTS: dict[str, Callable[[Graph], Features]] = {
    "a constant": lambda graph: np.ones((graph.num_nodes, 1), dtype=np.float32),
    "degrees": degrees,
    **{f"{width} × {hops}": Structure(width, hops).encode for width, hops in SIZES},
    f"{CHOSEN} and degrees": lambda graph: np.hstack([Structure().encode(graph), degrees(graph)]),
    "its own features": lambda graph: graph.features,
}


def scores(task: PUTask, whole: Graph, seed: int) -> np.ndarray:
    """Return the scores of all nodes of a graph by a model that is trained on the task."""
    classifier = PUNodeClassifier("pu-gnn", seed=seed, epochs=EPOCHS, progress=False).fit_task(task)
    return classifier.predict_proba(whole)[:, 1]


def quality(data: Dataset, features: Features) -> list[str]:
    graph = replace(data.graph, features=features)
    f1, auc = [], []
    for draw in range(DRAWS):
        benchmark = draw_benchmark(data, labels=LABELS, seed=draw)
        found = scores(replace(benchmark.task, graph=graph), graph, draw)[benchmark.scored]
        truth = benchmark.positive[benchmark.scored]
        f1.append(macro_f1(truth, found >= 0.5))
        auc.append(roc_auc(truth, found))
    return [spread(f1), spread(auc)]


def on_new_nodes(data: Dataset, make: Callable[[Graph], Features]) -> list[str]:
    whole = replace(data.graph, features=make(data.graph))
    earlier, later = [], []
    for draw in range(DRAWS):
        benchmark = draw_benchmark(data, labels=LABELS, seed=draw)
        rng = np.random.default_rng(draw)
        new = rng.choice(benchmark.scored, round(0.05 * whole.num_nodes), replace=False)
        kept = np.setdiff1d(np.arange(whole.num_nodes), new)
        pairs = sp.triu(data.graph.to_scipy()[kept][:, kept]).tocoo()
        some = rng.random(pairs.nnz) < 0.9
        old = Graph.from_edges(
            pairs.row[some], pairs.col[some], num_nodes=len(kept), features=data.graph.features[kept]
        )
        old = replace(old, ids=data.graph.ids[kept])
        old = replace(old, features=make(old))
        task = PUTask.from_positives(old, np.searchsorted(kept, benchmark.task.labelled))
        truth = benchmark.positive[new]
        earlier.append(roc_auc(truth, scores(task, whole, draw)[new]))
        later.append(roc_auc(truth, scores(replace(benchmark.task, graph=whole), whole, draw)[new]))
    return [spread(earlier), spread(later)]


def spread(values: list[float]) -> str:
    return f"{100 * np.mean(values):.1f} ± {100 * np.std(values, ddof=1):.1f}"


def main() -> None:
    torch.set_num_threads(1)
    print(machine(), f"- {LABELS} labels, {DRAWS} draws")
    for name in sys.argv[1:] or DATASETS:
        data = load_dataset(name)
        variants = {key: make for key, make in VARIANTS.items() if data.graph.num_features or "own" not in key}
        rows = []
        for key, make in variants.items():
            rows.append([key, *quality(data, make(data.graph))])
            print(name, *rows[-1], file=sys.stderr, flush=True)
        print("\n" + table([name, "macro-F1", "AUC"], rows))
        compared = [key for key in (CHOSEN, "its own features") if key in variants]
        later = [[key, *on_new_nodes(data, variants[key])] for key in compared]
        print("\n" + table([f"{name}, AUC of new nodes", "trained before", "trained on all"], later), flush=True)


if __name__ == "__main__":
    main()
