"""Interleaved timing, peak memory and tables, which all benchmark scripts share.

With SMALLEST=1 in the environment, every script runs at its smallest size: within seconds, on the CPU and on data that
ships with the package. Its figures mean nothing then, but a test sees that it still runs.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import scipy.sparse as sp
import torch

from pugnn.graph import Graph
from pugnn.task import PUTask

SMALLEST = bool(os.environ.get("SMALLEST"))
Size = TypeVar("Size")
_peaks: list[float] = []


def sized(usual: Size, smallest: Size) -> Size:
    """Return the usual size of a script, or the smallest one."""
    return smallest if SMALLEST else usual


def interleaved(variants: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return median seconds of each variant; every round runs each one once, so that noise hits all alike."""
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    for run in variants.values():  # compile, fill caches
        run()
    for _ in range(rounds):
        for name, run in variants.items():
            started = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - started)
    return {name: float(np.median(values)) for name, values in seconds.items()}


def peak_memory_of(script: str, *arguments: str) -> float:
    """Return the peak memory in MB of a script between `memory_baseline()` and its end, in its own process."""
    command = [sys.executable, script, *arguments]
    if not (SMALLEST and _peaks):  # at the smallest size one process is enough to see that this works
        _peaks.append(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1]))
    return _peaks[-1]


def memory_baseline() -> float:
    """Reset the kernel's high-water mark of this process; return the memory in use now, in MB."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def memory_peak() -> float:
    """Return the high-water mark since the last reset, in MB."""
    return _status("VmHWM")


def _status(field: str) -> float:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) / 1024


def tiny_task() -> PUTask:
    """Return a task on a path of ten nodes."""
    graph = Graph.from_edges(range(9), range(1, 10), features=sp.eye_array(10, format="csr"))
    return PUTask.from_positives(graph, np.array([0]))


def machine() -> str:
    """Return one line about the machine."""
    device = f"{torch.cuda.get_device_name()}, " if torch.cuda.is_available() else ""
    return f"{device}{platform.machine()}, Python {platform.python_version()}, torch {torch.__version__}"


def peak_gflops() -> float:
    """Return what one core reaches on a large single-precision matrix product, in GFLOP/s."""
    a, b = torch.randn(1024, 1024), torch.randn(1024, 1024)
    best = min(interleaved({"mm": lambda: a @ b}, 1)["mm"] for _ in range(sized(20, 1)))
    return 2 * 1024**3 / best / 1e9


def table(header: list[str], rows: list[list[str]]) -> str:
    """Return a plain-text table with aligned columns."""
    widths = [max(len(row[c]) for row in [header, *rows]) for c in range(len(header))]
    lines = [
        "  ".join(cell.rjust(w) if c else cell.ljust(w) for c, (cell, w) in enumerate(zip(row, widths, strict=True)))
        for row in [header, ["-" * w for w in widths], *rows]
    ]
    return "\n".join(lines)
