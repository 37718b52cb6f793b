"""Progress of a training."""

from __future__ import annotations

import time
from contextlib import ExitStack
from types import TracebackType

from pugnn.waiting import StatusLine, status_line


class EpochProgress:
    """A line on standard error, as :class:`~pugnn.waiting.StatusLine` shows it, about the epochs of a training.

    Args:
        epochs: how many there will be.
        done: how many an earlier run has completed.
        part: number of this training, from 0, where a method makes several.
        show: ``False`` keeps silent.
    """

    def __init__(self, epochs: int, done: int = 0, *, part: int | None = None, show: bool = True) -> None:
        self._name = "training" if part is None else f"training {part + 1}"
        self._epochs, self._before = epochs, done
        self._show = show
        self._started = time.monotonic()
        self._line: StatusLine | None = None
        self._shown = ExitStack()

    def __enter__(self) -> EpochProgress:
        if self._show:
            self._line = self._shown.enter_context(status_line())
            self._line.say(f"{self._name}: first of {self._epochs - self._before} epochs")
        return self

    def update(self, done: int, loss: float) -> None:
        """Show that ``done`` epochs are complete, the last one with this loss."""
        if self._line is not None:
            each = (time.monotonic() - self._started) / (done - self._before)
            left = f"about {each * (self._epochs - done):.0f} s left"
            self._line.update(f"{self._name}: epoch {done} of {self._epochs}, loss {loss:.4f}, {left}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shown.close()
