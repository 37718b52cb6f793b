"""Best-bin estimation, BBE (Garg, Wu, Smola, Balakrishnan & Lipton, NeurIPS 2021)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pugnn.evidence import RankedPositives
from pugnn.priors.base import PRIORS

#: δ and γ of the authors: the probability that the bound fails, and how much more than it is minimised.
DELTA, GAMMA = 0.1, 0.01


@PRIORS.register("best-bin")
def best_bin(hidden: RankedPositives) -> float:
    """The lowest bound that the top of the ranking sets, see :func:`best_bin_of_ranks`."""
    return best_bin_of_ranks(hidden.ranks, hidden.unlabelled)


def best_bin_of_ranks(ranks: NDArray[np.float64], unlabelled: int) -> float:
    r""":math:`q_U / q_P` in the top bin where its upper confidence bound is lowest.

    A top bin holds the share :math:`q_U` of the unlabelled nodes and :math:`q_P` of the n hidden positives. Chosen is
    the one that minimises

    .. math:: \frac{q_U}{q_P} + \frac{1 + \gamma}{q_P} \left( \sqrt{\frac{\log(4 / \delta)}{2 n_U}}
        + \sqrt{\frac{\log(4 / \delta)}{2 n}} \right)

    Example:
        >>> round(best_bin_of_ranks(np.linspace(0.002, 0.2, 100), 10_000), 2)  # spread evenly over the first fifth
        0.2
    """
    ordered, n = np.sort(ranks), len(ranks)
    found = np.arange(1, n + 1) / n
    slack = np.sqrt(np.log(4 / DELTA) / 2) * (1 / np.sqrt(unlabelled) + 1 / np.sqrt(n))
    best = int(np.argmin((ordered + (1 + GAMMA) * slack) / found))
    return float(min(ordered[best] / found[best], 1.0))
