"""Named data sets: graphs whose classes are known."""

from pugnn.datasets.archive import Archive, read_archive
from pugnn.datasets.cora import CORA_FILE
from pugnn.datasets.loading import (
    DATASETS,
    Dataset,
    data_file,
    dataset_names,
    load_dataset,
    make_dataset,
    normalise_rows,
)

__all__ = [
    "CORA_FILE",
    "DATASETS",
    "Archive",
    "Dataset",
    "data_file",
    "dataset_names",
    "load_dataset",
    "make_dataset",
    "normalise_rows",
    "read_archive",
]
