"""L-BFGS for several convex problems at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

#: Largest number of iterations, and of earlier steps that are remembered.
MAX_ITERATIONS, MAX_STEPS = 100, 10
#: A problem has converged when an iteration lowers its loss by no more than this share.
TOLERANCE = 1e-6
#: Share of the expected fall of the loss that a step must reach, and how often it is halved at most.
ARMIJO, MAX_HALVINGS = 1e-4, 20
#: Changes of losses in single precision that mean nothing, as a share.
ROUNDING = 1e-7

Values = NDArray[np.float64]
#: From points, one column for each problem, to losses and gradients.
Losses = Callable[[Values], tuple[Values, Values]]


def minimise(losses: Losses, point: Values) -> Values:
    """Minimise convex problems, one column each; every evaluation serves all of them.

    (Importing scipy's optimisers takes longer than such a fit on a small graph.)
    """
    value, gradient = losses(point)
    ended = np.zeros(len(value), dtype=bool)  # problems whose loss falls by rounding alone
    steps: list[tuple[Values, Values, Values]] = []
    for _ in range(MAX_ITERATIONS):
        direction = -_newton(gradient, steps)
        slope = (direction * gradient).sum(axis=0)
        size = np.ones_like(value) if steps else 1 / np.maximum(np.linalg.norm(gradient, axis=0), 1.0)
        size[ended] = 0.0
        for _ in range(MAX_HALVINGS):
            moved = point + size * direction
            new_value, new_gradient = losses(moved)
            short = ~ended & (new_value > value + ARMIJO * size * slope + ROUNDING * np.abs(value))
            if not short.any():
                break
            size = np.where(short, size / 2, size)
        else:
            ended |= short
            moved, new_gradient = np.where(short, point, moved), np.where(short, gradient, new_gradient)
            new_value = np.where(short, value, new_value)
        fall, changed = value - new_value, new_gradient - gradient
        curvature = ((moved - point) * changed).sum(axis=0)
        trusted = curvature > ROUNDING * np.square(changed).sum(axis=0)  # otherwise it is rounding
        steps = [*steps[1 - MAX_STEPS :], (moved - point, changed, trusted / np.where(trusted, curvature, 1.0))]
        point, value, gradient = moved, new_value, new_gradient
        if (fall <= TOLERANCE * np.abs(value)).all():
            break
    return point


def _newton(gradient: Values, steps: list[tuple[Values, Values, Values]]) -> Values:
    """The gradient times an estimate of the inverse Hessian, by the two loops of L-BFGS.

    Each step has the changes of the point and of the gradient, and 1 over their product, or 0 to be ignored.
    """
    q, shares = gradient.copy(), []
    for moved, changed, inverse in reversed(steps):
        share = inverse * (moved * q).sum(axis=0)
        q -= share * changed
        shares.append(share)
    for _, changed, inverse in steps[-1:]:
        q /= np.where(inverse > 0, inverse * np.square(changed).sum(axis=0), 1.0)
    for (moved, changed, inverse), share in zip(steps, reversed(shares), strict=True):
        q += (share - inverse * (changed * q).sum(axis=0)) * moved
    return q
