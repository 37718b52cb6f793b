"""The files that a store is built from, which must stay as they are meanwhile."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from pugnn.errors import PugnnError


@contextmanager
def unchanged(given: Sequence[Any]) -> Iterator[list[dict[str, Any]]]:
    """Yield what the files among these are: name, size, time of the last change; raise if that changes meanwhile."""
    names = [os.path.expanduser(os.fspath(name)) for name in given if isinstance(name, str | os.PathLike)]
    files = {file: _state(file) for name in names for file in _matching(name)}
    try:
        yield [
            {"file": file, "bytes": state[0], "modified": datetime.fromtimestamp(state[1] / 1e9, UTC).isoformat()}
            for file, state in files.items()
            if state is not None
        ]
    finally:  # also after an error, for which a change may be the reason
        for file, before in files.items():
            if _state(file) != before:
                raise PugnnError(f"{file} changed while it was read. Build the store again once it is complete.")


def _matching(name: str) -> list[str]:
    return sorted(glob.glob(name, recursive=True)) if glob.has_magic(name) and not os.path.lexists(name) else [name]


def _state(file: str) -> tuple[int, int] | None:
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns
