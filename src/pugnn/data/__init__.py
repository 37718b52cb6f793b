"""Data: tables in, named data sets, and how benchmarks draw their labels."""

from pugnn.data.dataset import Dataset
from pugnn.data.datasets import dataset_names, load_dataset
from pugnn.data.positives import resolve_positives
from pugnn.data.protocol import PUBenchmark, PUTask, draw_benchmark, draw_share

__all__ = [
    "Dataset",
    "PUBenchmark",
    "PUTask",
    "dataset_names",
    "draw_benchmark",
    "draw_share",
    "load_dataset",
    "resolve_positives",
]
