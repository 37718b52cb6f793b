"""GRAB (Yoo et al., ICDM 2021): belief propagation and training take turns, and no prior is needed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
import torch
from numpy.typing import NDArray

from pugnn.errors import require_share, require_whole
from pugnn.graph import propagate_beliefs
from pugnn.losses import SoftLabelLoss
from pugnn.methods.base import METHODS, FittedMethod, Method, join_logs, of_logits
from pugnn.task import PUTask
from pugnn.training import FullGraph, Plan, RunOptions, TrainingSettings, derive_seed, plan_training, score, train
from pugnn.waiting import part

#: Epochs without a lower loss after which a round ends, as in the authors' code.
PATIENCE = 5


@METHODS.register("grab")
@dataclass(frozen=True)
class GRAB(Method):
    r"""Belief propagation and training take turns; no prior is needed (Yoo et al., ICDM 2021).

    The first round takes every unlabelled node as negative. Each further round

    1. decides every unlabelled node at one half and takes the share of positives as the prior :math:`\pi`;
    2. lets loopy belief propagation (:mod:`pugnn.graph.belief_propagation`) spread what is known along the edges:
       labelled nodes are surely positive, known negatives surely not, and to begin with, the others are positive with
       probability :math:`1 - \pi` if they were decided positive and :math:`\pi` if not, as in the authors' code;
    3. trains a *new* network with the beliefs as soft labels (:mod:`pugnn.losses.soft_labels`), until the loss has not
       fallen for five epochs.

    It ends when the lowest loss of a round is above that of the round before, whose network is then the result.

    Training settings are the authors': two convolutions and a linear layer, no dropout, no weight decay, Adam at 0.001,
    at most 1,000 epochs per round.

    Args:
        rounds: maximum number of rounds after the first.
        homophily: ε, weight of two neighbours having the same class.
    """

    rounds: int = 10
    homophily: float = 0.9

    @property
    def training(self) -> dict[str, Any]:
        """The authors' settings."""
        optimiser = {"epochs": 1000, "learning_rate": 0.001, "weight_decay": 0.0}
        return {"backbone": "gcn-linear", "dropout": 0.0, **optimiser}

    def plan(self, task: PUTask, settings: TrainingSettings) -> Plan:
        """On the whole graph, or an error."""
        whole = "grab spreads beliefs over the whole graph; use nnpu or dist-pu"
        model = self.blueprint(task.graph.num_features, settings)
        return plan_training(task.graph, len(task.unlabelled), settings, model, only_whole=whole)

    def check(self) -> None:
        """Raise an error if a setting is out of bounds."""
        require_whole("rounds", self.rounds, 0)
        require_share("homophily", self.homophily)

    def fit(self, task: PUTask, settings: TrainingSettings, **run: Unpack[RunOptions]) -> FittedMethod:
        """Train on a task."""
        self.check()
        self.plan(task, settings)  # rejects batches
        loader = FullGraph.of(task, settings.device)
        rounds, logs, lowest = self.rounds + 1, [], math.inf
        beliefs = potentials = np.zeros(task.graph.num_nodes)
        seeded = settings
        for number in range(rounds):
            if number:  # each round trains a new network
                beliefs = propagate_beliefs(task.graph, potentials, homophily=self.homophily)
                seeded, run["start"] = replace(settings, seed=derive_seed(settings.seed, number)), None
            objective = of_logits(SoftLabelLoss(torch.from_numpy(beliefs.astype(np.float32)).to(loader.device)))
            with part(number / rounds, (number + 1) / rounds):
                trained = train(loader, objective, seeded, build=self.build, patience=PATIENCE, part=number, **run)
            logs.append(trained.log)
            reached = min(record["total"] for record in trained.log)
            if reached > lowest:
                break
            model, lowest = trained.model, reached
            prior, potentials = self.expect(task, score(model, task.graph).numpy())
        return FittedMethod(model, join_logs(logs), prior)

    def expect(self, task: PUTask, scores: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The share of unlabelled nodes that the scores, shape ``(N,)``, decide positive, and the node potentials."""
        decided = scores >= 0.5
        prior = float(decided[task.unlabelled].mean())
        potentials = self.node_potentials(decided, prior)
        potentials[task.labelled], potentials[task.negative] = 1.0, 0.0
        return prior, potentials

    def node_potentials(self, decided: NDArray[np.bool_], prior: float) -> NDArray[np.float64]:
        """The initial probability of being positive of every node that is not known."""
        return np.where(decided, 1 - prior, prior)
