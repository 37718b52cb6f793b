"""Estimates of how many positives there are and how good a ranking is, with bands from hidden positives."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pugnn.errors import Displayed, percent, require_type, require_whole
from pugnn.evidence.prior import Prior
from pugnn.evidence.rank_model import Band, RankModel, Values
from pugnn.evidence.signal import HiddenRanks, are_informative, chance, has_signal, lift

#: Lengths of the top lists for which bands are given.
TOP_LENGTHS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
#: Share of the ranking whose lift the headline has.
HEADLINE_SHARE = 0.1
#: What could help where there is no signal.
REMEDY = "More known positives, other attributes or edges, or a check of the ids could help."


@dataclass(frozen=True)
class TopK:
    """The first nodes of a ranking: their number, and bands of precision, recall and lift."""

    taken: int
    precision: Band
    recall: Band
    lift: Band


@dataclass(frozen=True)
class DecidedNodes:
    """The nodes decided positive: their number, and bands of precision, recall and F1."""

    taken: int
    precision: Band
    recall: Band
    f1: Band


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Displayed):
    """What hidden positives say about a ranking of the unlabelled nodes; bands hold in 90 % of cases.

    Args:
        prior: positive share of the unlabelled nodes.
        unlabelled: number of unlabelled nodes.
        ranks: share of the unlabelled nodes above each hidden positive.
        decided: the nodes decided positive; ``None`` if there are none.
        first: the first 10, 20, 50, … nodes.
        auc: probability that a positive ranks above a negative.
        chance: p-value of hidden positives that rank so high by chance (:func:`pugnn.evidence.signal.chance`).
        signal: whether they rank better than by chance. Without a signal, nothing is claimed: there is no number of
            positives, and no band except for the AUC.
        caveat: why the known positives may not be typical of all positives, as every band assumes; ``None`` if nothing
            suggests that.
    """

    prior: Prior
    unlabelled: int
    ranks: Values
    decided: DecidedNodes | None
    first: tuple[TopK, ...]
    auc: Band
    chance: float
    signal: bool = True
    caveat: str | None = None

    def _facts(self) -> list[str]:
        if not self.signal:
            return [f"no signal (p = {self.chance:.2g}) in {self.unlabelled:,} unlabelled"]
        facts = [
            f"half of {len(self.ranks):,} hidden positives in the top {self._median} of {self.unlabelled:,} unlabelled"
        ]
        if not self.prior.vague and self.positives is not None:
            number = self.positives
            facts.append(f"{number.value:,.0f} positives ({number.low:,.0f} to {number.high:,.0f})")
        return [*facts, f"AUC {self.auc.value:.2f} ({self.auc.low:.2f} to {self.auc.high:.2f})"]

    @property
    def _median(self) -> str:
        return percent(max(float(np.median(self.ranks)), 1 / self.unlabelled))

    @property
    def positives(self) -> Band | None:
        """Number of positives among the unlabelled nodes; ``None`` without a signal."""
        if not self.signal:
            return None
        return Band(*(share * self.unlabelled for share in (self.prior.value, self.prior.low, self.prior.high)))

    @property
    def headline(self) -> tuple[str, ...]:
        """One or two sentences: where hidden positives rank, or that there is no signal."""
        if not self.signal:
            words = "No signal: the known positives, when hidden, rank no better than by chance"
            return f"{words} (p = {self.chance:.2g}).", REMEDY
        better = lift(self.ranks, HEADLINE_SHARE)
        return (
            f"Half of the {len(self.ranks):,} known positives, when hidden, rank in the top {self._median}.",
            f"Picking from the top {percent(HEADLINE_SHARE)} of the list finds {better.low:.2g} to {better.high:.2g} "
            "times as many positives as picking at random.",
        )

    def to_plain(self) -> dict[str, Any]:
        """The estimate as plain values, for JSON."""
        return {
            "prior": asdict(self.prior),
            "positives": None if self.positives is None else asdict(self.positives),
            "signal": self.signal,
            "chance": self.chance,
            "hidden": {
                "count": len(self.ranks),
                "median_rank": float(np.median(self.ranks)),
                "ranks": self.ranks.tolist(),
            },
            "decided": None if self.decided is None else asdict(self.decided),
            "first": [asdict(part) for part in self.first],
            "auc": asdict(self.auc),
            "headline": list(self.headline),
            "caveat": self.caveat,
        }


class Bands:
    """Bands of a ranking, whose values are those at the expected prior, so that they fit together.

    Args:
        ranks: share of the unlabelled nodes above each hidden positive.
        unlabelled: number of unlabelled nodes.
        prior: the settled prior.
    """

    def __init__(self, ranks: Values, unlabelled: int, prior: Prior) -> None:
        self._unlabelled = unlabelled
        self._model = RankModel.of(ranks, unlabelled, bounds=prior.bounds)
        self._expected = RankModel.of(ranks, unlabelled, bounds=(prior.value, prior.value))

    def precision(self, share: float) -> Band:
        """Precision of the first share of the unlabelled nodes."""
        return _centred(self._model.precision(share), self._expected.precision(share))

    def recall(self, share: float) -> Band:
        """Recall of the first share of the unlabelled nodes."""
        return _centred(self._model.recall(share), self._expected.recall(share))

    def f1(self, share: float) -> Band:
        """F1 of deciding the first share of the unlabelled nodes positive."""
        return _centred(self._model.f1(share), self._expected.f1(share))

    def lift(self, share: float) -> Band:
        """Lift of the first share of the unlabelled nodes."""
        return _centred(self._model.lift(share), self._expected.lift(share))

    def auc(self) -> Band:
        """Probability that a positive ranks above a negative."""
        return _centred(self._model.auc(), self._expected.auc())

    def top(self, count: int) -> TopK:
        """The first ``count`` of the unlabelled nodes."""
        share = count / self._unlabelled
        return TopK(count, self.precision(share), self.recall(share), self.lift(share))


def _centred(band: Band, expected: Band) -> Band:
    return Band(float(np.clip(expected.value, band.low, band.high)), band.low, band.high)


def estimate(hidden: HiddenRanks, *, unlabelled: int, decided: int) -> Estimate | None:
    """Estimate how good a ranking is; ``None`` if there are fewer than two hidden positives, or all scores are equal.

    Args:
        hidden: the prior, and the ranks of hidden positives.
        unlabelled: number of unlabelled nodes.
        decided: how many of them are decided positive.
    """
    require_type("hidden", hidden, HiddenRanks, "a pugnn.evidence.HiddenRanks")
    require_whole("unlabelled", unlabelled, 1)
    require_whole("decided", decided, 0, unlabelled)
    if not are_informative(hidden.ranks):
        return None
    bands = Bands(hidden.ranks, unlabelled, hidden.prior)
    signal, share = has_signal(hidden, unlabelled), decided / unlabelled
    decided_nodes = None
    if decided and signal:
        decided_nodes = DecidedNodes(decided, bands.precision(share), bands.recall(share), bands.f1(share))
    lengths = [count for count in TOP_LENGTHS if count <= unlabelled] if signal else []
    return Estimate(
        prior=hidden.prior,
        unlabelled=unlabelled,
        ranks=hidden.ranks,
        decided=decided_nodes,
        first=tuple(bands.top(count) for count in lengths),
        auc=bands.auc(),
        chance=chance(hidden.ranks, unlabelled),
        signal=signal,
    )
