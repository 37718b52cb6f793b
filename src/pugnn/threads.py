"""How many threads work takes: no more than it is worth, and than the user allows."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pugnn import processes

#: Variables that limit threads. torch reads the first one itself.
LIMITS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
#: With fewer numbers than this to go through, threads wait for each other longer than they work.
WORTH_THREADS = 1 << 20


def available_threads() -> int:
    """Threads for kernels, tables and checksums: one per core of this process, unless there is a lower limit."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on every system
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    limits = [cores // processes.count_on_host(), *(_limit(os.environ.get(name, "")) or cores for name in LIMITS)]
    if "torch" in sys.modules:  # a limit that was given to torch is ours, too
        limits.append(sys.modules["torch"].get_num_threads())
    return max(1, min(limits))


def wait_without_spinning() -> None:
    """Let idle threads sleep, for OpenMP libraries that are not loaded yet: other programs may need the cores."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def _limit(text: str) -> int:
    """The number in a variable, which may be a list for nested loops; 0 if there is none."""
    first = text.split(",")[0].strip()
    return int(first) if first.isdecimal() else 0


@contextmanager
def threads_for(numbers: int) -> Iterator[None]:
    """Let torch use one thread inside, if there are few numbers to go through.

    On a busy machine a thread that has to wait for another one can wait for a long time, thousands of times a second.
    """
    import torch

    before = torch.get_num_threads()
    if numbers >= WORTH_THREADS or before == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
