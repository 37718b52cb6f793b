"""What is being done, for those who wait."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

from rich.console import Console
from rich.markup import escape

#: Seconds that people wait without being told what for.
PATIENCE = 2.0


@contextmanager
def shown_phases() -> Iterator[Callable[[str], None]]:
    """Give a function that says what is being done, on standard error, once it has taken two seconds."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    status = console.status("working")
    timer = Timer(PATIENCE, status.start)
    timer.daemon = True
    started = time.monotonic()

    def say(phase: str) -> None:
        if console.is_terminal:
            status.update(escape(phase))
        elif time.monotonic() - started > PATIENCE:
            console.print(escape(phase))

    if console.is_terminal:
        timer.start()
    try:
        yield say
    finally:
        timer.cancel()
        status.stop()
