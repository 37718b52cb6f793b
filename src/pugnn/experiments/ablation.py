"""The paper's ablation on Cora (its Table 3) under several readings of what the paper leaves open.

Run it with ``python -m pugnn.experiments.ablation --draws 10 --out docs/ablation.md``, or ``make ablation``.
It writes a Markdown page and, beside it, a CSV file with every single draw.
"""

from __future__ import annotations

import csv
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import typer
from joblib import Parallel, delayed
from rich.progress import track

from pugnn.data import draw_benchmark, load_dataset
from pugnn.data.protocol import RatioOf, Unlabelled
from pugnn.errors import PugnnWarning
from pugnn.estimator import PUNodeClassifier
from pugnn.files import replacing
from pugnn.methods import PUGNN
from pugnn.runs import evaluate

RATIOS = (0.001, 0.002, 0.005, 0.01)

#: Macro-F1 (%) on Cora as published, at the four ratios.
PUBLISHED = {
    "L_G only": ("83.2 ± 0.3", "85.0 ± 0.4", "86.7 ± 0.3", "88.7 ± 0.3"),
    "R_S only": ("80.2 ± 0.2", "80.6 ± 0.3", "81.6 ± 0.2", "83.4 ± 0.3"),
    "L_G + α R_S": ("84.8 ± 0.3", "86.0 ± 0.3", "87.3 ± 0.2", "88.3 ± 0.2"),
}

#: "Without PU loss" is read as cross-entropy with every unlabelled node as negative, plus the regulariser.
VARIANTS: dict[str, dict[str, Any]] = {
    "L_G only": {"alpha": 0.0},
    "R_S only": {"supervision": "cross-entropy"},
    "L_G + α R_S": {},
}


@dataclass(frozen=True)
class Reading:
    """One way to read what the paper leaves open; the defaults are the package's."""

    words: str
    unlabelled: Unlabelled = "all"
    label_ratio_of: RatioOf = "all_nodes"
    redraw: bool = True
    backbone: str = "gcn"
    options: dict[str, Any] = field(default_factory=dict)


READINGS = {
    "default": Reading(
        "U is every node that is not labelled; the ratio counts all nodes; R_S is a mean over edges with the K "
        "draws summed, on the hidden layer before its ReLU; split and labels are redrawn each time"
    ),
    "literal sum": Reading("as default, but R_S is the literal sum", options={"reduction": "sum"}),
    "mean + mean": Reading(
        "as default, but R_S is a mean over neighbours plus a mean over non-neighbours, on the output of the second "
        "of two 16-unit convolutions, with a linear layer behind",
        backbone="gcn-linear",
        options={"reduction": "pair-mean"},
    ),
    "training U": Reading("as default, but U is the unlabelled part of the training split", unlabelled="train"),
    "share of positives": Reading("as default, but the ratio counts all positives", label_ratio_of="all_positives"),
    "one draw": Reading(
        "as default, but split and labels are drawn once and only the initial weights, dropout and negatives differ",
        redraw=False,
    ),
}


@dataclass(frozen=True)
class Cell:
    """One training: which reading, variant, ratio and draw."""

    reading: str
    variant: str
    ratio: float
    draw: int


def main(
    draws: Annotated[int, typer.Option(help="Repetitions of every cell.", min=2)] = 10,
    jobs: Annotated[int, typer.Option(help="Processes, one thread each.", min=1)] = 2,
    epochs: Annotated[int, typer.Option(help="Epochs of every training.", min=1)] = 200,
    out: Annotated[Path, typer.Option(help="The Markdown page to write.")] = Path("docs/ablation.md"),
) -> None:
    """Measure L_G, R_S and both on Cora for every reading and put them next to the published values."""
    started = time.perf_counter()
    cells = [Cell(r, v, q, d) for r in READINGS for v in VARIANTS for q in RATIOS for d in range(draws)]
    work = Parallel(n_jobs=jobs, return_as="generator")(delayed(measure)(cell, epochs) for cell in cells)
    results = list(track(work, total=len(cells), description="ablation"))
    rows = [
        {**vars(cell), "labels": labels, "macro_f1": score}
        for cell, (labels, score) in zip(cells, results, strict=True)
    ]
    with replacing(out.with_suffix(".csv")) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    page = "\n".join(_page(rows, draws, epochs, time.perf_counter() - started, jobs, out.with_suffix(".csv").name))
    with replacing(out) as temporary:
        temporary.write_text(page + "\n", encoding="utf-8")


def measure(cell: Cell, epochs: int) -> tuple[int, float]:
    """Train one cell; the number of labels and the macro-F1 (%) on the test nodes, last epoch, threshold 0.5."""
    torch.set_num_threads(1)  # the processes share the cores
    reading = READINGS[cell.reading]
    data = load_dataset("cora")
    benchmark = draw_benchmark(
        data,
        label_ratio=cell.ratio,
        label_ratio_of=reading.label_ratio_of,
        unlabelled=reading.unlabelled,
        seed=cell.draw if reading.redraw else 0,
    )
    method = replace(PUGNN(**reading.options), **VARIANTS[cell.variant])
    estimator = PUNodeClassifier(
        method, backbone=reading.backbone, epochs=epochs, seed=cell.draw, threshold=0.5, progress=False
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PugnnWarning)  # a single label leaves a small near set; the page says so
        estimator.fit(data.graph, data.graph.ids[benchmark.task.labelled], unlabelled=benchmark.task.unlabelled)
    metrics = evaluate(benchmark, estimator.predict_proba()[:, 1], 0.5)
    return len(benchmark.task.labelled), metrics["macro_f1"]


def _page(
    rows: list[dict[str, Any]], draws: int, epochs: int, seconds: float, jobs: int, every_draw: str
) -> Iterator[str]:
    yield "# The ablation on Cora, under several readings"
    yield ""
    yield (
        f"Macro-F1 (%) on the test nodes of Cora, mean ± standard deviation over {draws} draws; {epochs} epochs, the "
        "last one's weights, threshold 0.5. All settings are the paper's (δ = 3, K = 50, α = 0.01, priors 0.6 and "
        "0.3, two-layer GCN with 16 hidden units) or, where it is silent, those of Kipf's GCN. Nothing was tuned. "
        "The published values are over 5 repetitions of which the paper does not say what was repeated."
    )
    yield ""
    command = f"python -m pugnn.experiments.ablation --draws {draws} --epochs {epochs}"
    yield (
        f"Made by `{command}` with pugnn {version('pugnn')} and torch {version('torch').split('+')[0]}, "
        f"{len(rows):,} trainings in {seconds / 60:.0f} minutes on {jobs} core{'s' * (jobs > 1)}; "
        f"`{every_draw}` beside this page holds every draw."
    )
    header = " | ".join(f"ratio {ratio}" for ratio in RATIOS)
    for name, reading in READINGS.items():
        mine = [row for row in rows if row["reading"] == name]
        labels = [next(row["labels"] for row in mine if row["ratio"] == ratio) for ratio in RATIOS]
        yield ""
        yield f"## Reading “{name}”"
        yield ""
        yield f"{reading.words[0].upper()}{reading.words[1:]}."
        yield ""
        yield f"| | | {header} |"
        yield "|---|---|" + "---:|" * len(RATIOS)
        yield "| labels | | " + " | ".join(str(count) for count in labels) + " |"
        for variant in VARIANTS:
            yield f"| {variant} | measured | " + " | ".join(_spread(mine, variant, ratio) for ratio in RATIOS) + " |"
            yield "| | published | " + " | ".join(PUBLISHED[variant]) + " |"


def _spread(rows: list[dict[str, Any]], variant: str, ratio: float) -> str:
    values = [row["macro_f1"] for row in rows if row["variant"] == variant and row["ratio"] == ratio]
    return f"{np.mean(values):.1f} ± {np.std(values, ddof=1):.1f}"


if __name__ == "__main__":
    typer.run(main)
