"""How far the estimates can be trusted that need no negatives: the prior, and bands of recall, precision and F1.

    python benchmarks/trust.py --processes 16 --records trust.jsonl    # needs PUGNN_DATA
    python benchmarks/trust.py --datasets cora --draws 2
    python benchmarks/trust.py --read trust.jsonl                      # the tables from records

On each graph the largest class is positive (common), and then the smallest one with at least 150 nodes (rare). Known
positives are drawn at random, or in proportion to their degree; at most half of a class is known. Every other node is
unlabelled. The estimators of the prior read the same hidden positives; the bands are those of `views`, which
estimates the prior. Its decisions are compared with those of `views` that is told the true prior.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from joblib import Parallel, delayed, parallel_config

from measuring import machine, sized, table
from pugnn import PUNodeClassifier, check_up, make_method
from pugnn.errors import PugnnWarning
from pugnn.experiments.cells import named_dataset
from pugnn.experiments.studies import extreme_classes
from pugnn.methods.logistic import ranked_hidden
from pugnn.metrics import f1, macro_f1, precision_at
from pugnn.priors import settle_prior
from pugnn.task import draw_labels

#: Where neighbours are mostly alike.
HOMOPHILOUS = ("cora", "citeseer", "cora_ml", "pubmed", "dblp", "amazon_cs", "coauthor_phy", "polblogs")
DATASETS = sized((*HOMOPHILOUS, "twitch_de", "tolokers", "squirrel_filtered"), ("cora",))
LABELS = sized((5, 10, 30, 100, 300), (30,))
EPOCHS = sized(None, 2)
#: Label counts at which known positives are also drawn by degree, and decisions are compared with a known prior's.
BIASED, COMPARED = (30, 100), (30, 100)
#: Belief propagation takes long on large graphs.
FEW_DRAWS = {"grab": 2}

Record = dict[str, Any]


def measure(dataset: str, kind: str, labels: int, sampling: Any, draw: int, device: str) -> Record:
    """All estimates of one draw, beside the truth."""
    from pugnn.priors import PRIORS  # each process fills its own

    torch.set_num_threads(1)
    warnings.simplefilter("ignore", PugnnWarning)
    data = named_dataset(dataset, (class_of(dataset, kind),))
    benchmark = draw_labels(data, labels=labels, sampling=sampling, seed=draw)
    task = benchmark.task
    nodes = np.intersect1d(task.unlabelled, benchmark.scored)
    positive = benchmark.positive[nodes]
    truth = float(positive.mean())
    found: Record = {"dataset": dataset, "kind": kind, "labels": labels, "sampling": sampling, "draw": draw}
    found |= {"prior": truth, "nodes": len(nodes)}

    evidence = ranked_hidden(task, draw)
    settled = settle_prior("auto", evidence)
    found["interval"] = [settled.low, settled.high]
    wanted = [name for name in PRIORS if sampling == "uniform" and draw < FEW_DRAWS.get(name, draw + 1)]
    found["estimates"] = {name: PRIORS[name](evidence) for name in wanted} | {"auto": settled.value}
    del evidence

    views = PUNodeClassifier(seed=draw, epochs=EPOCHS, progress=False, device=device).fit_task(task)
    log_odds, decided = views.decision_function()[nodes], views.predict()[nodes] == 1
    estimate = views.estimate_
    right = int((positive & decided).sum())
    true = {
        "recall": right / int(positive.sum()),
        "precision": right / int(decided.sum()),
        "f1": f1(positive, decided),
        "precision at 100": precision_at(100, positive, log_odds),
    }
    first = {part.taken: part.precision for part in estimate.first}
    bands = vars(estimate.decided) | {"precision at 100": first[100]}
    found["bands"] = {name: [true[name], bands[name].low, bands[name].high] for name in true}
    found |= {"decided": float(decided.mean()), "macro_f1": macro_f1(positive, decided)}
    if sampling != "uniform":
        found["caveat"] = check_up(task).sampling.verdict in ("not random", "close")
    elif labels in COMPARED:
        method = make_method("views", prior=truth)
        told = PUNodeClassifier(method, seed=draw, epochs=EPOCHS, progress=False, device=device)
        found["macro_f1_told"] = macro_f1(positive, told.fit_task(task).predict()[nodes] == 1)
    return found


def class_of(dataset: str, kind: str) -> int:
    data = named_dataset(dataset)
    largest, smallest = extreme_classes(data.labels[~data.missing])
    if largest == smallest:  # all others are small
        smallest = int(np.setdiff1d(data.labels, [largest])[0])
    return largest if kind == "common" else smallest


def cases(datasets: Iterable[str], draws: int) -> list[tuple[str, str, int, str, int]]:
    found = []
    for draw in range(draws):
        for dataset in datasets:
            for kind in sized(("common", "rare"), ("rare",)):
                size = int((named_dataset(dataset).labels == class_of(dataset, kind)).sum())
                for labels in (each for each in LABELS if 2 * each <= size):
                    samplings = ("uniform", "by-degree") if labels in BIASED and draw < 5 else ("uniform",)
                    found += [(dataset, kind, labels, sampling, draw) for sampling in samplings]
    return found


def show(records: list[Record]) -> None:
    """All tables."""
    uniform = [each for each in records if each["sampling"] == "uniform"]
    by_labels = {count: [each for each in uniform if each["labels"] == count] for count in LABELS}
    by_labels = {count: found for count, found in by_labels.items() if found}

    print("\nErrors of the estimated prior: mean absolute error (and bias), over all graphs and over homophilous ones")
    rows = []
    for name in dict.fromkeys(name for each in uniform for name in each["estimates"]):
        row = [name]
        for found in by_labels.values():
            for part in (found, [each for each in found if each["dataset"] in HOMOPHILOUS]):
                known = [each for each in part if name in each["estimates"]]
                errors = np.array([each["estimates"][name] - each["prior"] for each in known])
                row.append(f"{np.abs(errors).mean():.3f} ({errors.mean():+.3f})" if len(errors) else "–")
        rows.append(row)
    parts = [f"{count} labels{part}" for count in by_labels for part in ("", ", homophilous")]
    print(table(["estimator", *parts], rows))

    print("\nThe 90 % interval of the prior, and how far from it the share is that is decided positive")
    rows = []
    for count, found in by_labels.items():
        truth, low, high = (np.array(part) for part in zip(*((e["prior"], *e["interval"]) for e in found), strict=True))
        factor = np.array([max(e["decided"] / e["prior"], e["prior"] / e["decided"]) for e in found])
        loss = [100 * (each["macro_f1_told"] - each["macro_f1"]) for each in found if "macro_f1_told" in each]
        rows.append(
            [
                str(count),
                str(len(found)),
                f"{100 * ((low <= truth) & (truth <= high)).mean():.0f} %",
                f"{100 * (truth < low).mean():.0f} %",
                f"{100 * (truth > high).mean():.0f} %",
                f"{(high - low).mean():.2f}",
                f"{100 * (factor <= 1.5).mean():.0f} %",
                f"{np.mean(loss):+.1f}" if loss else "–",
            ]
        )
    names = ["labels", "runs", "coverage", "truth below", "truth above", "mean width", "decided share within 1.5 ×"]
    print(table([*names, "macro-F1 lost to the known prior"], rows))

    print("\nShare of runs in which the truth lies in the 90 % band (mean width of the band)")
    rows = []
    for sampling in ("uniform", "by-degree"):
        for count in LABELS:
            found = [each for each in records if each["sampling"] == sampling and each["labels"] == count]
            if not found:
                continue
            row = [sampling, str(count), str(len(found))]
            for name in found[0]["bands"]:
                true, low, high = np.array([each["bands"][name] for each in found]).T
                inside = (low - 1e-9 <= true) & (true <= high + 1e-9)
                row.append(f"{100 * inside.mean():.0f} % ({(high - low).mean():.2f})")
            warned = [each["caveat"] for each in found if "caveat" in each]
            rows.append([*row, f"{100 * np.mean(warned):.0f} %" if warned else "–"])
    print(table(["known positives", "labels", "runs", *records[0]["bands"], "warned"], rows))


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--datasets", default=",".join(DATASETS))
    options.add_argument("--draws", type=int, default=sized(10, 1))
    options.add_argument("--processes", type=int, default=1)
    options.add_argument("--device", default="cpu")
    options.add_argument("--records", type=Path, help="file to add each record to")
    options.add_argument("--read", type=Path, help="show the records of a file, and measure nothing")
    options.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many")
    given = options.parse_args()
    if given.read is not None:
        show([json.loads(line) for line in given.read.read_text().splitlines()])
        return
    print(machine())
    started, records = time.time(), []
    wanted = cases(given.datasets.split(","), given.draws)
    with parallel_config("loky", inner_max_num_threads=1):
        results = Parallel(given.processes, return_as="generator_unordered")(
            delayed(measure)(*case, given.device) for case in wanted
        )
        for record in results:
            records.append(record)
            if given.records is not None:
                with given.records.open("a") as file:
                    print(json.dumps(record), file=file)
            if time.time() - started > given.seconds:
                break
    print(f"{len(records)} of {len(wanted)} runs")
    show(records)


if __name__ == "__main__":
    main()
