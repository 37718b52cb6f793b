"""Named data sets: graphs whose classes are known."""

from pugnn.datasets.dataset import Dataset
from pugnn.datasets.datasets import DATASETS, dataset_names, load_dataset

__all__ = ["DATASETS", "Dataset", "dataset_names", "load_dataset"]
