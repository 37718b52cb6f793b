"""The PU task: a graph and its known positives; and benchmarks, tasks whose truth is known."""

from pugnn.task.benchmark import (
    MIN_HIDDEN,
    PUBenchmark,
    RatioOf,
    Sampling,
    Unlabelled,
    can_be_rare,
    draw_benchmark,
    draw_labels,
    draw_rare,
    draw_share,
)
from pugnn.task.known import KnownIds
from pugnn.task.positives import resolve_nodes, resolve_positives, resolve_unlabelled
from pugnn.task.task import PUTask

__all__ = [
    "MIN_HIDDEN",
    "KnownIds",
    "PUBenchmark",
    "PUTask",
    "RatioOf",
    "Sampling",
    "Unlabelled",
    "can_be_rare",
    "draw_benchmark",
    "draw_labels",
    "draw_rare",
    "draw_share",
    "resolve_nodes",
    "resolve_positives",
    "resolve_unlabelled",
]
