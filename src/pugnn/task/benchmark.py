"""Tasks whose truth is known, drawn from data with known classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pugnn.datasets.dataset import Dataset
from pugnn.errors import (
    Displayed,
    PugnnError,
    counted,
    given,
    require_choice,
    require_share,
    require_type,
    require_whole,
)
from pugnn.graph import hop_distances
from pugnn.graph.arrays import positions_within
from pugnn.task.task import PUTask

#: What a label ratio is a share of.
RatioOf = Literal["all_nodes", "all_positives", "train_positives", "train_nodes"]
#: Nodes that count as unlabelled.
Unlabelled = Literal["all", "train"]
#: How known positives are drawn.
Sampling = Literal["uniform", "by-degree", "one-community"]

#: Hidden positives that must stay, so that a ranking can be judged by them.
MIN_HIDDEN = 10


@dataclass(frozen=True, eq=False, repr=False)
class PUBenchmark(Displayed):
    """A task drawn from data with known classes. The truth is here, separate from the task.

    Args:
        task: what a method gets.
        positive: true class of each node, shape ``(N,)``.
        train: positions of the training split, from which the labelled nodes were drawn.
        test: positions of all other nodes.
        scored: those test nodes whose true class is known; metrics are computed on these.
    """

    task: PUTask
    positive: NDArray[np.bool_]
    train: NDArray[np.int64]
    test: NDArray[np.int64]
    scored: NDArray[np.int64]

    def __post_init__(self) -> None:
        require_type("task", self.task, PUTask, "a PUTask")
        n = self.task.graph.num_nodes
        require_type("positive", self.positive, np.ndarray, "a boolean mask")
        if self.positive.shape != (n,) or self.positive.dtype != bool:
            raise PugnnError(f"positive must be a boolean mask, one entry per node; got {given(self.positive)}")
        for name in ("train", "test", "scored"):
            object.__setattr__(self, name, positions_within(getattr(self, name), n, name))

    def _facts(self) -> list[str]:
        return [*self.task._facts(), f"{int(self.positive.sum()):,} positive", counted(len(self.test), "test node")]

    @classmethod
    def of_unlabelled(cls, task: PUTask, positive: NDArray[np.bool_]) -> PUBenchmark:
        """A benchmark without a training split: all unlabelled nodes are test nodes, and their class is known."""
        require_type("task", task, PUTask, "a PUTask")
        return cls(task, positive, train=task.labelled, test=task.unlabelled, scored=task.unlabelled)


def draw_benchmark(
    dataset: Dataset,
    *,
    label_ratio: float | None = None,
    label_ratio_of: RatioOf = "all_nodes",
    labels: int | None = None,
    unlabelled: Unlabelled = "all",
    seed: int,
) -> PUBenchmark:
    """Draw a random training split and labelled positives from it, by the paper's protocol.

    The split is uniform over all nodes, of the size in the paper's Table 1. The paper calls "label ratio" a
    "small proportion of positive nodes in the training set"; taken literally that is a single node in every
    column, so ``label_ratio_of`` says what the ratio is a share of.

    Args:
        dataset: nodes with known classes.
        label_ratio: share that is labelled; at least one node is.
        label_ratio_of: what it is a share of.
        labels: number of labelled nodes, instead of a ratio.
        unlabelled: nodes that the loss treats as unlabelled: ``"all"`` that are not labelled (the paper's
            section 3), or only those of the training split (a reading of its section 4).
        seed: controls split and labels; the same seed gives the same draw.
    """
    _require_drawable(dataset, seed)
    if (label_ratio is None) == (labels is None):
        raise PugnnError("give either label_ratio or labels (a number of nodes)")
    require_choice("label_ratio_of", label_ratio_of, get_args(RatioOf))
    require_choice("unlabelled", unlabelled, get_args(Unlabelled))
    rng = np.random.default_rng(seed)
    nodes = rng.permutation(dataset.graph.num_nodes)
    train, test = np.sort(nodes[: dataset.train_size]), np.sort(nodes[dataset.train_size :])
    candidates = train[dataset.positive[train] & ~dataset.missing[train]]
    if label_ratio is not None:
        if type(label_ratio) not in (int, float) or label_ratio != 1:
            require_share("label_ratio", label_ratio)
        base = {
            "all_nodes": dataset.graph.num_nodes,
            "all_positives": int(dataset.positive.sum()),
            "train_positives": len(candidates),
            "train_nodes": len(train),
        }[label_ratio_of]
        labels = max(1, round(label_ratio * base))
    assert labels is not None
    require_whole("labels", labels, 1)
    if labels > len(candidates):
        raise PugnnError(
            f"cannot label {labels} nodes: the training split of {dataset.name} holds {len(candidates)} positives. "
            "Label fewer."
        )
    labelled = np.sort(rng.choice(candidates, labels, replace=False))
    pool = np.arange(dataset.graph.num_nodes) if unlabelled == "all" else train
    return PUBenchmark(
        task=PUTask(dataset.graph, labelled, np.setdiff1d(pool, labelled)),
        positive=dataset.positive,
        train=train,
        test=test,
        scored=test[~dataset.missing[test]],
    )


def draw_share(dataset: Dataset, *, share: float, seed: int) -> PUBenchmark:
    """Label a share of all positives and score the rest: the protocol of GRAB and later papers.

    There is no training split: every node that is not labelled is unlabelled, and all of these are test nodes.

    Args:
        dataset: nodes with known classes.
        share: of the positives that is labelled; at least one node is.
        seed: controls which ones.
    """
    _require_drawable(dataset, seed)
    require_share("share", share)
    return draw_labels(dataset, labels=max(1, round(share * len(_candidates(dataset)))), seed=seed)


def draw_labels(dataset: Dataset, *, labels: int, sampling: Sampling = "uniform", seed: int) -> PUBenchmark:
    """Label a number of positives and score the rest; there is no training split, as in :func:`draw_share`.

    Known positives are rarely a random sample: the other two ways to draw them show what that costs.

    Args:
        dataset: nodes with known classes.
        labels: number of positives that are labelled.
        sampling: ``uniform``: each positive is equally likely. ``by-degree``: as likely as it has neighbours, one
            positive after the other; those without neighbours are never drawn. ``one-community``: a random positive
            and those nearest to it in hops, ties at random; it is drawn from the connected components with enough
            positives.
        seed: controls which ones.
    """
    _require_drawable(dataset, seed)
    require_whole("labels", labels, 1)
    require_choice("sampling", sampling, get_args(Sampling))
    candidates = _candidates(dataset)
    if sampling == "by-degree":
        candidates = candidates[dataset.graph.degrees[candidates] > 0]
    elif sampling == "one-community":
        component = dataset.graph.components[candidates]
        candidates = candidates[np.bincount(component)[component] >= labels]
    if labels > len(candidates):
        where = {"uniform": "", "by-degree": " with neighbours", "one-community": " in components with that many"}
        raise PugnnError(
            f"cannot label {labels} nodes: {dataset.name} holds {len(candidates)} positives{where[sampling]}. "
            "Label fewer."
        )
    rng = np.random.default_rng(seed)
    if sampling == "one-community":
        first = rng.choice(candidates)
        shuffled = rng.permutation(candidates)
        hops = hop_distances(dataset.graph, [first])[shuffled]
        labelled = shuffled[np.argsort(hops, kind="stable")[:labels]]
    else:
        degrees = dataset.graph.degrees[candidates]
        likely = degrees / degrees.sum() if sampling == "by-degree" else None
        labelled = rng.choice(candidates, labels, replace=False, p=likely)
    return _all_scored(dataset, labelled)


def draw_rare(dataset: Dataset, *, labels: int, prior: float, seed: int) -> PUBenchmark:
    r"""Label a number of positives at random, and remove others, with their edges, until positives are rare.

    Classes of benchmarks are 5 to 50 % of the nodes; what is searched for in practice is often below 1 %. Of the
    positives that are not labelled, :math:`h = n \pi / (1 - \pi)` stay, drawn at random, with n the number of nodes
    that are not positive. With the same seed, fewer are a part of more. There is no training split, as in
    :func:`draw_share`.

    Args:
        dataset: nodes with known classes.
        labels: number of positives that are labelled.
        prior: π, the share of positives among the unlabelled nodes.
        seed: controls which ones are labelled, and which stay.
    """
    drawn = draw_labels(dataset, labels=labels, seed=seed)
    require_share("prior", prior)
    hidden = np.setdiff1d(_candidates(dataset), drawn.task.labelled)
    if not can_be_rare(dataset, labels=labels, prior=prior):
        raise PugnnError(
            f"{_hidden_at(dataset, prior):,} of {len(hidden):,} hidden positives of {dataset.name} would make a share "
            f"of {prior:g}, and at least {MIN_HIDDEN} must stay. Choose another share, or label fewer."
        )
    shuffled = np.random.default_rng([seed, 1]).permutation(hidden)  # other numbers than those that drew the labels
    kept = np.setdiff1d(np.arange(dataset.graph.num_nodes), shuffled[_hidden_at(dataset, prior) :])
    adjacency = dataset.graph.to_scipy()[kept][:, kept].sorted_indices()
    graph = replace(
        dataset.graph,
        indptr=adjacency.indptr.astype(np.int64),
        indices=adjacency.indices.astype(np.int32),
        features=dataset.graph.features[kept],
        ids=dataset.graph.ids[kept],
        weights=None if dataset.graph.weights is None else adjacency.data,
    )
    rest = replace(dataset, graph=graph, labels=dataset.labels[kept], missing=dataset.missing[kept], train_size=0)
    return _all_scored(rest, np.searchsorted(kept, drawn.task.labelled))


def can_be_rare(dataset: Dataset, *, labels: int, prior: float) -> bool:
    """Whether enough hidden positives stay, and there are as many, for :func:`draw_rare`."""
    return MIN_HIDDEN <= _hidden_at(dataset, prior) <= len(_candidates(dataset)) - labels


def _hidden_at(dataset: Dataset, prior: float) -> int:
    """How many hidden positives make this share of the unlabelled nodes."""
    others = dataset.graph.num_nodes - len(_candidates(dataset))
    return round(others * prior / (1 - prior))


def _all_scored(dataset: Dataset, labelled: NDArray[np.int64]) -> PUBenchmark:
    """The benchmark with these labels and no training split, scored where the class is known."""
    positive = dataset.positive & ~dataset.missing
    drawn = PUBenchmark.of_unlabelled(PUTask.from_positives(dataset.graph, labelled), positive)
    return replace(drawn, scored=drawn.test[~dataset.missing[drawn.test]])


def _require_drawable(dataset: object, seed: object) -> None:
    """Raise unless labels can be drawn from this, by this seed."""
    require_type("dataset", dataset, Dataset, "a Dataset, such as load_dataset('cora')")
    require_whole("seed", seed, 0)


def _candidates(dataset: Dataset) -> NDArray[np.int64]:
    """Positions of the positives whose class is known."""
    return np.flatnonzero(dataset.positive & ~dataset.missing)
