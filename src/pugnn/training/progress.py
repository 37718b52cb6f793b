"""Progress of a training on the terminal, for those who wait."""

from __future__ import annotations

import time
from contextlib import ExitStack
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from pugnn import waiting


class EpochProgress:
    """A progress bar on standard error that appears when a training takes longer than two seconds.

    Where standard error is not a terminal, a plain line every ten seconds takes the bar's place.

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
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
        )
        self._task = self._bar.add_task("training", total=epochs, completed=done, loss=float("nan"))
        self._epochs = epochs
        self._show = show
        self._line = waiting.StatusLine()
        self._shown = ExitStack()
        self._bar_from = time.monotonic() + waiting.PATIENCE

    def __enter__(self) -> EpochProgress:
        if self._show:
            self._shown.enter_context(self._line)
            self._line.say(f"{self._name}: the first epoch")
        return self

    def update(self, done: int, loss: float) -> None:
        """Say that ``done`` epochs are behind us, the last one with this loss."""
        if not self._show:
            return
        self._bar.update(self._task, completed=done, loss=loss)
        self._line.update(f"{self._name}: epoch {done} of {self._epochs}, loss {loss:.4f}")
        if self._console.is_terminal and time.monotonic() >= self._bar_from:
            self._shown.close()
            self._shown.enter_context(self._bar)
            self._bar_from = float("inf")  # from here on the bar refreshes itself

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shown.close()
