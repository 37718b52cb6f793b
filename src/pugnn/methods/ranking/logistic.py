"""Penalised logistic regression on views: known positives against all other nodes."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import expit
from torch.nn.functional import softplus

from pugnn.evidence.hidden_positives import FoldedTask
from pugnn.methods.ranking.lbfgs import Values, minimise
from pugnn.views import AnyViewMatrix

#: Largest number of unlabelled nodes in a sample that stands for all of them.
MAX_UNLABELLED = 2**17


def logistic_regression(views: AnyViewMatrix, folded: FoldedTask, inverse_penalty: float) -> NDArray[np.float32]:
    r"""Directions w that minimise, with :math:`g = Z w + b`, and y = 1 for known positives and 0 for all others,

    .. math:: C \sum_i v_i \Big( \log\big(1 + e^{g_i}\big) - y_i g_i \Big) + \tfrac12 \lVert w \rVert^2

    for all models of a folded task side by side, shape ``(views, F, 1 + turns)``. Hidden nodes take no part:
    :math:`v_i = 0`. Known negatives count together as :attr:`FoldedTask.negative_share` says. For all other nodes,
    :math:`v_i = 1`. Where rows are kept, and there are many, a sample stands for these.
    """
    special, y, v = folded.targets()
    models = y.shape[1]
    nodes, *width = views.shape
    others = np.delete(np.arange(nodes), special)
    weight_of_others = 1.0
    if views.kept and len(others) > MAX_UNLABELLED:
        weight_of_others = len(others) / MAX_UNLABELLED
        sample = np.random.default_rng(0).permutation(others)[:MAX_UNLABELLED]
        views = views.subset(np.concatenate([special, sample]))
        special = np.arange(len(special))

    def losses(point: Values) -> tuple[Values, Values]:
        w = point[:-1].astype(np.float32).reshape(*width, models)
        g = torch.from_numpy(views @ w + point[-1].astype(np.float32))
        g_special = g[special].double().numpy()
        # All nodes count as unlabelled first; the corrections put that right for the special ones.
        corrections = v * (np.logaddexp(0, g_special) - y * g_special) - weight_of_others * np.logaddexp(0, g_special)
        value = weight_of_others * softplus(g).sum(dim=0, dtype=torch.float64).numpy() + corrections.sum(axis=0)
        slope: NDArray[np.float32] = (weight_of_others * torch.sigmoid(g)).numpy()
        slope[special] = v * (expit(g_special) - y)
        by_direction = views.transposed(slope).reshape(-1, models)
        gradient = np.concatenate([by_direction, slope.sum(axis=0, dtype=np.float64, keepdims=True)])
        penalised = np.append(point[:-1], np.zeros((1, models)), axis=0)  # the constant is free
        return inverse_penalty * value + 0.5 * np.square(penalised).sum(axis=0), inverse_penalty * gradient + penalised

    start = np.zeros((int(np.prod(width)) + 1, models))
    labels = (v * y).sum(axis=0)
    start[-1] = np.log(labels / (nodes - labels))
    return minimise(losses, start)[:-1].astype(np.float32).reshape(*width, models)
