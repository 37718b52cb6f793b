"""What may end a command while it runs: its output, files that it has mapped, and Ctrl-C."""

from __future__ import annotations

import ctypes
import errno
import io
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any

_CUT_SHORT = (
    "\nerror: a file that is in use was cut short, or its disk has failed: one of a graph store, or of the smoothed "
    "attributes beside a run. Build the store again with `pugnn build` if it has changed, and run the command again.\n"
)


@ctypes.CFUNCTYPE(None, ctypes.c_int)
def _end(_: int) -> None:
    os.write(2, _CUT_SHORT.encode())
    os._exit(2)


def end_with_message() -> None:
    """From now on, a mapped file that is cut short ends the process with a message, and not with a core dump.

    A handler of Python's own :mod:`signal` would only run once the instruction that failed is over, which it never is.
    """
    if sys.platform != "win32":
        ctypes.CDLL(None).signal(signal.SIGBUS, _end)


#: What a shell reports of a command that was ended by Ctrl-C.
INTERRUPTED = 128 + signal.SIGINT


def end_imports_at_once() -> None:
    """From now on, Ctrl-C while a module is imported ends the process: some libraries abort if their import fails."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # and not ignored, as in the background
        signal.signal(signal.SIGINT, _interrupt)


def _interrupt(_: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            os._exit(INTERRUPTED)
        frame = frame.f_back
    raise KeyboardInterrupt


@contextmanager
def plain_interrupts() -> Iterator[None]:
    """Raise Ctrl-C as such, also where DuckDB or a compiled kernel has made another error of it."""
    try:
        yield
    except (RuntimeError, SystemError) as error:
        by_kernel = isinstance(error.__cause__ or error.__context__, KeyboardInterrupt)
        if by_kernel or str(error) == "Query interrupted":
            raise KeyboardInterrupt from None
        raise


class _Kept(io.FileIO):
    """A file that drops what cannot be written and keeps the reason: no training is lost over its output."""

    failure: OSError | None = None

    def write(self, data: Any) -> int:
        """Write, or drop."""
        if self.failure is None:
            try:
                return super().write(data)
            except OSError as error:
                self.failure = error
        return len(data)


@contextmanager
def kept_output() -> Iterator[Callable[[], OSError | None]]:
    """Replace standard output and standard error by streams that never raise.

    Yields a function that returns why standard output could not be written, or ``None``; a closed pipe is no failure.
    """
    with ExitStack() as before:
        kept = _keep("stdout", before)
        _keep("stderr", before)

        def failure() -> OSError | None:
            sys.stdout.flush()
            found = None if kept is None else kept.failure
            return None if found is None or found.errno == errno.EPIPE else found

        yield failure


def _keep(name: str, before: ExitStack) -> _Kept | None:
    stream = getattr(sys, name)
    try:
        # A stream that is closed leads nowhere: else the next file opened would get its descriptor, and all output.
        number = os.open(os.devnull, os.O_WRONLY) if stream is None else stream.fileno()
    except (OSError, AttributeError):  # the output is being captured
        return None
    kept = _Kept(number, "w", closefd=stream is None)
    lines = stream is not None and (stream.line_buffering or stream.write_through)
    encoding = "utf-8" if stream is None else stream.encoding
    new = io.TextIOWrapper(io.BufferedWriter(kept), encoding, "replace", line_buffering=lines)
    if stream is not None:
        stream.flush()
    before.callback(setattr, sys, name, stream)
    before.callback(new.close if stream is None else new.flush)
    setattr(sys, name, new)
    return kept
