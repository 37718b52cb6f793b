"""Trainings that are watched, and stopped in the middle."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pugnn.training import Adam


class Stopped(Exception):
    """Stops a training that is watched."""


@contextmanager
def watched_epochs(stop_after: int | None = None, error: type[BaseException] = Stopped) -> Iterator[list[int]]:
    """A list that fills with the epochs done by trainings inside; after this many, the training fails."""
    done: list[int] = []
    step = Adam.step

    def noted(optimizer: Adam) -> None:
        step(optimizer)
        steps = [int(value) for name, value in optimizer.state().items() if name.endswith(".step")]
        done.append(steps[0])  # Adam counts the epochs, those before an interruption among them
        if len(done) == stop_after:
            raise error

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Adam, "step", noted)
        yield done
