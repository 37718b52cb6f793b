"""How many positives there are and how good a ranking is, without negatives: bands from positives that were hidden."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import betaincinv, gammaincc, ndtr

from pugnn.errors import Displayed, percent, require_share, require_type, require_whole
from pugnn.evidence.rank_model import MAX_PRIOR, MIN_PRIOR, TAIL, Band, RankModel, Values, as_ranks

#: An interval whose ends differ by this factor says little.
WIDE = 3.0
#: Numbers of first finds for which bands are given.
FIRST = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
#: Hidden positives that chance would rank as well more often than this are no signal.
LEVEL = 0.05
#: Fewer hidden positives cannot show that there is none.
MIN_HIDDEN_POSITIVES = 10
#: Ways to find a signal by chance: two tests of two rankings.
WAYS = 4
#: With this many hidden positives, what they owe to one another makes the p-values half as large as they ought to be.
TOGETHER = 10
#: The share of the ranking whose worth the headline tells.
TOP = 0.1


@dataclass(frozen=True)
class Prior(Band):
    """Positive share of the unlabelled nodes: what a method expects and decides, and the ends of the 90 % interval.

    ``source`` is ``given``; within a given ``range``; ``estimated``; or ``assumed``, where nothing can be known.
    ``least`` and ``most`` are the ends of the given range; of a given prior, both are its value. ``by`` names the
    estimator, where one was chosen.
    """

    source: Literal["given", "range", "estimated", "assumed"]
    least: float = MIN_PRIOR
    most: float = MAX_PRIOR
    by: str = ""

    @classmethod
    def given(cls, value: float) -> Prior:
        """A prior that is known."""
        require_share("value", value)
        return cls(value, value, value, "given", value, value)

    @property
    def vague(self) -> bool:
        """Whether the interval says little."""
        return self.source == "assumed" or self.high > WIDE * self.low

    @property
    def bounds(self) -> tuple[float, float] | None:
        """What was known of it beforehand; ``None`` for nothing."""
        known = self.source != "estimated" and (self.least, self.most) != (MIN_PRIOR, MAX_PRIOR)
        return (self.least, self.most) if known else None


@dataclass(frozen=True, eq=False, repr=False)
class HiddenRanks:
    """What a method learnt from known positives that it hid in turn.

    Args:
        prior: as it was settled.
        ranks: share of the unlabelled nodes above each of them, without those that were found by a ranking.
    """

    prior: Prior
    ranks: Values

    def __post_init__(self) -> None:
        require_type("prior", self.prior, Prior, "a pugnn.evidence.Prior")
        object.__setattr__(self, "ranks", as_ranks(self.ranks))


#: What could help where there is no signal.
REMEDY = "More known positives, other attributes or edges, or a check of the ids could help."


def chance(ranks: Values, unlabelled: int) -> float:
    r"""How likely it is that hidden positives rank so high by chance: a p-value.

    Chance ranks them anywhere alike. Two tests of that: their mean rank is small (a normal approximation), and their
    ranks multiply to little, which sees a few at the very top (Fisher's):

    .. math:: p_1 = \Phi\Bigl(\sqrt{12 n}\,\bigl(\bar h - \tfrac12\bigr)\Bigr), \qquad
        p_2 = P\bigl(\chi^2_{2n} \ge -2 \textstyle\sum_i \log h_i\bigr), \qquad
        p = 4 \Bigl(1 + \frac{n}{10}\Bigr) \min(p_1, p_2)

    Four times because there are two tests of the better of two rankings, with and without closeness; and more for more
    hidden positives, because they are ranked with the help of the others: if by chance they lie to one side, whichever
    it is, they find each other. With known positives drawn at random from all nodes, p is below 0.05 in about 5 of 100
    cases then.

    Args:
        ranks: share of the unlabelled nodes above each of n hidden positives; at least half a node.
        unlabelled: number of these.

    Example:
        >>> round(chance(np.array([0.1, 0.2, 0.1]), 1000), 3), chance(np.array([0.4, 0.6]), 1000)
        (0.072, 1.0)
    """
    inside = np.clip(ranks, 0.5 / unlabelled, 1.0)
    by_mean = ndtr(np.sqrt(12 * len(inside)) * (inside.mean() - 0.5))
    by_top = gammaincc(len(inside), -np.log(inside).sum())
    return float(min(1.0, WAYS * (1 + len(inside) / TOGETHER) * min(by_mean, by_top)))


def lift(ranks: Values, share: float) -> Band:
    """How many times as many positives the first share of a ranking has as a random choice, from hidden positives.

    The interval is that of Clopper and Pearson for the share of the hidden positives that are there: it is exact.

    Args:
        ranks: share of the unlabelled nodes above each hidden positive.
        share: of the ranking, from the top.

    Example:
        >>> better = lift(np.array([0.01, 0.02, 0.04, 0.3]), 0.1)
        >>> better.value, round(better.low, 2), round(better.high, 2)
        (7.5, 2.49, 9.87)
    """
    found = exact_share(int((ranks < share).sum()), len(ranks))
    return Band(found.value / share, found.low / share, found.high / share)


def exact_share(within: int, n: int) -> Band:
    """The share of ``within`` among ``n``, with the exact interval of Clopper and Pearson."""
    low = float(betaincinv(within, n - within + 1, TAIL)) if within else 0.0
    high = float(betaincinv(within + 1, n - within, 1 - TAIL)) if within < n else 1.0
    return Band(within / n, low, high)


def are_informative(ranks: Values) -> bool:
    """Whether ranks say anything: there are two or more, and the scores of all nodes are not equal."""
    return len(ranks) >= 2 and not (ranks == 0.5).all()


def no_signal(hidden: HiddenRanks, unlabelled: int) -> bool:
    """Whether nothing but chance is seen in the ranks of ten hidden positives or more."""
    ranks = hidden.ranks
    return len(ranks) >= MIN_HIDDEN_POSITIVES and are_informative(ranks) and chance(ranks, unlabelled) > LEVEL


@dataclass(frozen=True)
class TopK:
    """The first nodes of a ranking: how many, and bands of precision, recall and lift."""

    taken: int
    precision: Band
    recall: Band
    lift: Band


@dataclass(frozen=True)
class DecidedNodes:
    """The nodes that are decided positive: how many, and bands of precision, recall and F1."""

    taken: int
    precision: Band
    recall: Band
    f1: Band


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
        chance: how likely it is that hidden positives rank so high by chance, see :func:`chance`.
        signal: whether they can be told from other nodes. Without it, nothing is claimed: no number of positives, no
            bands but that of the AUC.
        caveat: why the known positives may not be typical of all, which all bands assume; ``None`` if nothing
            suggests it.
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
        """What is known, in words: where hidden positives rank, or that there is no signal."""
        if not self.signal:
            words = "No signal: the known positives, when hidden, rank no better than by chance"
            return f"{words} (p = {self.chance:.2g}).", REMEDY
        better = lift(self.ranks, TOP)
        return (
            f"Half of the {len(self.ranks):,} known positives, when hidden, rank in the top {self._median}.",
            f"Picking from the top {percent(TOP)} of the list finds {better.low:.2g} to {better.high:.2g} times as "
            "many positives as picking at random.",
        )

    def to_plain(self) -> dict[str, Any]:
        """All of it in plain values, for JSON."""
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


def bands_of(ranks: Values, unlabelled: int, prior: Prior) -> Callable[..., Band]:
    """A function from the name and the arguments of a measure of :class:`RankModel` to its band."""
    model = RankModel.of(ranks, unlabelled, bounds=prior.bounds)
    expected = RankModel.of(ranks, unlabelled, bounds=(prior.value, prior.value))

    def band(measure: str, *of: float) -> Band:
        """Its value is that of the expected prior, so that all values fit together."""
        found, value = (getattr(each, measure)(*of) for each in (model, expected))
        return Band(float(np.clip(value.value, found.low, found.high)), found.low, found.high)

    return band


def estimate(hidden: HiddenRanks, *, unlabelled: int, decided: int) -> Estimate | None:
    """Bands for a ranking; ``None`` if hidden positives say nothing: fewer than two, or all scores equal.

    Args:
        hidden: the prior, and the ranks of hidden positives.
        unlabelled: number of unlabelled nodes.
        decided: how many of them are decided positive.
    """
    require_type("hidden", hidden, HiddenRanks, "a pugnn.evidence.HiddenRanks")
    require_whole("unlabelled", unlabelled, 1)
    require_whole("decided", decided, 0, unlabelled)
    prior, ranks = hidden.prior, hidden.ranks
    if not are_informative(ranks):
        return None
    band = bands_of(ranks, unlabelled, prior)
    signal, share = not no_signal(hidden, unlabelled), decided / unlabelled
    return Estimate(
        prior=prior,
        unlabelled=unlabelled,
        ranks=ranks,
        decided=DecidedNodes(decided, *(band(measure, share) for measure in ("precision", "recall", "f1")))
        if decided and signal
        else None,
        first=tuple(
            TopK(taken, *(band(measure, taken / unlabelled) for measure in ("precision", "recall", "lift")))
            for taken in FIRST
            if taken <= unlabelled and signal
        ),
        auc=band("auc"),
        chance=chance(ranks, unlabelled),
        signal=signal,
    )
