r"""The distance-aware PU loss of PU-GNN (section 3.1 of the paper).

Unlabelled nodes are split by hop distance to the nearest labelled node: near (at most δ) and far (all others,
including unreachable ones). With scores :math:`\hat y = \sigma(g)`,

.. math::
    L_G = 2 (\hat\pi + \breve\pi) \Big| \operatorname{mean}_L \hat y - 1 \Big|
        + \Big| \operatorname{mean}_{near} \hat y - \hat\pi \Big|
        + \Big| \operatorname{mean}_{far} \hat y - \breve\pi \Big|

where :math:`\hat\pi` (``near_prior``) and :math:`\breve\pi` (``far_prior``) are the positive shares of the
two sets. The absolute value is of the *mean*; individual scores are unconstrained.

Known negatives belong to neither set. They add :math:`|\operatorname{mean}_N \hat y - 0|` with the weight of
:meth:`pugnn.losses.Sets.known_negatives`, where :math:`w_L` is the weight of the labelled term.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from pugnn.errors import PugnnWarning, require_share, require_whole
from pugnn.graph import UNREACHABLE
from pugnn.losses.sets import Sets
from pugnn.task import PUTask

#: A set with no more than this share of the unlabelled nodes is too small.
TOO_FEW = 0.02


def split_near_far(task: PUTask, delta: int) -> Sets:
    """Split the unlabelled nodes by hop distance to the nearest labelled one; warn if δ is unsuitable.

    Args:
        task: distances are measured on its whole graph, whichever nodes count as unlabelled.
        delta: largest distance that counts as near.
    """
    require_whole("delta", delta, 1)
    distance, unlabelled = task.distances[task.unlabelled], task.unlabelled
    is_near = (distance <= delta) & (distance != UNREACHABLE)
    parts = (task.labelled, unlabelled[is_near], unlabelled[~is_near], task.negative)
    labelled, near, far, negative = (torch.from_numpy(np.array(part)) for part in parts)
    remedies = {"near": (near, "a larger delta, or more known positives"), "far": (far, "a smaller delta")}
    for name, (members, remedy) in remedies.items():
        if len(members) <= TOO_FEW * len(unlabelled):
            much = "none" if not len(members) else f"only {len(members):,}"
            warnings.warn(
                f"delta={delta} leaves {much} of the {len(unlabelled):,} unlabelled nodes in the {name} set, so "
                f"distance says little here. Try {remedy}; `pugnn check` shows the number of nodes at each distance.",
                PugnnWarning,
                stacklevel=2,
            )
    return replace(Sets.split(labelled, near, far), negative=negative)


@dataclass(frozen=True)
class DistanceAwareLoss:
    r"""L_G.

    Args:
        near_prior: :math:`\hat\pi`, positive share of the near set. Paper: 0.6.
        far_prior: :math:`\breve\pi`, positive share of the far set, smaller than ``near_prior``. Paper: 0.3.
    """

    near_prior: float = 0.6
    far_prior: float = 0.3

    def __post_init__(self) -> None:
        require_share("near_prior", self.near_prior)
        require_share("far_prior", self.far_prior)
        if self.near_prior <= self.far_prior:
            words = (
                f"near_prior={self.near_prior} is not above far_prior={self.far_prior}: this says that nodes near "
                "a known positive are no more likely positive than far ones. Raise near_prior or lower far_prior; "
                "if the graph really is like that, use a method without distances."
            )
            warnings.warn(words, PugnnWarning, stacklevel=3)

    def prior(self, sets: Sets) -> float:
        """Positive share of all unlabelled nodes that the two priors imply."""
        near = sets.size("near") / max(1, sets.size("unlabelled"))
        return near * self.near_prior + (1 - near) * self.far_prior

    def weights(self, sets: Sets) -> tuple[float, float, float]:  # noqa: ARG002
        """Of the labelled, the near and the far term."""
        return 2 * (self.near_prior + self.far_prior), 1.0, 1.0

    def __call__(self, logits: Tensor, sets: Sets) -> dict[str, Tensor]:
        """The terms by name, without that of an empty set; their sum is the loss."""
        assert sets.near is not None
        assert sets.far is not None
        labelled, near, far = self.weights(sets)
        scores = torch.sigmoid(logits)
        terms = {"labelled": labelled * (sets.mean(scores[sets.labelled]) - 1).abs()}
        if sets.size("near"):
            terms["near"] = near * (sets.mean(scores[sets.near]) - self.near_prior).abs()
        if sets.size("far"):
            terms["far"] = far * (sets.mean(scores[sets.far]) - self.far_prior).abs()
        return terms | sets.known_negatives(labelled, scores[sets.negative])
