"""Means, paired tests and ranks for comparing rows that were measured on the same draws."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from scipy.stats import rankdata, wilcoxon

#: With five pairs the two-sided signed-rank test has p ≥ 2 / 2⁵ = 0.0625, so fewer than six prove nothing.
MIN_PAIRS = 6

Key = TypeVar("Key", bound=Hashable)
Pair = TypeVar("Pair", bound=Hashable)


@dataclass(frozen=True)
class Paired:
    """Two rows on the same draws: wins, ties and losses of the first, and their Wilcoxon signed-rank test.

    ``direction`` is 1 when the signed ranks favour the first, -1 the second, 0 neither; ``p`` is two-sided, and
    ``None`` with fewer pairs than `MIN_PAIRS`.
    """

    wins: int
    ties: int
    losses: int
    direction: int
    p: float | None


def mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation (of the sample, n - 1); the latter is ``nan`` for a single value.

    Example:
        >>> mean_and_deviation([1.0, 2.0, 3.0])
        (2.0, 1.0)
    """
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else math.nan


def best_rows(means: Mapping[str, float]) -> set[str]:
    """The rows with the highest mean, where there are several rows; means that print alike are equally good.

    Example:
        >>> sorted(best_rows({"a": 80.04, "b": 79.96, "c": 70.0}))
        ['a', 'b']
    """
    printed = {row: round(mean, 1) for row, mean in means.items()}
    return {row for row, mean in printed.items() if len(printed) > 1 and mean == max(printed.values())}


def compare(first: Mapping[Key, float], second: Mapping[Key, float]) -> Paired:
    """Compare two rows on the draws that both have.

    Example:
        >>> compare({0: 80.0, 1: 81.0, 2: 70.0}, {0: 79.0, 1: 81.0, 3: 60.0})
        Paired(wins=1, ties=1, losses=0, direction=1, p=None)
    """
    differences = np.array([value - second[key] for key, value in first.items() if key in second])
    # Without the ties, as Wilcoxon proposed; they carry no sign.
    signed = differences[differences != 0]
    ranks = rankdata(np.abs(signed))
    p: float | None = None
    if len(differences) >= MIN_PAIRS:
        p = float(wilcoxon(signed).pvalue) if len(signed) else 1.0
    return Paired(
        wins=int((signed > 0).sum()),
        ties=len(differences) - len(signed),
        losses=int((signed < 0).sum()),
        direction=int(np.sign((np.sign(signed) * ranks).sum())),
        p=p,
    )


def compare_all(pairs: Mapping[Pair, Sequence[Mapping[Key, float]]]) -> dict[Pair, Paired]:
    """Compare several pairs of rows; p is corrected over all of them."""
    compared = {pair: compare(first, second) for pair, (first, second) in pairs.items()}
    corrected = holm([paired.p for paired in compared.values()])
    return {pair: replace(paired, p=p) for (pair, paired), p in zip(compared.items(), corrected, strict=True)}


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's correction for several tests; a ``None`` stays ``None`` and does not count as a test.

    Example:
        >>> holm([0.01, None, 0.04, 0.03])
        [0.03, None, 0.06, 0.06]
    """
    tested = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for smaller, (p, place) in enumerate(tested):
        largest = max(largest, min(1.0, p * (len(tested) - smaller)))
        corrected[place] = largest
    return corrected


def average_ranks(scores: Mapping[str, Mapping[Key, float]]) -> tuple[dict[str, float], int]:
    """Average rank of each row over the blocks that all rows have (1 is best, ties share), and their number.

    Example:
        >>> average_ranks({"a": {0: 3.0, 1: 2.0, 2: 9.0}, "b": {0: 1.0, 1: 2.0}})
        ({'a': 1.25, 'b': 1.75}, 2)
    """
    # In the order of the first row: a set would round the mean differently from run to run.
    first = next(iter(scores.values()), {})
    blocks = [block for block in first if all(block in row for row in scores.values())]
    if not blocks:
        return {}, 0
    table = np.array([[row[block] for block in blocks] for row in scores.values()])
    ranks = rankdata(-table, axis=0).mean(axis=1)
    return {row: float(rank) for row, rank in zip(scores, ranks, strict=True)}, len(blocks)
