"""Cross-checks of our methods in the protocols of other papers, against the values published there.

The largest class is positive, a share of all positives is labelled, every other node is unlabelled and scored, and the
measure is the F1 of the positive class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from pugnn_paper.cells import Cell
from pugnn_paper.pages.blocks import Block, Heading, Paragraph, table
from pugnn_paper.pages.repeated import opening
from pugnn_paper.pages.wording import dataset_name, signed, spread
from pugnn_paper.records import Record
from pugnn_paper.rows import Row
from pugnn_paper.statistics import mean_and_deviation
from pugnn_paper.tables import footer

#: Index of the largest class.
LARGEST_CLASS = {"cora": (2,), "citeseer": (3,)}


@dataclass(frozen=True)
class Check:
    """One published F1 (%) of the positive class, and the row that should reach it.

    ``share`` of the positives is labelled; with ``one_split`` the same ones for all seeds, as in the source.
    """

    source: str
    words: str
    dataset: str
    share: float
    published: float
    row: Row
    one_split: bool


_GRAB = {"GRAB": Row("grab"), "GRAB, uniform potentials": Row("grab", {"potentials": "uniform"})}
_GRAB_VALUES = {("cora", 0.5): 80.4, ("citeseer", 0.5): 69.7}
_NNPU = {
    "nnPU, logistic loss, weight decay 1e-6": Row(
        "nnpu", {"surrogate": "logistic"}, known_prior=True, training={"weight_decay": 1e-6}
    ),
    "nnPU, our defaults": Row("nnpu", known_prior=True),
}
_NNPU_VALUES = {("cora", 0.2): 84.0, ("cora", 0.5): 82.0, ("citeseer", 0.2): 72.0, ("citeseer", 0.5): 71.0}

CHECKS = [
    Check(source, words, dataset, share, published, row, one_split=rows is _GRAB)
    for source, rows, values in (
        ("GRAB's own code", _GRAB, _GRAB_VALUES),
        ("NNIF-GNN, its nnPU row", _NNPU, _NNPU_VALUES),
    )
    for (dataset, share), published in values.items()
    for words, row in rows.items()
]


def check_cells(draws: int) -> dict[tuple[int, int], Cell]:
    """Every training of the checks, by the check's place in the list and draw."""
    return {
        (number, draw): Cell.of_protocol(
            check.row,
            {"share": check.share, "seed": 0 if check.one_split else draw},
            dataset=check.dataset,
            seed=draw,
            positive_classes=LARGEST_CLASS[check.dataset],
        )
        for draw in range(draws)
        for number, check in enumerate(CHECKS)
    }


def checks_page(records: dict[str, Record], draws: int, command: str) -> Iterator[Block]:
    """Measured and published values of all checks, source by source."""
    cells = check_cells(draws)
    yield from opening(
        "Cross-checks in other papers' protocols",
        "The largest class is positive, a share of all positives is labelled at random, every other node is unlabelled "
        f"and scored. F1 (%) of the positive class at threshold 0.5, mean ± standard deviation over {draws} seeds. "
        "nnPU is shown with our defaults, and with two changes: weight decay, which is that of NNIF-GNN's code, and "
        "the logistic loss, chosen after the sigmoid loss had failed here.",
        command,
        footer([records[cell.key] for cell in cells.values()]),
    )
    heads = ["data set", "method", "labelled", "labels", "measured", "published", "difference"]
    for source, group in groupby(enumerate(CHECKS), key=lambda pair: pair[1].source):
        lines = []
        for number, check in group:
            found = [records[cells[number, draw].key] for draw in range(draws)]
            mean, deviation = mean_and_deviation([record["metrics"]["f1"] for record in found])
            lines.append(
                [
                    dataset_name(check.dataset),
                    check.words,
                    f"{100 * check.share:.0f} %",
                    str(found[0]["labels"]),
                    spread(mean, deviation),
                    f"{check.published:.1f}",
                    signed(mean - check.published, ".1f"),
                ]
            )
        yield Heading(source, 2)
        yield Paragraph(f"Labelled nodes are {'the same for all seeds' if check.one_split else 'drawn for each seed'}.")
        yield table(source, heads, lines)
