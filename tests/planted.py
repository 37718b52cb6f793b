"""What estimators of the prior read: of a task whose positives are known to differ, or of ranks alone."""

import numpy as np

from pugnn.graph import Graph
from pugnn.priors import RankedPositives
from pugnn.task import PUTask


def evidence(prior: float, *, known: int = 60, nodes: int = 1500, apart: float = 6.0, seed: int = 0) -> RankedPositives:
    """A task where positives have another mean, and links lead to the same class nine times out of ten."""
    rng = np.random.default_rng(seed)
    positive = np.arange(nodes) < round(prior * nodes)
    rows = rng.normal(size=(nodes, 3)).astype(np.float32)
    rows[:, 0] += apart * positive
    sources = np.repeat(np.arange(nodes), 4)
    inside = rng.random(len(sources)) < 0.9
    choices = {True: np.flatnonzero(positive), False: np.flatnonzero(~positive)}
    targets = np.array(
        [rng.choice(choices[bool(positive[node] == same)]) for node, same in zip(sources, inside, strict=True)]
    )
    graph = Graph.from_edges(sources, targets, num_nodes=nodes, features=rows)
    labelled = np.sort(rng.choice(np.flatnonzero(positive), known, replace=False))
    task = PUTask.from_positives(graph, labelled)
    free = rows[task.unlabelled, 0]
    ranks = np.array([(free > rows[node, 0]).mean() for node in labelled])
    return RankedPositives(task, np.arange(known) % 5, ranks)


def ranked(ranks: np.ndarray, unlabelled: int = 1000) -> RankedPositives:
    """Hidden positives of these ranks, on a graph without edges."""
    graph = Graph.from_edges([], [], num_nodes=len(ranks) + unlabelled)
    return RankedPositives(PUTask.from_positives(graph, np.arange(len(ranks))), np.arange(len(ranks)) % 5, ranks)
