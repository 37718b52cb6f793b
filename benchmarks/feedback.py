"""What checking finds does for the next list: five rounds of 20 checked nodes, chosen in several ways.

    python benchmarks/feedback.py --processes 16        # data sets other than Cora need PUGNN_DATA
    python benchmarks/feedback.py --datasets cora --draws 1

The smallest class with at least 150 nodes is positive, and 20 of its nodes are known at first. In each round 20 nodes
are checked: positive ones become known positives, and the others are rejected. Then the training goes on from the last
model. How the nodes are chosen:

- precision, learning: as `pugnn suggest --for` suggests them;
- first list: the next ones of the list before any check;
- random: any.

Rejected nodes are either known negatives, or merely no longer unlabelled ("left out"). A random half of all nodes is
never checked: precision among the first 100, AUC and average precision are always those of these nodes, so that what
has been found is not missing from the list. Found are the positives among the nodes checked so far. The method is given
the true share of positives among the unlabelled nodes.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import torch
from joblib import Parallel, delayed, parallel_config
from numpy.typing import NDArray

from measuring import machine, sized, table
from pugnn import PUNodeClassifier, make_method
from pugnn.datasets import Dataset, load_dataset
from pugnn.errors import PugnnWarning
from pugnn.explain.suggest import node_rows, suggest
from pugnn.metrics import average_precision, precision_at, roc_auc
from pugnn.task import PUBenchmark, PUTask, draw_labels

DATASETS = sized(("cora", "citeseer", "cora_ml", "dblp", "amazon_cs"), ("cora",))
STRATEGIES = ("precision", "learning", "first list", "random")
MIN_NODES, KNOWN, ROUNDS, CHECKED = 150, 20, sized(5, 1), 20
EPOCHS = sized(None, 2)
Nodes = NDArray[np.int64]


def rare_class(name: str) -> Dataset:
    data = load_dataset(name)
    sizes = np.bincount(data.labels[~data.missing])
    return load_dataset(name, positive_classes=[int(np.where(sizes >= MIN_NODES, sizes, sizes.sum()).argmin())])


def choose(strategy: str, task: PUTask, model: PUNodeClassifier, first: NDArray[np.float64], seed: int) -> Nodes:
    """Which of the unlabelled nodes of a task to check."""
    if strategy == "random":
        return np.random.default_rng(seed).choice(task.unlabelled, CHECKED, replace=False)
    if strategy == "first list":
        return task.unlabelled[np.argsort(-first[task.unlabelled], kind="stable")[:CHECKED]]
    options: dict[str, Any] = {"goal": strategy, "prior": model.prior_, "threshold": model.threshold_, "seed": seed}
    rows, log_odds = node_rows(model.model_, task.graph), model.decision_function()
    found = suggest(task, model.predict_proba()[:, 1], rows, log_odds=log_odds, count=CHECKED, **options)
    return np.array([suggestion.position for suggestion in found])


def fitted(
    task: PUTask, drawn: PUBenchmark, method: str, seed: int, device: str, start: PUNodeClassifier | None
) -> PUNodeClassifier:
    share = float(drawn.positive[task.unlabelled].mean())
    method_of = make_method(method, prior=share)
    classifier = PUNodeClassifier(method_of, seed=seed, device=device, epochs=EPOCHS, progress=False)
    return classifier.fit_task(task, start=start)


def rounds(dataset: str, strategy: str, keep: bool, draw: int, method: str, device: str) -> list[tuple[float, ...]]:
    """Found so far, precision among the first 100, AUC and average precision, at first and after each round."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", PugnnWarning)
    drawn = draw_labels(rare_class(dataset), labels=KNOWN, seed=draw)
    task, positive = drawn.task, drawn.positive
    never_checked = np.sort(np.random.default_rng(draw).permutation(drawn.scored)[: len(drawn.scored) // 2])
    model = fitted(task, drawn, method, draw, device, None)
    first = model.decision_function()
    measured = []
    for number in range(ROUNDS + 1):
        if number:
            free = np.setdiff1d(np.intersect1d(task.unlabelled, drawn.scored), never_checked)
            checked = choose(strategy, replace(task, unlabelled=free), model, first, draw * ROUNDS + number)
            task = task.with_feedback(checked[positive[checked]], checked[~positive[checked]])
            used = task if keep else replace(task, negative=np.zeros(0, np.int64))
            model = fitted(used, drawn, method, draw, device, model)
        truth, scores = positive[never_checked], model.decision_function()[never_checked]
        shares = precision_at(100, truth, scores), roc_auc(truth, scores), average_precision(truth, scores)
        measured.append((float(len(task.labelled) - KNOWN), *(100 * share for share in shares)))
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--draws", type=int, default=sized(5, 1))
    parser.add_argument("--method", default="views")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    datasets = given.datasets.split(",")
    cases = list(product(datasets, STRATEGIES, (True, False), range(given.draws)))
    with parallel_config("loky", inner_max_num_threads=1):
        results = Parallel(n_jobs=given.processes)(delayed(rounds)(*case, given.method, given.device) for case in cases)
    print(machine())
    print(f"{given.method}, {given.draws} draws, {KNOWN} known positives at first, {CHECKED} checked in each round")
    places = {name: [name] for name in datasets} | ({"all data sets": datasets} if len(datasets) > 1 else {})
    for place, members in places.items():
        lines = []
        for strategy, keep in product(STRATEGIES, (True, False)):
            mine = [
                values
                for (dataset, *case, _), values in zip(cases, results, strict=True)
                if dataset in members and case == [strategy, keep]
            ]
            means = np.mean(mine, axis=0)  # by round and measure
            columns = [" ".join(f"{value:5.1f}" for value in column) for column in means.T]
            lines.append([strategy, "known negatives" if keep else "left out", *columns])
        print(f"\n{place}: at first, and after each of {ROUNDS} rounds")
        print(table(["checked", "rejected nodes are", "found", "precision@100", "AUC", "average precision"], lines))


if __name__ == "__main__":
    main()
