"""GRAB (Yoo et al., ICDM 2021): belief propagation and training take turns, and no prior is needed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pugnn.errors import require_whole
from pugnn.graph import propagate_beliefs
from pugnn.graph.belief_propagation import require_homophily
from pugnn.losses import SoftLabelLoss
from pugnn.methods.base import METHODS, FittedMethod, Method, join_logs
from pugnn.models import Output
from pugnn.task import PUTask
from pugnn.training import Batch, Checkpoint, FullGraph, Seed, Trained, TrainingSettings, derive_seed, score, train

#: Epochs without a lower loss after which a round ends, as in the authors' code.
EPOCHS_WITHOUT_PROGRESS = 5


@METHODS.register("grab")
@dataclass(frozen=True)
class GRAB(Method):
    r"""Belief propagation and training take turns; no prior is needed (Yoo et al., ICDM 2021).

    The first round takes every unlabelled node as negative. Each further round

    1. decides every unlabelled node at one half and takes the share of positives as the prior :math:`\pi`;
    2. lets loopy belief propagation (:mod:`pugnn.graph.belief_propagation`) spread what is known along the edges:
       labelled nodes are surely positive, the others positive with probability :math:`\pi` to begin with;
    3. trains a *new* network with the beliefs as soft labels (:mod:`pugnn.losses.soft_labels`), until the loss has not
       fallen for five epochs.

    It ends when the lowest loss of a round is above that of the round before, whose network is then the result.

    Training settings are the authors': two convolutions and a linear layer, no dropout, no weight decay, Adam at 0.001,
    at most 1,000 epochs per round.

    Args:
        rounds: maximum number of rounds after the first.
        homophily: ε, weight of two neighbours having the same class.
        potentials: initial probability of being positive. ``decided``, as in the authors' code: π for nodes decided
            negative and 1 − π for those decided positive; ``uniform``, as in the paper: π for all.
    """

    rounds: int = 10
    homophily: float = 0.9
    potentials: Literal["decided", "uniform"] = "decided"

    @property
    def training(self) -> dict[str, Any]:
        """The authors' settings."""
        return {
            "backbone": "gcn-linear",
            "dropout": 0.0,
            "epochs": 1000,
            "learning_rate": 0.001,
            "weight_decay": 0.0,
        }

    def fit(
        self,
        task: PUTask,
        settings: TrainingSettings,
        *,
        checkpoint: Checkpoint | None = None,
        progress: bool = False,
    ) -> FittedMethod:
        """Train on a task."""
        require_whole("rounds", self.rounds, 0)
        require_homophily(self.homophily)  # before any training

        def run_round(number: int, beliefs: NDArray[np.float64]) -> Trained:
            seeded = replace(settings, seed=derive_seed(settings.seed, number)) if number else settings
            return self._train(task, beliefs, seeded, checkpoint, number, progress)

        best = run_round(0, np.zeros(task.graph.num_nodes))
        logs = [best.log]
        prior, node_potentials = self.expect(task, score(best.model, task.graph).numpy())
        for number in range(1, self.rounds + 1):
            beliefs = propagate_beliefs(task.graph, node_potentials, homophily=self.homophily)
            trained = run_round(number, beliefs)
            logs.append(trained.log)
            if _lowest(trained) > _lowest(best):
                break
            best = trained
            prior, node_potentials = self.expect(task, score(best.model, task.graph).numpy())
        return FittedMethod(best.model, join_logs(logs), prior)

    def expect(self, task: PUTask, scores: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The share of unlabelled nodes that the scores decide positive, and the node potentials that follow.

        Args:
            task: says which nodes are labelled.
            scores: of all nodes, shape ``(N,)``.
        """
        decided = scores >= 0.5
        prior = float(decided[task.unlabelled].mean())
        potentials = np.full(len(scores), prior)
        if self.potentials == "decided":
            potentials[decided] = 1 - prior
        potentials[task.labelled] = 1.0
        return prior, potentials

    def _train(
        self,
        task: PUTask,
        beliefs: NDArray[np.float64],
        settings: TrainingSettings,
        checkpoint: Checkpoint | None,
        number: int,
        progress: bool,
    ) -> Trained:
        loader = FullGraph.of(task, settings.device)
        loss = SoftLabelLoss(torch.from_numpy(beliefs.astype(np.float32)).to(loader.device))

        def objective(output: Output, batch: Batch, seed: Seed) -> dict[str, Tensor]:  # noqa: ARG001
            return loss(output.logit, batch.sets)

        return train(
            loader,
            objective,
            settings,
            build=self.build,
            patience=EPOCHS_WITHOUT_PROGRESS,
            checkpoint=checkpoint,
            part=number,
            progress=progress,
        )


def _lowest(trained: Trained) -> float:
    return min(record["total"] for record in trained.log)
