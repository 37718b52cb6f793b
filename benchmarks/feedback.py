"""Measure what checks do for the next list, and for what is known about it: three rounds of 20 checked nodes.

    python benchmarks/feedback.py                        # data sets other than Cora need PUGNN_DATA
    python benchmarks/feedback.py --datasets cora --draws 1
    PYTHONPATH=OTHER/src python benchmarks/feedback.py --ways top --called "top, before" --records FILE
    python benchmarks/feedback.py --records FILE         # the rest, and tables with those of another version

On each graph the smallest class that allows it is thinned to 2 % of the unlabelled nodes, and 30 of its nodes are known
at first. In each round 20 nodes are checked: positive ones become known positives, the others known negatives, and
training continues from the last model. There are two ways to choose the nodes:

- audit: drawn at random by design, as `pugnn audit` does. The claims about the list are measured on them, and the
  measured number of positives is the prior of the next round;
- top: the best finds, as `pugnn suggest` does. The claims about the list are estimated from hidden positives.

A random half of the unlabelled nodes takes no part, except as neighbours: it is neither trained on as unlabelled nor
listed, checked or estimated. Average precision is measured on these nodes, so that it does not miss what has been
found. Lists are of the other half, and each claim about a list is compared with the truth about that list. Hidden
positives say something as soon as there is a list; an audit does so once 20 nodes of it are checked. So for the same
list the audit knows 20 checks more, and after the same number of checks it speaks about the list before.
"""

from __future__ import annotations

import argparse
import json
import warnings
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import torch
from joblib import Parallel, delayed, parallel_config
from numpy.typing import NDArray

from measuring import machine, sized, table
from pugnn import PUNodeClassifier, check_up, make_method
from pugnn.datasets import Dataset
from pugnn.errors import PugnnWarning
from pugnn.explain.suggest import node_rows, suggest
from pugnn.metrics import average_precision
from pugnn.task import PUTask
from pugnn_paper.cells import named_dataset
from pugnn_paper.protocols import can_be_rare, draw_rare

DATASETS = sized(("cora", "citeseer", "cora_ml", "dblp", "amazon_cs"), ("cora",))
WAYS = ("audit", "top")
KNOWN, SHARE, ROUNDS, CHECKED, FIRST = 30, 0.02, sized(3, 1), 20, 100
EPOCHS = sized(None, 2)
NOT_SAID = (np.nan, np.nan, np.nan)
Nodes = NDArray[np.int64]
#: What is said of a quantity: value, low and high; and the truth.
Said = tuple[float, float, float, float]
#: Data set, way and draw; and what comes of it.
Case = tuple[str, str, int]
Outcome = tuple[list[float], list[Said], list[Said]]


def rare_class(name: str) -> Dataset:
    data = named_dataset(name)
    found = [replace(data, positive_classes=frozenset([each])) for each in range(len(data.class_names))]
    possible = [each for each in found if can_be_rare(each, labels=KNOWN, prior=SHARE)]
    return min(possible, key=lambda each: int(each.positive.sum()))


def top(model: PUNodeClassifier, task: PUTask, positive: NDArray[np.bool_]) -> tuple[Nodes, Said, Said]:
    """Return the best finds, and what hidden positives say about the list."""
    log_odds = model.decision_function()
    rows, scores = node_rows(model.model_, task.graph), model.predict_proba()[:, 1]
    goal = {"goal": "precision", "prior": model.prior_, "threshold": model.threshold_, "seed": model.seed}
    found = suggest(task, scores, rows, log_odds=log_odds, count=CHECKED, **goal)
    checked = np.array([each.position for each in found])
    ranking = task.unlabelled[np.argsort(-log_odds[task.unlabelled], kind="stable")]
    estimate = model.estimate_
    first = next((each.precision for each in estimate.first if each.taken == FIRST), None) if estimate else None
    number = estimate.positives if estimate else None
    said = [NOT_SAID if band is None else (band.value, band.low, band.high) for band in (first, number)]
    truth = float(positive[ranking[:FIRST]].mean()), float(positive[ranking].sum())
    return checked, (*said[0], truth[0]), (*said[1], truth[1])


def audit(model: PUNodeClassifier, task: PUTask, positive: NDArray[np.bool_], seed: int) -> tuple[Nodes, Said, Said]:
    """Return nodes drawn from the list, and what they say about it."""
    from pugnn.evidence.audit import Audit  # earlier versions have none

    log_odds, found = model.decision_function(), model.estimate_
    ranking = task.unlabelled[np.argsort(-log_odds[task.unlabelled], kind="stable")]
    estimate = None if found is None else replace(found, caveat=check_up(task).caveat).to_plain()
    decided = int((model.predict()[ranking] == 1).sum())
    audit = Audit.after(task, ranking, decided=decided, prior=model.prior_, estimate=estimate)
    drawn = audit.draw(CHECKED, seed=seed)
    measured = drawn.record(task.graph.ids[drawn.drawn].tolist(), positive[drawn.drawn].tolist()).estimate()
    first, number = next(each.precision for each in measured.first if each.taken == FIRST), measured.positives
    truth = float(positive[ranking[:FIRST]].mean()), float(positive[ranking].sum())
    of_first, of_number = (
        (first.value, first.low, first.high, truth[0]),
        (number.value, number.low, number.high, truth[1]),
    )
    return drawn.drawn, of_first, of_number


def rounds(dataset: str, way: str, draw: int) -> Outcome:
    """Return average precision and the claims about the first 100 and the number, at first and after each round."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", PugnnWarning)
    drawn = draw_rare(rare_class(dataset), labels=KNOWN, prior=SHARE, seed=draw)
    positive, unlabelled = drawn.positive, np.intersect1d(drawn.task.unlabelled, drawn.scored)
    never = np.sort(np.random.default_rng(draw).permutation(unlabelled)[: len(unlabelled) // 2])
    task = replace(drawn.task, unlabelled=np.setdiff1d(unlabelled, never))
    model, prior = None, "auto"
    precisions, firsts, numbers = [], [], []
    for _ in range(ROUNDS + 1):
        method = make_method("views", prior=prior)
        fresh = PUNodeClassifier(method, seed=draw, epochs=EPOCHS, progress=False)
        model = fresh.fit_task(task, start=model)
        precisions.append(average_precision(positive[never], model.decision_function()[never]))
        checked, first, count = top(model, task, positive) if way == "top" else audit(model, task, positive, draw)
        firsts.append(first)
        numbers.append(count)
        right, wrong = checked[positive[checked]], checked[~positive[checked]]
        task = task.with_feedback(right, wrong)
        if way == "audit":
            low, high = ((end - len(right)) / len(task.unlabelled) for end in count[1:3])
            low = max(low, 0.5 / len(task.unlabelled))
            prior = f"{low:.4g}..{max(high, low):.4g}"
    return precisions, firsts, numbers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--draws", type=int, default=sized(3, 1))
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--records", type=Path, default=Path("feedback.jsonl"), help="file to keep results in")
    parser.add_argument("--called", help="another name for the one way, if this is another version")
    given = parser.parse_args()
    made = read(given.records)

    def make(dataset: str, way: str, draw: int) -> None:
        case = (dataset, given.called or way, draw)
        if case not in made:
            outcome = rounds(dataset, way, draw)
            with given.records.open("a") as file:
                file.write(json.dumps([case, outcome]) + "\n")

    cases = product(given.datasets.split(","), given.ways.split(","), range(given.draws))
    with parallel_config("loky", inner_max_num_threads=1):
        Parallel(n_jobs=given.processes)(delayed(make)(*case) for case in cases)
    print(machine())
    made = read(given.records)
    show(list(made), list(made.values()))


def read(file: Path) -> dict[Case, Outcome]:
    lines = file.read_text().splitlines() if file.exists() else []
    return {tuple(case): outcome for case, outcome in map(json.loads, lines)}


def show(cases: list[Case], results: list[Outcome]) -> None:
    datasets, ways, draws = (list(dict.fromkeys(column)) for column in zip(*cases, strict=True))
    print(
        f"views, {len(draws)} draws, {KNOWN} known positives, {SHARE:.0%} positive, {CHECKED} checks in each of "
        f"{ROUNDS} rounds"
    )
    places = {name: [name] for name in datasets} | ({"all data sets": datasets} if len(datasets) > 1 else {})
    columns = [
        "checked",
        "average precision",
        "first 100: error",
        "held",
        "number: error factor",
        "said / true",
        "held",
    ]
    for place, members in places.items():
        lines = []
        for way in ways:
            mine = [each for (name, how, _), each in zip(cases, results, strict=True) if name in members and how == way]
            precisions = 100 * np.array([each[0] for each in mine]).mean(axis=0)
            first, number = (np.array([each[at] for each in mine]) for at in (1, 2))  # by case, round, said and truth
            factor = np.log(np.maximum(number[..., 0], 1) / np.maximum(number[..., 3], 1))
            lines.append(
                [
                    way,
                    numbers_of(precisions, "4.1f"),
                    numbers_of(100 * np.nanmean(np.abs(first[..., 0] - first[..., 3]), axis=0), "4.1f"),
                    numbers_of(100 * held(first), "3.0f"),
                    numbers_of(np.exp(np.nanmean(np.abs(factor), axis=0)), "4.2f"),
                    numbers_of(np.exp(np.nanmean(factor, axis=0)), "4.2f"),
                    numbers_of(100 * held(number), "3.0f"),
                ]
            )
        print(f"\n{place}: average precision, and what is said, of the list at first and after each round")
        print(table(columns, lines))


def numbers_of(values: NDArray[np.float64], form: str) -> str:
    return " ".join(f"{value:{form}}" for value in values)


def held(said: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of the intervals that hold the truth, by round."""
    value, low, high, truth = np.moveaxis(said, -1, 0)
    inside = np.where(np.isnan(value), np.nan, (low <= truth + 1e-9) & (truth <= high + 1e-9))
    return np.nanmean(inside, axis=0)


if __name__ == "__main__":
    main()
