"""How much memory there is, and how much a run will need.

Those who keep to it: sorting of edges (:mod:`pugnn.store.building`), the views that are kept
(:mod:`pugnn.views.keeping`), plans of trainings (:mod:`pugnn.training.planning`), and explanations
(:mod:`pugnn.explain.parts`, :mod:`pugnn.runs.training_run`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pugnn.errors import PugnnError

#: Set to limit what a run plans with: ``PUGNN_MEMORY=8GB``.
LIMIT = "PUGNN_MEMORY"
_NO_LIMIT = 2**60


def available_memory() -> int:
    """Bytes that a run may plan with: ``$PUGNN_MEMORY``, otherwise what the machine, or the container, has left."""
    wanted = os.environ.get(LIMIT)
    return parse_memory(wanted) if wanted else min(_machine(), memory_of_groups())


def parse_memory(text: str) -> int:
    """A number of bytes from text such as ``8GB`` or ``500 MiB``.

    Example:
        >>> parse_memory("1.5GB"), parse_memory("2 MiB")
        (1500000000, 2097152)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", text.lower())
    if found is None:
        raise PugnnError(f"{text!r} is not an amount of memory; give a number and a unit, such as 8GB ({LIMIT})")
    number, unit, binary = found.groups()
    return int(float(number) * (1024 if binary else 1000) ** " kmgt".index(unit or " "))


def memory_words(size: float) -> str:
    """A number of bytes for people.

    Example:
        >>> memory_words(1_530_000_000), memory_words(2_000)
        ('1.5 GB', '2.0 kB')
    """
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.1f} {unit}" if size < 10 * scale else f"{size / scale:.0f} {unit}"
    return f"{size:.0f} bytes"


@dataclass(frozen=True)
class Forecast:
    """What a run will hold in memory at its peak: bytes, by what they are for."""

    parts: Mapping[str, int]

    @property
    def total(self) -> int:
        """Bytes in all."""
        return sum(self.parts.values())

    def __str__(self) -> str:
        parts = sorted(((name, size) for name, size in self.parts.items() if size), key=lambda part: -part[1])
        return f"{memory_words(self.total)} ({', '.join(f'{name} {memory_words(size)}' for name, size in parts)})"


def _machine() -> int:
    try:
        text = Path("/proc/meminfo").read_text()
        return 1024 * int(re.search(r"^MemAvailable:\s+(\d+)", text, re.MULTILINE)[1])  # type: ignore[index]
    except (OSError, TypeError):
        try:
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        except (AttributeError, ValueError, OSError):
            return _NO_LIMIT


def memory_of_groups(groups: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")) -> int:
    """What is left below the limits of the control groups that this process is in, of version 2 or 1.

    Containers have such limits, and the jobs of SLURM and systemd. ``groups`` lists the groups in ``root``.
    """
    try:
        listed = [line.split(":", 2) for line in groups.read_text().splitlines()]
    except OSError:
        return _NO_LIMIT
    left = [_NO_LIMIT]
    for _, controllers, name in listed:
        if not controllers:
            first, limit, used = root, "memory.max", "memory.current"
        elif "memory" in controllers.split(","):
            first, limit, used = root / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        own = first / name.lstrip("/")
        left += [_left(group / limit, group / used) for group in (own, *own.parents) if group.is_relative_to(first)]
    return min(left)


def _left(limit: Path, used: Path) -> int:
    try:
        most, now = int(limit.read_text()), int(used.read_text())
    except (OSError, ValueError):  # there is none, or it is "max"
        return _NO_LIMIT
    # Cached files count as used, but make room when memory is asked for: so at least half of it is free.
    return max(most - now, most // 2)
