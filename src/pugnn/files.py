"""Writing files so that a reader, or a crash, never meets half of one, and where to keep them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pugnn.errors import PugnnError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; what was written there takes its place when all went well."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
    except OSError as error:
        raise PugnnError(f"cannot write {path}: {error.strerror}. Choose another place.") from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        raise PugnnError(f"cannot write {path}: {error.strerror or error}. Nothing was changed there.") from None
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    # mkstemp makes files private; what we leave behind should follow the user's own umask.
    mask = os.umask(0)
    os.umask(mask)
    return mask


def cache_folder() -> Path:
    """``$PUGNN_CACHE``, else ``$XDG_CACHE_HOME/pugnn``, else ``~/.cache/pugnn``. It need not exist."""
    if own := os.environ.get("PUGNN_CACHE"):
        return Path(own)
    if shared := os.environ.get("XDG_CACHE_HOME"):
        return Path(shared) / "pugnn"
    try:
        return Path.home() / ".cache" / "pugnn"
    except RuntimeError:
        words = "there is no home folder to keep the cache in. Set PUGNN_CACHE to a folder you can write to."
        raise PugnnError(words) from None
