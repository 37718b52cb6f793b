"""What checking finds does for the next list: rounds of 20 checked nodes, chosen in several ways.

    python benchmarks/feedback.py --processes 16        # data sets other than Cora need PUGNN_DATA
    python benchmarks/feedback.py --datasets cora --draws 1

The smallest class with at least 150 nodes is positive, and 20 of these are known at first. In each of five rounds 20 unlabelled nodes are checked: those that are positive become
known positives, and the others are rejected. Then the model is trained again. How the nodes are chosen:

- precision: those that score highest now;
- learning: those whose answer should teach most;
- first list: the next ones of the list before any check;
- random: any.

A rejected node is either a known negative, or merely no longer unlabelled ("left out"). Half of the nodes, at random, are
never checked: AUC and average precision are those of the same nodes after every round. Precision among the first 100 is
that of all nodes that are not known yet. The true share of positives among the unlabelled nodes is given.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import torch
from joblib import Parallel, delayed, parallel_config
from numpy.typing import NDArray

from measuring import machine, table
from pugnn import PUNodeClassifier, make_method
from pugnn.data import Dataset, load_dataset
from pugnn.errors import PugnnWarning
from pugnn.metrics import average_precision, precision_at, roc_auc
from pugnn.task import PUBenchmark, PUTask, draw_labels

DATASETS = ("cora", "citeseer", "cora_ml", "dblp", "amazon_cs")
#: Nodes that a positive class needs.
LEAST_NODES = 150
KNOWN, ROUNDS, CHECKED = 20, 5, 20
Nodes = NDArray[np.int64]
#: From the task, its scores, the scores of the first list, the nodes that may be checked and a seed to those to check.
Choose = Callable[[PUTask, NDArray[np.float64], NDArray[np.float64], Nodes, int], Nodes]


def highest(scores: NDArray[np.float64], nodes: Nodes) -> Nodes:
    return nodes[np.argsort(-scores[nodes], kind="stable")[:CHECKED]]


def learning(task: PUTask, scores: NDArray[np.float64], first: NDArray[np.float64], nodes: Nodes, seed: int) -> Nodes:
    """Half of them likely positives and half border cases, no two of which are neighbours."""
    doubtful = nodes[np.argsort(np.abs(scores[nodes] - 0.5), kind="stable")]
    chosen: list[int] = []
    for node in doubtful.tolist():
        if not np.isin(task.graph.neighbours(node), chosen).any():
            chosen.append(node)
        if len(chosen) == CHECKED:
            break
    return np.array(chosen)


STRATEGIES: dict[str, Choose] = {
    "precision": lambda task, scores, first, nodes, seed: highest(scores, nodes),
    "learning": learning,
    "first list": lambda task, scores, first, nodes, seed: highest(first, nodes),
    "random": lambda task, scores, first, nodes, seed: np.random.default_rng(seed).choice(nodes, CHECKED, False),
}


def rare_class(name: str) -> Dataset:
    data = load_dataset(name)
    sizes = np.bincount(data.labels[~data.missing])
    return load_dataset(name, positive_classes=[int(np.where(sizes >= LEAST_NODES, sizes, sizes.sum()).argmin())])


def fitted(task: PUTask, drawn: PUBenchmark, method: str, seed: int) -> NDArray[np.float64]:
    share = float(drawn.positive[task.unlabelled].mean())
    classifier = PUNodeClassifier(make_method(method, prior=share), seed=seed, progress=False)
    return classifier.fit_task(task).predict_proba()[:, 1]


def rounds(dataset: str, strategy: str, keep: bool, draw: int, method: str) -> list[tuple[float, ...]]:
    """Found so far, precision among the first 100, AUC and average precision, before and after each round."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", PugnnWarning)
    drawn = draw_labels(rare_class(dataset), labels=KNOWN, seed=draw)
    task, positive = drawn.task, drawn.positive
    never_checked = np.sort(np.random.default_rng(draw).permutation(drawn.scored)[: len(drawn.scored) // 2])
    scores = first = fitted(task, drawn, method, draw)
    rejected = np.zeros(0, np.int64)
    measured = []
    for number in range(ROUNDS + 1):
        if number:
            free = np.setdiff1d(np.intersect1d(task.unlabelled, drawn.scored), never_checked)
            checked = STRATEGIES[strategy](task, scores, first, free, draw * ROUNDS + number)
            rejected = np.union1d(rejected, checked[~positive[checked]])
            known = np.union1d(task.labelled, checked[positive[checked]])
            task = drawn.task.with_feedback(known, rejected)
            scores = fitted(task if keep else without_negatives(task), drawn, method, draw)
        free = np.intersect1d(task.unlabelled, drawn.scored)
        measured.append(
            (
                float(len(task.labelled) - KNOWN),
                100 * precision_at(100, positive[free], scores[free]),
                100 * roc_auc(positive[never_checked], scores[never_checked]),
                100 * average_precision(positive[never_checked], scores[never_checked]),
            )
        )
    return measured


def without_negatives(task: PUTask) -> PUTask:
    return replace(task, negative=np.zeros(0, np.int64))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--method", default="views")
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    datasets = given.datasets.split(",")
    cases = list(product(datasets, STRATEGIES, (True, False), range(given.draws)))
    with parallel_config("loky", inner_max_num_threads=1):
        found = Parallel(n_jobs=given.processes)(delayed(rounds)(*case, given.method) for case in cases)
    results = dict(zip(cases, found, strict=True))
    print(machine())
    print(f"{given.method}, {given.draws} draws, {KNOWN} known positives at first, {CHECKED} checked in each round")
    for place in (*datasets, *(["all data sets"] if len(datasets) > 1 else [])):
        lines = []
        for strategy, keep in product(STRATEGIES, (True, False)):
            mine = [
                values
                for (dataset, *case, _), values in results.items()
                if dataset in (place, *(datasets if place == "all data sets" else [])) and case == [strategy, keep]
            ]
            means = np.mean(mine, axis=0)  # by round and measure
            columns = [" ".join(f"{value:5.1f}" for value in means[:, at]) for at in range(means.shape[1])]
            lines.append([strategy, "known negatives" if keep else "left out", *columns])
        print(f"\n{place}: at first, and after each of {ROUNDS} rounds")
        print(table(["checked", "rejected nodes are", "found", "precision@100", "AUC", "average precision"], lines))


if __name__ == "__main__":
    main()
