"""Tasks whose truth is known, drawn from data with known classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pugnn.datasets.loading import Dataset
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
        n = self.task.graph.num_targets
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
        return cls(task, positive, train=task.labelled, test=task.unlabelled, scored=task.unlabelled)

    @classmethod
    def of_dataset(cls, dataset: Dataset, labelled: ArrayLike) -> PUBenchmark:
        """The same with these labels, by position, scored where the class is known."""
        task = PUTask.from_positives(dataset.graph, positions_within(labelled, dataset.graph.num_nodes, "labelled"))
        drawn = cls.of_unlabelled(task, dataset.positive & ~dataset.missing)
        return replace(drawn, scored=drawn.test[~dataset.missing[drawn.test]])


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
    require_type("dataset", dataset, Dataset, "a Dataset, such as load_dataset('cora')")
    require_whole("seed", seed, 0)
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


def draw_labels(dataset: Dataset, *, labels: int, sampling: Sampling = "uniform", seed: int) -> PUBenchmark:
    """Label a number of positives and score the rest.

    There is no training split: every node that is not labelled is unlabelled, and all of these are test nodes.
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
    require_type("dataset", dataset, Dataset, "a Dataset, such as load_dataset('cora')")
    require_whole("seed", seed, 0)
    require_whole("labels", labels, 1)
    require_choice("sampling", sampling, get_args(Sampling))
    candidates = np.flatnonzero(dataset.positive & ~dataset.missing)
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
    return PUBenchmark.of_dataset(dataset, labelled)
