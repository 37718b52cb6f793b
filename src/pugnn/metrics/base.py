"""Metrics by name, where the truth is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pugnn.registry import Registry

Truth = NDArray[np.bool_]


@dataclass(frozen=True)
class Metric:
    """How good decisions are, or scores.

    Args:
        measure: from the true positives, and the decisions or scores of as many nodes, to a number; ``nan`` where it is
            not defined.
        of: whether it reads ``"decisions"`` or ``"scores"``.
        words: its name in a text.
        short: its name above a column.
    """

    measure: Callable[[Truth, NDArray[Any]], float]
    of: Literal["decisions", "scores"]
    words: str
    short: str

    def __call__(self, truth: Truth, decisions: Truth, scores: NDArray[np.floating]) -> float:
        """Its value."""
        return self.measure(truth, decisions if self.of == "decisions" else scores)


#: Every metric by its name: a run on data with known classes has all of them.
METRICS: Registry[Metric] = Registry("metric", "pugnn.metrics", "pugnn.metrics")


def metric(
    name: str, of: Literal["decisions", "scores"], words: str, short: str = ""
) -> Callable[[Callable[..., float]], Callable[..., float]]:
    """A decorator that registers a function as a metric."""

    def add(measure: Callable[..., float]) -> Callable[..., float]:
        METRICS.register(name)(Metric(measure, of, words, short or words))
        return measure

    return add
