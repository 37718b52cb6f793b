r"""Known positives that are hidden in turn: rankings can be compared without any negatives.

The known positives are dealt out to a few folds. A ranking made without a fold places the members of that fold among
the unlabelled nodes. :math:`h_i`, the share of unlabelled nodes above hidden positive i, is small where the ranking is
good. A hidden positive is in the same situation as the positives to be found: it is not a label, nor a neighbour of
itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pugnn.task import PUTask
from pugnn.training import derive_seed
from pugnn.views import Attributes, ViewMatrix, comparable_rows
from pugnn.views.ranking_model import ROUNDING_SPREAD

#: Number of folds; fewer known positives are hidden one by one.
FOLDS = 5
#: A usual standard deviation of gains in the logarithm of ranks, and how many observations it is worth.
USUAL_SPREAD, USUAL_FREEDOM = 0.5, 4
#: Number of hidden positives, or known negatives, with which evidence counts half.
THIN = 10
#: Largest share of known negatives in what known positives are compared with.
MAX_NEGATIVE = 0.5

Ranks = NDArray[np.float64]


def deal_folds(count: int, seed: int) -> NDArray[np.int64]:
    """The fold of each of ``count`` known positives; a single one is in fold 0 and never hidden."""
    return np.random.default_rng(seed).permutation(np.arange(count) % max(1, min(FOLDS, count)))


def ranks_among(scores: NDArray[np.floating], others: NDArray[np.floating]) -> Ranks:
    """Share of the other scores above each score; ties count half."""
    ordered = np.sort(others)
    below = np.searchsorted(ordered, scores) + np.searchsorted(ordered, scores, side="right")
    ranks: Ranks = 1 - below / (2 * len(ordered))
    return ranks


@dataclass(frozen=True, eq=False)
class RankedPositives:
    """Ranks of known positives, each by a model that did not know it. Estimators of the prior read this.

    Args:
        task: graph, known positives and unlabelled nodes.
        folds: the fold of each known positive, shape ``(n_L,)``.
        ranks: share of the unlabelled nodes above each known positive when its fold was hidden. Confirmed nodes are
            left out, because a ranking found them. Empty if nothing could be hidden.
    """

    task: PUTask
    folds: NDArray[np.int64]
    ranks: Ranks

    @property
    def unlabelled(self) -> int:
        """Number of unlabelled nodes."""
        return len(self.task.unlabelled)

    def rows(self) -> Tensor:
        """One row for each node, similar for similar nodes, shape ``(N, d)``."""
        return torch.from_numpy(comparable_rows(self.task.graph, Attributes.of(self.task.graph)))


@dataclass(frozen=True)
class FoldedTask:
    """A task whose known positives are dealt out to folds, each of which is hidden in one turn.

    Models of a folded task are columns: column 0 knows all known positives, column k + 1 all but those of fold k.
    """

    task: PUTask
    folds: NDArray[np.int64]

    @classmethod
    def of(cls, task: PUTask, seed: int) -> FoldedTask:
        """Deal out the known positives of a task at random."""
        return cls(task, deal_folds(len(task.labelled), derive_seed(seed)))

    @property
    def turns(self) -> int:
        """Number of turns; none with a single known positive."""
        return int(self.folds.max()) + 1 if len(self.folds) > 1 else 0

    @property
    def labelled_share(self) -> float:
        """Number of known positives over that of unlabelled nodes."""
        return len(self.task.labelled) / len(self.task.unlabelled)

    @property
    def seen(self) -> NDArray[np.float32]:
        """1 where a column's model knows a known positive, and 0 where it is hidden, shape ``(n_L, 1 + turns)``."""
        seen: NDArray[np.float32] = (self.folds[:, None] != np.arange(-1, self.turns)).astype(np.float32)
        return seen

    def seeds(self) -> NDArray[np.float32]:
        """1 for the positives that a column's model knows, and 0 for all other nodes, shape ``(N, 1 + turns)``."""
        seeds = np.zeros((self.task.graph.num_nodes, self.turns + 1), np.float32)
        seeds[self.task.labelled] = self.seen
        return seeds

    @property
    def negative_share(self) -> float:
        r"""Share of known negatives in what known positives are compared with, :math:`\tfrac12 n_N / (n_N + 10)`.

        A few may be unlike other negatives, so they hardly count. Even many count at most as much as all other nodes:
        they are not a sample of all negatives, but of those that were checked.
        """
        count = len(self.task.negative)
        return MAX_NEGATIVE * count / (count + THIN)

    def targets(self) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """Nodes that are not merely unlabelled; 1 for those that are positive; and how much each counts.

        The second and third have one column for each model. Nodes that are not part of the task count 0.
        """
        task = self.task
        inside = np.zeros(task.graph.num_nodes, dtype=bool)
        for nodes in (task.labelled, task.unlabelled, task.negative):
            inside[nodes] = True
        outside = np.flatnonzero(~inside)
        share = self.negative_share
        negative_weight = share / (1 - share) * len(task.unlabelled) / max(len(task.negative), 1)
        weights = [
            self.seen,
            np.full((len(task.negative), self.turns + 1), negative_weight),
            np.zeros((len(outside), self.turns + 1)),
        ]
        special = np.concatenate([task.labelled, task.negative, outside])
        positive = (np.arange(len(special)) < len(task.labelled)).astype(np.float64)[:, None]
        return special, np.repeat(positive, self.turns + 1, axis=1), np.concatenate(weights).astype(np.float64)

    def contrasts(self, views: ViewMatrix) -> NDArray[np.float32]:
        r""":math:`\mu_L - \mu`: mean row of the known positives minus that of all targets, one column for each model.

        Known negatives move :math:`\mu` towards their own mean :math:`\mu_N`, by :attr:`negative_share`.
        """
        task, targets = self.task, self.task.graph.num_targets
        weights = np.zeros((task.graph.num_nodes, self.turns + 1), np.float32)
        weights[:targets] = -(1 - self.negative_share) / targets
        weights[task.labelled] += self.seen / self.seen.sum(axis=0)
        weights[task.negative] -= self.negative_share / max(len(task.negative), 1)
        return views.transposed(weights)

    def rank_hidden(self, scores: NDArray[np.floating]) -> RankedPositives:
        """Rank each known positive among the unlabelled nodes by the scores of the turn in which it was hidden.

        Confirmed nodes are left out. A ranking found them: hidden again, they would favour rankings of that kind, and
        make positives seem rare.

        Args:
            scores: of all nodes, shape ``(N, turns)``: column k was computed without fold k.
        """
        task = self.task
        if not self.turns:
            return RankedPositives(task, self.folds, np.empty(0))
        ranks = np.empty(len(task.labelled))
        for fold in range(self.turns):
            hidden = self.folds == fold
            ranks[hidden] = ranks_among(scores[task.labelled[hidden], fold], scores[task.unlabelled, fold])
        return RankedPositives(task, self.folds, ranks[~np.isin(task.labelled, task.confirmed)])

    def spreads(self, scores: NDArray[np.floating]) -> NDArray[np.float32]:
        """Standard deviation of each column over the unlabelled nodes; 1 where scores differ by rounding alone."""
        spreads: NDArray[np.float64] = scores[self.task.unlabelled].std(axis=0, dtype=np.float64)
        return np.where(spreads > ROUNDING_SPREAD * np.abs(scores).max(axis=0), spreads, 1.0).astype(np.float32)


def evidence_for(ranks: Ranks, over: Ranks, floor: float) -> float:
    r"""Evidence that one ranking places hidden positives higher than another one does, as a shrunken t statistic.

    .. math:: z = \frac{n}{n + 10} \cdot \frac{\bar d}{\sqrt{v / n}}, \qquad
        v = \frac{(n - 1)\,\mathrm{var}(d) + 4 \cdot 0.5^2}{(n - 1) + 4}

    with the n gains :math:`d = \log(h' + \phi) - \log(h + \phi)`. On a logarithmic scale, halving a rank counts the
    same anywhere, so the top of the list matters; but not within the share φ, about as many nodes as there are
    positives. A few hidden positives may agree by chance: their variance is averaged with a usual one, and z is shrunk.

    Args:
        ranks: h, of hidden positives by the first ranking.
        over: h', the same by the second ranking.
        floor: φ, a share of the unlabelled nodes.
    """
    gains = np.log((over + floor) / (ranks + floor))
    n = len(gains)
    if n < 2:
        return 0.0
    variance = ((n - 1) * gains.var(ddof=1) + USUAL_FREEDOM * USUAL_SPREAD**2) / (n - 1 + USUAL_FREEDOM)
    return float(n / (n + THIN) * gains.mean() / np.sqrt(variance / n))
