"""Kernels are compiled on first use, cached on disk if possible, and announced while they compile.

numba's own cache fails at import if no folder is writable, aborts a program if the disk is full, and is silent.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit
from numba.core import event
from numba.core.caching import FunctionCache, NullCache

from pugnn.files import locked
from pugnn.waiting import status_line

_kernels: set[Any] = set()


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function with numba, once per installation; the options are those of :func:`numba.njit`."""

    def decorate(function: Callable[..., Any]) -> Any:
        compiled = njit(**options)(function)
        if options.get("inline") != "always":  # compiled as part of their callers
            _kernels.add(compiled)
            with suppress(RuntimeError):  # no folder is writable
                compiled._cache = _DiskCache(function)
        return compiled

    return decorate


class _DiskCache(FunctionCache):
    """numba's cache, tolerating files that cannot be read or written."""

    def load_overload(self, *arguments: Any) -> Any:
        try:
            return super().load_overload(*arguments)
        except Exception:  # a damaged file can raise anything
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, *arguments: Any) -> None:
        # numba numbers the files of a kernel by what its index lists. Two processes that write at once could give two
        # kinds of arguments the same number, and one would then run what was compiled for the other.
        while True:
            with locked(Path(self._py_func.__code__.co_filename)) as alone:
                if alone is not False:  # True, or None where there are no locks
                    try:
                        super().save_overload(*arguments)
                    except OSError as error:
                        _report_uncached(f"{self.cache_path}: {error.strerror or error}")
                    return
            time.sleep(0.01)


@cache
def _report_uncached(reason: str) -> None:
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
        if compiled not in _kernels:
            return
        self._depth += 1
        if self._depth == 1:
            words = "pugnn: compiling kernels, once after installation"
            if isinstance(compiled._cache, NullCache):
                words = "pugnn: compiling kernels"
                _report_uncached("no folder is writable")
            line = self._shown.enter_context(status_line(patience=0))
            line.say(f"{words}: {compiled.py_func.__module__.removeprefix('pugnn.')}")

    def on_end(self, ended: Any) -> None:
        """Restore the previous status line."""
        if ended.data["dispatcher"] in _kernels:
            self._depth -= 1
            if self._depth == 0:
                self._shown.close()


event.register("numba:compile", _Notice())
