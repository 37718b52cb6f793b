"""Show where the time of `pugnn fit` goes: seconds of the whole process, and how often each costly step runs.

    python benchmarks/fit.py                                  # this version
    python benchmarks/fit.py --python ../older/.venv/bin/python   # compares with another one, in the same run

PU-GNN on Cora's exported tables with 27 known positives and 200 epochs, and on 5 million edges between 1 million nodes
with one epoch (as in benchmarks/tables.py). Steps are counted by name in a separate profile. Times are of unprofiled
processes: the best of three rounds, in turns.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measuring import machine, sized, table
from tables import write_tables

#: What one run needs once. Names of functions, as profiles show them.
STEPS = {
    "breadth-first search": ("nearest_sources",),
    "connected components": ("connected_components",),
    "positives resolved": ("resolve_positives", "from_positives"),
    "forward pass for scores": ("score",),
    "head of a file": ("head",),
    "columns of numbers read": ("column", "values"),
}

PROFILED = """
import cProfile, json, pstats
import scipy.sparse.csgraph as csgraph
in_c = csgraph.connected_components
def connected_components(*arguments, **options):  # compiled, so that a profile would not show it
    return in_c(*arguments, **options)
csgraph.connected_components = connected_components
from pugnn.cli import main
profile = cProfile.Profile()
try:
    profile.runcall(main)
except SystemExit:
    pass
counts = {}
for (file, _, name), (_, calls, _, seconds, _) in pstats.Stats(profile).stats.items():
    if "pugnn" in file or name == "connected_components":
        before = counts.get(name, (0, 0.0))
        counts[name] = (before[0] + calls, before[1] + seconds)
json.dump(counts, open("profile.json", "w"))
"""


def fit(python: str, folder: Path, options: list[str], code: str) -> float:
    run = folder / "run"
    subprocess.run(["rm", "-rf", str(run)], check=True)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    started = time.perf_counter()
    subprocess.run(
        [python, "-c", code, "fit", "--method", "pu-gnn", *options, "--out", str(run)],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", action="append", default=[], help="interpreter of another installation")
    parser.add_argument("--rounds", type=int, default=sized(3, 1))
    arguments = parser.parse_args()
    pythons = [*arguments.python, sys.executable]
    versions = [*(f"other {number + 1}" for number in range(len(arguments.python))), "this version"]
    print(machine(), end="\n\n")
    plain = "from pugnn.cli import main; main()"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(
            [sys.executable, "-c", plain, "export", "--dataset", "cora", "--labels", "27", "--out", "cora"],
            cwd=folder,
            check=True,
            capture_output=True,
        )
        write_tables(folder)
        cora = [word for role in ("edges", "nodes", "positives") for word in (f"--{role}", f"cora/{role}.csv")]
        large = [word for role in ("edges", "nodes", "positives") for word in (f"--{role}", f"{role}.parquet")]
        cases = [
            ("Cora's tables, 200 epochs", [*cora, *sized([], ["--epochs", "1"])], arguments.rounds),
            ("5 million edges, 1 million nodes, 1 epoch", [*large, "--epochs", "1"], 1),
        ]
        for title, options, rounds in cases[: sized(2, 1)]:
            counts = []
            for python in pythons:  # also compiles the kernels
                fit(python, folder, options, PROFILED)
                counts.append(json.loads((folder / "profile.json").read_text()))
            seconds = {version: [] for version in versions}
            for _ in range(rounds):
                for version, python in zip(versions, pythons, strict=True):
                    seconds[version].append(fit(python, folder, options, plain))
            rows = [["whole process, seconds", *(f"{min(seconds[version]):.1f}" for version in versions)]]
            for step, names in STEPS.items():
                calls = [sum(count.get(each, (0, 0))[0] for each in names) for count in counts]
                spent = [sum(count.get(each, (0, 0))[1] for each in names) for count in counts]
                rows.append([step, *(f"{n} ({s:.2f} s)" for n, s in zip(calls, spent, strict=True))])
            print(title, table(["step", *versions], rows), sep="\n", end="\n\n", flush=True)


if __name__ == "__main__":
    main()
