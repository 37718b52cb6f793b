"""Which of two rankings is better, by the same positives that neither has seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pugnn.errors import counted
from pugnn.evidence.rank_model import Values

#: Verdicts that chance would give more often than this are none.
LEVEL = 0.05
#: Random signs that are tried.
FLIPS = 20_000


@dataclass(frozen=True)
class PairedVerdict:
    """What positives say about two rankings.

    Args:
        names: of the two.
        better: the one that ranks them higher; ``None`` where chance would do as much.
        higher: how many of them the first ranks higher, and the second.
        compared: how many there are.
        gain: geometric mean of the ratio of ranks, second over first: 2 where the first ranks them twice as high.
        p: how likely chance makes as large a difference.
    """

    names: tuple[str, str]
    better: str | None
    higher: tuple[int, int]
    compared: int
    gain: float
    p: float

    @property
    def words(self) -> str:
        """The verdict as a sentence."""
        first, second = self.names
        if self.better is None:
            return (
                f"{first} and {second}: no verdict. {first} ranks {self.higher[0]} and {second} {self.higher[1]} of "
                f"{counted(self.compared, 'hidden positive')} higher (p = {self.p:.2g})."
            )
        count = self.higher[self.names.index(self.better)]
        other = second if self.better == first else first
        return (
            f"{self.better} ranks {count} of {counted(self.compared, 'hidden positive')} higher than {other} "
            f"(p = {self.p:.2g})."
        )

    def to_plain(self) -> dict[str, Any]:
        """All of it in plain values, for JSON."""
        return {**vars(self), "names": list(self.names), "higher": list(self.higher), "words": self.words}


def compare_ranks(
    names: tuple[str, str], ranks: Values, others: Values, size: int, weights: Values | None = None
) -> PairedVerdict:
    r"""Compare two rankings on positives, by the logarithm of ranks, so that the top counts.

    .. math:: d_i = \log(h'_i + \tfrac1N) - \log(h_i + \tfrac1N)

    If neither ranking were better, each :math:`d_i` might as well have the other sign. p is the share of random signs
    that make the weighted mean of the :math:`d_i` at least as far from 0.

    Args:
        names: of the two rankings.
        ranks: of the positives by the first, as shares of the ranking.
        others: the same by the second.
        size: N, the length of the rankings.
        weights: how many positives each stands for, in any unit; all alike by default.

    Example:
        >>> compare_ranks(("views", "nnpu"), np.full(8, 0.01), np.full(8, 0.1), 1000).better
        'views'
    """
    gains = np.log(others + 1 / size) - np.log(ranks + 1 / size)
    weights = np.ones(len(gains)) if weights is None else weights
    parts = gains * weights / weights.sum()
    signs = np.random.default_rng(0).choice((-1.0, 1.0), (FLIPS, len(parts)))
    # Rounding must not decide between sums that are equal.
    p = float((np.abs(signs @ parts) >= abs(parts.sum()) - 1e-12).mean())
    better = None if p > LEVEL else names[0] if parts.sum() > 0 else names[1]
    higher = int((gains > 0).sum()), int((gains < 0).sum())
    return PairedVerdict(names, better, higher, len(gains), float(np.exp(parts.sum())), p)
