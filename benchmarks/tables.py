"""Read Parquet files of 5 million edges and 1 million nodes with text ids, up to the end of the first epoch.

    python benchmarks/tables.py        # needs pandas and pyarrow
    python benchmarks/tables.py numbers

The first form prints two tables. The first one is reading and mapping ids to positions, against pandas with the same
result: nodes in the order of the node table, then ids of the edges alone in the order of their first appearance, with
white space trimmed, and empty and repeated ids looked for. The second one has all phases of one run in its own process,
with the highest memory in use during each.

The second form reads a node table of a million rows and 50 columns of numbers, as CSV and as Parquet, against pandas,
which reads the same file and does nothing else; `read_graph` also reads two million edges and makes the features.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from measuring import interleaved, machine, memory_baseline, memory_peak, sized, table
from pugnn import PUGNN, PUNodeClassifier
from pugnn.store import read_graph

NODES, EDGES, ROUNDS = sized((1_000_000, 5_000_000, 5), (1_000, 5_000, 1))
ONLY_IN_EDGES = NODES // 100
NUMBERS = 50


class Enough(Exception):
    """Ends a reading once the ids have their positions."""


def write_tables(folder: Path) -> None:
    rng = np.random.default_rng(0)
    numbers = rng.choice(10**10, NODES + ONLY_IN_EDGES, replace=False)
    ids = np.array([f"account-{number:010d}" for number in numbers], dtype=object)
    age = rng.normal(40, 15, NODES)
    age[rng.random(NODES) < 0.05] = np.nan
    country = rng.choice(["CH", "DE", "FR", "IT", "AT", "LI"], NODES)
    nodes = pd.DataFrame({"id": ids[:NODES], "age": age, "country": country, "active": rng.random(NODES) < 0.7})
    nodes.to_parquet(folder / "nodes.parquet")
    source, target = ids[rng.integers(0, len(ids), (2, EDGES))]
    pd.DataFrame({"source": source, "target": target}).to_parquet(folder / "edges.parquet")
    pd.DataFrame({"id": ids[: NODES // 100]}).to_parquet(folder / "positives.parquet")


def with_pugnn(folder: Path) -> None:
    def on_phase(words: str) -> None:
        if words == "building the graph":
            raise Enough

    try:
        read_graph(folder / "edges.parquet", folder / "nodes.parquet", on_phase=on_phase)
    except Enough:
        return


def _read(folder: Path) -> tuple[pd.Series, pd.Series, pd.Series]:
    nodes = pd.read_parquet(folder / "nodes.parquet")
    edges = pd.read_parquet(folder / "edges.parquet")
    columns = nodes["id"].str.strip(), edges["source"].str.strip(), edges["target"].str.strip()
    for column in columns:
        assert column.notna().all()
        assert (column != "").all()
    assert columns[0].is_unique
    return columns


def with_factorize(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Map ids with factorize: all ids in one column, in the order that their positions are to have."""
    ids, source, target = _read(folder)
    ends = pd.concat([source, target]).iloc[np.arange(2 * len(source)).reshape(2, -1).T.ravel()]
    codes, unique = pd.factorize(pd.concat([ids, ends], ignore_index=True))
    return codes[len(ids) :].reshape(-1, 2), unique.to_numpy(object)


def with_index(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Map ids with an index of the nodes, in which edges look up their ends; new ids are added, and looked up again."""
    ids, source, target = _read(folder)
    index = pd.Index(ids)
    ends = [index.get_indexer(column) for column in (source, target)]
    new = (ends[0] < 0) | (ends[1] < 0)
    both = pd.Series(np.stack([source[new].to_numpy(object), target[new].to_numpy(object)], axis=1).ravel())
    index = index.append(pd.Index(both[~both.isin(index)].unique()))
    for end, column in zip(ends, (source, target), strict=True):
        end[new] = index.get_indexer(column[new])
    return np.stack(ends, axis=1), index.to_numpy(object)


def measure_phases(folder: Path) -> None:
    """Print name, seconds and peak MB of each phase, separated by tabs."""
    at = {"name": "", "began": 0.0}

    def on_phase(words: str) -> None:
        if at["name"]:
            print(at["name"], f"{time.perf_counter() - at['began']:.2f}", f"{memory_peak():.0f}", sep="\t")
        memory_baseline()
        at.update(name=words.replace(f"{folder}/", ""), began=time.perf_counter())

    read_graph([(0, 1)], positives=[0])  # libraries and kernels are loaded
    tables = [folder / f"{name}.parquet" for name in ("edges", "nodes", "positives")]
    data = read_graph(tables[0], tables[1], positives=tables[2], on_phase=on_phase)
    on_phase("first training epoch")
    PUNodeClassifier(PUGNN(delta=2), epochs=1, progress=False).fit(data.graph, data.known)
    on_phase("")


def print_numbers() -> None:
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        frame = pd.DataFrame(rng.normal(size=(NODES, NUMBERS)).round(4), columns=[f"x{at}" for at in range(NUMBERS)])
        frame.insert(0, "id", np.arange(NODES))
        frame.to_csv(folder / "nodes.csv", index=False)
        frame.to_parquet(folder / "nodes.parquet")
        edges = {"source": rng.integers(0, NODES, 2 * NODES), "target": rng.integers(0, NODES, 2 * NODES)}
        read_graph([(0, 1)], {"id": [0, 1], "x": [1, 2]})  # libraries and kernels are loaded
        rows = []
        for ending, read in (("csv", pd.read_csv), ("parquet", pd.read_parquet)):
            path = folder / f"nodes.{ending}"
            runs = {"pandas": lambda: read(path), "pugnn": lambda: read_graph(edges, path)}  # noqa: B023
            seconds = interleaved(runs, ROUNDS)
            rows += [[ending, who, f"{took:.2f}", f"{took / seconds['pandas']:.1f}"] for who, took in seconds.items()]
    print(table([f"{NODES:,} x {NUMBERS} numbers", "read by", "seconds", "times pandas"], rows))


def main() -> None:
    print(machine(), f"- {EDGES:,} edges, {NODES:,} nodes; medians of {ROUNDS} interleaved rounds\n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder)
        variants = {"pandas, factorize": with_factorize, "pandas, index": with_index, "pugnn": with_pugnn}
        seconds = interleaved({name: lambda run=run: run(folder) for name, run in variants.items()}, ROUNDS)
        rows = [[name, f"{value:.2f}", f"{value / seconds['pugnn']:.1f}"] for name, value in seconds.items()]
        print(table(["reading and mapping ids", "seconds", "times pugnn's"], rows), "\n")
        command = [sys.executable, __file__, str(folder)]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        print(table(["phase", "seconds", "peak MB"], [line.split("\t") for line in lines]))


if __name__ == "__main__":
    if sys.argv[1:] == ["numbers"]:
        print_numbers()
    else:
        measure_phases(Path(sys.argv[1])) if len(sys.argv) > 1 else main()
