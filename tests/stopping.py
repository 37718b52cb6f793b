"""Trainings that are watched, and stopped in the middle."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook


class Stopped(Exception):
    """Stops a training that is watched."""


@contextmanager
def watched_epochs(stop_after: int | None = None, error: type[BaseException] = Stopped) -> Iterator[list[int]]:
    """A list that fills with the epochs done by trainings inside; after this many, the training fails."""
    done: list[int] = []

    def note(optimizer: torch.optim.Optimizer, *_: object) -> None:
        state = next(iter(optimizer.state.values()))
        done.append(int(state["step"]))  # Adam counts the epochs, those before an interruption among them
        if len(done) == stop_after:
            raise error

    hook = register_optimizer_step_post_hook(note)
    try:
        yield done
    finally:
        hook.remove()
