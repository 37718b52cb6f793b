"""Time whole commands on small graphs, on a quiet machine and beside four busy processes.

    python benchmarks/busy.py                       # five minutes on two cores
    python benchmarks/busy.py ../earlier/src        # compares with another source tree, in the same run

The graph of 12 nodes is a path. The graph of 890 nodes has two planted groups, 12 attributes and 20 known positives.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from measuring import machine, sized, table

BUSY = sized(4, 1)
ROUNDS = sized(3, 1)
SIZES = sized((12, 890), (12,))


def write_tables(folder: Path, nodes: int) -> list[str]:
    """Write the tables of a planted graph and return them as command-line options."""
    rng = np.random.default_rng(0)
    positive = np.arange(nodes) < nodes // 5
    source = np.arange(nodes - 1) if nodes < 100 else rng.integers(0, nodes, 3 * nodes)
    target = source + 1
    if nodes >= 100:  # four of five links within a group
        group = np.where(
            positive[source], rng.integers(0, nodes // 5, len(source)), rng.integers(nodes // 5, nodes, len(source))
        )
        target = np.where(rng.random(len(source)) < 0.8, group, rng.integers(0, nodes, len(source)))
    x = rng.normal(size=(nodes, 12)) + 0.8 * positive[:, None]
    rows = {
        "edges": ["source,target", *(f"n{a},n{b}" for a, b in zip(source, target, strict=True))],
        "nodes": [
            "id," + ",".join(f"x{j}" for j in range(12)),
            *(f"n{i}," + ",".join(f"{v:.4f}" for v in x[i]) for i in range(nodes)),
        ],
        "positives": ["id", *(f"n{i}" for i in range(min(20, max(2, nodes // 5))))],
    }
    options = []
    for name, lines in rows.items():
        path = folder / f"{name}-{nodes}.csv"
        path.write_text("\n".join(lines) + "\n")
        options += [f"--{name}", str(path)]
    return options


@contextmanager
def busy_processes(number: int) -> Iterator[None]:
    """Run this many processes that do nothing but use CPU time."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def measured(source: str, arguments: list[str]) -> tuple[float, float]:
    """Return seconds and CPU seconds of a command that uses the package of a source tree."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}
    started, before = time.perf_counter(), os.times()
    subprocess.run([sys.executable, "-m", "pugnn", *arguments], env=environment, check=True, capture_output=True)
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - started, spent


def median(source: str, arguments: list[str], folder: Path) -> tuple[float, float]:
    """Return median seconds and CPU seconds of a command; a fit writes a new run every time."""
    found = []
    for _ in range(ROUNDS):
        out = ["--out", str(folder / f"run-{time.monotonic_ns()}")] if "--edges" in arguments else []
        found.append(measured(source, [*arguments, *out]))
    seconds, spent = np.median(found, axis=0)
    return float(seconds), float(spent)


def main() -> None:
    print(machine())
    here = str(Path(__file__).resolve().parents[1] / "src")
    sources = {**{str(Path(path).resolve()): "the other" for path in sys.argv[1:]}, here: "this one"}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        tables = {nodes: write_tables(folder, nodes) for nodes in SIZES}
        commands = {"--help": ["--help"], "fit --help": ["fit", "--help"]}
        commands |= {f"fit, {nodes} nodes": ["fit", *options] for nodes, options in tables.items()}
        commands |= {f"evaluate, {SIZES[-1]} nodes": ["evaluate"]}
        rows = []
        for at, source in enumerate(sources):
            run = str(folder / f"first-{at}")
            measured(source, ["fit", *tables[SIZES[-1]], "--out", run])  # compiles kernels
            for name, arguments in commands.items():
                command = [*arguments, run] if name.startswith("evaluate") else arguments
                quiet = median(source, command, folder)
                with busy_processes(BUSY):
                    busy = median(source, command, folder)
                figures = [*quiet, busy[0], busy[0] / quiet[0]]
                rows.append([name, sources[source], *(f"{figure:.1f}" for figure in figures)])
                print(*rows[-1], file=sys.stderr)  # it takes a while
    print(
        table(["command", "source", "seconds", "CPU seconds", f"seconds beside {BUSY} busy processes", "ratio"], rows)
    )


if __name__ == "__main__":
    main()
