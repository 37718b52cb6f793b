"""The paper's tables: which cells each one needs, and its page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Literal

from pugnn.data import load_dataset
from pugnn.experiments import published
from pugnn.experiments.cells import Cell
from pugnn.experiments.pages.page import TablePage
from pugnn.experiments.pages.summary import Result
from pugnn.experiments.published import Published
from pugnn.experiments.rows import ABLATION, DELTAS, MORE_METHODS, PAPER_METHODS, PRIORS, READINGS, Row
from pugnn.experiments.runner import duration
from pugnn.experiments.store import Record

_PROTOCOL = (
    "Macro-F1 (%) on the test nodes, mean ± standard deviation over the draws, at threshold 0.5. One node in ten is in "
    "the random training split, from which the labelled positives are drawn; a draw is the same for all rows. The last "
    "epoch's weights count. "
)
_SETTINGS = "Settings are the same for all data sets; none was tuned. "


@dataclass(frozen=True)
class TableSpec:
    """One of the paper's tables of trained models.

    Args:
        title: for the page.
        question: what is measured and how, for the page.
        rows: all rows by name.
        published: the paper's values.
        datasets: the paper's.
        ratios: the paper's.
        reference: the row that others are tested against.
        kind: how the page draws it.
    """

    title: str
    question: str
    rows: dict[str, Row]
    published: Published
    datasets: tuple[str, ...]
    ratios: tuple[float, ...]
    reference: str
    kind: Literal["comparison", "priors", "delta"]


TABLES = {
    "table2": TableSpec(
        "Comparison of the methods (Table 2 of the paper)",
        _PROTOCOL + _SETTINGS + "nnPU, Dist-PU, LSDAN and the yardsticks are given the true positive share of the "
        "unlabelled nodes, and nothing else of the truth; naive, GRAB and PU-GNN are not (PU-GNN has the paper's fixed "
        "0.6 and 0.3). GRAB trains as its authors do, until its loss no longer falls. The rows below PU-GNN are not in "
        "the paper: naive with balanced weights and a threshold that matches the known share, uPU, nnPU with a clamp "
        "instead of the ascent, the full two-stage Dist-PU, nnPU and Dist-PU on a perceptron that sees no edges, and "
        "label propagation and personalised PageRank, which see nothing but edges.",
        {**PAPER_METHODS, **MORE_METHODS},
        published.TABLE2,
        tuple(published.TABLE1),
        published.RATIOS,
        "pu-gnn",
        "comparison",
    ),
    "table3": TableSpec(
        "Parts of PU-GNN (Table 3 of the paper)",
        _PROTOCOL + "“Without PU loss” is read as cross-entropy with every unlabelled node as negative, plus R_S.",
        ABLATION,
        published.TABLE3,
        ("cora",),
        published.RATIOS,
        "L_G + α R_S",
        "comparison",
    ),
    "table4": TableSpec(
        "The two priors (Table 4 of the paper)",
        _PROTOCOL + "PU-GNN with other priors of the near and the far nodes; the paper's choice is 0.6 and 0.3.",
        PRIORS,
        published.TABLE4,
        (published.SENSITIVITY[0],),
        (published.SENSITIVITY[1],),
        "0.6, 0.3",
        "priors",
    ),
    "table5": TableSpec(
        "The distance δ (Table 5 of the paper)",
        _PROTOCOL + "PU-GNN with other distances up to which a node is near; the paper's choice is 3.",
        DELTAS,
        published.TABLE5,
        (published.SENSITIVITY[0],),
        (published.SENSITIVITY[1],),
        "3",
        "delta",
    ),
}


@dataclass(frozen=True)
class Place:
    """The place of a training in a table."""

    reading: str
    dataset: str
    row: str
    ratio: float
    draw: int


@dataclass(frozen=True)
class Grid:
    """The part of a table that is asked for."""

    table: str
    rows: tuple[str, ...]
    datasets: tuple[str, ...]
    ratios: tuple[float, ...]
    readings: tuple[str, ...]
    draws: int

    @property
    def spec(self) -> TableSpec:
        """The whole table."""
        return TABLES[self.table]

    def cells(self) -> dict[Place, Cell]:
        """Every training by its place."""
        places = (
            Place(*place, draw)
            for draw in range(self.draws)
            for place in product(self.readings, self.datasets, self.rows, self.ratios)
        )
        return {
            place: Cell.of(
                self.spec.rows[place.row],
                READINGS[place.reading],
                dataset=place.dataset,
                ratio=place.ratio,
                draw=place.draw,
            )
            for place in places
        }

    def page(self, records: dict[str, Record], command: str) -> TablePage:
        """The table's page, from the records of its cells."""
        results, mine = [], {}
        for place, cell in self.cells().items():
            if cell.key not in records:
                continue
            record = mine[cell.key] = records[cell.key]
            metrics = record["metrics"]
            results.append(
                Result(
                    **vars(place),
                    labels=record["labels"],
                    macro_f1=metrics["macro_f1"],
                    roc_auc=metrics["roc_auc"],
                    seconds=record["seconds"]["training"],
                )
            )
        return TablePage(
            title=self.spec.title,
            question=self.spec.question,
            command=command,
            footer=footer(mine.values()),
            results=results,
            published=self.spec.published,
            rows=list(self.rows),
            reading_words={name: READINGS[name].words for name in self.readings},
            reference=self.spec.reference if self.spec.reference in self.rows else None,
            kind=self.spec.kind,
        )


def footer(records: Iterable[Record]) -> str:
    """Number of trainings, versions, and how long they took."""
    records = list(records)
    seconds = sum(record["seconds"]["total"] for record in records)
    used = {
        name: ", ".join(sorted({record["versions"][name].split("+")[0] for record in records}))
        for name in ("torch", "numpy", "python")
    }
    pugnn = ", ".join(sorted({record["cell"]["pugnn"] for record in records}))
    return (
        f"{len(records):,} training{'s' * (len(records) != 1)}, {duration(seconds)} of one core in all; "
        f"pugnn {pugnn}, torch {used['torch']}, numpy {used['numpy']}, Python {used['python']}."
    )


def count_nodes(datasets: Iterable[str]) -> dict[str, dict[str, int]]:
    """Table 1: numbers of nodes of each data set."""
    counts = {}
    for name in datasets:
        data = load_dataset(name)
        nodes, positive = data.graph.num_nodes, int(data.positive.sum())
        counts[name] = {
            "nodes": nodes,
            "positive": positive,
            "negative": nodes - positive,
            "training": data.train_size,
            "testing": nodes - data.train_size,
        }
    return counts
