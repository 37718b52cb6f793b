"""PU-GNN (Yang, Zhang, Yao & Kwok, CIKM 2023): distance-aware PU loss plus structural regulariser."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Self, Unpack

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from pugnn.errors import PugnnError, require_number, require_share, require_whole
from pugnn.evidence.degenerate import Reason
from pugnn.evidence.hidden_positives import deal_folds
from pugnn.graph import UNREACHABLE, nearest_sources
from pugnn.losses import DistanceAwareLoss, Sets, split_near_far
from pugnn.methods.base import METHODS, FittedMethod, Method
from pugnn.models import Output
from pugnn.priors import Prior
from pugnn.regularisers import StructuralRegulariser, has_fused_gpu_kernel
from pugnn.task import PUTask
from pugnn.training import (
    Batch,
    Plan,
    RunOptions,
    Seed,
    TrainingSettings,
    derive_seed,
    plan_as_before,
    plan_training,
    train,
)

#: Near and far priors that follow from the prior are no closer to 0 and 1.
MIN_PRIOR = 0.001


@METHODS.register("pu-gnn")
@dataclass(frozen=True)
class PUGNN(Method):
    r"""Distance-aware PU loss plus structural regulariser (Yang, Zhang, Yao & Kwok, CIKM 2023).

    Minimises :math:`L_G + \alpha R_S`, with R_S of the hidden layer before its ReLU. Defaults are the paper's where it
    states them (δ, both priors, α, K). The formulas are in :mod:`pugnn.losses.distance_aware` and
    :mod:`pugnn.regularisers.structural`.

    Args:
        delta: δ, hops up to which an unlabelled node is near. Paper: 3.
        near_prior: positive share of the near nodes; by default it follows from the prior. Paper: 0.6.
        far_prior: positive share of the far nodes; by default it follows from the prior. Paper: 0.3.
        prior: positive share of all unlabelled nodes, for those of the two that are not given: a number, auto, a range
            such as 0.02..0.1, or an estimator's name.
        alpha: weight of the regulariser; 0 leaves it out. Paper: 0.01.
        negatives: K, non-neighbours drawn per directed edge and epoch. Paper: 50.
    """

    delta: int = 3
    near_prior: float | None = None
    far_prior: float | None = None
    prior: float | str = "auto"
    alpha: float = 0.01
    negatives: int = 50

    def check(self) -> None:
        """Raise an error if a setting is out of bounds."""
        require_whole("delta", self.delta, 1)
        require_whole("negatives", self.negatives, 1)
        require_number("alpha", self.alpha, negative=False)
        for name, share in (("near_prior", self.near_prior), ("far_prior", self.far_prior)):
            if share is not None:
                require_share(name, share)

    def settle(self, task: PUTask, settings: TrainingSettings, *, progress: bool = False) -> tuple[Self, Prior | None]:
        """The same method with both priors."""
        self.check()
        if self.near_prior is not None and self.far_prior is not None:
            return self, None
        method, settled = super().settle(task, settings, progress=progress)
        near, far = near_far_priors(method.known_prior, task, self.delta, settings.seed)
        near = near if self.near_prior is None else self.near_prior
        far = far if self.far_prior is None else self.far_prior
        return replace(method, near_prior=near, far_prior=far), settled

    def plan(self, task: PUTask, settings: TrainingSettings) -> Plan:
        """Whether the network will be trained on the whole graph or in batches."""
        model, pairs = self.blueprint(task.graph.num_features, settings), self.alpha > 0
        return plan_training(task.graph, len(task.unlabelled), settings, model, with_pairs=pairs)

    # Variants override loss, regulariser, represent and dropped_terms.

    def loss(self) -> DistanceAwareLoss:
        """L_G."""
        if self.near_prior is None or self.far_prior is None:
            raise PugnnError("pu-gnn needs near_prior and far_prior as numbers; PUNodeClassifier estimates them first")
        return DistanceAwareLoss(self.near_prior, self.far_prior)

    def regulariser(self) -> StructuralRegulariser:
        """R_S."""
        return StructuralRegulariser(self.negatives)

    def represent(self, output: Output) -> Tensor:
        """z, what the regulariser compares."""
        return output.embedding

    def fit(self, task: PUTask, settings: TrainingSettings, **run: Unpack[RunOptions]) -> FittedMethod:
        """Train on a task."""
        self.check()
        loss, regulariser, sets = self.loss(), self.regulariser(), split_near_far(task, self.delta)

        def objective(output: Output, batch: Batch, seed: Seed) -> dict[str, Tensor]:
            terms = loss(output.logit, batch.sets)
            if self.alpha > 0:
                z = self.represent(output)
                if batch.pairs is None:
                    parts = regulariser(z, batch.inputs.graph, seed=seed)  # new negatives in every step
                else:
                    parts = regulariser.over_pairs(z, batch.pairs, batch.sets.mean)
                terms |= {name: self.alpha * part for name, part in parts.items()}
            return terms

        plan = plan_as_before(partial(self.plan, task), settings, run.get("checkpoint"))
        replayable = self.alpha == 0 or has_fused_gpu_kernel()
        loader = plan.loader(task.graph, sets, settings)
        trained = train(loader, objective, settings, build=self.build, replayable=replayable, **run)
        return FittedMethod(trained.model, trained.log, loss.prior(sets), plan.notes, self.dropped_terms(sets))

    def dropped_terms(self, sets: Sets) -> tuple[Reason, ...]:
        """Without the term of an empty set, the loss does not depend on distance."""
        within = f"unlabelled node is within delta={self.delta} of a known positive, so the loss has no"
        if not sets.size("near"):
            message = f"No {within} near term. Use a larger delta, or add known positives."
            return (Reason("empty-near-set", message),)
        if not sets.size("far"):
            message = f"Every {within} far term. Use a smaller delta, or dist-pu, which ignores distance."
            return (Reason("empty-far-set", message),)
        return ()


def near_far_priors(prior: float, task: PUTask, delta: int, seed: int) -> tuple[float, float]:
    r"""Positive shares of the near and the far nodes.

    With a the share of known positives that are near the others when they are hidden (with one near and one far one
    added, so that neither is impossible), :math:`\pi a\, n_U / n_{near}` and :math:`\pi (1 - a)\, n_U / n_{far}`.
    Confirmed nodes are not hidden: a ranking found them, most of them near. With a single known positive, or where one
    of the two sets is empty, the near ones are twice as likely positive, as in the paper.
    """
    unlabelled, near = len(task.unlabelled), _count_near(task.distances[task.unlabelled], delta)
    folds = deal_folds(len(task.labelled), derive_seed(seed))
    if len(folds) < 2 or not 0 < near < unlabelled:
        priors = 2 * prior * unlabelled / (unlabelled + near), prior * unlabelled / (unlabelled + near)
    else:
        may_hide, hidden_near = ~np.isin(task.labelled, task.confirmed), 0
        for fold in range(folds.max() + 1):
            hidden = task.labelled[(folds == fold) & may_hide]
            distances = nearest_sources(task.graph, task.labelled[folds != fold])[0]
            hidden_near += _count_near(distances[hidden], delta)
        share = (hidden_near + 1) / (int(may_hide.sum()) + 2)
        priors = prior * share * unlabelled / near, prior * (1 - share) * unlabelled / (unlabelled - near)
    near_prior, far_prior = np.clip(priors, MIN_PRIOR, 1 - MIN_PRIOR).tolist()
    return near_prior, far_prior


def _count_near(distances: NDArray[np.integer], delta: int) -> int:
    return int(((distances <= delta) & (distances != UNREACHABLE)).sum())
