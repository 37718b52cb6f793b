"""A named data set as tables: edges, nodes, known positives and the truth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from pugnn.files import write_csv_folder
from pugnn.task.benchmark import PUBenchmark


def export_tables(name: str, benchmark: PUBenchmark, folder: Path) -> list[Path]:
    """Write ``edges.csv``, ``nodes.csv``, ``positives.csv`` and ``truth.csv`` into a new folder.

    Ids become text that begins with ``name``, such as ``cora-31336``. The features of a node are one cell, a list of
    numbers, which reads back to the last bit; a data set without features has ids alone.
    """
    graph = benchmark.task.graph
    ids = [f"{name}-{node_id}" for node_id in graph.ids.tolist()]
    upper = graph.sources < graph.indices
    ends = zip(graph.sources[upper].tolist(), graph.indices[upper].tolist(), strict=True)
    rows = sp.csr_array(graph.features)
    vectors = ([node_id, _vector(rows, at)] for at, node_id in enumerate(ids))
    return write_csv_folder(
        folder,
        {
            "edges": (["source", "target"], ([ids[u], ids[v]] for u, v in ends)),
            "nodes": (["id", "features"], vectors) if graph.num_features else (["id"], ([i] for i in ids)),
            "positives": (["id"], ([ids[node]] for node in benchmark.task.labelled)),
            "truth": (["id"], ([ids[node]] for node in np.flatnonzero(benchmark.positive))),
        },
    )


def _vector(rows: sp.csr_array, at: int) -> str:
    cells = ["0"] * rows.shape[1]
    inside = slice(rows.indptr[at], rows.indptr[at + 1])
    for column, value in zip(rows.indices[inside].tolist(), rows.data[inside].tolist(), strict=True):
        cells[column] = repr(value)
    return f"[{','.join(cells)}]"
