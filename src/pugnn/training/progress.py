"""Progress of a training."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from pugnn import waiting
from pugnn.waiting import StatusLine, advance, status_line


@contextmanager
def stage_progress(text: str, *, show: bool) -> Iterator[StatusLine | None]:
    """Show what is being done on a status line, if ``show``."""
    with status_line() if show else nullcontext() as line:
        if line is not None:
            line.say(text)
        yield line


@contextmanager
def epoch_progress(
    epochs: int, before: int = 0, *, part: int | None = None, show: bool = True
) -> Iterator[Callable[[int, float], None]]:
    """Show the epochs of a training on a status line; yields a function to call with those done and the last loss.

    ``before`` epochs were completed by an earlier run; ``part`` numbers the trainings of a method, from 0. Without
    ``show``, only the share that is done is passed on.
    """
    name = "training" if part is None else f"training {part + 1}"
    with waiting.part(0, 1), stage_progress(f"{name}: first of {epochs - before} epochs", show=show) as line:

        def update(done: int, loss: float) -> None:
            advance((done - before) / (epochs - before))
            if line is not None:
                line.update(f"{name}: epoch {done} of {epochs}, loss {loss:.4f}")

        yield update
