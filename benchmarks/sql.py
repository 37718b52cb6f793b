"""Read ten million edges from databases and from a Parquet file, from the name to the ends of all edges.

    python benchmarks/sql.py

Each reading is its own process, which has loaded all libraries and kernels. Peak memory is what it needs beyond that,
without PostgreSQL's own processes. Rows of a database are copied to a temporary Parquet file first. How long a copy
alone takes, measured separately, and how large the file is are in their own columns. PostgreSQL is left out if it is
not installed.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from measuring import machine, memory_baseline, memory_peak, sized, table
from pugnn.store import read_graph
from pugnn.store.tables.input_files import Scratch
from pugnn.store.tables.sql_copy import copy_table
from pugnn.store.tables.sql_source import sql_source

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from own_postgresql import PASSWORD, programs, server

ROWS, NODES, ROUNDS = sized((10_000_000, 1_000_000, 3), (1_000, 100, 1))


class Enough(Exception):
    """Ends a reading once the ids have their positions."""


def write_tables(folder: Path, stack: ExitStack) -> dict[str, str]:
    """Write the same rows everywhere; return the name of each table."""
    ends = np.random.default_rng(0).integers(0, NODES, (ROWS, 2))
    rows = pa.table({"source": ends[:, 0], "target": ends[:, 1]})
    pq.write_table(rows, folder / "pays.parquet")
    with duckdb.connect(str(folder / "bank.duckdb")) as connection:
        connection.register("rows", rows)
        connection.execute("CREATE TABLE pays AS SELECT * FROM rows")
    connection = sqlite3.connect(folder / "bank.db")
    connection.execute("CREATE TABLE pays (source INTEGER, target INTEGER)")
    connection.executemany("INSERT INTO pays VALUES (?, ?)", _listed(ends))
    connection.commit()
    connection.close()
    names = {
        "Parquet": str(folder / "pays.parquet"),
        "DuckDB": f"duckdb:///{folder}/bank.duckdb?pays",
        "SQLite": f"sqlite:///{folder}/bank.db?pays",
    }
    if programs() is not None:
        running = stack.enter_context(server())
        running.execute("CREATE TABLE pays (source bigint, target bigint)")
        running.ingest("pays", rows)
        names["PostgreSQL"] = f"{running.address}?pays"
    return names


def _listed(ends: np.ndarray) -> Iterator[list[int]]:
    for first in range(0, len(ends), 100_000):
        yield from ends[first : first + 100_000].tolist()


def measure(name: str) -> None:
    """Print seconds and peak MB of a reading, then seconds and MB of a copy alone."""

    def on_phase(words: str) -> None:
        if words == "building the graph":
            raise Enough

    read_graph([(0, 1)])  # libraries and kernels are loaded
    before, began = memory_baseline(), time.perf_counter()
    try:
        read_graph(name, on_phase=on_phase)
    except Enough:
        print(time.perf_counter() - began, memory_peak() - before)
    source, began = sql_source(name), time.perf_counter()
    if source is None:
        print(0, 0)
        return
    with Scratch() as scratch:
        path, _ = copy_table(source, scratch)
        print(time.perf_counter() - began, path.stat().st_size / 1e6)


def main() -> None:
    print(machine(), f"- {ROWS:,} edges between {NODES:,} nodes with integers as ids; medians of {ROUNDS} rounds\n")
    os.environ["PGPASSWORD"] = PASSWORD
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        tables = write_tables(Path(name), stack)
        found: dict[str, list[list[float]]] = {kind: [] for kind in tables}
        for _ in range(ROUNDS):
            for kind, each in tables.items():
                command = [sys.executable, __file__, each]
                said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
                found[kind].append([float(word) for word in said.split()])
        rows = []
        for kind, figures in found.items():
            seconds, peak, copied, size = np.median(figures, axis=0)
            copy = [f"{copied:.1f}", f"{size:.0f}"] if size else ["", ""]
            rows.append([kind, f"{seconds:.1f}", f"{peak:.0f}", *copy])
    print(table(["table", "seconds", "peak MB", "seconds to copy", "MB of copy"], rows))


if __name__ == "__main__":
    measure(sys.argv[1]) if len(sys.argv) > 1 else main()
