"""Time mapping ids to positions: the table of `pugnn.store`, dictionary encoding by pyarrow, DuckDB and Polars.

    python benchmarks/ids.py        # needs Polars; two minutes
    python benchmarks/ids.py --hash-table ../older/.venv/bin/python

The second form adds the compiled hash table that version 0.3.0 used here, from an installation of that version.

Each variant turns the source and target columns of 5 million edges into int32 positions, in the order in which ids
first appear row by row, and the list of the distinct ids. The other variants start from columns in memory, in the form
that suits them best; pugnn also reads them from DuckDB, trims white space and looks for empty ids. Text ids look like
account numbers. pugnn handles integer ids as text, as they are in CSV, and the others as integers.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from measuring import machine, sized, table
from pugnn.store.ids import IdTable
from pugnn.store.tables.database import connect
from pugnn.store.tables.table import Table, reject

NODES, EDGES, ROUNDS = sized((1_000_000, 5_000_000, 3), (100, 500, 1))

Encoded = tuple[NDArray[np.int32], NDArray[np.int32], list[Any]]

BOTH = "SELECT source AS id, 2 * rowid AS place FROM edges UNION ALL SELECT target, 2 * rowid + 1 FROM edges"
IN_ORDER = f"SELECT id FROM (SELECT id, min(place) AS first FROM ({BOTH}) GROUP BY id) ORDER BY first"


def edges(*, text: bool) -> pa.Table:
    rng = np.random.default_rng(0)
    numbers = rng.choice(10**10, NODES, replace=False)
    ids = pa.array([f"account-{number:010d}" for number in numbers.tolist()] if text else numbers)
    ends = rng.integers(0, NODES, (2, EDGES))
    return pa.table({"source": ids.take(pa.array(ends[0])), "target": ids.take(pa.array(ends[1]))})


def variants(*, text: bool) -> dict[str, Callable[[], Encoded]]:
    given = edges(text=text)
    frame = pl.from_arrow(given)
    assert isinstance(frame, pl.DataFrame)
    connection = connect(())
    connection.register("given", given)
    connection.execute("CREATE TABLE edges AS SELECT * FROM given")
    types = ("VARCHAR" if text else "BIGINT",) * 2
    edge_table = Table("edges", connection, "edges", ("source", "target"), types, True, str, reject)

    def pugnn() -> Encoded:
        ids = IdTable()
        positions = [ids.add(*columns) for columns in edge_table.pieces("source::VARCHAR", "target::VARCHAR")]
        source, target = (np.concatenate(part) for part in zip(*positions, strict=True))
        return source, target, ids.texts() if text else list(map(int, ids.texts()))

    def duckdb_join() -> Encoded:
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE ids AS SELECT id, row_number() OVER () - 1 AS position FROM ({IN_ORDER})"
        )
        rows = connection.execute(
            "SELECT edges.rowid AS row, u.position::INTEGER AS u, v.position::INTEGER AS v FROM edges "
            "JOIN ids AS u ON source = u.id JOIN ids AS v ON target = v.id"
        ).fetchnumpy()
        source, target = np.empty(EDGES, np.int32), np.empty(EDGES, np.int32)
        source[rows["row"]], target[rows["row"]] = rows["u"], rows["v"]
        return source, target, connection.execute("SELECT id FROM ids").fetchnumpy()["id"].tolist()

    def duckdb_enum() -> Encoded:
        connection.execute("DROP TYPE IF EXISTS ids")
        connection.execute(f"CREATE TYPE ids AS ENUM ({IN_ORDER})")
        codes = connection.execute(
            "SELECT enum_code(source::ids)::INTEGER AS u, enum_code(target::ids)::INTEGER AS v FROM edges"
        ).fetchnumpy()
        ids = connection.execute("SELECT unnest(enum_range(NULL::ids)) AS id").fetchnumpy()["id"]
        return codes["u"], codes["v"], ids.tolist()

    def pyarrow_dictionary() -> Encoded:
        both = pa.chunked_array([*given["source"].chunks, *given["target"].chunks])
        encoded = pc.dictionary_encode(both).combine_chunks()
        return in_order(encoded.indices.to_numpy(), encoded.dictionary.to_pylist())

    def polars_categorical() -> Encoded:
        both = pl.concat([frame["source"], frame["target"]]).cast(pl.Categorical(pl.Categories.random()))
        distinct = both.unique()
        texts = np.empty(len(distinct), dtype=object)
        texts[distinct.to_physical().to_numpy()] = distinct.cast(pl.String).to_list()
        return in_order(both.to_physical().to_numpy(), texts.tolist())

    def polars_join() -> Encoded:
        at = pl.int_range(pl.len(), dtype=pl.Int64)
        both = pl.concat([frame.lazy().select(id="source", at=2 * at), frame.lazy().select(id="target", at=2 * at + 1)])
        ids = both.group_by("id").agg(pl.col("at").min()).sort("at").with_row_index("position").collect()
        ends = [
            frame.lazy().join(ids.lazy(), left_on=end, right_on="id", how="left", maintain_order="left")
            for end in ("source", "target")
        ]
        source, target = (
            found["position"].to_numpy().astype(np.int32)
            for found in pl.collect_all([end.select("position") for end in ends])
        )
        return source, target, ids["id"].to_list()

    def polars_rank() -> Encoded:
        both = pl.concat([frame["source"], frame["target"]])
        return in_order(both.rank("dense").to_numpy().astype(np.int32) - 1, both.unique().sort().to_list())

    found = {
        "pugnn": pugnn,
        "DuckDB, join": duckdb_join,
        "pyarrow, dictionary_encode": pyarrow_dictionary,
        "Polars, join": polars_join,
        "Polars, rank": polars_rank,
    }
    return found | ({"DuckDB, enum": duckdb_enum, "Polars, categorical": polars_categorical} if text else {})


def in_order(codes: NDArray[Any], ids: list[Any]) -> Encoded:
    """Renumber the codes of all sources and then all targets in the order of first appearance, row by row."""
    rows = codes.reshape(2, EDGES).T.ravel()
    first = np.empty(len(ids), np.int64)
    first[rows[::-1]] = np.arange(len(rows))[::-1]
    order = np.argsort(first)
    position = np.empty(len(ids), np.int32)
    position[order] = np.arange(len(ids), dtype=np.int32)
    return position[codes[:EDGES]], position[codes[EDGES:]], [ids[at] for at in order.tolist()]


#: The job of ``pugnn()`` above, for version 0.3.0.
HASH_TABLE = """
import sys, time
from contextlib import closing
import duckdb
import numpy as np
from pugnn.tables.arrow import Batches
from pugnn.tables.ids import IdTable

connection = duckdb.connect()
connection.execute(f"CREATE TABLE edges AS SELECT * FROM '{sys.argv[1]}'")
for _ in range(int(sys.argv[2])):
    started = time.perf_counter()
    ids, ends = IdTable(), []
    with closing(Batches(connection.sql("SELECT source::VARCHAR, target::VARCHAR FROM edges"))) as stream:
        for (left, right), _ in stream:
            ends.append(ids.add_pairs(left, right))
    source, target = (np.concatenate(part) for part in zip(*ends))
    texts = ids.texts() if sys.argv[3] == "text" else list(map(int, ids.texts()))
    print(time.perf_counter() - started)
"""


def hash_table(python: str, kind: str) -> float:
    """Return the best seconds of the hash table over as many rounds."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/edges.parquet"
        pq.write_table(edges(text=kind == "text"), path)
        command = [python, "-c", HASH_TABLE, path, str(ROUNDS + 1), kind]  # once more, to compile
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return min(map(float, done.stdout.split()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hash-table", metavar="PYTHON", help="interpreter of an installation of version 0.3.0")
    older = parser.parse_args().hash_table
    print(f"{machine()} - {EDGES:,} edges, {NODES:,} nodes; best of {ROUNDS} interleaved rounds")
    for kind in ("text", "integer"):
        runs = variants(text=kind == "text")
        expected = runs["pugnn"]()
        seconds = dict.fromkeys(runs, np.inf)
        for _ in range(ROUNDS):
            for name, run in runs.items():
                started = time.perf_counter()
                found = run()
                seconds[name] = min(seconds[name], time.perf_counter() - started)
                assert all(map(np.array_equal, found, expected)), name
        if older:
            seconds["compiled hash table of 0.3.0"] = hash_table(older, kind)
        rows = [[name, f"{took:.2f}", f"{took / seconds['pugnn']:.1f}"] for name, took in seconds.items()]
        print(f"\n{table([f'{kind} ids', 'seconds', 'times pugnn'], rows)}")


if __name__ == "__main__":
    main()
