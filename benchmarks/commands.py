"""Measure what the commands cost, one after another, on a graph of tables and on a store of a million nodes.

    python benchmarks/commands.py [SOURCES] > results/commands.txt      # a quarter of an hour on two cores
    python benchmarks/commands.py --only store [SOURCES]

SOURCES are `src` folders of other versions; their commands take turns with those of this version. Seconds are CPU
seconds of all threads together, which say more than the clock on a shared machine. Pubmed needs PUGNN_DATA.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import machine, sized, table

HERE = Path(__file__).parents[1] / "src"
NODES = sized(1_000_000, 2_000)
TRIALS = str(sized(20, 2))


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("sources", nargs="*", type=Path, default=[HERE])
    options.add_argument("--only", choices=("tables", "store"))
    given = options.parse_args()
    sources = [each.resolve() for each in given.sources]
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        for title, prepare, sweep in (("tables", _tables, True), ("store", _store, False)):
            if given.only not in (None, title):
                continue
            seconds: dict[str, list[float]] = {}
            for number, source in enumerate(sources):
                own = Path(folder) / f"{title}-{number}"
                own.mkdir()
                data, run = prepare(own, source), str(own / "run")
                commands = {
                    "fit": ["fit", *data, "--out", run],
                    "evaluate": ["evaluate", run],
                    "suggest": ["suggest", run],
                    "explain": ["explain", run, "--top", "5"],
                    **({f"sweep, {TRIALS} trials": _sweep(data, run)} if sweep else {}),
                }
                for name, command in commands.items():
                    seconds.setdefault(name, []).append(_cpu_seconds(source, command))
            print(f"\n{title}: seconds of the processor")
            rows = [[name, *(f"{each:.1f}" for each in values)] for name, values in seconds.items()]
            print(table(["command", *map(str, range(len(sources)))], rows), flush=True)


def _tables(folder: Path, source: Path) -> list[str]:
    name = sized("pubmed", "cora")
    _cpu_seconds(source, ["export", "--dataset", name, "--labels", "30", "--out", str(folder / "tables")])
    return [each for role in ("edges", "nodes", "positives") for each in (f"--{role}", f"{folder}/tables/{role}.csv")]


def _store(folder: Path, source: Path) -> list[str]:
    _cpu_seconds(source, ["synthetic", "--nodes", str(NODES), "--out", str(folder / "synthetic")])
    edges, nodes, positives = (f"{folder}/synthetic/{role}.parquet" for role in ("edges", "nodes", "positives"))
    _cpu_seconds(source, ["build", "--edges", edges, "--nodes", nodes, "--out", str(folder / "store")])
    return ["--store", str(folder / "store"), "--positives", positives]


def _sweep(data: list[str], run: str) -> list[str]:
    searched = ["--method", "smoothed-logistic", "--over", "inverse_penalty=0.1..10", "--trials", TRIALS, "--jobs", "1"]
    return ["sweep", *data, *searched, "--out", f"{run}-s"]


def _cpu_seconds(source: Path, command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "pugnn", *command],
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"pugnn {' '.join(command)}: {done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
