"""Dist-PU (Zhao, Xu, Jiang, Wen & Huang, CVPR 2022): the mean score of the unlabelled nodes shall equal the prior."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Unpack

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from pugnn.errors import PugnnError
from pugnn.losses import DistPULoss, Sets, mean_entropy
from pugnn.methods.base import METHODS, FittedMethod, LossMethod, join_logs, of_logits
from pugnn.models import Backbone, Output, backbone_name
from pugnn.task import PUTask
from pugnn.training import (
    Batch,
    FullGraph,
    Loader,
    Plan,
    RunOptions,
    Seed,
    Trained,
    TrainingSettings,
    derive_seed,
    plan_training,
    train,
)
from pugnn.waiting import part

# The authors' weights, for the loss R_lab / 2π.
ENTROPY = 0.002  # stage one
ENTROPY_AT_END = 0.004  # stage two rises to this from 0
MIXED_ENTROPY = 0.04
MIXUP = 5.0
BETA = 6.0  # how far two nodes are mixed is drawn from Beta(6, 6)
LOGIT_LIMIT = 10.0
# Stage two against stage one, as the authors' 5e-5 to 5e-4 and 1e-3 to 5e-3; its rate falls to 0.7 of itself.
SLOWER, LESS_DECAY, FINAL_RATE = 0.1, 0.2, 0.7


@METHODS.register("dist-pu")
@dataclass(frozen=True)
class DistPU(LossMethod):
    r"""The mean score of the unlabelled nodes shall equal the prior (Zhao, Xu, Jiang, Wen & Huang, CVPR 2022).

    Minimises :math:`R_{lab}` of :mod:`pugnn.losses.dist_pu`. ``formula`` is :math:`R_{lab}` and nothing else: the
    baseline of the PU-GNN paper. ``full`` is the authors' method:

    1. ``epochs`` epochs of :math:`R_{lab} / 2\pi + \mu H(s_U)`, where the entropy :math:`H` favours confident scores;
    2. as many again, ten times slower, of :math:`R_{lab} / 2\pi + \mu_t H(s_U) + \nu H(s_{mix}) + \lambda
       \mathrm{BCE}_{mix}`, where pairs of nodes are mixed, with the mixture of their scores as target (1 for
       labelled nodes, 0 for known negatives).

    The authors mix inputs. A mixture of two nodes has no neighbours, so here embeddings are mixed, which needs a
    backbone with a node-wise last layer: ``gcn-linear`` (the default for ``full``), ``appnp`` or ``mlp``. Learning
    rates follow a cosine in both stages; the setting is that of stage one. In entropy and mixup, logits are clamped to
    ±10.

    Args:
        prior: positive share of the unlabelled nodes: a number, auto, a range like 0.02..0.1, or an estimator's name.
        variant: ``formula`` or ``full``.
    """

    prior: float | str = "auto"
    variant: Literal["formula", "full"] = "formula"

    @property
    def training(self) -> dict[str, Any]:
        """The full method needs a backbone with a layer after its embedding."""
        return {"backbone": "gcn-linear"} if self.variant == "full" else {}

    def loss(self) -> DistPULoss:
        """R_lab."""
        return DistPULoss(self.known_prior)

    def plan(self, task: PUTask, settings: TrainingSettings) -> Plan:
        """Whether the network will be trained on the whole graph or in batches."""
        mixes = "the full dist-pu mixes nodes of the whole graph; use variant='formula'"
        whole = mixes if self.variant == "full" else ""
        model = self.blueprint(task.graph.num_features, settings)
        return plan_training(task.graph, len(task.unlabelled), settings, model, only_whole=whole)

    def fit(self, task: PUTask, settings: TrainingSettings, **run: Unpack[RunOptions]) -> FittedMethod:
        """Train on a task."""
        if self.variant == "formula":
            return super().fit(task, settings, **run)
        self.plan(task, settings)  # rejects batches
        loader = FullGraph.of(task, settings.device)
        with part(0, 0.5):
            first = self._first_stage(loader, settings, run)
        with part(0.5, 1):
            second = self._second_stage(loader, settings, {**run, "start": None}, copy.deepcopy(first.model))
        return FittedMethod(second.model, join_logs([first.log, second.log]), self.known_prior)

    def _first_stage(self, loader: Loader, settings: TrainingSettings, run: RunOptions) -> Trained:
        def rate(epoch: int) -> float:
            return settings.learning_rate * _cosine(epoch / settings.epochs)

        objective = of_logits(partial(self._scaled, entropy=ENTROPY))
        return train(loader, objective, settings, build=self.build, rate=rate, part=0, **run)

    def _second_stage(self, loader: Loader, settings: TrainingSettings, run: RunOptions, model: Backbone) -> Trained:
        settings = replace(
            settings,
            learning_rate=SLOWER * settings.learning_rate,
            weight_decay=LESS_DECAY * settings.weight_decay,
            seed=derive_seed(settings.seed, 2),
        )

        def rate(epoch: int) -> float:
            return settings.learning_rate * (FINAL_RATE + (1 - FINAL_RATE) * _cosine(epoch / settings.epochs))

        def objective(output: Output, batch: Batch, seed: Seed) -> dict[str, Tensor]:
            entropy = ENTROPY_AT_END * (1 - math.cos(math.pi / 2 * (batch.epoch / settings.epochs)))
            mixed, target = _mixture(model, output, batch.sets, int(seed))
            return {
                **self._scaled(output.logit, batch.sets, entropy),
                "mixed_entropy": MIXED_ENTROPY * mean_entropy(mixed),
                "mixup": MIXUP * F.binary_cross_entropy_with_logits(mixed, target),
            }

        return train(loader, objective, settings, build=lambda *_: model, rate=rate, part=1, **run)

    def build(self, num_features: int, settings: TrainingSettings) -> Backbone:
        """The network that the method trains, with new weights."""
        model = super().build(num_features, settings)
        if self.variant == "full" and not model.nodewise_head:
            raise PugnnError(
                f"the full dist-pu mixes embeddings, but {backbone_name(settings.backbone)} needs the neighbours after "
                "them. Use gcn-linear, appnp or mlp, or variant='formula'."
            )
        return model

    def _scaled(self, logits: Tensor, sets: Sets, entropy: float) -> dict[str, Tensor]:
        r""":math:`R_{lab} / 2\pi` and the entropy of the unlabelled nodes."""
        terms = {name: term / (2 * self.known_prior) for name, term in self.loss()(logits, sets).items()}
        limited = logits[sets.unlabelled].clamp(-LOGIT_LIMIT, LOGIT_LIMIT)
        return {**terms, "entropy": entropy * mean_entropy(limited)}


def _mixture(model: Backbone, output: Output, sets: Sets, seed: int) -> tuple[Tensor, Tensor]:
    """Logits of pairwise mixed embeddings, and their target scores."""
    nodes = torch.cat([sets.labelled, sets.unlabelled, sets.negative])
    generator = np.random.default_rng(seed)
    partners = nodes[torch.from_numpy(generator.permutation(len(nodes))).to(nodes.device)]
    share = float(generator.beta(BETA, BETA))
    scores = torch.sigmoid(output.logit.detach())
    scores[sets.labelled], scores[sets.negative] = 1.0, 0.0
    mixed = model.logits(share * output.embedding[nodes] + (1 - share) * output.embedding[partners])
    return mixed.clamp(-LOGIT_LIMIT, LOGIT_LIMIT), share * scores[nodes] + (1 - share) * scores[partners]


def _cosine(done: float) -> float:
    """From 1 to 0 along a half wave."""
    return 0.5 * (1 + math.cos(math.pi * done))
