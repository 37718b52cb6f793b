"""The PU task: a graph and its known positives; and benchmarks, tasks whose truth is known."""

from pugnn.task.benchmark import PUBenchmark, RatioOf, Sampling, Unlabelled, draw_benchmark, draw_labels
from pugnn.task.known import KnownIds
from pugnn.task.positives import resolve_nodes, resolve_positives
from pugnn.task.task import PUTask

__all__ = [
    "KnownIds",
    "PUBenchmark",
    "PUTask",
    "RatioOf",
    "Sampling",
    "Unlabelled",
    "draw_benchmark",
    "draw_labels",
    "resolve_nodes",
    "resolve_positives",
]
