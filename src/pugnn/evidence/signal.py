"""Whether hidden positives rank better than by chance: without such a signal, nothing is claimed or decided."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, gammaincc, ndtr

from pugnn.errors import require_type
from pugnn.evidence.prior import Prior
from pugnn.evidence.rank_model import TAIL, Band, Values, as_ranks

#: There is no signal if chance would rank hidden positives as well more often than this.
LEVEL = 0.05
#: Fewer hidden positives cannot rule a signal out, so one is assumed.
MIN_HIDDEN_POSITIVES = 10
#: Ways to find a signal by chance: two tests of two rankings.
WAYS = 4
#: Number of hidden positives at which their dependence on one another makes p-values half as large as they should be.
DEPENDENT = 10


@dataclass(frozen=True, eq=False, repr=False)
class HiddenRanks:
    """What a method learnt from known positives that it hid in turn.

    Args:
        prior: the settled prior.
        ranks: share of the unlabelled nodes above each hidden positive.
    """

    prior: Prior
    ranks: Values

    def __post_init__(self) -> None:
        require_type("prior", self.prior, Prior, "a pugnn.evidence.Prior")
        object.__setattr__(self, "ranks", as_ranks(self.ranks))


def are_informative(ranks: Values) -> bool:
    """Whether ranks say anything: there are at least two, and not all nodes have the same score."""
    return len(ranks) >= 2 and not (ranks == 0.5).all()


def has_signal(hidden: HiddenRanks, unlabelled: int) -> bool:
    """Whether hidden positives rank better than by chance, or are too few to tell."""
    ranks = hidden.ranks
    few = len(ranks) < MIN_HIDDEN_POSITIVES or not are_informative(ranks)
    return few or chance(ranks, unlabelled) <= LEVEL


def chance(ranks: Values, unlabelled: int) -> float:
    r"""The p-value of hidden positives that rank so high by chance.

    By chance, all ranks are equally likely. There are two tests of that: a small mean rank (by a normal approximation),
    and a small product of the ranks, which notices a few at the very top (Fisher's method):

    .. math:: p_1 = \Phi\Bigl(\sqrt{12 n}\,\bigl(\bar h - \tfrac12\bigr)\Bigr), \qquad
        p_2 = P\bigl(\chi^2_{2n} \ge -2 \textstyle\sum_i \log h_i\bigr), \qquad
        p = 4 \Bigl(1 + \frac{n}{10}\Bigr) \min(p_1, p_2)

    The factor 4 stands for two tests of the better of two rankings, with and without closeness. The factor that grows
    with n is for dependence: each hidden positive is ranked with the help of the others, so if by chance they lie to
    one side, they find each other. With known positives drawn at random from all nodes, p is then below 0.05 in about 5
    of 100 cases.

    Args:
        ranks: share of the unlabelled nodes above each of n hidden positives; at least half a node.
        unlabelled: number of unlabelled nodes.

    Example:
        >>> round(chance(np.array([0.1, 0.2, 0.1]), 1000), 3), chance(np.array([0.4, 0.6]), 1000)
        (0.072, 1.0)
    """
    inside = np.clip(ranks, 0.5 / unlabelled, 1.0)
    by_mean = ndtr(np.sqrt(12 * len(inside)) * (inside.mean() - 0.5))
    by_top = gammaincc(len(inside), -np.log(inside).sum())
    return float(min(1.0, WAYS * (1 + len(inside) / DEPENDENT) * min(by_mean, by_top)))


def lift(ranks: Values, share: float) -> Band:
    """How many times as many positives the first share of a ranking holds as a random choice, by hidden positives.

    The interval is exact: Clopper and Pearson's for the share of hidden positives found there.

    Args:
        ranks: share of the unlabelled nodes above each hidden positive.
        share: of the ranking, from the top.

    Example:
        >>> better = lift(np.array([0.01, 0.02, 0.04, 0.3]), 0.1)
        >>> better.value, round(better.low, 2), round(better.high, 2)
        (7.5, 2.49, 9.87)
    """
    recall = exact_share(int((ranks < share).sum()), len(ranks))
    return Band(recall.value / share, recall.low / share, recall.high / share)


def exact_share(count: int, n: int) -> Band:
    """The share ``count / n`` with the exact interval of Clopper and Pearson."""
    low = float(betaincinv(count, n - count + 1, TAIL)) if count else 0.0
    high = float(betaincinv(count + 1, n - count, 1 - TAIL)) if count < n else 1.0
    return Band(count / n, low, high)
