"""Run the default method from Parquet tables to scores of all nodes, at several sizes; each phase in its own process.

    python scale.py [NODES ...] [--folder FOLDER] > results/scale.txt
    python scale.py 1000000 --relations 2      # the same edges, dealt out to two relations; beside one relation

Synthetic graphs (`pugnn synthetic`) have 10 rows of the edge table per node, so 20 neighbours, and 32 features. A tenth
of the nodes is positive, and 100 of them are known. Resident memory is the largest of the process, mapped files
included. `smoothing` is measured separately; it is also part of `fit`, which continues with training, scores of all
nodes as Parquet and the report. The AUC of the largest graph is compared with that of a graph of a tenth of its size,
read from tables into memory.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from measuring import machine, sized, table

PUGNN = str(Path(sys.executable).with_name("pugnn"))
VIEWS = """
import sys
from pathlib import Path
from pugnn.views import Attributes, views_of
from pugnn.store import open_store
graph = open_store(Path(sys.argv[1]))
views_of(graph, Attributes.of(graph))
"""


def measured(*command: str) -> tuple[float, float]:
    """Return seconds and largest resident memory, in GB, of a command."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    words = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed: {words}")
    return time.perf_counter() - started, 1024 * usage.ru_maxrss / 1e9


def auc_of(run: Path) -> float:
    return float(json.loads((run / "run.json").read_text())["metrics"]["roc_auc"])


def dealt_out(edges: Path, relations: int) -> list[str]:
    """Return options for the same edges in this many relations, each with its share of the rows."""
    if relations == 1:
        return ["--edges", str(edges)]
    rows, options = pq.read_table(edges), []
    for number in range(relations):
        own = edges.with_name(f"edges_{number}.parquet")
        first, last = (len(rows) * at // relations for at in (number, number + 1))
        pq.write_table(rows.slice(first, last - first), own)
        options += ["--edges", f"part_{number}={own}"]
    return options


def run_size(nodes: int, folder: Path, relations: int = 1) -> tuple[dict[str, tuple[float, float]], float]:
    """Measure seconds and memory of each phase, and the AUC."""
    data, store, run = folder / "tables", folder / "store", folder / "run"
    phases = {"synthetic": measured(PUGNN, "synthetic", "--nodes", str(nodes), "--out", str(data))}
    tables = [*dealt_out(data / "edges.parquet", relations), "--nodes", str(data / "nodes.parquet")]
    phases["build"] = measured(PUGNN, "build", *tables, "--out", str(store))
    phases["smoothing"] = measured(sys.executable, "-c", VIEWS, str(store))
    known = ["--positives", str(data / "positives.parquet"), "--truth", str(data / "truth.parquet")]
    phases["fit"] = measured(PUGNN, "fit", "--store", str(store), *known, "--out", str(run))
    phases["predict"] = measured(
        PUGNN, "predict", str(run), "--store", str(store), "--out", str(folder / "scores.parquet")
    )
    auc = auc_of(run)
    print(
        f"{nodes:,} nodes, {relations} relations: AUC {auc:.2f}",
        *(f"{name} {s:.1f} s {m:.2f} GB" for name, (s, m) in phases.items()),
        sep="; ",
        file=sys.stderr,
    )
    return phases, auc


def in_memory(nodes: int, folder: Path) -> float:
    """Return the AUC of the same method, read from tables into memory."""
    data, run = folder / "tables", folder / "run"
    measured(PUGNN, "synthetic", "--nodes", str(nodes), "--out", str(data))
    tables = ["--edges", str(data / "edges.parquet"), "--nodes", str(data / "nodes.parquet")]
    known = ["--positives", str(data / "positives.parquet"), "--truth", str(data / "truth.parquet")]
    measured(PUGNN, "fit", *tables, *known, "--out", str(run))
    return auc_of(run)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("nodes", nargs="*", type=lambda text: int(float(text)), default=None)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--relations", type=int, default=1, help="deal the edges out to so many relations as well")
    arguments = parser.parse_args()
    arguments.nodes = arguments.nodes or sized([10**5, 10**6, 10**7], [12_000])
    found, aucs = {}, {}
    with tempfile.TemporaryDirectory(dir=arguments.folder) as parent:
        for nodes in arguments.nodes:
            folder = Path(parent) / str(nodes)
            found[nodes], aucs[nodes] = run_size(nodes, folder)
            shutil.rmtree(folder)
            if arguments.relations > 1:
                several, auc = run_size(nodes, folder, arguments.relations)
                shutil.rmtree(folder)
                ratios = [
                    f"{name} {several[name][0] / found[nodes][name][0]:.2f}" for name in ("build", "fit", "predict")
                ]
                cells = [f"{name} {seconds:.1f} s, {memory:.2f} GB" for name, (seconds, memory) in several.items()]
                print(f"{nodes:,} nodes, {arguments.relations} relations: {'; '.join(cells)}; AUC {auc:.2f}")
                print(f"time over that of one relation: {', '.join(ratios)}")
        largest = max(arguments.nodes)
        tenth = in_memory(largest // 10, Path(parent) / "tenth")
    print(f"{machine()}, {os.cpu_count()} cores\n")
    names = list(found[largest])
    rows = []
    for nodes, phases in found.items():
        total = sum(phases[name][0] for name in ("build", "fit"))
        cells = [f"{phases[name][0]:.1f} s, {phases[name][1]:.2f} GB" for name in names]
        rows.append([f"{nodes:,}", *cells, f"{total:.0f} s", f"{aucs[nodes]:.2f}"])
    print(table(["nodes", *names, "build + fit", "AUC"], rows))
    if len(found) > 1:
        print("\nSlopes of logarithms over all sizes (and between the two largest), time and memory:")
        sizes = np.log(list(found))
        for name in names:
            values = np.log([found[nodes][name] for nodes in found])
            slopes = [
                (np.polyfit(sizes, values[:, at], 1)[0], np.polyfit(sizes[-2:], values[-2:, at], 1)[0]) for at in (0, 1)
            ]
            print(f"  {name:10}", ", ".join(f"{whole:.2f} ({last:.2f})" for whole, last in slopes))
    print(
        f"\nIn memory, {largest // 10:,} nodes: AUC {tenth:.2f}; from the store, {largest:,} nodes: {aucs[largest]:.2f}"
    )


if __name__ == "__main__":
    main()
