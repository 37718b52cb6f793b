r"""What known positives say when they are hidden in turn: no negatives are needed to compare rankings.

The known positives are dealt out to a few folds. A ranking that was made without a fold places its members among the
unlabelled nodes. :math:`h_i`, the share of unlabelled nodes above hidden positive :math:`i`, is small where the ranking
is good. A hidden positive is in the same situation as the positives that are to be found: it is neither a label nor a
neighbour of itself.
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
from pugnn.views.linear_model import EQUAL

#: Known positives are hidden in this many turns, or one by one if there are fewer.
FOLDS = 5
#: A usual spread of gains in the logarithm of ranks, and how many observations it is worth.
USUAL_SPREAD, USUAL_FREEDOM = 0.5, 4
#: With this many hidden positives, or known negatives, evidence counts half.
THIN = 10
#: The largest share of known negatives in what known positives are compared with.
MAX_NEGATIVE = 0.5

Ranks = NDArray[np.float64]


def deal_folds(count: int, seed: int) -> NDArray[np.int64]:
    """The fold of each known positive; all in fold 0, and so never hidden, if there is only one."""
    return np.random.default_rng(seed).permutation(np.arange(count) % max(1, min(FOLDS, count)))


def ranks_among(scores: NDArray[np.floating], others: NDArray[np.floating]) -> Ranks:
    """Share of the other scores above each score, ties counted half."""
    ordered = np.sort(others)
    below = np.searchsorted(ordered, scores) + np.searchsorted(ordered, scores, side="right")
    ranks: Ranks = 1 - below / (2 * len(ordered))
    return ranks


@dataclass(frozen=True, eq=False)
class RankedPositives:
    """Where known positives rank, cross-fitted: none takes part in its own rank. Estimators of the prior read this.

    Args:
        task: graph, known positives and unlabelled nodes.
        folds: the turn in which each known positive was hidden, shape ``(n_L,)``.
        ranks: share of the unlabelled nodes above it then, without those that were found by a ranking and checked;
            empty if nothing could be hidden.
    """

    task: PUTask
    folds: NDArray[np.int64]
    ranks: Ranks

    @property
    def unlabelled(self) -> int:
        """Number of unlabelled nodes."""
        return len(self.task.unlabelled)

    def rows(self) -> Tensor:
        """What each node looks like, shape ``(N, d)``."""
        return torch.from_numpy(comparable_rows(self.task.graph, Attributes.of(self.task.graph)))


@dataclass(frozen=True)
class FoldedTask:
    """Known positives with the fold of each, known negatives, and the unlabelled nodes."""

    task: PUTask
    folds: NDArray[np.int64]

    @classmethod
    def of(cls, task: PUTask, seed: int) -> FoldedTask:
        """Those of a task."""
        return cls(task, deal_folds(len(task.labelled), derive_seed(seed)))

    @property
    def turns(self) -> int:
        """How many times a fold is hidden; with a single known positive, never."""
        return int(self.folds.max()) + 1 if len(self.folds) > 1 else 0

    @property
    def seen(self) -> NDArray[np.float32]:
        """1 where a known positive takes part: in the whole (column 0), and when fold k is hidden (column k + 1)."""
        part: NDArray[np.float32] = (self.folds[:, None] != np.arange(-1, self.turns)).astype(np.float32)
        return part

    def seeds(self) -> NDArray[np.float32]:
        """1 for the known positives that take part, and 0 for all other nodes, as columns of :meth:`seen`."""
        seeds = np.zeros((self.task.graph.num_nodes, self.turns + 1), np.float32)
        seeds[self.task.labelled] = self.seen
        return seeds

    @property
    def negative_share(self) -> float:
        r"""The share of known negatives in what known positives are compared with, :math:`\tfrac12 n_N / (n_N + 10)`.

        A few may be unlike the others, so they hardly count; and even many never count more than all nodes do, as they
        are not a sample of all negatives but of those that were checked.
        """
        count = len(self.task.negative)
        return MAX_NEGATIVE * count / (count + THIN)

    def targets(self) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """The nodes that are not just unlabelled, whether they are positive, and how much they count, as columns.

        Columns are those of :meth:`seen`. Nodes that the task leaves out count nothing.
        """
        task, share = self.task, self.negative_share
        taken = np.zeros(task.graph.num_nodes, dtype=bool)
        for nodes in (task.labelled, task.unlabelled, task.negative):
            taken[nodes] = True
        outside = np.flatnonzero(~taken)
        each = share / (1 - share) * len(task.unlabelled) / max(len(task.negative), 1)
        counts = [
            self.seen,
            np.full((len(task.negative), self.turns + 1), each),
            np.zeros((len(outside), self.turns + 1)),
        ]
        special = np.concatenate([task.labelled, task.negative, outside])
        positive = (np.arange(len(special)) < len(task.labelled)).astype(np.float64)[:, None]
        return special, np.repeat(positive, self.turns + 1, axis=1), np.concatenate(counts).astype(np.float64)

    def contrasts(self, views: ViewMatrix) -> NDArray[np.float32]:
        r""":math:`\mu_L - \mu`, mean row of the known positives less that of all targets, as columns of :meth:`seen`.

        Known negatives move :math:`\mu` towards their own mean :math:`\mu_N`, by :attr:`negative_share`.
        """
        task, targets = self.task, self.task.graph.num_targets
        weights = np.zeros((task.graph.num_nodes, self.turns + 1), np.float32)
        weights[:targets] = -(1 - self.negative_share) / targets
        weights[task.labelled] += self.seen / self.seen.sum(axis=0)
        weights[task.negative] -= self.negative_share / max(len(task.negative), 1)
        return views.transposed(weights)

    def rank(self, scores: NDArray[np.floating]) -> RankedPositives:
        """Share of the unlabelled nodes above each known positive, when it was hidden.

        Those of confirmed nodes are left out: a ranking found them. Hidden again, they would speak for rankings of that
        kind, and make positives seem rare.

        Args:
            scores: of all nodes, shape ``(N, turns)``: column k was made without fold k.
        """
        task = self.task
        if not self.turns:
            return RankedPositives(task, self.folds, np.empty(0))
        ranks = np.empty(len(task.labelled))
        for fold in range(self.turns):
            mine = self.folds == fold
            ranks[mine] = ranks_among(scores[task.labelled[mine], fold], scores[task.unlabelled, fold])
        return RankedPositives(task, self.folds, ranks[~np.isin(task.labelled, task.confirmed)])

    def rank_without_folds(self, scores: NDArray[np.floating]) -> RankedPositives:
        """The same for columns as those of :meth:`seen`: column 0 knows all, column k + 1 was made without fold k."""
        return self.rank(scores[:, 1:])

    def spreads(self, scores: NDArray[np.floating]) -> NDArray[np.float32]:
        """Standard deviations over the unlabelled nodes, of each column; 1 where all are equal but for rounding."""
        spreads: NDArray[np.float64] = scores[self.task.unlabelled].std(axis=0, dtype=np.float64)
        return np.where(spreads > EQUAL * np.abs(scores).max(axis=0), spreads, 1.0).astype(np.float32)


def advantage(ranks: Ranks, others: Ranks, found: float) -> float:
    r"""By how much the first ranking places hidden positives higher than the second, against what chance would do.

    .. math:: \frac{n}{n + 10} \cdot \frac{\bar d}{\sqrt{v / n}}, \qquad
        v = \frac{(n - 1)\,\mathrm{var}(d) + 4 \cdot 0.5^2}{(n - 1) + 4}

    with :math:`d = \log(h' + \phi) - \log(h + \phi)` the n gains: a factor counts the same at any height, so that the
    top counts; but not within the share φ, as all that is there is found. That is a t statistic for many hidden
    positives. Of a few, which may agree by chance, it makes less: their variance is averaged with a usual one, and the
    whole is shrunk.

    Args:
        ranks: of hidden positives.
        others: the same by the second ranking.
        found: φ, a share of the unlabelled nodes.
    """
    gain = np.log((others + found) / (ranks + found))
    n = len(gain)
    if n < 2:
        return 0.0
    variance = ((n - 1) * gain.var(ddof=1) + USUAL_FREEDOM * USUAL_SPREAD**2) / (n - 1 + USUAL_FREEDOM)
    return float(n / (n + THIN) * gain.mean() / np.sqrt(variance / n))
