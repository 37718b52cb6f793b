"""One line on standard error that says what is being done, for those who wait."""

from __future__ import annotations

import sys
import time
from threading import Event, RLock, Thread
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.file_proxy import FileProxy
from rich.markup import escape

#: Seconds that people wait without being told what for.
PATIENCE = 2.0
#: Seconds between plain lines, where there is no terminal to draw on.
LINE_EVERY = 10.0

_LOOK_EVERY = 0.25


class StatusLine:
    """Says what is being done once it has taken two seconds, and goes on saying so.

    On a terminal this is a line that moves and disappears at the end. Elsewhere plain lines, at least one every ten
    seconds, take its place.

    Args:
        patience: seconds before anything is said.
    """

    #: When a plain line was last printed: short things that follow each other are not all worth a line.
    _last_line = -float("inf")

    def __init__(self, patience: float | None = None) -> None:
        self._patience = PATIENCE if patience is None else patience
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._live = False
        self._status = self._console.status("")
        self._lock = RLock()
        self._done = Event()
        self._text, self._since = "", 0.0
        self._started = 0.0
        self._unsaid = False

    @property
    def text(self) -> str:
        """What was said last."""
        return self._text

    def say(self, text: str) -> None:
        """Say what begins now."""
        with self._lock:
            self._since, self._unsaid = time.monotonic(), True
            self._text = text
            self._show()

    def update(self, text: str) -> None:
        """Say how far the same thing has come; as a plain line, when one is due."""
        with self._lock:
            self._text = text

    def __enter__(self) -> Self:
        self._started = self._since = time.monotonic()
        # Where something else is drawn already, plain lines appear above it.
        self._live = self._console.is_terminal and not _open and not isinstance(sys.stderr, FileProxy)
        _open.append(self)
        Thread(target=self._keep_showing, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _open.remove(self)
        with self._lock:
            self._done.set()
            self._status.stop()

    def _keep_showing(self) -> None:
        while not self._done.wait(_LOOK_EVERY):
            self._show()

    def _show(self) -> None:
        with self._lock:
            now = time.monotonic()
            if self._done.is_set() or not self._text or now - self._started < self._patience:
                return
            seconds = now - self._since
            words = escape(self._text) + (f" ({seconds:.0f} s so far)" if seconds >= PATIENCE else "")
            if self._live:
                self._status.update(words)
                self._status.start()
            elif now - StatusLine._last_line >= (PATIENCE if self._unsaid else LINE_EVERY):
                self._console.print(words)
                StatusLine._last_line, self._unsaid = now, False


_open: list[StatusLine] = []


def current_line() -> StatusLine | None:
    """The line that is on now, the innermost where there are several."""
    return _open[-1] if _open else None
