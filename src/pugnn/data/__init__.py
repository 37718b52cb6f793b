"""Named data sets: graphs whose classes are known."""

from pugnn.data.dataset import Dataset
from pugnn.data.datasets import dataset_names, load_dataset

__all__ = ["Dataset", "dataset_names", "load_dataset"]
