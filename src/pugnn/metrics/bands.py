"""How many positives there are and how good a ranking is, without negatives: bands from positives that were hidden."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import betaincinv

from pugnn.errors import Displayed, counted, percent, require_share, require_type, require_whole
from pugnn.metrics.rank_model import COVERAGE, HIGHEST, LOWEST, Band, Checked, RankModel, Values, as_ranks

#: An interval whose ends differ by this factor says little.
WIDE = 3.0
#: Numbers of first finds for which bands are given.
FIRST = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
#: Shares of the ranking that the headline may name.
TOPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)


@dataclass(frozen=True)
class Prior(Band):
    """Positive share of the unlabelled nodes: what a method goes by, and the ends of the 90 % interval.

    ``source`` is ``given``; within a given ``range``; ``estimated``; or ``assumed``, where nothing can be known.
    ``least`` and ``most`` are the ends of the given range; of a given prior, both are its value.
    """

    source: Literal["given", "range", "estimated", "assumed"]
    least: float = LOWEST
    most: float = HIGHEST

    @classmethod
    def given(cls, value: float) -> Prior:
        """A prior that is known."""
        require_share("value", value)
        return cls(value, value, value, "given", value, value)

    @property
    def vague(self) -> bool:
        """Whether the interval says little."""
        return self.source == "assumed" or self.high > WIDE * self.low


@dataclass(frozen=True, eq=False, repr=False)
class Hidden(Displayed):
    """What a method learnt from known positives that it hid in turn.

    Args:
        prior: as it was settled.
        ranks: share of the unlabelled nodes above each of them, without those that were found by a ranking.
        checked: nodes that were found by a ranking and checked; ``None`` if there are none.
    """

    prior: Prior
    ranks: Values
    checked: Checked | None = None

    def __post_init__(self) -> None:
        require_type("prior", self.prior, Prior, "a pugnn.metrics.Prior")
        require_type("checked", self.checked, Checked | None, "nodes that were checked")
        object.__setattr__(self, "ranks", as_ranks(self.ranks))

    def _facts(self) -> list[str]:
        return [f"prior {self.prior.value:.3g}", counted(len(self.ranks), "hidden positive")]


@dataclass(frozen=True)
class First:
    """The first nodes of a ranking: how many, and bands of precision, recall and lift."""

    taken: int
    precision: Band
    recall: Band
    lift: Band


@dataclass(frozen=True)
class Decided:
    """The nodes that are decided positive: how many, and bands of precision, recall and F1."""

    taken: int
    precision: Band
    recall: Band
    f1: Band


@dataclass(frozen=True)
class Audit:
    """Nodes that were checked: how many, how many of them are positive, and the precision with a binomial band."""

    checked: int
    positive: int
    precision: Band


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Displayed):
    """What positives that were hidden in turn say of a ranking of the unlabelled nodes; bands hold in 90 % of cases.

    Args:
        prior: positive share of the unlabelled nodes.
        unlabelled: number of them.
        ranks: share of the unlabelled nodes above each hidden positive.
        decided: the nodes that are decided positive; ``None`` if there are none.
        first: the first 10, 20, 50, … nodes.
        auc: probability that a positive ranks above a negative.
        caveat: why the known positives may not be typical of all, which all bands assume; ``None`` if nothing
            suggests it.
        audit: nodes that were checked; ``None`` if none were.
    """

    prior: Prior
    unlabelled: int
    ranks: Values
    decided: Decided | None
    first: tuple[First, ...]
    auc: Band
    caveat: str | None = None
    audit: Audit | None = None

    def _facts(self) -> list[str]:
        number, auc = self.positives, self.auc
        facts = [
            f"{number.value:,.0f} positives ({number.low:,.0f} to {number.high:,.0f}) of {self.unlabelled:,} unlabelled"
        ]
        if self.decided is not None:
            precision, recall = self.decided.precision, self.decided.recall
            facts += [
                f"{self.decided.taken:,} decided",
                f"precision {percent(precision.low)} to {percent(precision.high)}",
            ]
            facts += [f"recall {percent(recall.low)} to {percent(recall.high)}"]
        return [*facts, f"AUC {auc.value:.2f} ({auc.low:.2f} to {auc.high:.2f})"]

    @property
    def positives(self) -> Band:
        """Number of positives among the unlabelled nodes."""
        return Band(*(share * self.unlabelled for share in (self.prior.value, self.prior.low, self.prior.high)))

    @property
    def headline(self) -> tuple[str, ...]:
        """The most important of it, in words."""
        n, median = len(self.ranks), float(np.median(self.ranks))
        within = [int((self.ranks <= top).sum()) for top in TOPS]
        # The smallest top share that holds four of five, so that the sentence says where most of them are.
        at = next((place for place, count in enumerate(within) if count >= 0.8 * n), len(TOPS) - 1)
        words = [
            f"Of the {n} known positives, hidden in turn, half rank in the top {percent(max(median, 0.001))} of the "
            f"unlabelled nodes, and {within[at]} in the top {percent(TOPS[at])}."
        ]
        if self.first:
            found = self.first[min(len(self.first) - 1, FIRST.index(100))]
            low, high = (round(share * found.taken) for share in (found.precision.low, found.precision.high))
            words.append(
                f"Of the first {found.taken} finds, about {low} to {high} are expected to be positive, if the known "
                "positives are typical."
            )
        if self.audit is not None:
            share = f"{percent(self.audit.precision.low)} to {percent(self.audit.precision.high)}"
            are = "is" if self.audit.positive == 1 else "are"
            words.append(
                f"Of {counted(self.audit.checked, 'node')} checked, {self.audit.positive} {are} positive: {share} of "
                "such nodes."
            )
        return tuple(words)

    def to_plain(self) -> dict[str, Any]:
        """All of it in plain values, for JSON."""
        return {
            "prior": asdict(self.prior),
            "positives": asdict(self.positives),
            "hidden": {"count": len(self.ranks), "median_rank": float(np.median(self.ranks))},
            "decided": None if self.decided is None else asdict(self.decided),
            "first": [asdict(part) for part in self.first],
            "auc": asdict(self.auc),
            "audit": None if self.audit is None else asdict(self.audit),
            "headline": list(self.headline),
            "caveat": self.caveat,
        }


def estimate(hidden: Hidden, *, unlabelled: int, decided: int) -> Estimate | None:
    """Bands for a ranking; ``None`` if hidden positives say nothing: fewer than two, or all scores equal.

    Args:
        hidden: the prior, and the ranks of hidden positives.
        unlabelled: number of unlabelled nodes.
        decided: how many of them are decided positive.
    """
    require_type("hidden", hidden, Hidden, "a pugnn.metrics.Hidden")
    require_whole("unlabelled", unlabelled, 1)
    require_whole("decided", decided, 0, unlabelled)
    prior, ranks, checked = hidden.prior, hidden.ranks, hidden.checked
    if len(ranks) < 2 or (ranks == 0.5).all():
        return None
    model = RankModel.of(ranks, low=prior.least, high=prior.most, checked=checked)
    share = decided / unlabelled
    return Estimate(
        prior=prior,
        unlabelled=unlabelled,
        ranks=ranks,
        decided=Decided(decided, model.precision(share), model.recall(share), model.f1(share)) if decided else None,
        first=tuple(
            First(taken, *(measure(taken / unlabelled) for measure in (model.precision, model.recall, model.lift)))
            for taken in FIRST
            if taken <= unlabelled
        ),
        auc=model.auc(),
        audit=None if checked is None else _audit(len(checked.positive), int(checked.positive.sum())),
    )


def _audit(checked: int, positive: int) -> Audit:
    """The share of positives among checked nodes, with the band of a binomial share (Jeffreys).

    Where none or all are positive, it reaches to 0 or 1: cut off at both ends, it would not hold the share itself.
    """
    tail = (1 - COVERAGE) / 2
    low, high = betaincinv(positive + 0.5, checked - positive + 0.5, [tail, 1 - tail])
    low, high = low if positive else 0.0, high if positive < checked else 1.0
    return Audit(checked, positive, Band(positive / checked, float(low), float(high)))
