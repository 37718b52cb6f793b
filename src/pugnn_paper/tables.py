"""The paper's tables: which cells each one needs, and its page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

from pugnn.datasets import load_dataset
from pugnn.errors import counted
from pugnn.waiting import duration
from pugnn_paper import published
from pugnn_paper.cells import Cell
from pugnn_paper.pages.repeated import TablePage, TableSpec
from pugnn_paper.pages.summary import Place, Result
from pugnn_paper.records import Record
from pugnn_paper.rows import ABLATION, DELTAS, MORE_METHODS, PAPER_METHODS, PRIORS, READINGS

_PROTOCOL = (
    "Macro-F1 (%) on the test nodes, mean ± standard deviation over the draws, at threshold 0.5. A random tenth of the "
    "nodes is the training split, from which the labelled positives are drawn; a draw is the same for all rows. The "
    "weights of the last epoch are used. "
)
_SETTINGS = "Settings are the same for all data sets; none was tuned. "


TABLES = {
    "table2": TableSpec(
        "Comparison of the methods (Table 2 of the paper)",
        _PROTOCOL
        + _SETTINGS
        + "nnPU, Dist-PU, LSDAN, views and the yardsticks are given the true positive share of the "
        "unlabelled nodes, and nothing else of the truth; naive, GRAB and PU-GNN are not (PU-GNN has the paper's fixed "
        "0.6 and 0.3). GRAB trains as its authors do, until its loss stops falling. The rows below PU-GNN are not in "
        "the paper: views, the package's default; two simpler yardsticks for it, a logistic regression on smoothed "
        "features and the similarity to the mean of the known positives; naive with balanced weights and a "
        "threshold that matches the known share, uPU, nnPU with a clamp instead of the ascent, the full two-stage "
        "Dist-PU, nnPU and Dist-PU on a perceptron that ignores edges, and label propagation and personalised "
        "PageRank, which use only edges.",
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
        """Every training by its place, draw by draw."""
        return {
            Place(reading, dataset, row, ratio, draw): Cell.of(
                self.spec.rows[row], READINGS[reading], dataset=dataset, ratio=ratio, draw=draw
            )
            for draw in range(self.draws)
            for reading, dataset, row, ratio in product(self.readings, self.datasets, self.rows, self.ratios)
        }

    def page(self, records: dict[str, Record], command: str) -> TablePage:
        """The table's page, from the records of its cells."""
        results, mine = [], {}
        for place, cell in self.cells().items():
            if cell.key not in records:
                continue
            record = mine[cell.key] = records[cell.key]
            values = {name: record["metrics"][name] for name in ("macro_f1", "roc_auc")}
            values |= {"labels": record["labels"], "seconds": record["seconds"]["training"]}
            results.append(Result(**vars(place), **values))
        readings = {name: READINGS[name].words for name in self.readings}
        return TablePage(self.spec, self.rows, readings, results, command, footer(mine.values()))


def footer(records: Iterable[Record]) -> str:
    """Number of trainings, versions, and how long they took."""
    records = list(records)
    seconds = sum(record["seconds"]["total"] for record in records)
    used = [{"pugnn": record["cell"]["pugnn"], **record["versions"]} for record in records]
    names = {"pugnn": "pugnn", "torch": "torch", "numpy": "numpy", "python": "Python"}
    versions = (f"{name} {', '.join(sorted({one[key].split('+')[0] for one in used}))}" for key, name in names.items())
    return f"{counted(len(records), 'training')}, {duration(seconds)} of one core in total; {', '.join(versions)}."


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
