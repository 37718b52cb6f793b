"""PU-GNN (Yang, Zhang, Yao & Kwok, CIKM 2023): distance-aware PU loss plus structural regulariser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, Self, Unpack

import numpy as np
import torch
from torch import Tensor

from pugnn.errors import PugnnError, require_number, require_share, require_whole
from pugnn.graph import UNREACHABLE, nearest_sources
from pugnn.losses import DistanceAwareLoss, Sets, UnlabelledAsNegativeLoss, split_near_far
from pugnn.methods.base import METHODS, FittedMethod, Method
from pugnn.methods.degenerate import Reason
from pugnn.methods.evidence import deal_folds
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
LEAST = 0.001

REPRESENTATIONS: dict[str, Callable[[Output], Tensor]] = {
    "hidden": lambda output: output.embedding,
    "activated": lambda output: torch.relu(output.embedding),
    "logit": lambda output: output.logit[:, None],
}


@METHODS.register("pu-gnn")
@dataclass(frozen=True)
class PUGNN(Method):
    r"""Distance-aware PU loss plus structural regulariser (Yang, Zhang, Yao & Kwok, CIKM 2023).

    Minimises :math:`L_G + \alpha R_S`. Defaults are the paper's where it states them (δ, both priors, α, K), and
    the readings that the docs argue for elsewhere. The formulas are in :mod:`pugnn.losses.distance_aware` and
    :mod:`pugnn.regularisers.structural`, each next to its switches.

    Args:
        delta: δ, hops up to which an unlabelled node is near. Paper: 3.
        near_prior: positive share of the near nodes; by default it follows from the prior. Paper: 0.6.
        far_prior: positive share of the far nodes; by default it follows from the prior. Paper: 0.3.
        prior: positive share of all unlabelled nodes, for those of the two that are not given; auto estimates it; a
            range such as 0.02..0.1 bounds the estimate.
        alpha: weight of the regulariser; 0 leaves it out. Paper: 0.01.
        negatives: K, non-neighbours drawn per directed edge and epoch. Paper: 50.
        set_weights: weights of near and far term, ``equal`` (as written) or by ``size``.
        labelled_weight: weight of the labelled term from the ``sum`` of the priors (as written) or the
            ``prior`` of the whole.
        empty_set: what to do when one set is empty, ``drop`` its term or fall back to ``dist-pu``.
        reduction: scale of the regulariser, ``edge-mean``, ``pair-mean`` or the literal ``sum``.
        expectation: of the regulariser over non-neighbours, ``sampled`` by K draws or ``exact`` over all of them.
        representation: what the regulariser compares: the ``hidden`` layer before its ReLU, the
            ``activated`` one after it (similarities then never fall below one half), or the ``logit``.
        supervision: ``distance-aware`` is PU-GNN; ``cross-entropy`` takes unlabelled nodes as negative
            instead, which is how we read the paper's ablation without PU loss.
    """

    delta: int = 3
    near_prior: float | None = None
    far_prior: float | None = None
    prior: float | str = "auto"
    alpha: float = 0.01
    negatives: int = 50
    set_weights: Literal["equal", "size"] = "equal"
    labelled_weight: Literal["sum", "prior"] = "sum"
    empty_set: Literal["drop", "dist-pu"] = "drop"
    reduction: Literal["sum", "edge-mean", "pair-mean"] = "edge-mean"
    expectation: Literal["sampled", "exact"] = "sampled"
    representation: Literal["hidden", "activated", "logit"] = "hidden"
    supervision: Literal["distance-aware", "cross-entropy"] = "distance-aware"

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
        model, exact = self.blueprint(task, settings), self.alpha > 0 and self.expectation == "exact"
        return plan_training(
            task.graph,
            len(task.unlabelled),
            settings,
            model,
            with_pairs=self.alpha > 0,
            only_whole="the exact expectation compares all pairs of nodes; use expectation='sampled'" if exact else "",
        )

    def fit(self, task: PUTask, settings: TrainingSettings, **run: Unpack[RunOptions]) -> FittedMethod:
        """Train on a task."""
        self.check()
        if self.near_prior is None or self.far_prior is None:
            raise PugnnError("pu-gnn needs near_prior and far_prior as numbers; PUNodeClassifier estimates them first")
        distance_aware = DistanceAwareLoss(
            near_prior=self.near_prior,
            far_prior=self.far_prior,
            set_weights=self.set_weights,
            labelled_weight=self.labelled_weight,
            empty_set=self.empty_set,
        )
        loss = distance_aware if self.supervision == "distance-aware" else UnlabelledAsNegativeLoss()
        regulariser = StructuralRegulariser(self.negatives, self.reduction, self.expectation)
        represent = REPRESENTATIONS[self.representation]
        sets = split_near_far(task, self.delta)

        def objective(output: Output, batch: Batch, seed: Seed) -> dict[str, Tensor]:
            terms = loss(output.logit, batch.sets)
            if self.alpha > 0:
                z = represent(output)
                if batch.pairs is None:
                    parts = regulariser(z, batch.inputs.graph, seed=seed)  # new negatives in every step
                else:
                    parts = regulariser.over_pairs(z, batch.pairs, batch.sets.mean)
                terms |= {name: self.alpha * part for name, part in parts.items()}
            return terms

        plan = plan_as_before(partial(self.plan, task), settings, run.get("checkpoint"))
        model = self.blueprint(task, settings)
        loader = plan.loader(task.graph, sets, settings, model, with_pairs=self.alpha > 0)
        replayable = self.alpha == 0 or has_fused_gpu_kernel()
        trained = train(loader, objective, settings, build=self.build, replayable=replayable, **run)
        dropped = _dropped_term(sets, self.delta) if loss is distance_aware and self.empty_set == "drop" else ()
        return FittedMethod(
            trained.model, trained.log, distance_aware.prior(sets), notes=plan.notes, degenerate=dropped
        )


def near_far_priors(prior: float, task: PUTask, delta: int, seed: int) -> tuple[float, float]:
    r"""Positive shares of the near and the far nodes.

    With a the share of known positives that are near the others when they are hidden (with one near and one far one
    added, so that neither is impossible), :math:`\pi a\, n_U / n_{near}` and :math:`\pi (1 - a)\, n_U / n_{far}`.
    Confirmed nodes are not hidden: a ranking found them, most of them near. With a single known positive, or where one
    of the two sets is empty, the near ones are twice as likely positive, as in the paper.
    """
    distance = task.distances[task.unlabelled]
    near = int(((distance <= delta) & (distance != UNREACHABLE)).sum())
    count = len(distance)
    folds, found = deal_folds(len(task.labelled), derive_seed(seed)), 0
    if len(folds) < 2 or not 0 < near < count:
        priors = 2 * prior * count / (count + near), prior * count / (count + near)
    else:
        sample = ~np.isin(task.labelled, task.confirmed)
        for fold in range(folds.max() + 1):
            hops = nearest_sources(task.graph, task.labelled[folds != fold])[0][task.labelled[(folds == fold) & sample]]
            found += int(((hops <= delta) & (hops != UNREACHABLE)).sum())
        share = (found + 1) / (int(sample.sum()) + 2)
        priors = prior * share * count / near, prior * (1 - share) * count / (count - near)
    near_prior, far_prior = np.clip(priors, LEAST, 1 - LEAST).tolist()
    return near_prior, far_prior


def _dropped_term(sets: Sets, delta: int) -> tuple[Reason, ...]:
    """Without the term of an empty set, the loss does not depend on distance."""
    assert sets.near is not None
    assert sets.far is not None
    if not len(sets.near):
        message = f"No unlabelled node is within delta={delta} of a known positive, so the loss has no near term. "
        return (Reason("empty-near-set", message + "Use a larger delta, or add known positives."),)
    if not len(sets.far):
        message = f"Every unlabelled node is within delta={delta} of a known positive, so the loss has no far term. "
        return (Reason("empty-far-set", message + "Use a smaller delta, or dist-pu, which ignores distance."),)
    return ()
