"""Measure what twenty checks are worth: coverage, width and error of audits, simulated on data whose truth is known.

    python benchmarks/audit.py --processes 2 --rankings audit-rankings     # needs PUGNN_DATA; an hour of two cores
    python benchmarks/audit.py --rankings audit-rankings --audits 4        # audits the existing rankings again
    python benchmarks/audit.py --datasets cora --draws 1

The rankings are made by the default method for the tasks of `pugnn reproduce rare`. On each graph the largest class is
positive (common), then the smallest one with at least 150 nodes (rare), at its natural share or thinned; 10, 30 or 100
known positives are drawn at random. At natural shares, known positives are also drawn by degree, from one community,
and at random from all nodes, so that there is nothing to find. Each ranking is audited several times with 10, 20, 40
and 80 checks.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from joblib import Parallel, delayed, parallel_config

from measuring import machine, sized, table
from pugnn import PUNodeClassifier, check_up
from pugnn.errors import PugnnWarning
from pugnn.evidence.measured import CheckedSample, Measurement, calibrated, measure_checks
from pugnn.evidence.stretches import plan_stretches
from pugnn.task import draw_labels
from pugnn.training import scores_of
from pugnn_paper.cells import named_dataset
from pugnn_paper.protocols import can_be_rare, draw_rare
from trust import class_of, random_known

SMALL = ["cora", "citeseer", "cora_ml", "squirrel_filtered", "polblogs", "twitch_de"]
DATASETS = sized([*SMALL, "tolokers", "dblp", "pubmed", "amazon_cs", "coauthor_phy"], ["cora"])
LABELS = sized((10, 30, 100), (30,))
#: How known positives come about; numbers are shares to which positives are thinned.
HOW = sized(("natural", 0.02, 0.005, "by-degree", "one-community", "random"), ("natural", 0.02))
CHECKS = sized((10, 20, 40, 80), (10, 20))
EPOCHS = sized(None, 2)
NOBODY, NOTHING = np.zeros(0, np.int64), np.zeros(0, dtype=bool)

Ranking = dict[str, Any]


def rank(dataset: str, kind: str, labels: int, how: str | float, draw: int, file: Path) -> None:
    """Fit the default method, and keep the truth and what an audit needs."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", PugnnWarning)
    data = named_dataset(dataset, (class_of(dataset, kind),))
    if how == "random":
        task, positive = random_known(data, labels, 1.0, draw), data.positive
        nodes = task.unlabelled
    else:
        if isinstance(how, float):
            benchmark = draw_rare(data, labels=labels, prior=how, seed=draw)
        else:
            sampling: Any = "uniform" if how == "natural" else how
            benchmark = draw_labels(data, labels=labels, sampling=sampling, seed=draw)
        task, positive = benchmark.task, benchmark.positive
        nodes = np.intersect1d(task.unlabelled, benchmark.scored)
    classifier = PUNodeClassifier(seed=draw, epochs=EPOCHS, progress=False).fit_task(task)
    log_odds, estimate = classifier.decision_function()[nodes], classifier.estimate_
    order = np.argsort(-log_odds, kind="stable")
    np.savez_compressed(
        file,
        positive=positive[nodes][order],
        scores=scores_of(log_odds[order]).astype(np.float32),
        ranks=np.zeros(0) if estimate is None else estimate.ranks,
        decided=int((classifier.predict()[nodes] == 1).sum()),
        prior=classifier.prior_,
        typical=estimate is not None and estimate.signal and check_up(task).caveat is None,
    )


def cases(datasets: list[str], draws: int) -> Iterator[tuple[str, str, int, str | float, int]]:
    for draw in range(draws):
        for dataset in datasets:
            for kind in ("common", "rare"):
                data = named_dataset(dataset, (class_of(dataset, kind),))
                if kind == "rare" and class_of(dataset, kind) == class_of(dataset, "common"):
                    continue
                for labels in LABELS:
                    for how in HOW:
                        if isinstance(how, float):
                            possible = can_be_rare(data, labels=labels, prior=how)
                        else:
                            possible = labels <= data.positive.sum() / 2
                        if possible:
                            yield dataset, kind, labels, how, draw


def read(folder: Path) -> list[Ranking]:
    found = []
    for file in sorted(folder.glob("*.npz")):
        dataset, _, labels, how, draw = file.stem.split("+")
        content = {name: array[()] for name, array in np.load(file).items()}
        found.append({"dataset": dataset, "labels": int(labels), "how": how, "draw": int(draw), **content})
    return found


def audit(ranking: Ranking, checks: int, rng: np.random.Generator, how: str = "design") -> CheckedSample:
    """Check nodes drawn by the design, at random from all nodes, or from the top."""
    positive = ranking["positive"]
    size = len(positive)
    edges, quotas = np.array([0, size]), np.array([min(checks, size)])
    if how == "design":
        edges, quotas = plan_stretches(
            size,
            min(checks, size),
            decided=int(ranking["decided"]),
            ranks=ranking["ranks"],
            expected=float(ranking["prior"]) * size,
            about="both",
        )
    drawn = np.concatenate(
        [
            first + rng.choice(last - first, quota, replace=False)
            for first, last, quota in zip(edges[:-1], edges[1:], quotas, strict=True)
        ]
    )
    if how == "top":
        others = np.arange(min(checks, size))
        return CheckedSample(edges, NOBODY, NOTHING, others, positive[others])
    return CheckedSample(edges, drawn, positive[drawn], NOBODY, NOTHING)


def truths(ranking: Ranking) -> dict[str, float]:
    positive, decided = ranking["positive"], int(ranking["decided"])
    found = {"number": float(positive.sum()), "first 100": float(positive[:100].mean())}
    if 0 < decided < len(positive):
        right = float(positive[:decided].sum())
        found |= {"precision": right / decided, "recall": right / found["number"]}
        found["F1"] = 2 * right / (decided + found["number"])
    return found


def bands(measured: Measurement) -> dict[str, Any]:
    found = {"number": measured.positives}
    found["first 100"] = next(top.precision for top in measured.first if top.taken == 100)
    if measured.decided is not None:
        found |= {"precision": measured.decided.precision, "recall": measured.decided.recall, "F1": measured.decided.f1}
    return found


def play(ranking: Ranking, audits: int, seed: int) -> list[dict[str, Any]]:
    rng, truth, rows = np.random.default_rng(seed), truths(ranking), []
    about = {name: ranking[name] for name in ("dataset", "how", "labels")}
    decided = int(ranking["decided"])
    for checks in CHECKS:
        for _ in range(audits):
            sample = audit(ranking, checks, rng)
            for kind in ("exact", "narrowed"):
                if kind == "narrowed" and not ranking["typical"]:
                    continue
                ranks = ranking["ranks"] if kind == "narrowed" else None
                measured = bands(measure_checks(sample, decided=decided, ranks=ranks))
                rows += [
                    {**about, "checks": checks, "kind": kind, "what": name, "truth": truth[name], "band": band}
                    for name, band in measured.items()
                    if name in truth
                ]
            if checks == 40:
                ranks = ranking["ranks"] if ranking["typical"] else None
                after = calibrated(sample, ranks)
                unchecked = np.setdiff1d(np.arange(sample.size), sample.drawn)
                errors = (
                    calibration_error(ranking["scores"][unchecked], ranking["positive"][unchecked]),
                    calibration_error(after[unchecked], ranking["positive"][unchecked]),
                )
                rows.append({**about, "checks": checks, "kind": "calibration", "errors": errors})
            for how in ("random", "top"):
                if ranking["how"] in ("natural", "0.02", "0.005"):
                    other = audit(ranking, checks, rng, how)
                    measured = bands(measure_checks(other, decided=decided))
                    if how == "top":  # as somebody would reckon who has checked the first ones
                        rate, recall = other.others_positive.mean(), (ranking["ranks"] * other.size < checks).mean()
                        values = {"first 100": rate, "number": checks * rate / max(recall, 1 / other.size)}
                        measured |= {name: replace(measured[name], value=value) for name, value in values.items()}
                    rows += [
                        {**about, "checks": checks, "kind": how, "what": name, "truth": truth[name], "band": band}
                        for name, band in measured.items()
                        if name in ("number", "first 100")
                    ]
    return rows


def calibration_error(scores: np.ndarray, positive: np.ndarray) -> float:
    """Return the expected calibration error over ten bins of scores of equal width."""
    place = np.minimum((10 * scores).astype(int), 9)
    parts = [(place == at) for at in range(10) if (place == at).any()]
    return float(sum(part.mean() * abs(scores[part].mean() - positive[part].mean()) for part in parts))


def show(rows: list[dict[str, Any]]) -> None:
    names = ("number", "first 100", "precision", "recall", "F1")
    for kind in ("exact", "narrowed"):
        of_kind = [row for row in rows if row["kind"] == kind]
        audits = sum(row["what"] == "number" for row in of_kind)
        print(
            f"\nIntervals that hold the truth, %, of {audits:,} audits, {kind} (width; of the number: high / low end)"
        )
        lines, lowest = [], dict.fromkeys(names, 100.0)
        for how in map(str, HOW):
            for labels in (*LABELS, "all"):
                for checks in CHECKS:
                    own = [
                        row
                        for row in of_kind
                        if row["how"] == how and row["checks"] == checks and labels in ("all", row["labels"])
                    ]
                    if not own:
                        continue
                    cells = []
                    for name in names:
                        mine = [row for row in own if row["what"] == name]
                        held = held_share(mine)
                        cells.append(f"{held:.0f} ({width(mine, name):.2g})" if mine else "–")
                        if mine and labels != "all":
                            lowest[name] = min(lowest[name], held)
                    audits = sum(row["what"] == "number" for row in own)
                    lines.append([how, str(labels), str(checks), str(audits), *cells, factor(own), error(own)])
        heads = ["known positives", "labels", "checks", "audits", *names, "error of the number", "of the first 100"]
        print(table(heads, lines))
        print("lowest cell: " + ", ".join(f"{name} {value:.0f}" for name, value in lowest.items()))

    print("\nThe same number of checks spent otherwise: error of the number (a factor), of the first 100, and widths")
    lines = []
    for how in ("natural", "0.02", "0.005"):
        for checks in CHECKS:
            for kind in ("exact", "narrowed", "random", "top"):
                own = [row for row in rows if (row["how"], row["checks"], row["kind"]) == (how, checks, kind)]
                if own:
                    widths = [
                        f"{width([row for row in own if row['what'] == name], name):.2g}"
                        for name in ("number", "first 100")
                    ]
                    lines.append([how, str(checks), kind, factor(own), error(own), *widths])
    heads = ["share", "checks", "checked", "error of the number", "of the first 100", "high / low end", "width"]
    print(table(heads, lines))

    print("\nExpected calibration error (%) of unchecked nodes: scores before, probabilities after 40 checks")
    lines = []
    for how in map(str, HOW):
        own = np.array([row["errors"] for row in rows if row["kind"] == "calibration" and row["how"] == how])
        if len(own):
            lines.append([how, str(len(own)), *(f"{100 * each:.1f}" for each in own.mean(axis=0))])
    print(table(["known positives", "audits", "before", "after"], lines))


def held_share(rows: list[dict[str, Any]]) -> float:
    held = [row["band"].low - 1e-9 <= row["truth"] <= row["band"].high + 1e-9 for row in rows]
    return 100 * float(np.mean(held)) if held else float("nan")


def width(rows: list[dict[str, Any]], name: str) -> float:
    if name == "number":
        return float(np.median([row["band"].high / max(row["band"].low, 1.0) for row in rows]))
    return float(np.mean([row["band"].high - row["band"].low for row in rows]))


def factor(rows: list[dict[str, Any]]) -> str:
    own = [row for row in rows if row["what"] == "number"]
    errors = [abs(np.log(max(row["band"].value, 0.5) / row["truth"])) for row in own]
    return f"{np.exp(np.mean(errors)):.2f}"


def error(rows: list[dict[str, Any]]) -> str:
    own = [row for row in rows if row["what"] == "first 100"]
    return f"{np.mean([abs(row['band'].value - row['truth']) for row in own]):.3f}" if own else "–"


def in_parallel(processes: int, calls: list[Callable[[], Any]]) -> list[Any]:
    with parallel_config("loky", inner_max_num_threads=1):
        return list(Parallel(processes)(calls))


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--datasets", default=",".join(DATASETS))
    options.add_argument("--draws", type=int, default=sized(2, 1))
    options.add_argument("--audits", type=int, default=sized(3, 1), help="of each ranking and number of checks")
    options.add_argument("--processes", type=int, default=1)
    options.add_argument("--rankings", type=Path, default=Path("audit-rankings"), help="folder to keep rankings in")
    options.add_argument("--seconds", type=float, default=float("inf"), help="make no more rankings after so many")
    given = options.parse_args()
    print(machine())
    given.rankings.mkdir(exist_ok=True)
    started = time.time()

    def make(case: tuple[Any, ...], file: Path) -> None:
        if not file.exists() and time.time() - started < given.seconds:
            rank(*case, file)

    wanted = [
        (case, given.rankings / f"{'+'.join(map(str, case))}.npz")
        for case in cases(given.datasets.split(","), given.draws)
    ]
    in_parallel(given.processes, [delayed(make)(*each) for each in wanted])
    rankings = read(given.rankings)
    print(f"{len(rankings)} of {len(wanted)} rankings")
    calls = [delayed(play)(ranking, given.audits, seed) for seed, ranking in enumerate(rankings)]
    show([row for rows in in_parallel(given.processes, calls) for row in rows])


if __name__ == "__main__":
    main()
