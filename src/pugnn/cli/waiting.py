"""What is being done, for those who wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pugnn.waiting import status_line


@contextmanager
def shown_phases() -> Iterator[Callable[[str], None]]:
    """Give a function that says what is being done, on standard error, once it has taken two seconds."""
    with status_line() as line:
        yield line.say
