"""Kernels are compiled on first use and kept on disk; whoever waits for that is told."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def say_if_compiling(kernel: Any) -> None:
    """Print a line when calling ``kernel`` is going to compile it, as happens once after an installation."""
    if kernel.signatures:
        return  # compiled or loaded in this process already
    kept = Path(kernel.stats.cache_path or "")
    if not any(kept.glob(f"{Path(kernel.py_func.__code__.co_filename).stem}.{kernel.py_func.__name__}-*.nbi")):
        print("pugnn: compiling a kernel, once after installation; this takes some seconds", file=sys.stderr)
