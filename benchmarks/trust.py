"""Measure how far claims of the default method hold: bands, decided shares, "no signal", and estimates of the prior.

    python benchmarks/trust.py --processes 2 --records trust.jsonl     # needs PUGNN_DATA; two hours of one core
    python benchmarks/trust.py --estimates 2 …                         # also all estimators of the prior: hours more
    python benchmarks/trust.py --datasets cora --draws 2
    python benchmarks/trust.py --read trust.jsonl                      # the tables from records

The tasks are those of `pugnn reproduce rare`. On each graph the largest class is positive (common), and then the
smallest one with at least 150 nodes (rare), thinned to a share; 10, 30 or 100 known positives are drawn at random. At
natural shares, there are two more: known positives drawn in proportion to their degree, and known "positives" of which
some or all are nodes drawn at random, so that there is little or nothing to find.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from joblib import Parallel, delayed, parallel_config

from measuring import machine, sized, table
from pugnn import PUNodeClassifier, check_up
from pugnn.errors import PugnnWarning
from pugnn.evidence.hidden_positives import FoldedTask
from pugnn.methods.ranking.plain import rank_task
from pugnn.metrics import f1, precision_at, roc_auc
from pugnn.task import PUTask, draw_labels
from pugnn_paper.cells import named_dataset
from pugnn_paper.protocols import can_be_rare, draw_rare
from pugnn_paper.studies import STUDIES, extreme_classes

DATASETS = sized(STUDIES["rare"].datasets, ("cora",))
LABELS = sized((10, 30, 100), (30,))
SHARES = sized(("natural", 0.02, 0.005, 0.001), ("natural", 0.02))
#: Parts of the known positives that are nodes drawn at random, and draws of each, of all random ones twice as many.
RANDOM, RANDOM_DRAWS = sized((0.25, 0.5, 0.75, 1.0), (0.5, 1.0)), sized(6, 1)
#: Draws by degree.
BY_DEGREE_DRAWS = sized(3, 1)
EPOCHS = sized(None, 2)
#: A ranking that sees this much of hidden positives has a signal.
SIGNAL = 0.75

Record = dict[str, Any]
Case = tuple[str, str, int, str | float, int]


def measure(dataset: str, kind: str, labels: int, how: str | float, draw: int, estimates: int = 0) -> Record:
    """Return all claims of one fit, beside the truth."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", PugnnWarning)
    data = named_dataset(dataset, (class_of(dataset, kind),))
    found: Record = {"dataset": dataset, "kind": kind, "labels": labels, "how": how, "draw": draw}
    classifier = PUNodeClassifier(seed=draw, epochs=EPOCHS, progress=False)
    if isinstance(how, str) and how.startswith("random"):
        task = random_known(data, labels, float(how.split()[1]), draw)
        estimate = classifier.fit_task(task).estimate_
        return found | {"signal": estimate.signal, "hidden_auc": 1 - float(estimate.ranks.mean())}

    if isinstance(how, float):
        benchmark = draw_rare(data, labels=labels, prior=how, seed=draw)
    else:
        sampling: Any = "by-degree" if how == "by-degree" else "uniform"
        benchmark = draw_labels(data, labels=labels, sampling=sampling, seed=draw)
    task = benchmark.task
    estimate = classifier.fit_task(task).estimate_
    nodes = np.intersect1d(task.unlabelled, benchmark.scored)
    positive, log_odds = benchmark.positive[nodes], classifier.decision_function()[nodes]
    decided = classifier.predict()[nodes] == 1
    truth = float(positive.mean())
    found |= {"prior": truth, "nodes": len(nodes), "decided": float(decided.mean())}
    found |= {"signal": estimate.signal, "hidden_auc": 1 - float(estimate.ranks.mean())}
    found["f1"] = f1(positive, decided)
    found["f1_at_truth"] = f1(positive, np.argsort(np.argsort(-log_odds, kind="stable")) < positive.sum())
    bands = {"AUC": (roc_auc(positive, log_odds), estimate.auc)}
    if estimate.signal:
        bands["share"] = (truth, estimate.prior)
        for part in estimate.first:
            if part.taken in (100, 1000):
                bands[f"first {part.taken:,}"] = (precision_at(part.taken, positive, log_odds), part.precision)
    if estimate.decided is not None:
        right = int((positive & decided).sum())
        bands["precision"] = (right / int(decided.sum()), estimate.decided.precision)
        bands["recall"] = (right / int(positive.sum()), estimate.decided.recall)
        bands["F1"] = (found["f1"], estimate.decided.f1)
    found["bands"] = {name: [true, band.low, band.value, band.high] for name, (true, band) in bands.items()}
    if how == "by-degree":
        found["warned"] = check_up(task).sampling.verdict in ("not random", "close")
    if how == "natural" and draw < estimates:
        from pugnn.priors import PRIORS  # each process fills its own

        evidence = rank_task(FoldedTask.of(task, draw)).hidden
        found["estimates"] = {name: PRIORS[name](evidence) for name in PRIORS}
    return found


def random_known(data: Any, labels: int, part: float, draw: int) -> PUTask:
    """Make a task in which a part of the known positives are other nodes, drawn at random; all of them if it is 1."""
    rng = np.random.default_rng(draw)
    count = round(part * labels)
    everyone = np.arange(data.graph.num_nodes)
    known = rng.choice(np.flatnonzero(data.positive), labels - count, replace=False)
    others = rng.choice(np.setdiff1d(everyone, known), count, replace=False)
    return PUTask.from_positives(data.graph, np.concatenate([known, others]))


def class_of(dataset: str, kind: str) -> int:
    data = named_dataset(dataset)
    largest, smallest = extreme_classes(data.labels[~data.missing])
    return largest if kind == "common" else smallest


def cases(datasets: Iterable[str], draws: int) -> list[Case]:
    """List all fits, those of large graphs first, so that none is left at the end."""
    found: list[Case] = []
    sizes = {name: named_dataset(name).graph.num_edges for name in datasets}
    for dataset in sorted(sizes, key=lambda name: -sizes[name]):
        for kind in ("common", "rare"):
            data = named_dataset(dataset, (class_of(dataset, kind),))
            for labels in LABELS:
                for how in SHARES:
                    if isinstance(how, str) or can_be_rare(data, labels=labels, prior=how):
                        found += [(dataset, kind, labels, how, draw) for draw in range(draws)]
                if labels > min(LABELS):
                    found += [(dataset, kind, labels, "by-degree", draw) for draw in range(min(draws, BY_DEGREE_DRAWS))]
        for part in RANDOM:
            for labels in LABELS:
                times = RANDOM_DRAWS * (2 if part == 1 else 1)
                found += [(dataset, "common", labels, f"random {part:g}", draw) for draw in range(times)]
    return found


def show(records: list[Record]) -> None:
    """Print all tables."""
    drawn = [each for each in records if each["how"] in SHARES]
    names = ["share", "first 100", "first 1,000", "precision", "recall", "F1", "AUC"]
    print(
        f"\nShare of {len(drawn)} fits in which the truth lies in the 90 % band (mean width; of the share, in powers "
        "of ten)"
    )
    print(table(["share", "labels", "fits", "no signal", *names], by_place(drawn, lambda own: coverage(own, names))))

    print("\nThe share that is decided over the true one; F1 of the positives (%), and if the true share were decided")
    heads = [
        "share",
        "labels",
        "fits",
        "no signal",
        "median",
        "a quarter below",
        "a quarter above",
        "F1",
        "at the truth",
    ]
    print(table(heads, by_place(drawn, decisions)))

    print("\nThe largest misses of the bands of the share, in powers of ten, and of the first 100")
    rows = []
    for name, scale in (("share", np.log10), ("first 100", np.asarray)):
        found = []
        for each in drawn:
            if name in each["bands"]:
                true, low, _, high = scale(np.maximum(each["bands"][name], 1e-9))
                found.append((float(max(low - true, true - high)), each))
        for miss, each in sorted(found, key=lambda pair: -pair[0])[:6]:
            true, low, _, high = each["bands"][name]
            task = f"{each['dataset']}, {each['kind']}, {each['how']}, {each['labels']} labels"
            rows.append([name, task, f"{true:.4f}", f"{low:.4f} to {high:.4f}", f"{miss:+.2f}"])
    print(table(["band of", "task", "truth", "band", "missed by"], rows))

    print("\nNo signal")
    null = [each for each in records if each["how"] == "random 1"]
    clear = [each for each in drawn if each["hidden_auc"] > SIGNAL]
    for words, own in {
        "known positives drawn from all nodes": null,
        f"AUC of hidden positives above {SIGNAL}": clear,
    }.items():
        if own:
            print(f"{words}: {sum(not each['signal'] for each in own)} of {len(own)} fits say so")
    edges = np.array([0, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9, 1.01])
    rows = []
    for labels in LABELS:
        own = [each for each in records if each["labels"] == labels]
        place = np.searchsorted(edges, [each["hidden_auc"] for each in own], side="right")
        row = [str(labels)]
        for at in range(1, len(edges)):
            signals = [each["signal"] for each, where in zip(own, place, strict=True) if where == at]
            row.append(f"{100 * np.mean(signals):.0f} % of {len(signals)}" if signals else "–")
        rows.append(row)
    print("Fits that find a signal, by the AUC of hidden positives, whatever the known positives are")
    print(table(["labels", *(f"{low:g} to {min(high, 1):g}" for low, high in pairwise(edges))], rows))

    biased = [each for each in records if each["how"] == "by-degree"]
    print(f"\nKnown positives drawn by degree, {len(biased)} fits: share in the band, and warnings")
    rows = []
    for labels in LABELS:
        own = [each for each in biased if each["labels"] == labels]
        if own:
            rows.append(
                [str(labels), *coverage(own, names), f"{100 * np.mean([each['warned'] for each in own]):.0f} %"]
            )
    print(table(["labels", *names, "warned"], rows))

    known = [each for each in records if "estimates" in each]
    if not known:
        return
    print("\nErrors of the estimated prior at natural shares: mean absolute error (and bias)")
    rows = []
    for name in dict.fromkeys(name for each in known for name in each["estimates"]):
        row = [name]
        for labels in LABELS:
            own = [each for each in known if each["labels"] == labels]
            errors = np.array([each["estimates"][name] - each["prior"] for each in own])
            row.append(f"{np.abs(errors).mean():.3f} ({errors.mean():+.3f})" if len(own) else "–")
        rows.append(row)
    print(table(["estimator", *(f"{labels} labels" for labels in LABELS)], rows))


def by_place(records: list[Record], cells: Callable[[list[Record]], list[str]]) -> list[list[str]]:
    """Return a row for each share and number of labels, and for all of each."""
    rows = []
    for share in (*SHARES, "all"):
        for labels in (*LABELS, "all"):
            own = [each for each in records if share in (each["how"], "all") and labels in (each["labels"], "all")]
            if own:
                silent = sum(not each["signal"] for each in own)
                rows.append([str(share), str(labels), str(len(own)), str(silent), *cells(own)])
    return rows


def coverage(records: list[Record], names: Iterable[str]) -> list[str]:
    """Return how often each band holds the truth, and its mean width."""
    row = []
    for name in names:
        bands = np.array([each["bands"][name] for each in records if name in each["bands"]])
        if not len(bands):
            row.append("–")
            continue
        true, low, _, high = bands.T
        inside = (low - 1e-9 <= true) & (true <= high + 1e-9)
        width = np.log10(high / low) if name == "share" else high - low
        row.append(f"{100 * inside.mean():.0f} % ({width.mean():.2f})")
    return row


def decisions(records: list[Record]) -> list[str]:
    """Return how much is decided, and how well."""
    decided = [each for each in records if each["signal"]]
    ratio = np.array([each["decided"] / each["prior"] for each in decided])
    quartiles = [f"{value:.2g}" for value in np.quantile(ratio, [0.5, 0.25, 0.75])] if len(ratio) else ["–"] * 3
    return [*quartiles, *(f"{100 * np.mean([each[name] for each in records]):.1f}" for name in ("f1", "f1_at_truth"))]


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--datasets", default=",".join(DATASETS))
    options.add_argument("--draws", type=int, default=sized(3, 1))
    options.add_argument("--estimates", type=int, default=sized(0, 1), help="draws for which all estimators are asked")
    options.add_argument("--processes", type=int, default=1)
    options.add_argument("--records", type=Path, help="file to add each record to; what it holds is not measured again")
    options.add_argument("--read", type=Path, help="show the records of a file, and measure nothing")
    options.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many")
    given = options.parse_args()
    if given.read is not None:
        show([json.loads(line) for line in given.read.read_text().splitlines()])
        return
    print(machine())
    started, records = time.time(), []
    if given.records is not None and given.records.exists():
        records = [json.loads(line) for line in given.records.read_text().splitlines()]
    done = {tuple(each[name] for name in ("dataset", "kind", "labels", "how", "draw")) for each in records}
    wanted = cases(given.datasets.split(","), given.draws)
    with parallel_config("loky", inner_max_num_threads=1):
        results = Parallel(given.processes, return_as="generator_unordered")(
            delayed(measure)(*case, given.estimates) for case in wanted if case not in done
        )
        for record in results:
            records.append(record)
            if given.records is not None:
                with given.records.open("a") as file:
                    print(json.dumps(record), file=file)
            if time.time() - started > given.seconds:
                break
    print(f"{len(records)} of {len(wanted)} fits")
    show(records)


if __name__ == "__main__":
    main()
