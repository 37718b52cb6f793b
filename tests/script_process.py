"""What a process does that runs a script; a module of its own, which any process can import."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path


def run_script(path: Path, arguments: list[str], folder: Path) -> None:
    """Run a script at its smallest size in a folder, as its own process would; what it says goes to output.txt."""
    os.chdir(folder)
    with Path("output.txt").open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.environ["SMALLEST"] = "1"
    sys.argv[:] = [str(path), *arguments]
    sys.path.insert(0, str(path.parent))
    runpy.run_path(str(path), run_name="__main__")
