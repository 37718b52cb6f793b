"""Kernels are compiled on first use, with a notice, and cached on disk if possible.

numba has a cache too, but it fails on import if it finds no place for it, fails when the disk is full even though the
result is there, and compiles silently.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

from numba import config, njit
from numba.core import event
from numba.core.caching import FunctionCache, NullCache

from pugnn.errors import PugnnError
from pugnn.files import cache_folder
from pugnn.waiting import status_line


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function with numba, once after an installation; the options are those of :func:`numba.njit`."""

    def decorate(function: Callable[..., Any]) -> Any:
        compiled = njit(**options)(function)
        if options.get("inline") != "always":  # those are compiled as part of others
            compiled._cache = _cache_of(function)
        return compiled

    return decorate


class _DiskCache(FunctionCache):
    """numba's cache, without errors for files that cannot be read or written."""

    def load_overload(self, *arguments: Any) -> Any:
        try:
            return super().load_overload(*arguments)
        except Exception:  # a damaged file can raise anything
            return None

    def save_overload(self, *arguments: Any) -> None:
        try:
            try:
                super().save_overload(*arguments)
            except OSError:
                raise
            except Exception:  # the index is damaged
                self.flush()
                super().save_overload(*arguments)
        except OSError as error:
            _not_kept.say(f"{self.cache_path}: {error.strerror or error}")


class _InMemory(NullCache):
    """For kernels that cannot be cached anywhere."""


def _cache_of(function: Callable[..., Any]) -> _DiskCache | _InMemory:
    """The cache of a function: in NUMBA_CACHE_DIR, beside its source, or in the user's cache folder."""
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


class _NotKept:
    """Warns once that kernels will be compiled again next time."""

    def __init__(self) -> None:
        self._said = False

    def say(self, reason: str) -> None:
        """Warn, with the reason."""
        if not self._said:
            self._said = True
            words = f"pugnn: compiled kernels cannot be cached ({reason}), so each start compiles them again"
            print(f"{words}; set NUMBA_CACHE_DIR to a folder you can write to", file=sys.stderr)


_not_kept = _NotKept()


class _Notice(event.Listener):
    """Shows that kernels are being compiled, and which."""

    def __init__(self) -> None:
        self._depth = 0  # kernels call others, which are compiled along with them
        self._shown = ExitStack()

    def on_start(self, started: Any) -> None:
        """Show what is being compiled, if it is one of the package's kernels."""
        compiled = started.data["dispatcher"]
        if not isinstance(compiled._cache, _DiskCache | _InMemory):
            return
        self._depth += 1
        if self._depth > 1:
            return
        words = "pugnn: compiling kernels"
        if isinstance(compiled._cache, _InMemory):
            _not_kept.say("no folder can be written to")
        else:
            words += ", once after installation"
        line = self._shown.enter_context(status_line(patience=0))
        line.say(f"{words}: {compiled.py_func.__module__.removeprefix('pugnn.')}")

    def on_end(self, ended: Any) -> None:
        """Remove the notice."""
        if isinstance(ended.data["dispatcher"]._cache, _DiskCache | _InMemory):
            self._depth -= 1
            if self._depth == 0:
                self._shown.close()


event.register("numba:compile", _Notice())
