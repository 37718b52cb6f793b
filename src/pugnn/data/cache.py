"""Data sets that were downloaded once, kept in the user's cache folder.

Nothing locks. A file gets its final name only when it is whole, so that of two processes which build
the same data set at once, the later one replaces a good file by an equal one.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path

from pugnn.data.archive import Archive, archive_bytes, read_archive
from pugnn.errors import PugnnError, PugnnWarning
from pugnn.files import cache_folder, replacing


def make_cache_folder() -> Path:
    """Create the cache folder if need be; an error says what to do where nothing can be written there."""
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot_write(folder, error) from error
    if not os.access(folder, os.W_OK):
        raise _cannot_write(folder, "permission denied")
    return folder


def cached(name: str, build: Callable[[], Archive]) -> Archive:
    """The data set from the cache, or built and put there.

    A cached file that is truncated or changed is noticed by its checksum; a :class:`PugnnWarning` says so
    and the data set is built again. The layout is that of ``PUGNN_DATA``: ``<name>/<name>.npz``.
    """
    path = cache_folder() / name / f"{name}.npz"
    try:
        return read_archive(path, verify=True)
    except PugnnError as error:
        # Asking first whether the file exists would leave a moment for another process to remove it.
        reason = error.__cause__
        if not isinstance(reason, (FileNotFoundError, NotADirectoryError)):
            message = f"the cached file {path} is broken ({reason}); it is built again now"
            warnings.warn(message, PugnnWarning, stacklevel=4)
    make_cache_folder()  # before the work of building, not after it
    archive = build()
    with replacing(path) as draft:
        draft.write_bytes(archive_bytes(archive))
    return archive


def _cannot_write(path: Path, reason: object) -> PugnnError:
    return PugnnError(f"cannot write to the cache at {path}: {reason}. Set PUGNN_CACHE to a folder you can write to.")
