"""A status line on standard error, and how long the whole will take."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, RLock, Thread
from time import monotonic

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
        # They take a moment to load, which a command that shows nothing need not wait for.
        from rich.console import Console
        from rich.file_proxy import FileProxy
        from rich.live import Live
        from rich.spinner import Spinner

        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        # Where something else is already drawn, plain lines appear above it.
        self._live = self._console.is_terminal and not isinstance(sys.stderr, FileProxy)
        self._spinner = Spinner("dots")
        self._display = Live(self._spinner, console=self._console, transient=True, redirect_stdout=False)
        self._lock, self._done = RLock(), Event()
        self.now, self._unsaid = ("", monotonic()), False  # what is being done, and since when
        self._appears = monotonic() + patience
        Thread(target=self._keep_showing, daemon=True).start()

    def say(self, text: str) -> None:
        """Show what begins now."""
        with self._lock:
            self.now, self._unsaid = (text, monotonic()), True
            self._show()

    def update(self, text: str) -> None:
        """Show the progress of the same thing; as a plain line, when one is due."""
        self.now = text, self.now[1]

    def end(self) -> None:
        """Show nothing any more."""
        with self._lock:
            self._done.set()
            self._display.stop()

    def _keep_showing(self) -> None:
        while not self._done.wait(SILENT_SECONDS / 8):
            self._show()

    def _show(self) -> None:
        from rich.text import Text  # in which brackets are not markup

        with self._lock:
            (words, since), now, left = self.now, monotonic(), time_left()
            if self._done.is_set() or not words or now < self._appears:
                return
            if left is not None:
                words += f", about {f'{left:.0f} s' if left < 100 else duration(left)} left"
            if now - since >= SILENT_SECONDS:
                words += f" ({now - since:.0f} s so far)"
            if self._live:
                self._spinner.update(text=Text(words))
                self._display.start()
            elif now - StatusLine._last_line >= (SILENT_SECONDS if self._unsaid else LINE_EVERY):
                self._console.print(words, markup=False)
                StatusLine._last_line, self._unsaid = now, False


_current: StatusLine | None = None


@contextmanager
def status_line(patience: float | None = None) -> Iterator[StatusLine]:
    """The current line, or a new one that appears after ``patience`` seconds (default: two)."""
    global _current
    outer = _current
    line = _current = outer or StatusLine(SILENT_SECONDS if patience is None else patience)
    before = line.now
    try:
        yield line
    finally:
        _current = outer
        if outer is None:
            line.end()
        else:
            line.now = before


# ---------------------------------------------------------------------- how long the whole will take


@dataclass
class _Whole:
    """All that is to be done: when it began, where its current part begins and ends, which share was done when."""

    began: float
    start: float = 0.0
    end: float = 1.0
    done: float = 0.0
    since: float = 0.0

    def reach(self, share: float) -> None:
        """A share of the current part is done."""
        self.done, self.since = self.start + share * (self.end - self.start), monotonic()


_whole: _Whole | None = None


@contextmanager
def part(start: float, end: float) -> Iterator[None]:
    """What is done inside is a part of what is done around it, from one share of its time to another.

    So the status line shows what is left of the whole, whoever writes on it. A part without length shows nothing: its
    text says how long it will take.
    """
    global _whole
    outermost = _whole is None
    whole = _whole = _whole or _Whole(monotonic())
    around = whole.start, whole.end
    whole.start, whole.end = (around[0] + share * (around[1] - around[0]) for share in (start, end))
    whole.reach(0)
    try:
        yield
    finally:
        whole.reach(1)
        whole.start, whole.end = around
        if outermost:
            _whole = None


def advance(share: float) -> None:
    """Say which share of the current part is done."""
    if (whole := _whole) is not None:
        whole.reach(share)


def time_left() -> float | None:
    """Seconds that the rest takes if it is as fast as what is done; ``None`` if nothing is."""
    whole = _whole
    if whole is None or not whole.done:
        return None
    ratio, now = (1 - whole.done) / whole.done, monotonic()
    left = (whole.since - whole.began) * ratio
    return left if now - whole.since <= left else (now - whole.began) * ratio  # the current step is slower


def duration(seconds: float) -> str:
    """A time in a suitable unit.

    Example:
        >>> duration(12.4), duration(600), duration(9000)
        ('12 s', '10 min', '2 h 30 min')
    """
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"
