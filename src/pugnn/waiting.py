"""A status line on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Event, RLock, Thread
from typing import Self

from rich.console import Console
from rich.file_proxy import FileProxy
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

#: Seconds before anything is shown.
SILENT_SECONDS = 2.0
#: Seconds between plain lines, where there is no terminal to draw on.
LINE_EVERY = 10.0


class StatusLine:
    """Shows what is being done once it has taken ``patience`` seconds.

    On a terminal this is an animated line that disappears at the end; elsewhere it is a plain line at least every ten
    seconds.
    """

    #: When a plain line was last printed: of short phases in a row, not every one is worth a line.
    _last_line = -float("inf")

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        # Where something else is already drawn, plain lines appear above it.
        self._live = self._console.is_terminal and not isinstance(sys.stderr, FileProxy)
        self._spinner = Spinner("dots", Text())
        self._display = Live(self._spinner, console=self._console, transient=True, redirect_stdout=False)
        self._lock = RLock()
        self._done = Event()
        self._text, self._since = "", 0.0
        self._started = 0.0
        self._unsaid = False

    def say(self, text: str) -> None:
        """Show what begins now."""
        with self._lock:
            self._since, self._unsaid = time.monotonic(), True
            self._text = text
            self._show()

    def update(self, text: str) -> None:
        """Show the progress of the same thing; as a plain line, when one is due."""
        with self._lock:
            self._text = text

    @contextmanager
    def on(self) -> Iterator[Self]:
        """Show it until the end."""
        global _current
        self._started = self._since = time.monotonic()
        Thread(target=self._keep_showing, daemon=True).start()
        _current = self
        try:
            yield self
        finally:
            _current = None
            with self._lock:
                self._done.set()
                self._display.stop()

    @contextmanager
    def lent(self) -> Iterator[Self]:
        """Lend the line to something inside, then continue as before."""
        before = self._text, self._since
        try:
            yield self
        finally:
            with self._lock:
                self._text, self._since = before

    def _keep_showing(self) -> None:
        while not self._done.wait(SILENT_SECONDS / 8):
            self._show()

    def _show(self) -> None:
        with self._lock:
            now = time.monotonic()
            if self._done.is_set() or not self._text or now - self._started < self._patience:
                return
            seconds = now - self._since
            words = self._text + (f" ({seconds:.0f} s so far)" if seconds >= SILENT_SECONDS else "")
            if self._live:
                self._spinner.update(text=Text(words))
                self._display.start()
            elif now - StatusLine._last_line >= (SILENT_SECONDS if self._unsaid else LINE_EVERY):
                self._console.print(words, markup=False)
                StatusLine._last_line, self._unsaid = now, False


_current: StatusLine | None = None


def status_line(patience: float | None = None) -> AbstractContextManager[StatusLine]:
    """The current line, or a new one that appears after ``patience`` seconds (default: two)."""
    if _current is not None:
        return _current.lent()
    return StatusLine(SILENT_SECONDS if patience is None else patience).on()
