r"""A test over time: those that became known later, ranked with what was known before.

Of N nodes that were unlabelled at a moment, K became known by a later one, k of them among the first n. Precision
:math:`k / n` and recall :math:`k / K` have the exact intervals of Clopper and Pearson; lift is precision over
:math:`K / N`. In a random order k has the hypergeometric distribution, which gives the chance of as many or more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

from pugnn.errors import Displayed, PugnnError, counted
from pugnn.evidence.rank_model import Band
from pugnn.evidence.signal import exact_share

#: Lengths of the beginning of a ranking that are looked at, as far as there are so many nodes.
FIRST = (10, 30, 100, 300, 1_000, 3_000, 10_000)


@dataclass(frozen=True)
class Beginning:
    """The beginning of a ranking: how many of its nodes became known, and what that says, with 90 % intervals."""

    nodes: int
    found: int
    precision: Band
    recall: Band
    lift: Band
    chance: float  # of as many or more in a random order


@dataclass(frozen=True, repr=False)
class OverTime(Displayed):
    """What a ranking of one moment says of those that became known by a later one.

    Args:
        as_of: the moment of the ranking.
        then: the later one.
        known: number of positives known at the first.
        unlabelled: number of nodes that were ranked.
        became_known: number of those that became known until the second; others are not known by then, which is not the
            same as negative.
        absent: number of further ones that became known, but did not exist at the first moment.
        beginnings: of the ranking.
        mean_rank: of those that became known; 1 is the best.
        median_rank: likewise.
        random_rank: what both are on average in a random order.
    """

    as_of: str
    then: str
    known: int
    unlabelled: int
    became_known: int
    absent: int
    beginnings: tuple[Beginning, ...]
    mean_rank: float
    median_rank: float
    random_rank: float

    def to_plain(self) -> dict[str, Any]:
        """In a form fit for JSON."""
        return asdict(self)

    @property
    def sentences(self) -> list[str]:
        """What was ranked, and who became known."""
        found = (
            f"As of {self.as_of}, with {counted(self.known, 'known positive')}, {counted(self.unlabelled, 'node')} "
            f"were ranked; {self.became_known:,} of them became known by {self.then}."
        )
        rank = (
            f"Their average rank is {self.mean_rank:,.0f}, the median {self.median_rank:,.0f}; in a random order it "
            f"would be {self.random_rank:,.0f}."
        )
        rest = (
            f"All others are not known by {self.then}, which is not the same as negative: precision is at least this."
        )
        gone = f"{self.absent:,} more became known, but did not exist as of {self.as_of}; no ranking could find them."
        return [found, rank, rest, *([gone] if self.absent else [])]

    def _facts(self) -> list[str]:
        return [f"as of {self.as_of}, then {self.then}", f"{self.became_known:,} of {self.unlabelled:,} became known"]


def over_time(
    log_odds: NDArray[np.floating[Any]],
    known: NDArray[np.int64],
    unlabelled: NDArray[np.int64],
    later: NDArray[np.int64],
    *,
    as_of: str,
    then: str,
    absent: int = 0,
    seed: int = 0,
) -> OverTime:
    """Look for nodes that became known later in a ranking of those that were unlabelled.

    Args:
        log_odds: of all nodes, shape ``(N,)``.
        known: positions of the known positives.
        unlabelled: positions of the nodes that are ranked.
        later: positions of those that became known later; those that are not ranked do not count.
        as_of: the moment of the ranking.
        then: the later one.
        absent: number of those that became known without having existed before.
        seed: for the order of nodes with equal scores.
    """
    shuffled = np.random.default_rng(seed).permutation(unlabelled)
    ordered = shuffled[np.argsort(-log_odds[shuffled], kind="stable")]
    ranks = 1 + np.flatnonzero(np.isin(ordered, later))
    if not len(ranks):
        gone = f", besides {counted(absent, 'node')} that did not exist before" if absent else ""
        raise PugnnError(
            f"no positive became known between {as_of} and {then}{gone}, so there is nothing to find. Choose an "
            "earlier --as-of or a later --then."
        )
    nodes = len(ordered)
    return OverTime(
        as_of,
        then,
        len(known),
        nodes,
        len(ranks),
        absent,
        tuple(_beginnings(ranks, nodes)),
        float(ranks.mean()),
        float(np.median(ranks)),
        (nodes + 1) / 2,
    )


def _beginnings(ranks: NDArray[np.int64], nodes: int) -> Iterator[Beginning]:
    became = len(ranks)
    for first in (first for first in FIRST if first < nodes):
        hits, base = int((ranks <= first).sum()), became / nodes
        precision = exact_share(hits, first)
        lift = Band(precision.value / base, precision.low / base, precision.high / base)
        chance = float(hypergeom.sf(hits - 1, nodes, became, first))
        yield Beginning(first, hits, precision, exact_share(hits, became), lift, chance)
