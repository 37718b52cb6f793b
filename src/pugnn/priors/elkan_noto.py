"""The estimator of Elkan & Noto (KDD 2008), on calibrated ranks."""

from __future__ import annotations

import numpy as np

from pugnn.evidence import RankedPositives
from pugnn.priors.base import PRIORS


@PRIORS.register("elkan-noto")
def elkan_noto(hidden: RankedPositives) -> float:
    r"""Follows from how likely a positive is labelled, which hidden positives tell (Elkan & Noto, KDD 2008).

    The label frequency :math:`c = P(\text{labelled} \mid \text{positive})` is the mean of
    :math:`g(h) = P(\text{labelled} \mid h)` over hidden positives; with n of them, the prior is :math:`n (1 - c) / (c\,
    n_U)`.

    Unlabelled nodes have all ranks alike, so g follows from the density f of the hidden positives' ranks, to which
    a beta distribution is fitted: :math:`g = n f / (n f + n_U)`. Where classes overlap, the estimate is too high.
    """
    from scipy.stats import FitError, beta

    n, unlabelled = len(hidden.ranks), hidden.unlabelled
    inside = np.clip(hidden.ranks, 0.5 / unlabelled, 1 - 0.5 / unlabelled)
    if np.ptp(inside) == 0:  # no distribution fits a single value
        return float(inside[0])
    try:
        low, high, _, _ = beta.fit(inside, floc=0, fscale=1)
    except FitError:  # nor a few that are nearly equal
        return float(inside.mean())
    labelled = n * beta.pdf(inside, low, high)
    frequency = float(np.mean(labelled / (labelled + unlabelled)))
    return float(np.clip(n * (1 - frequency) / (frequency * unlabelled), 0.0, 1.0))
