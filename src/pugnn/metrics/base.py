"""Metrics by name, where the truth is known."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnWarning
from pugnn.registry import Registry
from pugnn.task import PUBenchmark

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


def in_words(measured: Mapping[str, Any]) -> list[tuple[Metric, str]]:
    """Metrics with their values in words, of what :func:`measure` gave, maybe long ago and elsewhere."""
    return [
        (each, "not defined" if measured[name] is None else f"{measured[name]:.1f} %")
        for name, each in METRICS.loadable().items()
        if name in measured
    ]


def measure(truth: PUBenchmark, scores: NDArray[np.float64], threshold: float) -> dict[str, Any]:
    """Metrics on the benchmark's test nodes, never seen by any training: numbers of nodes, and values in percent.

    A metric that is undefined, such as the AUC where all test nodes are of one class, is ``None``. One that fails is
    left out, with a warning: the training before it must not be lost.
    """
    positive, scored = truth.positive[truth.scored], scores[truth.scored]
    decided = scored >= threshold
    percent: dict[str, float | None] = {}
    for name, each in METRICS.loadable().items():
        try:
            value = float(each(positive, decided, scored))
        except Exception as error:  # whatever a metric of another package raises
            warnings.warn(f"the metric {name!r} is left out: {error!r}", PugnnWarning, stacklevel=2)
        else:
            percent[name] = round(100 * value, 3) if math.isfinite(value) else None
    counts = {"test_nodes": len(scored), "positive": int(positive.sum()), "decided_positive": int(decided.sum())}
    return {**counts, **percent}
