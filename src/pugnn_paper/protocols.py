"""Ways to draw labels that only studies and other papers' tables use."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pugnn.datasets import Dataset
from pugnn.errors import PugnnError, require_share, require_type
from pugnn.task import PUBenchmark, draw_labels

#: Hidden positives that must stay, so that a ranking can be judged by them.
MIN_HIDDEN = 10


def draw_share(dataset: Dataset, *, share: float, seed: int) -> PUBenchmark:
    """Label a share of all positives and score the rest: the protocol of GRAB and later papers.

    Args:
        dataset: nodes with known classes.
        share: of the positives that is labelled; at least one node is.
        seed: controls which ones.
    """
    require_type("dataset", dataset, Dataset, "a Dataset")
    require_share("share", share)
    return draw_labels(dataset, labels=max(1, round(share * len(_positives(dataset)))), seed=seed)


def draw_rare(dataset: Dataset, *, labels: int, prior: float, seed: int) -> PUBenchmark:
    r"""Label a number of positives at random, and remove others, with their edges, until positives are rare.

    Classes of benchmarks are 5 to 50 % of the nodes; what is searched for in practice is often below 1 %. Of the
    positives that are not labelled, :math:`h = n \pi / (1 - \pi)` stay, drawn at random, with n the number of nodes
    that are not positive. With the same seed, fewer are a part of more.

    Args:
        dataset: nodes with known classes.
        labels: number of positives that are labelled.
        prior: π, the share of positives among the unlabelled nodes.
        seed: controls which ones are labelled, and which stay.
    """
    labelled = draw_labels(dataset, labels=labels, seed=seed).task.labelled
    require_share("prior", prior)
    hidden, stay = np.setdiff1d(_positives(dataset), labelled), _hidden_at(dataset, prior)
    if not can_be_rare(dataset, labels=labels, prior=prior):
        raise PugnnError(
            f"{stay:,} of {len(hidden):,} hidden positives of {dataset.name} would make a share of {prior:g}, and at "
            f"least {MIN_HIDDEN} must stay. Choose another share, or label fewer."
        )
    shuffled = np.random.default_rng([seed, 1]).permutation(hidden)  # other numbers than those that drew the labels
    kept = np.setdiff1d(np.arange(dataset.graph.num_nodes), shuffled[stay:])
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
    return PUBenchmark.of_dataset(rest, np.searchsorted(kept, labelled))


def can_be_rare(dataset: Dataset, *, labels: int, prior: float) -> bool:
    """Whether enough hidden positives stay, and there are as many, for :func:`draw_rare`."""
    return MIN_HIDDEN <= _hidden_at(dataset, prior) <= len(_positives(dataset)) - labels


def _hidden_at(dataset: Dataset, prior: float) -> int:
    """How many hidden positives make this share of the unlabelled nodes."""
    others = dataset.graph.num_nodes - len(_positives(dataset))
    return round(others * prior / (1 - prior))


def _positives(dataset: Dataset) -> NDArray[np.int64]:
    """Positions of the positives whose class is known."""
    return np.flatnonzero(dataset.positive & ~dataset.missing)
