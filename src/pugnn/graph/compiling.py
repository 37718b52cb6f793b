"""Kernels are compiled on first use, cached on disk if possible, and announced while they compile.

numba's own cache fails at import if no folder is writable, aborts a program if the disk is full, and is silent.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

from numba import config, njit
from numba.core import event
from numba.core.caching import FunctionCache, NullCache

from pugnn.errors import PugnnError
from pugnn.files import cache_folder, locked
from pugnn.waiting import status_line


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function with numba, once per installation; the options are those of :func:`numba.njit`."""

    def decorate(function: Callable[..., Any]) -> Any:
        compiled = njit(**options)(function)
        if options.get("inline") != "always":  # compiled as part of their callers
            compiled._cache = _cache_of(function)
        return compiled

    return decorate


class _DiskCache(FunctionCache):
    """numba's cache, tolerating files that cannot be read or written."""

    def load_overload(self, *arguments: Any) -> Any:
        try:
            return super().load_overload(*arguments)
        except Exception:  # a damaged file can raise anything
            return None

    def save_overload(self, *arguments: Any) -> None:
        # numba numbers the files of a kernel by what its index lists. Two processes that write at once could give two
        # kinds of arguments the same number, and one would then run what was compiled for the other.
        while True:
            with locked(Path(self._py_func.__code__.co_filename)) as alone:
                if alone is not False:  # True, or None where there are no locks
                    return self._save(*arguments)
            time.sleep(0.01)

    def _save(self, *arguments: Any) -> None:
        try:
            try:
                super().save_overload(*arguments)
            except OSError:
                raise
            except Exception:  # the index is damaged
                self.flush()
                super().save_overload(*arguments)
        except OSError as error:
            _report_uncached(f"{self.cache_path}: {error.strerror or error}")


class _InMemory(NullCache):
    """For kernels that cannot be cached on disk."""


def _cache_of(function: Callable[..., Any]) -> _DiskCache | _InMemory:
    """The function's cache: in NUMBA_CACHE_DIR, beside its source, in the user's cache folder, or in memory."""
    beside = Path(function.__code__.co_filename).parent / "__pycache__"
    set_by_user = config.CACHE_DIR
    for folder, setting in ((set_by_user, set_by_user), (beside, ""), (_own_folder(), str(_own_folder()))):
        if folder and _writable(Path(folder)):
            config.CACHE_DIR = setting
            try:
                return _DiskCache(function)
            finally:
                config.CACHE_DIR = set_by_user
    return _InMemory()


@cache
def _own_folder() -> Path | None:
    try:
        return cache_folder() / "kernels"
    except PugnnError:
        return None


@cache
def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


_reported = False


def _report_uncached(reason: str) -> None:
    """Print why kernels will be recompiled next time, once per process."""
    global _reported
    if not _reported:
        _reported = True
        words = f"pugnn: compiled kernels cannot be cached ({reason}), so every start recompiles them"
        print(f"{words}; set NUMBA_CACHE_DIR to a writable folder", file=sys.stderr)


class _Notice(event.Listener):
    """Shows which kernels are being compiled."""

    def __init__(self) -> None:
        self._depth = 0  # compiling a kernel compiles those it calls
        self._shown = ExitStack()

    def on_start(self, started: Any) -> None:
        """Show what is being compiled, if it is ours."""
        compiled = started.data["dispatcher"]
        if not isinstance(compiled._cache, _DiskCache | _InMemory):
            return
        self._depth += 1
        if self._depth > 1:
            return
        words = "pugnn: compiling kernels"
        if isinstance(compiled._cache, _InMemory):
            _report_uncached("no folder is writable")
        else:
            words += ", once after installation"
        line = self._shown.enter_context(status_line(patience=0))
        line.say(f"{words}: {compiled.py_func.__module__.removeprefix('pugnn.')}")

    def on_end(self, ended: Any) -> None:
        """Restore the previous status line."""
        if isinstance(ended.data["dispatcher"]._cache, _DiskCache | _InMemory):
            self._depth -= 1
            if self._depth == 0:
                self._shown.close()


event.register("numba:compile", _Notice())
