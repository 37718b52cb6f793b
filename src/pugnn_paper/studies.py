"""Studies beside the paper's tables: which cells each one needs, and its page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from pugnn_paper.cells import Cell, named_dataset
from pugnn_paper.pages.study_page import Share, Study, StudyPage, share_words
from pugnn_paper.pages.study_summary import Metric, StudyPlace, StudyResult
from pugnn_paper.protocols import MIN_HIDDEN, can_be_rare
from pugnn_paper.published import TABLE1
from pugnn_paper.records import Record
from pugnn_paper.rows import FAST_METHODS, GRAPH_METHODS, RARE_METHODS, READINGS, WRONG_PRIORS, Row
from pugnn_paper.tables import footer

#: Repetitions where none are asked for.
DRAWS = 5

#: Nodes that a class needs, so that a hundred of them can be labelled and some are left to be found.
MIN_NODES = 150

_GRAPHS = (*TABLE1, "cora_ml", "amazon_cs", "coauthor_phy", "twitch_de", "tolokers", "squirrel_filtered")

_REST = "Every other node is unlabelled and scored, and a draw is the same for all rows. "
_PAPER_CLASSES = "On the paper's four data sets its classes are positive; elsewhere "
_SETTINGS = "Settings are the same for all data sets; none was tuned here. Decisions are the row's own."

_SLOW = "a training takes more than four minutes on one core"


def _against_views(rows: Mapping[str, Row]) -> dict[str, str]:
    """Every row against `views` that knows as much of the prior, and without the prior that against itself with it."""
    return {
        name: "views" if row.known_prior or row.method == "views" else "views-no-prior"
        for name, row in rows.items()
        if name != "views"
    }


STUDIES = {
    "graphs": Study(
        title="The methods on many graphs",
        question="Known positives are drawn at random from all positives. "
        + _REST
        + _PAPER_CLASSES
        + f"the largest class is, and in a second task the smallest one with at least {MIN_NODES} nodes. "
        + _SETTINGS,
        rows=GRAPH_METHODS,
        datasets=(*_GRAPHS, "polblogs"),
        metrics=("average_precision",),
        labels=(10, 30, 100),
        both_classes=True,
        baselines=_against_views(GRAPH_METHODS),
        left_out={
            ("lsdan", "amazon_cs"): _SLOW,
            ("lsdan", "coauthor_phy"): _SLOW,
            ("lsdan", "twitch_de"): _SLOW,
            ("lsdan", "tolokers"): _SLOW,
            ("pu-gnn", "tolokers"): _SLOW,
        },
    ),
    "wrong-prior": Study(
        title="A wrong prior",
        question="The protocol of Table 2 of the paper: a random tenth of the nodes is the training split, from which "
        "the labelled positives are drawn. A row is given the true positive share of the unlabelled nodes, or that "
        "share minus or plus 0.1. " + _SETTINGS,
        rows=WRONG_PRIORS,
        baselines={name: row.method for name, row in WRONG_PRIORS.items() if row.prior_error},
        datasets=tuple(TABLE1),
        metrics=("macro_f1", "roc_auc"),
        ratios=(0.005,),
    ),
    "biased-labels": Study(
        title="Known positives that are no random sample",
        question="Known positives are drawn at random; with a probability proportional to their degree (by-degree); or "
        "as a random positive and those nearest to it in hops (one-community). "
        + _REST
        + _PAPER_CLASSES
        + f"the smallest one with at least {MIN_NODES} nodes is. "
        + _SETTINGS,
        rows=FAST_METHODS,
        datasets=(*TABLE1, "amazon_cs", "cora_ml"),
        metrics=("average_precision", "macro_f1"),
        labels=(30,),
        samplings=("uniform", "by-degree", "one-community"),
        baselines=_against_views(FAST_METHODS),
    ),
    "rare": Study(
        title="Rare positives",
        question="Known positives are drawn at random from all positives. Other positives are removed at random, with "
        "their edges, until they are a given share of the unlabelled nodes; none at the natural share. A case is left "
        f"out where fewer than {MIN_HIDDEN} would stay, or more than there are. "
        + _REST
        + f"In one task the largest class is positive, in another the smallest with at least {MIN_NODES} nodes. "
        "`views`, the default, is told nothing. Other rows are given the share; but for nnPU, it sets only how many "
        "nodes they decide positive, and no ranking. P@n is the precision among as many nodes as there are positives. "
        + _SETTINGS
        + " Exceptions: the penalty of graphany is one of five that were tried on these graphs, at natural shares; and "
        "how much closeness and training count in views was chosen on up to three other draws of nine of them.",
        rows=RARE_METHODS,
        datasets=_GRAPHS,
        metrics=("average_precision", "precision_at_positives", "precision_at_20", "precision_at_100"),
        labels=(10, 30, 100),
        shares=("natural", 0.02, 0.005, 0.001),
        paper_classes=False,
        both_classes=True,
        near=2.0,
        baselines={name: "views" for name in RARE_METHODS if name != "views"},
    ),
}


@dataclass(frozen=True)
class Target:
    """What is looked for in a data set; no ``classes`` are the data set's own."""

    dataset: str
    words: str
    classes: tuple[int, ...] | None


def extreme_classes(labels: NDArray[np.int64]) -> tuple[int, int]:
    """The largest class, and the smallest of those with at least `MIN_NODES` nodes.

    Without a second class of that size, both are the largest.

    Example:
        >>> extreme_classes(np.repeat([0, 1, 2], [200, 900, 149]))
        (1, 0)
    """
    sizes = np.bincount(labels)
    largest = int(sizes.argmax())
    enough = np.flatnonzero(sizes >= min(MIN_NODES, sizes[largest]))
    return largest, int(enough[sizes[enough].argmin()])


def targets(study: Study, datasets: Iterable[str]) -> list[Target]:
    """The tasks of a study on some data sets: the paper's classes, or one or two by their size."""
    found = []
    for name in datasets:
        if study.paper_classes and name in TABLE1:
            found.append(Target(name, "paper's classes", None))
            continue
        data = named_dataset(name)
        largest, smallest = extreme_classes(data.labels[~data.missing])
        chosen = dict.fromkeys((largest, smallest) if study.both_classes else (smallest,))
        found += [Target(name, f"class {data.class_names[one]}", (one,)) for one in chosen]
    return found


def _exists(target: Target, protocol: Mapping[str, Any]) -> bool:
    """Whether positives can be made as rare as a protocol asks for."""
    if "prior" not in protocol:
        return True
    data = named_dataset(target.dataset, target.classes)
    return can_be_rare(data, labels=protocol["labels"], prior=protocol["prior"])


@dataclass(frozen=True)
class StudyGrid:
    """The part of a study that is asked for."""

    name: str
    rows: tuple[str, ...]
    datasets: tuple[str, ...]
    labels: tuple[int, ...]
    ratios: tuple[float, ...]
    shares: tuple[Share, ...]
    draws: int

    @property
    def study(self) -> Study:
        """The whole study."""
        return STUDIES[self.name]

    def protocols(self, draw: int) -> dict[str, dict[str, Any]]:
        """How the labels of a draw are drawn, by the name of the setting."""
        ways: dict[str, dict[str, Any]] = {
            f", {share_words(share)}": {"sampling": "uniform"} if share == "natural" else {"prior": share}
            for share in self.shares
        } or {"" if each == "uniform" else f", {each}": {"sampling": each} for each in self.study.samplings}
        found = {
            f"{labels} label{'' if labels == 1 else 's'}{words}": {"labels": labels, **way, "seed": draw}
            for labels in self.labels
            for words, way in ways.items()
        }
        for ratio in self.ratios:
            found[f"ratio {ratio:g}"] = READINGS["default"].protocol(ratio, draw)
        return found

    def cells(self) -> dict[StudyPlace, Cell]:
        """Every training by its place, draw by draw."""
        rows = {name: self.study.rows[name] for name in self.rows}
        return {
            StudyPlace(target.dataset, target.words, setting, name, draw): Cell.of_protocol(
                row, protocol, dataset=target.dataset, seed=draw, positive_classes=target.classes
            )
            for draw in range(self.draws)
            for target in targets(self.study, self.datasets)
            for setting, protocol in self.protocols(draw).items()
            for name, row in rows.items()
            if (row.method, target.dataset) not in self.study.left_out and _exists(target, protocol)
        }

    def page(self, records: dict[str, Record], command: str) -> StudyPage:
        """The study's page, from the records of its cells."""
        results, mine = [], {}
        for place, cell in self.cells().items():
            if cell.key not in records:
                continue
            record = mine[cell.key] = records[cell.key]
            metrics = record["metrics"]
            result = StudyResult(
                **vars(place),
                **{name: metrics.get(name) for name in get_args(Metric)},  # early records lack some
                prior_given=cell.known_prior,
                labels=record["labels"],
                share_positive=round(100 * metrics["positive"] / metrics["test_nodes"], 6),
                share_decided=round(100 * metrics["decided_positive"] / metrics["test_nodes"], 6),
                seconds=record["seconds"]["training"],
            )
            results.append(result)
        settings = tuple(self.protocols(0))
        return StudyPage(self.study, self.rows, self.datasets, settings, results, command, footer(mine.values()))
