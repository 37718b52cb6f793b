"""Standard output and standard error that never raise."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TextIO, cast


class _Kept(io.RawIOBase):
    """A stream that drops what cannot be written and keeps the reason: no training is lost over its output."""

    def __init__(self, raw: io.RawIOBase) -> None:
        self._raw = raw
        self.failure: OSError | None = None

    def write(self, data: object) -> int:
        """Write, or drop."""
        if self.failure is None:
            try:
                return cast(int, self._raw.write(data))  # type: ignore[arg-type]
            except OSError as error:
                self.failure = error
        return len(cast(bytes, data))

    def writable(self) -> bool:
        """Always."""
        return True

    def fileno(self) -> int:
        """The file behind it."""
        return self._raw.fileno()

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return not self._raw.closed and self._raw.isatty()


@contextmanager
def kept_output() -> Iterator[Callable[[], OSError | None]]:
    """Replace standard output and standard error by streams that never raise.

    Characters that cannot be encoded are replaced; output to a closed stream is dropped. Yields a function that returns
    why standard output could not be written, or ``None``; a closed pipe is no failure.
    """
    with ExitStack() as before:
        kept = {name: _keep(name, before) for name in ("stdout", "stderr")}

        def failure() -> OSError | None:
            sys.stdout.flush()
            found = None if kept["stdout"] is None else kept["stdout"].failure
            return None if found is None or found.errno == errno.EPIPE else found

        yield failure


def _keep(name: str, before: ExitStack) -> _Kept | None:
    stream: TextIO | None = getattr(sys, name)
    binary = getattr(stream, "buffer", None)
    raw = getattr(binary, "raw", binary)  # without buffering they are one
    kept = _Kept(raw) if isinstance(raw, io.RawIOBase) else None
    if stream is None:  # else the next file opened would get its descriptor, and all output
        new: TextIO = before.enter_context(open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (it is one)
    elif kept is not None and isinstance(stream, io.TextIOWrapper):
        stream.flush()
        lines = stream.line_buffering or stream.write_through
        new = io.TextIOWrapper(io.BufferedWriter(kept), stream.encoding, "replace", line_buffering=lines)
        before.callback(new.flush)
    else:  # the output is being captured
        return None
    before.callback(setattr, sys, name, stream)
    setattr(sys, name, new)
    return kept
