r"""Which of several rankings is best, by the same positives: hidden ones, and audited ones if there are any.

Two rankings place positive i below the shares :math:`h_i` and :math:`h'_i` of N unlabelled nodes. The logarithm of
ranks is compared, so that the top counts:

.. math:: d_i = \log(h'_i + \tfrac1N) - \log(h_i + \tfrac1N)

If neither ranking were better, each :math:`d_i` might as well have the other sign. p is the share of random signs that
make the weighted mean of the :math:`d_i` at least as far from 0.

A hidden positive weighs 1. An audited one stands for :math:`w_j` positives: the nodes of its stretch, over those that
were drawn in it and checked. The mean over audited positives is about as good as that over :math:`m' = (\sum w_j)^2 /
\sum w_j^2` positives drawn at random (Kish), so that is what they weigh together:
:math:`w_j \sum_k w_k / \sum_k w_k^2` each.

A ranking that is no better than chance is never preferred, even to one that is worse than chance: with known positives
that are nodes drawn at random, p is below 0.05 for 14 % of all pairs, and that rule leaves 1 %.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pugnn.errors import counted
from pugnn.evidence.checked_sample import CheckedSample
from pugnn.evidence.rank_model import Values
from pugnn.evidence.signal import LEVEL, chance
from pugnn.evidence.stretches import Places

#: Random signs that are tried.
FLIPS = 20_000


@dataclass(frozen=True)
class PairedVerdict:
    """What positives say about two rankings.

    Args:
        names: of the two; the first ranks positives higher on average.
        better: the first, or ``None`` where that may be chance.
        higher: how many of them the first ranks higher, and the second.
        hidden: how many hidden positives were compared.
        audited: how many audited ones.
        gain: geometric mean of the ratio of ranks, second over first: 2 where the first ranks them twice as high.
        p: how likely chance makes as large a difference; as many times as large as there are verdicts on the first.
        signal: whether the first ranks hidden positives better than chance would.
    """

    names: tuple[str, str]
    better: str | None
    higher: tuple[int, int]
    hidden: int
    audited: int
    gain: float
    p: float
    signal: bool

    @property
    def words(self) -> str:
        """The verdict as a sentence."""
        first, second = self.names
        positives = counted(self.hidden, "hidden positive")
        if self.audited:
            positives = f"{self.hidden + self.audited} positives ({self.hidden} hidden, {self.audited} audited)"
        found = f"{first} ranks {self.higher[0]} of {positives} higher"
        if self.better is not None:
            return f"{found} than {second} (p = {self.p:.2g})."
        if not self.signal:
            return f"{first} and {second}: no verdict. Neither ranks hidden positives better than chance would."
        return f"{first} and {second}: no verdict. {found}, {second} {self.higher[1]} (p = {self.p:.2g})."

    def to_plain(self) -> dict[str, Any]:
        """All of it in plain values, for JSON."""
        return {**vars(self), "names": list(self.names), "higher": list(self.higher), "words": self.words}


@dataclass(frozen=True, eq=False)
class AuditedPositives:
    """Positives that an audit has found, by their positions, and how many positives each stands for."""

    nodes: Places
    stand_for: Values

    @classmethod
    def of(cls, sample: CheckedSample, ranking: Places) -> AuditedPositives:
        """Those of an audit; none if it has left a stretch of the ranking unseen, so that it is no sample of all.

        Nodes that were checked without having been drawn stand for themselves: stretches are counted without them.

        Args:
            sample: what was checked.
            ranking: positions of the ranked nodes, best first.
        """
        cells = sample.cells()
        if (cells.sizes[cells.checked == 0] > 0).any():
            return cls(np.zeros(0, np.int64), np.zeros(0))
        drawn, others = sample.drawn[sample.drawn_positive], sample.others[sample.others_positive]
        stretch = np.searchsorted(cells.edges, drawn, side="right") - 1
        each = cells.sizes[stretch] / cells.checked[stretch]
        return cls(ranking[np.concatenate([drawn, others])], np.concatenate([each, np.ones(len(others))]))

    @property
    def weights(self) -> Values:
        """What each weighs where a hidden positive weighs 1."""
        weights: Values = self.stand_for * self.stand_for.sum() / (self.stand_for**2).sum()
        return weights


def best_against_rest(
    hidden: Mapping[str, Values],
    size: int,
    audited: Mapping[str, Values] | None = None,
    weights: Values | None = None,
) -> tuple[PairedVerdict, ...]:
    """Compare the ranking that places positives highest with each other one.

    Args:
        hidden: ranks of the same hidden positives by each ranking, as shares of it.
        size: N, the length of the rankings.
        audited: ranks of the same audited positives by each ranking.
        weights: what each of these weighs where a hidden positive weighs 1.

    Example:
        >>> ranks = {"nnpu": np.full(8, 0.1), "views": np.full(8, 0.001), "grab": np.linspace(0.01, 0.2, 8)}
        >>> [verdict.better for verdict in best_against_rest(ranks, 1000)]
        ['views', 'views']
    """
    if audited is None or weights is None:
        audited, weights = dict.fromkeys(hidden, np.zeros(0)), np.zeros(0)
    logs = {name: np.log(np.concatenate([ranks, audited[name]]) + 1 / size) for name, ranks in hidden.items()}
    count = len(next(iter(logs.values()), weights)) - len(weights)
    weights = np.concatenate([np.ones(count), weights])
    ordered = sorted(logs, key=lambda name: float(logs[name] @ weights))
    signs = np.random.default_rng(0).choice((-1.0, 1.0), (FLIPS, len(weights)))
    found = []
    for second in ordered[1:]:
        first = ordered[0]
        gains = logs[second] - logs[first]
        parts = gains * weights / weights.sum()
        # Rounding must not decide between sums that are equal; and the signs that were found count, so that p > 0.
        as_far = int((np.abs(signs @ parts) >= abs(parts.sum()) - 1e-12).sum())
        p = min(1.0, (as_far + 1) / (FLIPS + 1) * (len(ordered) - 1))
        signal = chance(hidden[first], size) <= LEVEL
        higher = int((gains > 0).sum()), int((gains < 0).sum())
        found.append(
            PairedVerdict(
                names=(first, second),
                better=first if p <= LEVEL and signal else None,
                higher=higher,
                hidden=count,
                audited=len(weights) - count,
                gain=float(np.exp(parts.sum())),
                p=p,
                signal=signal,
            )
        )
    return tuple(found)
