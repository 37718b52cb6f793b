"""A mixture of ridge regressions on smoothed and sharpened attributes, after GraphAny (Zhao et al., ICLR 2025)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Unpack

import numpy as np
import torch
from torch import Tensor, nn

from pugnn.errors import PugnnError
from pugnn.methods.base import METHODS, FittedMethod, Method
from pugnn.models import Backbone, GraphInputs, Output, inputs_on
from pugnn.task import PUTask
from pugnn.training import RunOptions, TrainingSettings, resolve_device
from pugnn.views import ROUNDING_SPREAD, count_above

#: The channels as polynomials in Â, which averages over the neighbours: coefficients of 1, Â and Â².
CHANNELS = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, -1, 0), (1, -2, 1))
#: λ: less of it learns the few known positives by heart.
PENALTY = 10.0
#: Conjugate gradients end when every residual is this small a part of its right side: rounding then moves scores more.
TOLERANCE, MAX_STEPS = 1e-6, 200
#: Shorter rows count as zero.
MIN_LENGTH = 1e-12


@METHODS.register("graphany")
@dataclass(frozen=True)
class GraphAny(Method):
    r"""Ridge regressions on five channels of the attributes, mixed equally, after GraphAny (Zhao et al., ICLR 2025).

    With :math:`\bar X` the attributes, each row at length 1, and :math:`\hat A = D^{-1} A`, the channels are

    .. math:: \bar X, \quad \hat A \bar X, \quad \hat A^2 \bar X, \quad (I - \hat A) \bar X, \quad (I - \hat A)^2 \bar X

    The last two show how a node differs from its neighbours, which smoothing removes. On each channel Z, a ridge
    regression in closed form predicts known positives (1) against all other nodes (0). Predictions are standardised
    over the unlabelled nodes and averaged; GraphAny itself weighs them by a network that was trained on other graphs.
    The share ``prior`` of the unlabelled nodes that scores highest is decided positive.

    Args:
        prior: positive share of the unlabelled nodes: a number, auto, a range like 0.02..0.1, or an estimator's name.
    """

    trains: ClassVar[bool] = False

    prior: float | str = "auto"

    def build(self, num_features: int, settings: TrainingSettings) -> Backbone:  # noqa: ARG002
        """A model whose weights are zero."""
        if not num_features:
            raise PugnnError("graphany reads attributes, and the graph has none; give some, or use label-propagation")
        return Mixture(num_features)

    def fit(self, task: PUTask, settings: TrainingSettings, **run: Unpack[RunOptions]) -> FittedMethod:  # noqa: ARG002
        """Solve the regressions, and find where to cut."""
        device = resolve_device(settings.device)
        model = self.build(task.graph.num_features, settings).to(device)
        assert isinstance(model, Mixture)
        is_label = torch.from_numpy((task.known == 1).astype(np.float32)).to(device)
        unlabelled = torch.from_numpy(np.array(task.unlabelled)).to(device)
        model.learn(inputs_on(task.graph, device), is_label, unlabelled, self.known_prior)
        return FittedMethod(model.eval(), [], self.known_prior)


class Mixture(Backbone):
    r"""The logit :math:`4 \big(\frac15 \sum_c (Z_c w_c - m_c) / s_c - t\big)` of every node.

    :math:`m_c` and :math:`s_c` are mean and standard deviation of the predictions over the unlabelled nodes of the
    training, and :math:`t` is where decisions change.
    """

    first_layer: nn.Linear
    means: Tensor
    spreads: Tensor
    cut: Tensor

    def __init__(self, num_features: int) -> None:
        super().__init__()
        self.first_layer = nn.Linear(num_features, len(CHANNELS), bias=False)
        nn.init.zeros_(self.first_layer.weight)
        self.register_buffer("means", torch.zeros(len(CHANNELS), dtype=torch.float64))
        self.register_buffer("spreads", torch.ones(len(CHANNELS), dtype=torch.float64))
        self.register_buffer("cut", torch.zeros((), dtype=torch.float64))

    @property
    def weights(self) -> Tensor:
        """Those of each channel as a column, shape ``(F, 5)``."""
        return self.first_layer.weight.t()

    @torch.no_grad()
    def learn(self, inputs: GraphInputs, target: Tensor, unlabelled: Tensor, prior: float) -> None:
        """Fit all regressions to a target, and cut off the share ``prior`` of the unlabelled nodes."""
        product = channels(inputs)
        self.weights.copy_(ridge(product, target, self.weights.shape))
        free = product(self.weights)[unlabelled].double()
        spreads = free.std(dim=0, correction=0)
        equal = spreads <= ROUNDING_SPREAD * free.abs().amax(dim=0)  # rounding must not become a ranking
        self.means.copy_(free.mean(dim=0))
        self.spreads.copy_(spreads.masked_fill(equal, 1.0))
        best = self.mixed(free).sort(descending=True).values
        last = count_above(prior, len(best))
        self.cut.copy_(best[last - 1 : last + 1].mean())

    def mixed(self, predictions: Tensor) -> Tensor:
        """The mean of the standardised predictions, shape ``(N,)``."""
        return ((predictions - self.means) / self.spreads).mean(dim=1)

    def forward(self, inputs: GraphInputs) -> Output:
        """Score every node of a graph."""
        predictions = channels(inputs)(self.weights).double()
        return Output(predictions, 4.0 * (self.mixed(predictions) - self.cut))


def channels(inputs: GraphInputs) -> Callable[[Tensor], Tensor]:
    """The products of all channels with their weights, ``(F, 5)`` to ``(N, 5)``; no channel is ever formed."""
    x = inputs.graph.features
    lengths = np.maximum(np.sqrt((x * x).sum(axis=1)), MIN_LENGTH)
    scale = torch.from_numpy((1 / lengths).astype(np.float32)).to(inputs.device)[:, None]
    of_own, of_near, of_far = torch.tensor(CHANNELS, dtype=torch.float32, device=inputs.device).unbind(dim=1)

    def product(weights: Tensor) -> Tensor:
        own = scale * (inputs.features @ weights)
        near = inputs.mean_adjacency @ own
        return of_own * own + of_near * near + of_far * (inputs.mean_adjacency @ near)

    return product


def ridge(product: Callable[[Tensor], Tensor], target: Tensor, shape: torch.Size) -> Tensor:
    r"""The weights :math:`(Z^\top C Z + \lambda I)^{-1} Z^\top C y` of every channel, by conjugate gradients.

    :math:`C = I - \frac1N 1 1^\top` takes off the mean, as an intercept does; the intercept itself moves no ranking.
    Products with :math:`Z^\top` are gradients of those with Z.

    Args:
        product: from weights, one column for each channel, to predictions.
        target: y, shape ``(N,)``.
        shape: of the weights.
    """

    @torch.enable_grad()
    def transposed(weights: Tensor, values: Tensor | None = None) -> Tensor:
        """The product of Zᵀ C with some values, by default with the predictions of the weights."""
        weights = weights.float().requires_grad_()
        z = product(weights)
        values = z.detach() if values is None else values[:, None].expand_as(z)
        return torch.autograd.grad(z, weights, values - values.mean(dim=0))[0].double()

    least = torch.finfo(torch.float64).tiny  # a channel may be zero, as without any edges
    found = torch.zeros(shape, dtype=torch.float64, device=target.device)
    residual = direction = transposed(found, target)
    size = residual.square().sum(dim=0)
    enough = TOLERANCE**2 * size
    for _ in range(MAX_STEPS):
        if (size <= enough).all():
            break
        curved = transposed(direction) + PENALTY * direction
        step = size / (direction * curved).sum(dim=0).clamp(min=least)
        found, residual, before = found + step * direction, residual - step * curved, size
        size = residual.square().sum(dim=0)
        direction = residual + size / before.clamp(min=least) * direction
    return found
