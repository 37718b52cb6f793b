"""Standard output and standard error, whatever stands behind them."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TextIO, cast


class _Kept(io.RawIOBase):
    """Where a stream goes; what cannot be written is dropped, and the reason kept.

    A training is not lost for a line of text that nobody can read.
    """

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
        """It takes everything."""
        return True

    def fileno(self) -> int:
        """The file behind it."""
        return self._raw.fileno()

    def isatty(self) -> bool:
        """There is a terminal behind it."""
        return not self._raw.closed and self._raw.isatty()


@contextmanager
def kept_output() -> Iterator[Callable[[], OSError | None]]:
    """Put streams that never raise in the place of standard output and standard error, while inside.

    Characters that the encoding does not have, and those that stand for bytes that are not UTF-8, are replaced. A
    stream that is closed leads nowhere. Gives a function that says why standard output could not be written, if so; a
    reader that has seen enough is no such reason.
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
    if stream is None:  # else another file would get its number, and all that is printed
        new: TextIO = before.enter_context(open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (it is one)
    elif kept is not None and isinstance(stream, io.TextIOWrapper):
        stream.flush()
        lines = stream.line_buffering or stream.write_through
        new = io.TextIOWrapper(io.BufferedWriter(kept), stream.encoding, "replace", line_buffering=lines)
        before.callback(new.flush)
    else:  # somebody collects what we say
        return None
    before.callback(setattr, sys, name, stream)
    setattr(sys, name, new)
    return kept
