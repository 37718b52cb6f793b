"""The lowest bound on the prior that the ranks of hidden positives give."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pugnn.priors.base import PRIORS, Evidence

#: Share of the hidden positives that a bound rests on, at least.
RECALL = 0.5


@PRIORS.register("lowest-bound")
def lowest_bound(evidence: Evidence) -> float:
    """See :func:`bound_by_ranks`."""
    return bound_by_ranks(evidence.ranks)


def bound_by_ranks(ranks: NDArray[np.float64]) -> float:
    r"""The smallest :math:`h_{(k)} (n + 1) / k` over all k that are at least half of n, and at least two.

    If the share :math:`h_{(k)}` of the unlabelled nodes must be taken to reach k of n hidden positives, it holds the
    share :math:`k / (n + 1)` of all positives, so that the prior is at most :math:`h_{(k)} (n + 1) / k`: equal to it if
    all of them are positive. Fewer hidden positives say too little.

    Example:
        >>> round(bound_by_ranks(np.linspace(0.02, 0.18, 9)), 3)  # spread evenly over the first fifth
        0.2
    """
    n = len(ranks)
    bounds = np.sort(ranks) * (n + 1) / np.arange(1, n + 1)
    least = max(2, int(np.ceil(RECALL * n)))
    return float(min(bounds[least - 1 :].min(), 1.0))
