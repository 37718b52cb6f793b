"""What is being done, for those who wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pugnn.waiting import StatusLine


@contextmanager
def shown_phases() -> Iterator[Callable[[str], None]]:
    """Give a function that says what is being done, on standard error, once it has taken two seconds."""
    with StatusLine() as line:
        yield line.say
