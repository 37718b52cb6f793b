"""A data set: two rings of nodes with a few links between them."""

from __future__ import annotations

import numpy as np

from pugnn import Dataset, Graph
from pugnn.datasets import DATASETS


@DATASETS.register("two-rings")
def two_rings() -> Dataset:
    """Each node of a ring of a hundred is linked to the next three; features are noise around the ring's own mean."""
    rng = np.random.default_rng(0)
    nodes = np.arange(200)
    ring, place = nodes // 100, nodes % 100
    steps = [(nodes, 100 * ring + (place + step) % 100) for step in (1, 2, 3)]
    bridges = rng.integers([[0], [100]], [[100], [200]], (2, 10))
    source, target = (np.concatenate(ends) for ends in zip(*steps, bridges, strict=True))
    features = rng.normal(size=(200, 8)) + 0.5 * ring[:, None]
    return Dataset(
        name="two-rings",
        graph=Graph.from_edges(source, target, num_nodes=200, features=features),
        labels=ring,
        class_names=("first", "second"),
        positive_classes=frozenset([1]),
        train_size=60,
        missing=np.zeros(200, dtype=bool),
    )
