"""How often paired verdicts between methods are given, and how often they are right, on data whose truth is known.

    python benchmarks/paired.py --processes 2 --rankings paired-rankings     # needs PUGNN_DATA; an hour of two cores
    python benchmarks/paired.py --rankings paired-rankings --seconds 0       # again on the rankings that are there
    python benchmarks/paired.py --datasets cora --draws 1

On each graph the largest class is positive (common), then the smallest one with at least 150 nodes (rare); 30 known
positives are drawn at random. Where there is nothing to find, all positives are nodes drawn at random. Every pair of
methods is compared, by hidden positives alone and with those among 20 or 40 nodes audited in the ranking of the first.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import torch
from joblib import Parallel, delayed, parallel_config

from measuring import machine, sized, table
from pugnn import PUNodeClassifier, evaluate
from pugnn.errors import PugnnWarning
from pugnn.task import draw_labels
from pugnn_paper.cells import named_dataset
from trust import class_of, random_known

DATASETS = sized(
    ["cora", "citeseer", "cora_ml", "polblogs", "squirrel_filtered", "twitch_de", "dblp", "pubmed", "tolokers"],
    ["cora"],
)
METHODS = sized(
    ["views", "centroid", "smoothed-logistic", "label-propagation", "graphany", "nnpu"],
    ["centroid", "label-propagation"],
)
#: Graphs that are small enough to train a network six times.
WITH_NETWORKS = {"cora", "citeseer", "cora_ml", "polblogs"}
LABELS = 30

Case = tuple[str, str, int]


def rank(dataset: str, kind: str, draw: int, method: str, file: Path) -> None:
    """Keep where a method ranks hidden positives, and its scores of the unlabelled nodes with the truth."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", PugnnWarning)
    data = named_dataset(dataset, (class_of(dataset, "common" if kind == "random" else kind),))
    if kind == "random":
        task = random_known(data, LABELS, 1.0, draw)
        others = np.random.default_rng(draw).permutation(task.unlabelled)
        positive = np.isin(np.arange(data.graph.num_nodes), others[: data.positive.sum() - LABELS])
    else:
        benchmark = draw_labels(data, labels=LABELS, seed=draw)
        task, positive = benchmark.task, benchmark.positive
    classifier = PUNodeClassifier(method, seed=draw, progress=False).fit_task(task)
    found = evaluate(classifier, task)
    if found is None:
        return
    with file.open("wb") as content:
        np.savez_compressed(
            content,
            ranks=found.ranks,
            scores=classifier.decision_function()[task.unlabelled],
            positive=positive[task.unlabelled],
            decided=int((classifier.predict()[task.unlabelled] == 1).sum()),
            prior=classifier.prior_,
        )


def cases(datasets: list[str], draws: int) -> Iterator[Case]:
    for draw in range(draws):
        for dataset in datasets:
            yield dataset, "common", draw
            if class_of(dataset, "rare") != class_of(dataset, "common"):
                yield dataset, "rare", draw
            yield dataset, "random", draw


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--datasets", default=",".join(DATASETS))
    options.add_argument("--draws", type=int, default=sized(3, 1))
    options.add_argument("--processes", type=int, default=1)
    options.add_argument("--rankings", type=Path, default=Path("paired-rankings"), help="folder to keep rankings in")
    options.add_argument("--seconds", type=float, default=float("inf"), help="make no more rankings after so many")
    given = options.parse_args()
    print(machine())
    given.rankings.mkdir(exist_ok=True)
    started = time.time()

    def make(case: Case, method: str) -> None:
        file = given.rankings / f"{'+'.join(map(str, (*case, method)))}.npz"
        if not file.exists() and time.time() - started < given.seconds:
            at = time.time()
            rank(*case, method, file)
            print(case, method, round(time.time() - at, 1), flush=True)

    wanted = [
        (case, method)
        for case in cases(given.datasets.split(","), given.draws)
        for method in METHODS
        if method != "nnpu" or case[0] in WITH_NETWORKS
    ]
    with parallel_config("loky", inner_max_num_threads=1):
        Parallel(given.processes)(delayed(make)(*each) for each in wanted)


if __name__ == "__main__":
    main()
