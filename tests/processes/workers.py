"""Processes that train together, started as a launcher does."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

PUGNN = ["-m", "pugnn"]


def start(*arguments: str, folder: Path, number: int = 2) -> list[subprocess.Popen[str]]:
    """So many Python processes with these arguments, which find each other by their environment."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {"WORLD_SIZE": str(number), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "COLUMNS": "160"}
    shared["TORCH_CPP_LOG_LEVEL"] = "ERROR"  # NCCL has remarks of its own
    return [
        subprocess.Popen(
            [sys.executable, *arguments],
            cwd=folder,
            env={**os.environ, **shared, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(number)
    ]


def ended(processes: list[subprocess.Popen[str]]) -> list[tuple[int, str, str]]:
    """Exit code, standard output and standard error of each; kernels that are compiled on the way are not mentioned."""
    found = []
    for process in processes:
        out, err = process.communicate(timeout=600)
        lines = [line for line in err.splitlines(keepends=True) if "pugnn: compil" not in line and "s left" not in line]
        found.append((process.returncode, out, "".join(lines)))
    return found
