"""The ranking without a prior: a penalised logistic regression on the views of nodes, and closeness beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import expit
from torch.nn.functional import softplus

from pugnn.evidence.hidden_positives import FOLDS, FoldedTask, RankedPositives, advantage
from pugnn.graph import Graph
from pugnn.graph.derived import derived
from pugnn.priors import Prior, settle_prior
from pugnn.task import PUTask
from pugnn.training import TrainingSettings
from pugnn.training.progress import stage_progress
from pugnn.views import AnyViewMatrix, Attributes, ViewMatrix, closeness, views_of

#: C of the default method.
INVERSE_PENALTY = 1.0
#: Evidence that closeness needs to count half.
DOUBT = 1.0
#: Iterations at most, steps that are remembered, and the fall of the loss, as a share of it, that ends it.
MAX_ITERATIONS, REMEMBERED, TOLERANCE = 100, 10, 1e-6
#: Share of the expected fall that a step must reach, and how often it is halved at most.
ARMIJO, MAX_HALVINGS = 1e-4, 20
#: Changes of losses in single precision that mean nothing, as a share.
ROUNDING = 1e-7
#: Nodes that stand for all that are unlabelled, at most.
MAX_UNLABELLED = 2**17

Values = NDArray[np.float64]
#: From points, one column for each problem, to losses and gradients.
Losses = Callable[[Values], tuple[Values, Values]]


@dataclass(frozen=True, eq=False)
class Ranking:
    """Linear models as columns, 0 with all known positives and k + 1 without fold k; scores of standard deviation 1.

    Args:
        scores: shape ``(N, k)``.
        direction: in the views, shape ``(views, F, k)``.
        by_closeness: the weight of closeness, shape ``(k,)``.
        hidden: known positives that were hidden, by the fold's own column.
    """

    scores: NDArray[np.float32]
    direction: NDArray[np.float32]
    by_closeness: NDArray[np.float32]
    hidden: RankedPositives


def rank(views: AnyViewMatrix, known: FoldedTask) -> Ranking:
    r"""Rank by the regression, and by closeness to the known positives as far as hidden ones are found by it.

    Scores of the regression and closeness n (:mod:`pugnn.views.walks`), both of standard deviation 1, are
    added: :math:`g + \sigma(2 (z - 1))\, n`, with z the evidence that g + n ranks hidden positives higher than g does.
    """
    direction = logistic_regression(views, known, INVERSE_PENALTY)
    scores = views @ direction
    spreads = known.spreads(scores)
    scores, direction, by_closeness = scores / spreads, direction / spreads, np.zeros_like(spreads)
    hidden = known.rank_without_folds(scores)
    if known.turns:
        near = closeness(views.graph, known.seeds())
        near_spreads = known.spreads(near)
        near /= near_spreads
        both = known.rank_without_folds(scores + near)
        found = len(known.task.labelled) / len(known.task.unlabelled)
        share = float(expit(2 * (advantage(both.ranks, hidden.ranks, found) - DOUBT)))
        scores += np.float32(share) * near
        spreads = known.spreads(scores)
        scores, direction = scores / spreads, direction / spreads
        by_closeness = np.float32(share) / (near_spreads * spreads)
        hidden = known.rank_without_folds(scores)
    return Ranking(scores, direction, by_closeness, hidden)


def logistic_regression(views: AnyViewMatrix, known: FoldedTask, inverse_penalty: float) -> NDArray[np.float32]:
    r"""Directions w that minimise, with :math:`g = Z w + b`, and y = 1 for known positives and 0 for all others,

    .. math:: C \sum_i v_i \Big( \log\big(1 + e^{g_i}\big) - y_i g_i \Big) + \tfrac12 \lVert w \rVert^2

    of the whole and without each fold, side by side, shape ``(views, F, 1 + turns)``. Hidden nodes take no part:
    :math:`v_i = 0`. Known negatives count together as :attr:`FoldedTask.negative_share` says. For all others,
    :math:`v_i = 1`. Where rows are kept, and there are many, a sample stands for these.
    """
    special, y, v = known.targets()
    models, (nodes, *width) = y.shape[1], views.shape
    weight_of_others = 1.0
    others = np.delete(np.arange(nodes), special)
    if views.kept and len(others) > MAX_UNLABELLED:
        weight_of_others = len(others) / MAX_UNLABELLED
        sample = np.random.default_rng(0).permutation(others)[:MAX_UNLABELLED]
        views = views.subset(np.concatenate([special, sample]))
        special = np.arange(len(special))

    def losses(point: Values) -> tuple[Values, Values]:
        w = point[:-1].astype(np.float32).reshape(*width, models)
        g = torch.from_numpy(views @ w + point[-1].astype(np.float32))
        some = g[special].double().numpy()
        # All nodes count as unlabelled first; the terms put that right for the special ones.
        terms = v * (np.logaddexp(0, some) - y * some) - weight_of_others * np.logaddexp(0, some)
        value = weight_of_others * softplus(g).sum(dim=0, dtype=torch.float64).numpy() + terms.sum(axis=0)
        slope: NDArray[np.float32] = (weight_of_others * torch.sigmoid(g)).numpy()
        slope[special] = v * (expit(some) - y)
        by_direction = views.transposed(slope).reshape(-1, models)
        gradient = np.concatenate([by_direction, slope.sum(axis=0, dtype=np.float64, keepdims=True)])
        penalty = np.append(point[:-1], np.zeros((1, models)), axis=0)  # the constant is free
        return inverse_penalty * value + 0.5 * np.square(penalty).sum(axis=0), inverse_penalty * gradient + penalty

    start = np.zeros((int(np.prod(width)) + 1, models))
    labels = (v * y).sum(axis=0)
    start[-1] = np.log(labels / (nodes - labels))
    return minimise(losses, start)[:-1].astype(np.float32).reshape(*width, models)


def minimise(losses: Losses, point: Values) -> Values:
    """L-BFGS for several convex problems at once, one column each, as every evaluation serves all of them.

    (Importing scipy's takes longer than such a fit on a small graph.)
    """
    value, gradient = losses(point)
    ended = np.zeros(len(value), dtype=bool)  # problems whose loss falls no more than it is rounded
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
        trusted = curvature > ROUNDING * np.square(changed).sum(axis=0)  # else it is rounding
        steps = [*steps[1 - REMEMBERED :], (moved - point, changed, trusted / np.where(trusted, curvature, 1.0))]
        point, value, gradient = moved, new_value, new_gradient
        if (fall <= TOLERANCE * np.abs(value)).all():
            break
    return point


def _newton(gradient: Values, steps: list[tuple[Values, Values, Values]]) -> Values:
    """The gradient times an estimate of the inverse Hessian, by the two loops of L-BFGS.

    Steps are how the point and the gradient have changed, and 1 over the product of both; 0 for one to ignore.
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


def default_view_matrix(graph: Graph) -> ViewMatrix:
    """All views of a graph, with its attributes read as they suggest."""
    return views_of(graph, Attributes.of(graph))


def estimate_prior(wanted: float | str, task: PUTask, settings: TrainingSettings, *, progress: bool) -> Prior:
    """The prior for a method that has no ranking of hidden positives itself: that of the default method serves."""
    with stage_progress("estimating how many positives there are", show=progress):
        return settle_prior(wanted, rank_task(FoldedTask.of(task, settings.seed)).hidden)


def rank_task(known: FoldedTask) -> Ranking:
    """The ranking of a task, which no setting of a method changes; kept for a task and its folds."""
    graph, key = known.task.graph, (known.task.key, known.folds.tobytes())
    return derived(graph, "ranking", lambda: rank(default_view_matrix(graph), known), key, most=1 + FOLDS)
