"""The estimator of Elkan & Noto (KDD 2008), on calibrated ranks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pugnn.priors.base import PRIORS, Evidence


@PRIORS.register("elkan-noto")
def elkan_noto(evidence: Evidence) -> float:
    """See :func:`elkan_noto_of_ranks`."""
    return elkan_noto_of_ranks(evidence.ranks, len(evidence.task.unlabelled))


def elkan_noto_of_ranks(ranks: NDArray[np.float64], unlabelled: int) -> float:
    r"""The label frequency :math:`c = P(\text{labelled} \mid \text{positive})` is the mean of
    :math:`g(h) = P(\text{labelled} \mid h)` over hidden positives; with n of them, the prior is :math:`n (1 - c) / (c\,
    n_U)`.

    Unlabelled nodes have all ranks alike, so that g follows from the density f of the hidden positives' ranks, to which
    a beta distribution is fitted: :math:`g = n f / (n f + n_U)`. Where classes overlap, the estimate is too high.

    Example:
        >>> round(elkan_noto_of_ranks(np.linspace(0.0, 1.0, 101), 10_000), 1)  # as positive as any other node
        1.0
    """
    from scipy.stats import FitError, beta

    n = len(ranks)
    inside = np.clip(ranks, 0.5 / unlabelled, 1 - 0.5 / unlabelled)
    if np.ptp(inside) == 0:  # no distribution fits a single value
        return float(inside[0])
    try:
        low, high, _, _ = beta.fit(inside, floc=0, fscale=1)
    except FitError:  # nor a few that are nearly equal
        return float(inside.mean())
    labelled = n * beta.pdf(inside, low, high)
    frequency = float(np.mean(labelled / (labelled + unlabelled)))
    return float(np.clip(n * (1 - frequency) / (frequency * unlabelled), 0.0, 1.0))
