"""Progress of a training on the terminal, for those who wait."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

#: Seconds before the bar shows, and between lines where there is no terminal to draw on.
PATIENCE = 2.0
LINE_EVERY = 30.0


class EpochProgress:
    """A progress bar on standard error that appears when a training takes longer than two seconds.

    Where standard error is not a terminal, a plain line every half minute takes the bar's place.

    Args:
        epochs: how many there will be.
        done: how many an earlier run has done already.
        part: number of this training, from 0, where a method makes several.
        show: ``False`` keeps silent.
    """

    def __init__(self, epochs: int, done: int = 0, *, part: int | None = None, show: bool = True) -> None:
        self._console = Console(stderr=True)
        self._name = "training" if part is None else f"training {part + 1}"
        self._bar = Progress(
            TextColumn(self._name),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("epochs, loss {task.fields[loss]:.4f}"),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
        )
        self._task = self._bar.add_task("training", total=epochs, completed=done, loss=float("nan"))
        self._epochs = epochs
        self._show = show
        self._next_line = time.monotonic() + (PATIENCE if self._console.is_terminal else LINE_EVERY)

    def __enter__(self) -> EpochProgress:
        return self

    def update(self, done: int, loss: float) -> None:
        """Say that ``done`` epochs are behind us, the last one with this loss."""
        if not self._show:
            return
        self._bar.update(self._task, completed=done, loss=loss)
        if time.monotonic() >= self._next_line:
            if self._console.is_terminal:
                self._bar.start()
                self._next_line = float("inf")  # from here on the bar refreshes itself
            else:
                self._console.print(f"{self._name}: epoch {done} of {self._epochs}, loss {loss:.4f}")
                self._next_line = time.monotonic() + LINE_EVERY

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar.live.is_started:
            self._bar.stop()
