"""Downloaded data sets in the user's cache folder.

There are no locks: a file gets its final name only when complete, so concurrent processes replace it with equal ones.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path

from pugnn.datasets import Archive, read_archive
from pugnn.errors import PugnnError, PugnnWarning
from pugnn.files import cache_folder, replacing


def make_cache_folder() -> Path:
    """Create the cache folder if necessary; raise if it is not writable."""
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError("permission denied")
    except OSError as error:
        raise PugnnError(
            f"cannot write to the cache at {folder}: {error}. Set PUGNN_CACHE to a writable folder."
        ) from error
    return folder


def cached(name: str, build: Callable[[], Archive]) -> Archive:
    """The data set from the cache file ``<name>/<name>.npz``, built if missing or, with a warning, if damaged."""
    path = cache_folder() / name / f"{name}.npz"
    try:
        return read_archive(path)
    except PugnnError as error:
        # Checking first whether the file exists would be a race with other processes.
        reason = error.__cause__
        if not isinstance(reason, (FileNotFoundError, NotADirectoryError)):
            message = f"the cached file {path} is damaged ({reason}); rebuilding it"
            warnings.warn(message, PugnnWarning, stacklevel=4)
    make_cache_folder()  # fail before building rather than after
    archive = build()
    with replacing(path) as draft, draft.open("wb") as file:
        archive.write(file)
    return archive
