"""Named readings of what the paper leaves open; each takes up one question that ``default`` answers otherwise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pugnn.task.benchmark import RatioOf, Unlabelled


@dataclass(frozen=True)
class Reading:
    """One way to read the paper; the defaults are the package's.

    Args:
        words: what it says, for the pages.
        unlabelled: which nodes the loss treats as unlabelled.
        label_ratio_of: what the label ratio is a share of.
        redraw: split and labels are drawn anew for each repetition; otherwise only the seed of the training changes.
        options: of PU-GNN.
        training: settings of PU-GNN's training.
    """

    words: str
    unlabelled: Unlabelled = "all"
    label_ratio_of: RatioOf = "all_nodes"
    redraw: bool = True
    options: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)


READINGS = {
    "default": Reading(
        "U is every node that is not labelled; the ratio counts all nodes; split and labels are redrawn each time; R_S "
        "is a mean over edges with the K draws summed, on the hidden layer before its ReLU"
    ),
    "training-u": Reading("as default, but U is the unlabelled part of the training split", unlabelled="train"),
    "ratio-of-positives": Reading("as default, but the ratio counts all positives", label_ratio_of="all_positives"),
    "literal-ratio": Reading(
        "as default, but the ratio counts the positives of the training split, as the paper's words have it; at least "
        "one node is labelled",
        label_ratio_of="train_positives",
    ),
    "one-draw": Reading(
        "as default, but split and labels are drawn once, and only initial weights, dropout and negatives differ",
        redraw=False,
    ),
    "literal-sum": Reading("as default, but R_S is the literal sum", options={"reduction": "sum"}),
    "mean-mean": Reading(
        "as default, but R_S is a mean over neighbours plus a mean over non-neighbours, on the output of the second of "
        "two 16-unit convolutions, with a linear layer behind",
        options={"reduction": "pair-mean"},
        training={"backbone": "gcn-linear"},
    ),
}
