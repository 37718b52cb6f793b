"""What the tables compare: a method with its options, by the name of its row; and readings of the paper."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pugnn.task import RatioOf, Unlabelled


@dataclass(frozen=True)
class Reading:
    """One way to read what the paper leaves open; the defaults are the package's.

    With ``redraw``, split and labels are drawn again for each repetition; otherwise only the seed of the training
    changes. ``options`` and ``training`` concern PU-GNN alone.
    """

    words: str
    unlabelled: Unlabelled = "all"
    label_ratio_of: RatioOf = "all_nodes"
    redraw: bool = True
    options: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)

    def protocol(self, ratio: float, draw: int) -> dict[str, Any]:
        """Arguments of :func:`pugnn.task.draw_benchmark`."""
        return {
            "label_ratio": ratio,
            "label_ratio_of": self.label_ratio_of,
            "unlabelled": self.unlabelled,
            "seed": draw if self.redraw else 0,
        }


#: Each takes up one question that ``default`` answers differently.
READINGS = {
    "default": Reading(
        "U is every node that is not labelled; the ratio counts all nodes; split and labels are redrawn each time; R_S "
        "is a mean over edges with the K draws summed, on the hidden layer before its ReLU"
    ),
    "training-u": Reading("as default, but U is the unlabelled part of the training split", unlabelled="train"),
    "ratio-of-positives": Reading("as default, but the ratio counts all positives", label_ratio_of="all_positives"),
    "literal-ratio": Reading(
        "as default, but the ratio counts the positives of the training split, as the paper literally says; at least "
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
        "two 16-unit convolutions, followed by a linear layer",
        options={"reduction": "pair-mean"},
        training={"backbone": "gcn-linear"},
    ),
}


@dataclass(frozen=True)
class Row:
    """A method as a table shows it, with its own settings and those of its training that differ from the defaults.

    With ``known_prior`` it is given the true positive share of the unlabelled nodes, plus ``prior_error``, and nothing
    else of the truth.
    """

    method: str
    options: dict[str, Any] = field(default_factory=dict)
    known_prior: bool = False
    training: dict[str, Any] = field(default_factory=dict)
    threshold: float | Literal["prior"] = 0.5
    prior_error: float = 0.0

    def under(self, reading: Reading) -> Row:
        """The row under a reading, which may change PU-GNN's own settings."""
        if self.method != "pu-gnn":
            return self
        options, training = {**reading.options, **self.options}, {**reading.training, **self.training}
        return replace(self, options=options, training=training)


#: Near and far prior of PU-GNN, the same on all data sets, as in the paper.
PAPER_PRIORS = {"near_prior": 0.6, "far_prior": 0.3}

#: The six rows of the paper's Table 2.
PAPER_METHODS = {
    "naive": Row("naive"),
    "nnpu": Row("nnpu", known_prior=True),
    "dist-pu": Row("dist-pu", known_prior=True),
    "lsdan": Row("lsdan", known_prior=True),
    "grab": Row("grab"),
    "pu-gnn": Row("pu-gnn", PAPER_PRIORS),
}

#: In addition: the package's default, yardsticks that are simpler, and variants of the same methods.
MORE_METHODS = {
    "views": Row("views", known_prior=True),  # the package's default
    "smoothed-logistic": Row("smoothed-logistic", known_prior=True),
    "centroid": Row("centroid", known_prior=True),
    "naive-balanced": Row("naive", {"balanced": True}, known_prior=True, threshold="prior"),
    "upu": Row("upu", known_prior=True),
    "nnpu-clamp": Row("nnpu", {"correction": "clamp"}, known_prior=True),
    "dist-pu-full": Row("dist-pu", {"variant": "full"}, known_prior=True),
    "nnpu-mlp": Row("nnpu", known_prior=True, training={"backbone": "mlp"}),
    "dist-pu-mlp": Row("dist-pu", known_prior=True, training={"backbone": "mlp"}),
    "label-propagation": Row("label-propagation", known_prior=True),
    "pagerank": Row("label-propagation", {"normalisation": "walk"}, known_prior=True),
}

#: Variants of PU-GNN in Table 3. "Without PU loss" is read as cross-entropy with every unlabelled node as negative.
ABLATION = {
    "GCN": Row("naive"),
    "L_G + α R_S": Row("pu-gnn", PAPER_PRIORS),
    "R_S only": Row("pu-gnn", PAPER_PRIORS | {"supervision": "cross-entropy"}),
    "L_G only": Row("pu-gnn", PAPER_PRIORS | {"alpha": 0.0}),
}

#: Table 4: near prior, far prior.
PRIORS = {
    f"{near}, {far}": Row("pu-gnn", {"near_prior": near, "far_prior": far})
    for far in (0.1, 0.2, 0.3, 0.4)
    for near in (0.5, 0.6, 0.7, 0.8, 0.9)
}

#: Table 5.
DELTAS = {str(delta): Row("pu-gnn", PAPER_PRIORS | {"delta": delta}) for delta in (1, 2, 3, 4, 5)}

#: Methods that can be given the prior, but are not.
WITHOUT_PRIOR = {f"{method}-no-prior": Row(method) for method in ("views", "smoothed-logistic", "centroid")}

#: Rows of the study of many graphs, as in Table 2: methods that can take the prior are given it.
GRAPH_METHODS = {
    **{name: MORE_METHODS[name] for name in ("views", "smoothed-logistic", "centroid")},
    **WITHOUT_PRIOR,
    **PAPER_METHODS,
    **{name: MORE_METHODS[name] for name in ("naive-balanced", "upu", "label-propagation")},
}

#: Those that train within seconds on graphs of ten thousand nodes.
FAST_METHODS = {name: row for name, row in GRAPH_METHODS.items() if row.method not in ("lsdan", "grab")}

#: Rows of the study of rare positives. All but the default are given the true share; but for nnPU, it sets only how
#: many nodes are decided positive, and no ranking.
RARE_METHODS = {
    "views": Row("views"),
    "centroid": MORE_METHODS["centroid"],
    "smoothed-logistic-C1": Row("smoothed-logistic", {"inverse_penalty": 1.0}, known_prior=True),
    "smoothed-logistic-C10": Row("smoothed-logistic", {"inverse_penalty": 10.0}, known_prior=True),
    "graphany": Row("graphany", known_prior=True),
    "label-propagation": MORE_METHODS["label-propagation"],
    "nnpu": PAPER_METHODS["nnpu"],
}

#: Rows that are given the true prior, or one that is off.
WRONG_PRIORS = {
    f"{method}{suffix}": Row(method, known_prior=True, prior_error=error)
    for method in ("views", "dist-pu")
    for suffix, error in (("", 0.0), ("-0.1", -0.1), ("+0.1", 0.1))
}
