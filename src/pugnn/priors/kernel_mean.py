"""Kernel mean embedding, after KM2 (Ramaswamy, Scott & Tewari, ICML 2016)."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from pugnn.evidence import RankedPositives
from pugnn.priors.base import PRIORS

#: Bins of the ranks, and width of the Gaussian kernel.
BINS, WIDTH = 40, 0.1
#: The slope of the distance at which the mixture is exhausted is this over the root of the number of hidden positives.
SLOPE = 0.3
#: Largest λ, that is a prior of 0.9, and steps of the bisection.
MAX_WEIGHT, STEPS = 10.0, 14


@PRIORS.register("kernel-mean")
def kernel_mean(hidden: RankedPositives) -> float:
    r"""How much of the positives' distribution can be taken out of the unlabelled nodes' before something is negative.

    With :math:`\phi_U`, :math:`\phi_P` the kernel means of the ranks of unlabelled nodes and hidden positives, the
    negatives' is :math:`\lambda \phi_U + (1 - \lambda) \phi_P` for :math:`\lambda = 1 / (1 - \pi)`. The distance of
    that point to the kernel means of all distributions is zero up to the true λ and then rises; λ is where its slope
    passes :math:`0.3 / \sqrt n`.
    """
    n = len(hidden.ranks)
    places = (np.arange(BINS) + 0.5) / BINS
    kernel = np.exp(-0.5 * ((places[:, None] - places) / WIDTH) ** 2)
    root = np.linalg.cholesky(kernel + 1e-6 * np.eye(BINS)).T  # distances of kernel means are those of root @ shares
    positives = np.histogram(hidden.ranks, BINS, (0.0, 1.0))[0] / n
    heavy = 100.0  # makes the shares add up to 1
    system = np.vstack([root, np.full(BINS, heavy)])

    def distance(mixing: float) -> float:
        target = root @ (mixing / BINS + (1 - mixing) * positives)
        shares, _ = nnls(system, np.append(target, heavy))
        return float(np.linalg.norm(root @ shares - target))

    low, high = 1.0, MAX_WEIGHT
    for _ in range(STEPS):
        middle = (low + high) / 2
        slope = (distance(1.01 * middle) - distance(middle)) / (0.01 * middle)
        low, high = (low, middle) if slope > SLOPE / np.sqrt(n) else (middle, high)
    return 1 - 1 / low
