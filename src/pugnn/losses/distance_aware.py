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
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from pugnn.errors import PugnnWarning, require_choice, require_share, require_whole
from pugnn.graph import UNREACHABLE
from pugnn.losses.sets import Sets
from pugnn.task import PUTask

#: If one set holds this share of the unlabelled nodes, the other is too small.
NEARLY_ALL = 0.98


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
    for name, members, remedy in (
        ("near", near, "a larger delta, or more known positives"),
        ("far", far, "a smaller delta"),
    ):
        if len(members) <= (1 - NEARLY_ALL) * len(unlabelled):
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
    r"""L_G, with a switch for each point that the paper leaves open.

    Args:
        near_prior: :math:`\hat\pi`, positive share of the near set. Paper: 0.6.
        far_prior: :math:`\breve\pi`, positive share of the far set, smaller than ``near_prior``. Paper: 0.3.
        set_weights: ``"equal"`` as in the paper; ``"size"`` weights the near and the far term by their shares of
            the unlabelled nodes, :math:`\hat n / n_U` and :math:`\breve n / n_U`, as the paper's
            Proposition 1 would require.
        labelled_weight: ``"sum"`` as in the paper, :math:`2(\hat\pi + \breve\pi)`; ``"prior"`` is
            :math:`2 (\hat n \hat\pi + \breve n \breve\pi) / n_U`, twice the share of positives that the two
            priors imply, as in Dist-PU.
        empty_set: if the near or far set is empty, ``"drop"`` omits its term and changes nothing
            else; ``"dist-pu"`` falls back to the Dist-PU loss with the other set's prior π, which differs
            in the weight of the labelled term: :math:`2\pi` instead of :math:`2(\hat\pi + \breve\pi)`.
    """

    near_prior: float = 0.6
    far_prior: float = 0.3
    set_weights: Literal["equal", "size"] = "equal"
    labelled_weight: Literal["sum", "prior"] = "sum"
    empty_set: Literal["drop", "dist-pu"] = "drop"

    def __post_init__(self) -> None:
        require_share("near_prior", self.near_prior)
        require_share("far_prior", self.far_prior)
        require_choice("set_weights", self.set_weights, ("equal", "size"))
        require_choice("labelled_weight", self.labelled_weight, ("sum", "prior"))
        require_choice("empty_set", self.empty_set, ("drop", "dist-pu"))
        if self.near_prior <= self.far_prior:
            warnings.warn(
                f"near_prior={self.near_prior} is not above far_prior={self.far_prior}: this says that nodes near "
                "a known positive are no more likely positive than far ones. Raise near_prior or lower far_prior; "
                "if the graph really is like that, use a method without distances.",
                PugnnWarning,
                stacklevel=3,
            )

    def prior(self, sets: Sets) -> float:
        """Positive share of all unlabelled nodes that the two priors imply."""
        near = _near_share(sets)
        return near * self.near_prior + (1 - near) * self.far_prior

    def __call__(self, logits: Tensor, sets: Sets) -> dict[str, Tensor]:
        """The terms by name; their sum is the loss."""
        assert sets.near is not None
        assert sets.far is not None
        near_count, far_count = sets.size("near"), sets.size("far")
        one_set = not near_count or not far_count
        if self.labelled_weight == "prior" or (one_set and self.empty_set == "dist-pu"):
            weight = 2 * self.prior(sets)
        else:
            weight = 2 * (self.near_prior + self.far_prior)
        near_share = _near_share(sets)
        near_weight, far_weight = (near_share, 1 - near_share) if self.set_weights == "size" else (1.0, 1.0)

        scores = torch.sigmoid(logits)
        terms = {"labelled": weight * (sets.mean("labelled", scores[sets.labelled]) - 1).abs()}
        if near_count:
            terms["near"] = near_weight * (sets.mean("near", scores[sets.near]) - self.near_prior).abs()
        if far_count:
            terms["far"] = far_weight * (sets.mean("far", scores[sets.far]) - self.far_prior).abs()
        return terms | sets.known_negatives(weight, scores[sets.negative])


def _near_share(sets: Sets) -> float:
    """Share of the unlabelled nodes that are near."""
    return sets.size("near") / max(1, sets.size("unlabelled"))
