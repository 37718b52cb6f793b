"""A small graph with everything that tables may hold: repeats, loops, weights, white space, nodes without edges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def messy_tables(*, integers: bool, weighted: bool, nodes: int = 60, seed: int = 0) -> dict[str, pa.Table]:
    """Edges and nodes; some ids of the edges are not in the node table, and its last nodes have no edge."""
    rng = np.random.default_rng(seed)
    numbers = rng.permutation(5 * nodes)[:nodes] - nodes  # some are negative
    lonely, listed = numbers[: nodes // 10], numbers[: nodes - nodes // 10]
    linked = numbers[nodes // 10 :]

    def named(values: Any) -> pa.Array:
        return pa.array(values if integers else [f"nœud {value}" for value in values])

    pairs = rng.choice(linked, (4 * nodes, 2))
    pairs = np.concatenate([pairs, pairs[:20], pairs[20:40, ::-1], pairs[:20], np.repeat(linked[:3], 2).reshape(3, 2)])
    edges = {"source": named(pairs[:, 0]), "target": named(pairs[:, 1])}
    if weighted:
        edges["weight"] = pa.array(np.exp(rng.normal(0, 8, len(pairs))).astype(np.float32))
    amounts = rng.normal(5, 2, len(listed))
    amounts[::7] = np.nan
    attributes = {
        "id": named(np.concatenate([listed[len(lonely) :], lonely])),
        "amount": pa.array(amounts, from_pandas=True),
        "age": pa.array(rng.integers(18, 90, len(listed))),
        "city": pa.array(rng.choice(["Ulm", "Wien", "Bern"], len(listed))),
    }
    return {"edges": pa.table(edges), "nodes": pa.table(attributes)}


def write_tables(folder: Path, tables: dict[str, pa.Table], ending: str = "parquet") -> dict[str, str]:
    """Write tables as files, and return their names."""
    names = {}
    for role, table in tables.items():
        names[role] = str(folder / f"{role}.{ending}")
        if ending == "parquet":
            pq.write_table(table, names[role])
        else:
            import pyarrow.csv

            pyarrow.csv.write_csv(table, names[role])
    return names
