"""The lowest bound on the prior that the ranks of hidden positives give."""

from __future__ import annotations

import numpy as np

from pugnn.evidence import RankedPositives
from pugnn.priors.base import PRIORS

#: Share of the hidden positives that a bound rests on, at least.
RECALL = 0.5


@PRIORS.register("lowest-bound")
def lowest_bound(hidden: RankedPositives) -> float:
    r"""The lowest bound that the ranks of half or more of the hidden positives set.

    It is the smallest :math:`h_{(k)} (n + 1) / k` over all k that are at least half of n, and at least two.

    If the share :math:`h_{(k)}` of the unlabelled nodes must be taken to reach k of n hidden positives, it holds the
    share :math:`k / (n + 1)` of all positives, so the prior is at most :math:`h_{(k)} (n + 1) / k`: equal to it if
    all of them are positive. Fewer hidden positives say too little.
    """
    n = len(hidden.ranks)
    bounds = np.sort(hidden.ranks) * (n + 1) / np.arange(1, n + 1)
    least = max(2, int(np.ceil(RECALL * n)))
    return float(min(bounds[least - 1 :].min(), 1.0))
