"""Cora, which is part of the package."""

from pathlib import Path

from pugnn.datasets.archive import read_archive
from pugnn.datasets.loading import DATASETS, Dataset, make_dataset, normalise_rows

CORA_FILE = Path(__file__).parent / "files" / "cora.npz"


@DATASETS.register("cora")
def load_cora() -> Dataset:
    """Papers by the words in them; two of seven fields are positive, as in the PU-GNN paper."""
    archive = read_archive(CORA_FILE)
    positive_classes = ("Neural_Networks", "Probabilistic_Methods")
    return make_dataset("cora", archive, normalise_rows(archive.x), positive_classes, train_size=271)
