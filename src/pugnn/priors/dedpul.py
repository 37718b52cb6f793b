"""DEDPUL (Ivanov, ICMLA 2020): the ratio of densities, and EM for the prior."""

from __future__ import annotations

import numpy as np

from pugnn.evidence import RankedPositives
from pugnn.priors.base import PRIORS

#: Points at which the densities are compared.
POINTS = 400
#: EM ends when the prior changes by less than this share of itself.
TOLERANCE, ROUNDS = 1e-3, 1000


@PRIORS.register("dedpul")
def dedpul(hidden: RankedPositives) -> float:
    r"""The largest prior :math:`\pi` whose posteriors :math:`\min(\pi f_P / f_U, 1)` have the mean :math:`\pi`.

    Unlabelled nodes have all ranks alike, :math:`f_U = 1`. :math:`f_P` is estimated with a Gaussian kernel, reflected
    at both ends (Silverman's width), and made to fall with the rank. EM starts at one and stops when the mean posterior
    stays.
    """
    from sklearn.isotonic import IsotonicRegression

    ranks = hidden.ranks
    width = max(0.9 * min(ranks.std(), np.subtract(*np.quantile(ranks, [0.75, 0.25])) / 1.34), 1e-3)
    width *= len(ranks) ** -0.2
    points = (np.arange(POINTS) + 0.5) / POINTS
    mirrored = np.concatenate([ranks, -ranks, 2 - ranks])
    density = np.exp(-0.5 * ((points[:, None] - mirrored) / width) ** 2).sum(axis=1)
    density = IsotonicRegression(increasing=False).fit_transform(points, density / density.mean())
    prior = 1.0
    for _ in range(ROUNDS):
        before, prior = prior, float(np.minimum(prior * density, 1.0).mean())
        if before - prior < TOLERANCE * before:
            break
    return prior
