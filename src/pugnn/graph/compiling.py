"""Kernels are compiled on first use and kept on disk; whoever waits for that is told."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def say_if_compiling(kernel: Any) -> None:
    """Print a line when calling ``kernel`` is going to compile it, as happens once after an installation."""
    if kernel.signatures:
        return  # compiled or loaded in this process already
    code = kernel.py_func.__code__
    version = f"py{sys.version_info.major}{sys.version_info.minor}"
    kept = f"{Path(code.co_filename).stem}.{kernel.py_func.__name__}-{code.co_firstlineno}.{version}*.nbi"
    if not any(Path(kernel.stats.cache_path or "").glob(kept)):
        print("pugnn: compiling a kernel, once after installation; this takes some seconds", file=sys.stderr)
