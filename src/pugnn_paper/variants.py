"""PU-GNN and GRAB with a switch for each point that their papers leave open, and for PU-GNN's ablation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pugnn.errors import PugnnError
from pugnn.evidence import Reason
from pugnn.graph import Graph
from pugnn.losses import DistanceAwareLoss, Sets, UnlabelledAsNegativeLoss
from pugnn.methods import GRAB, METHODS, PUGNN, Method
from pugnn.models import Output
from pugnn.regularisers import Pairs, StructuralRegulariser


@dataclass(frozen=True)
class LossVariant(DistanceAwareLoss):
    r"""L_G, see :class:`PUGNNVariant`."""

    set_weights: str = "equal"
    labelled_weight: str = "sum"
    empty_set: str = "drop"
    supervision: str = "distance-aware"

    def weights(self, sets: Sets) -> tuple[float, float, float]:
        """Of the labelled, the near and the far term."""
        labelled, near, far = super().weights(sets)
        one_set = not sets.size("near") or not sets.size("far")
        if self.labelled_weight == "prior" or (one_set and self.empty_set == "dist-pu"):
            labelled = 2 * self.prior(sets)
        if self.set_weights == "size":
            near = sets.size("near") / max(1, sets.size("unlabelled"))
            far = 1 - near
        return labelled, near, far

    def __call__(self, logits: Tensor, sets: Sets) -> dict[str, Tensor]:
        """The terms by name; their sum is the loss."""
        if self.supervision == "cross-entropy":
            return UnlabelledAsNegativeLoss()(logits, sets)
        return super().__call__(logits, sets)


@dataclass(frozen=True)
class RegulariserVariant(StructuralRegulariser):
    r"""R_S, see :class:`PUGNNVariant`."""

    reduction: str = "edge-mean"
    expectation: str = "sampled"

    def divisors(self, directed: int) -> tuple[int, int]:
        """By what both sums are divided."""
        if self.reduction == "sum":
            return 1, 1
        return directed, directed * (self.negatives if self.reduction == "pair-mean" else 1)

    def __call__(self, embedding: Tensor, graph: Graph, *, seed: int | Tensor | None) -> dict[str, Tensor]:
        """The two terms by name; their sum is R_S."""
        return super().__call__(embedding, graph, seed=None if self.expectation == "exact" else seed)

    def over_pairs(self, embedding: Tensor, pairs: Pairs, *more: Any) -> dict[str, Tensor]:
        """The same terms, estimated from a sample of pairs."""
        if self.expectation == "exact":
            raise PugnnError("the exact expectation compares all pairs of nodes; use expectation='sampled'")
        return super().over_pairs(embedding, pairs, *more)


@dataclass(frozen=True)
class PUGNNVariant(PUGNN):
    r"""PU-GNN as one may read it; the defaults are those of :class:`pugnn.PUGNN`.

    Args:
        set_weights: ``equal`` as written; ``size`` weights the near and the far term by their shares of the unlabelled
            nodes, :math:`\hat n / n_U` and :math:`\breve n / n_U`, as the paper's Proposition 1 would require.
        labelled_weight: ``sum`` as written, :math:`2(\hat\pi + \breve\pi)`; ``prior`` is
            :math:`2 (\hat n \hat\pi + \breve n \breve\pi) / n_U`, twice the share that the two priors imply, as in
            Dist-PU.
        empty_set: if the near or the far set is empty, ``drop`` omits its term and changes nothing else; ``dist-pu``
            falls back to the Dist-PU loss with the other set's prior π, whose labelled term has the weight 2π.
        reduction: scale of the sums A and B over m directed edges: ``edge-mean``, A / m + B / m; ``pair-mean``,
            A / m + B / mK; or the literal ``sum``, A + B.
        expectation: over non-neighbours, ``sampled`` by K draws or ``exact`` over all of them.
        representation: what the regulariser compares: the ``hidden`` layer before its ReLU, the ``activated`` one after
            it (similarities then never fall below one half), or the ``logit``.
        supervision: ``distance-aware`` is PU-GNN; ``cross-entropy`` takes unlabelled nodes as negative instead, which
            is how we read the paper's ablation without PU loss.
    """

    set_weights: Literal["equal", "size"] = "equal"
    labelled_weight: Literal["sum", "prior"] = "sum"
    empty_set: Literal["drop", "dist-pu"] = "drop"
    reduction: Literal["sum", "edge-mean", "pair-mean"] = "edge-mean"
    expectation: Literal["sampled", "exact"] = "sampled"
    representation: Literal["hidden", "activated", "logit"] = "hidden"
    supervision: Literal["distance-aware", "cross-entropy"] = "distance-aware"

    def loss(self) -> LossVariant:
        """L_G."""
        switches = self.set_weights, self.labelled_weight, self.empty_set, self.supervision
        plain = super().loss()
        return LossVariant(plain.near_prior, plain.far_prior, *switches)

    def regulariser(self) -> RegulariserVariant:
        """R_S."""
        return RegulariserVariant(self.negatives, self.reduction, self.expectation)

    def represent(self, output: Output) -> Tensor:
        """What the regulariser compares."""
        if self.representation == "logit":
            return output.logit[:, None]
        return torch.relu(output.embedding) if self.representation == "activated" else output.embedding

    def dropped_terms(self, sets: Sets) -> tuple[Reason, ...]:
        """None where another loss takes their place."""
        others = self.supervision == "cross-entropy" or self.empty_set == "dist-pu"
        return () if others else super().dropped_terms(sets)


@dataclass(frozen=True)
class GRABVariant(GRAB):
    """GRAB as one may read it.

    Args:
        potentials: probability of being positive to begin with: ``decided``, as in the authors' code, or ``uniform``,
            as in the paper: π for all nodes.
    """

    potentials: Literal["decided", "uniform"] = "decided"

    def node_potentials(self, decided: NDArray[np.bool_], prior: float) -> NDArray[np.float64]:
        """The initial probability of every node that is not known."""
        return np.full(len(decided), prior) if self.potentials == "uniform" else super().node_potentials(decided, prior)


def method_class(name: str) -> type[Method]:
    """The method of a row, with the switches of its readings where it has any."""
    variants: dict[str, type[Method]] = {"pu-gnn": PUGNNVariant, "grab": GRABVariant}
    return variants.get(name) or METHODS[name]
