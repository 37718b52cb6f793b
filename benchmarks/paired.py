"""Measure how often paired verdicts between methods are given, and how often they are right, on data with known truth.

    python benchmarks/paired.py --processes 2 --rankings paired-rankings     # needs PUGNN_DATA; an hour of two cores
    python benchmarks/paired.py --rankings paired-rankings --seconds 0       # compares the existing rankings again
    python benchmarks/paired.py --datasets cora --draws 1
    python benchmarks/paired.py --first-draw 3 --draws 2     # draws that no choice was based on

On each graph the largest class is positive (common), then the smallest one with at least 150 nodes (rare); 30 known
positives are drawn at random. Where there is nothing to find, all positives are nodes drawn at random. Every pair of
methods is compared, and all methods together: by hidden positives alone, and with those among 20 or 40 nodes audited in
the ranking of each.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from joblib import Parallel, delayed, parallel_config

from measuring import machine, sized, table
from pugnn import PUNodeClassifier, evaluate
from pugnn.errors import PugnnWarning
from pugnn.evidence.hidden_positives import ranks_among
from pugnn.evidence.measured import CheckedSample
from pugnn.evidence.paired import AuditedPositives, best_against_rest
from pugnn.evidence.signal import LEVEL
from pugnn.evidence.stretches import plan_stretches
from pugnn.metrics import average_precision
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
#: Nodes that are audited.
CHECKS = sized((0, 20, 40), (0, 20))
#: What decides which ranking is truly better; more is better.
TRUTHS = ("mean log rank", "average precision")

Case = tuple[str, str, int]
Ranking = dict[str, Any]
Record = dict[str, Any]


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


def cases(datasets: list[str], draws: range) -> Iterator[Case]:
    for draw in draws:
        for dataset in datasets:
            yield dataset, "common", draw
            if class_of(dataset, "rare") != class_of(dataset, "common"):
                yield dataset, "rare", draw
            yield dataset, "random", draw


def read(folder: Path) -> dict[Case, dict[str, Ranking]]:
    """Read rankings by method, with the ranks of all nodes and the truth about them."""
    found: dict[Case, dict[str, Ranking]] = {}
    for file in sorted(folder.glob("*.npz")):
        dataset, kind, draw, method = file.stem.split("+")
        ranking = {name: array[()] for name, array in np.load(file).items()}
        places = ranks_among(ranking["scores"], ranking["scores"])
        ranking |= {"places": places, "size": len(places)}
        ranking["mean log rank"] = -float(np.log(places[ranking["positive"]] + 1 / len(places)).mean())
        ranking["average precision"] = average_precision(ranking["positive"], -places)
        found.setdefault((dataset, kind, int(draw)), {})[method] = ranking
    return found


def audit(ranking: Ranking, checks: int, seed: int) -> AuditedPositives:
    """Return the positives among nodes drawn by the design in a ranking."""
    size, positive, order = ranking["size"], ranking["positive"], np.argsort(-ranking["scores"], kind="stable")
    hidden, expected = ranking["ranks"], float(ranking["prior"]) * ranking["size"]
    edges, quotas = plan_stretches(
        size, checks, decided=int(ranking["decided"]), ranks=hidden, expected=expected, about="both"
    )
    rng = np.random.default_rng(seed)
    drawn = np.concatenate(
        [
            first + rng.choice(last - first, quota, replace=False)
            for first, last, quota in zip(edges[:-1], edges[1:], quotas, strict=True)
        ]
    )
    nobody, nothing = np.zeros(0, np.int64), np.zeros(0, dtype=bool)
    return AuditedPositives.of(CheckedSample(edges, drawn, positive[order[drawn]], nobody, nothing), order)


def compare(rankings: dict[str, Ranking], audited: AuditedPositives | None) -> list[Record]:
    """Return verdicts, and whether they are true."""
    hidden = {name: ranking["ranks"] for name, ranking in rankings.items()}
    size = next(iter(rankings.values()))["size"]
    if audited is None:
        verdicts = best_against_rest(hidden, size)
    else:
        places = {name: ranking["places"][audited.nodes] for name, ranking in rankings.items()}
        verdicts = best_against_rest(hidden, size, places, audited.weights)
    found = []
    for verdict in verdicts:
        first, second = (rankings[name] for name in verdict.names)
        gains = {name: first[name] - second[name] for name in TRUTHS}
        factor = float(np.exp(abs(gains["mean log rank"])))
        found.append({"verdict": verdict, "factor": factor} | {name: gain > 0 for name, gain in gains.items()})
    return found


def play(case: Case, rankings: dict[str, Ranking]) -> list[Record]:
    """Compare all pairs, and all methods together."""
    rows = []
    for checks in CHECKS:
        for names in dict.fromkeys([*combinations(rankings, 2), tuple(rankings)]):
            for number, audited_in in enumerate(names if checks else names[:1]):
                seed = 1000 * case[2] + number
                own = audit(rankings[audited_in], checks, seed) if checks else None
                about = {"dataset": case[0], "kind": case[1], "checks": checks, "methods": len(names)}
                rows += [about | row for row in compare({name: rankings[name] for name in names}, own)]
    return rows


def summary(rows: list[Record]) -> list[str]:
    given = [row for row in rows if row["verdict"].better is not None]
    cells = [f"{len(rows):,}", f"{100 * len(given) / max(len(rows), 1):.1f} %"]
    return cells + [f"{100 * np.mean([row[name] for row in given]):.0f} %" if given else "–" for name in TRUTHS]


def show(rows: list[Record]) -> None:
    heads = ["comparisons", "verdicts", *(f"true by {name}" for name in TRUTHS)]
    real, null = ([row for row in rows if (row["kind"] == "random") == random] for random in (False, True))
    lines = []
    for words, methods in (("pairs", {2}), ("best against rest", set(range(3, len(METHODS) + 1)))):
        for kind, own in (("something to find", real), ("nothing to find", null)):
            for checks in CHECKS:
                mine = [row for row in own if row["methods"] in methods and row["checks"] == checks]
                if mine:
                    lines.append([words, kind, str(checks), *summary(mine)])
    print("\nVerdicts, by the number of audited nodes")
    print(table(["compared", "", "audited", *heads], lines))
    alone = [row for row in real if row["checks"] == 0 and row["methods"] == 2]
    for about in ("dataset", "kind"):
        print(f"\nPairs by hidden positives alone, where there is something to find, by {about}")
        values = dict.fromkeys(row[about] for row in alone)
        print(table([about, *heads], [[value, *summary([r for r in alone if r[about] == value])] for value in values]))
    print("\nThe same by the true difference: ratio of the geometric mean ranks of all positives")
    lines = []
    for low, high in pairwise((1.0, 1.1, 1.25, 1.5, 2.0, np.inf)):
        lines.append([f"{low:g} to {high:g}", *summary([row for row in alone if low <= row["factor"] < high])])
    print(table(["ratio", *heads], lines))
    print("\nPairs where there is nothing to find, by p alone: a ranking no better than chance is never preferred")
    values = [row["verdict"].p for row in null if row["checks"] == 0 and row["methods"] == 2]
    print(f"p is at most {LEVEL} for {sum(p <= LEVEL for p in values)} of {len(values)} pairs")


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--datasets", default=",".join(DATASETS))
    options.add_argument("--draws", type=int, default=sized(3, 1))
    options.add_argument("--first-draw", type=int, default=0)
    options.add_argument("--processes", type=int, default=1)
    options.add_argument("--rankings", type=Path, default=Path("paired-rankings"), help="folder to keep rankings in")
    options.add_argument("--seconds", type=float, default=float("inf"), help="make no more rankings after so many")
    given = options.parse_args()
    draws = range(given.first_draw, given.first_draw + given.draws)
    print(machine())
    given.rankings.mkdir(exist_ok=True)
    started = time.time()

    def make(case: Case, method: str) -> None:
        file = given.rankings / f"{'+'.join(map(str, (*case, method)))}.npz"
        if not file.exists() and time.time() - started < given.seconds:
            rank(*case, method, file)

    wanted = [
        (case, method)
        for case in cases(given.datasets.split(","), draws)
        for method in METHODS
        if method != "nnpu" or case[0] in WITH_NETWORKS
    ]
    with parallel_config("loky", inner_max_num_threads=1):
        Parallel(given.processes)(delayed(make)(*each) for each in wanted)
    found = read(given.rankings)
    print(f"{sum(map(len, found.values()))} of {len(wanted)} rankings")
    show([row for case, rankings in found.items() if len(rankings) > 1 for row in play(case, rankings)])


if __name__ == "__main__":
    main()
