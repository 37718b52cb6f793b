r"""What known positives say when they are hidden in turn: no negatives are needed to compare rankings.

The known positives are dealt out to a few folds. A ranking that was made without a fold places its members among the
unlabelled nodes. :math:`h_i`, the share of unlabelled nodes above hidden positive :math:`i`, is small where the ranking
is good. A hidden positive is in the same situation as the positives that are to be found: it is neither a label nor a
neighbour of itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pugnn.task import PUTask
from pugnn.training import derive_seed

#: Known positives are hidden in this many turns, or one by one if there are fewer.
FOLDS = 5
#: An estimated prior lies between these: training on an overestimate is far worse than on an underestimate.
LEAST_PRIOR, MOST_PRIOR = 0.005, 0.5
#: A usual spread of gains in rank, and how many observations it is worth.
USUAL_SPREAD, USUAL_FREEDOM = 0.15, 4
#: With this many hidden positives, or known negatives, evidence counts half.
THIN = 10
#: The largest share of known negatives in what known positives are compared with.
MOST_NEGATIVE = 0.5
#: The prior where nothing can be hidden.
UNKNOWN_PRIOR = 0.1
#: Share of the hidden positives that an estimate of the prior rests on, at least.
RECALL = 0.5


def deal_folds(count: int, seed: int) -> NDArray[np.int64]:
    """The fold of each known positive; all in fold 0, and so never hidden, if there is only one."""
    return np.random.default_rng(seed).permutation(np.arange(count) % max(1, min(FOLDS, count)))


def hidden_ranks(scores: Tensor, labelled: Tensor, unlabelled: Tensor, folds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Share of the unlabelled nodes above each known positive, ties counted half, when it was hidden.

    Args:
        scores: of all nodes, shape ``(N, folds)``: column k was made without the labels of fold k.
        labelled: positions of the known positives.
        unlabelled: positions of the unlabelled nodes.
        folds: the fold of each known positive.
    """
    ranks = np.empty(len(folds))
    for fold in range(scores.shape[1]):
        free = scores[unlabelled, fold].sort().values
        hidden = scores[labelled[torch.from_numpy(folds == fold).to(labelled.device)], fold].contiguous()
        below = torch.searchsorted(free, hidden) + torch.searchsorted(free, hidden, right=True)
        ranks[folds == fold] = 1 - below.cpu().numpy() / (2 * len(free))
    return ranks


@dataclass(frozen=True)
class KnownPositives:
    """Known positives with their folds, the unlabelled nodes and known negatives, on a device.

    Args:
        labelled: positions of the known positives.
        unlabelled: positions of the unlabelled nodes.
        folds: the fold of each known positive.
        negative: positions of the known negatives.
        confirmed: which of the known positives were found by a ranking. Hidden again, they would speak for rankings of
            that kind, and make positives seem rare; so they only serve as labels.
    """

    labelled: Tensor
    unlabelled: Tensor
    folds: NDArray[np.int64]
    negative: Tensor = field(default_factory=lambda: torch.zeros(0, dtype=torch.int64))
    confirmed: NDArray[np.bool_] | None = None

    @classmethod
    def of(cls, task: PUTask, device: torch.device, seed: int) -> KnownPositives:
        """Those of a task."""
        labelled, unlabelled, negative = (
            torch.from_numpy(np.array(nodes)).to(device) for nodes in (task.labelled, task.unlabelled, task.negative)
        )
        folds = deal_folds(len(labelled), derive_seed(seed))
        return cls(labelled, unlabelled, folds, negative, np.isin(task.labelled, task.confirmed))

    @property
    def turns(self) -> int:
        """How many times a fold is hidden; with a single known positive, never."""
        return int(self.folds.max()) + 1 if len(self.folds) > 1 else 0

    def memberships(self) -> Tensor:
        """1 where a known positive is a label: of the whole (column 0), and when fold k is hidden (column k + 1)."""
        seen = self.folds[:, None] != np.arange(-1, self.turns)
        return torch.from_numpy(seen.astype(np.float32)).to(self.labelled.device)

    def contrasts(self, rows: Tensor) -> Tensor:
        r""":math:`\mu_L - \mu` of the whole, and with each fold hidden, as columns.

        Known negatives move :math:`\mu`, the mean over all nodes, towards their own mean :math:`\mu_N`:

        .. math:: \mu_L - (1 - a) \mu - a \mu_N, \qquad a = \frac12 \cdot \frac{n_N}{n_N + 10}

        A few may be unlike the others, so they hardly count; and even many never count more than all nodes do, as they
        are not a sample of all negatives but of those that were checked.
        """
        seen = self.memberships()
        rest = rows.mean(dim=0)
        if len(self.negative):
            rest = torch.lerp(rest, rows[self.negative].mean(dim=0), self.negative_share)
        return rows[self.labelled].t() @ (seen / seen.sum(dim=0)) - rest[:, None]

    @property
    def negative_share(self) -> float:
        """The share *a* of known negatives in what known positives are compared with."""
        return MOST_NEGATIVE * len(self.negative) / (len(self.negative) + THIN)

    def hidden_ranks(self, scores: Tensor) -> NDArray[np.float64]:
        """See :func:`hidden_ranks`; without confirmed nodes, and empty if nothing can be hidden."""
        if not self.turns:
            return np.empty(0)
        ranks = hidden_ranks(scores, self.labelled, self.unlabelled, self.folds)
        return ranks if self.confirmed is None else ranks[~self.confirmed]


def advantage(ranks: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    r"""By how much the first ranking places hidden positives higher than the second, against what chance would do.

    .. math:: \frac{n}{n + 10} \cdot \frac{\bar d}{\sqrt{v / n}}, \qquad
        v = \frac{(n - 1)\,\mathrm{var}(d) + 4 \cdot 0.15^2}{(n - 1) + 4}

    with :math:`d` the n gains in rank. That is a t statistic for many hidden positives. Of a few, which may agree by
    chance, it makes less: their variance is averaged with a usual one, and the whole is shrunk.
    """
    gain = others - ranks
    n = len(gain)
    if n < 2:
        return 0.0
    variance = ((n - 1) * gain.var(ddof=1) + USUAL_FREEDOM * USUAL_SPREAD**2) / (n - 1 + USUAL_FREEDOM)
    return float(n / (n + THIN) * gain.mean() / np.sqrt(variance / n))


def estimate_prior(ranks: NDArray[np.float64]) -> float:
    r"""Positive share of the unlabelled nodes, from the ranks of hidden positives.

    If the share :math:`h_{(k)}` of the unlabelled nodes must be taken to reach k of n hidden positives, it holds the
    share :math:`k / (n + 1)` of all positives, so that the prior is at most :math:`h_{(k)} (n + 1) / k`: equal to it if
    all of them are positive. The estimate is the smallest such bound over all k that are at least half of n, and at
    least two: fewer hidden positives say too little.

    Example:
        >>> round(estimate_prior(np.linspace(0.02, 0.18, 9)), 3)  # spread evenly over the first fifth
        0.2
    """
    n = len(ranks)
    if n < 2:
        return UNKNOWN_PRIOR
    k = np.arange(1, n + 1)
    bounds = np.sort(ranks) * (n + 1) / k
    least = max(2, int(np.ceil(RECALL * n)))
    return float(np.clip(bounds[least - 1 :].min(), LEAST_PRIOR, MOST_PRIOR))


def prior_note(prior: float, given: float | None, ranks: NDArray[np.float64]) -> str:
    """Where a prior comes from, in words."""
    if given is not None:
        return f"The share of positives among the unlabelled nodes is taken as given: {prior:.3g}."
    if len(ranks) < 2:
        return (
            "The share of positives among the unlabelled nodes cannot be estimated from one known positive; "
            f"{prior:.3g} is assumed. Give a prior if you know better."
        )
    return (
        f"The share of positives among the unlabelled nodes is estimated at {prior:.3g}, from the ranks of "
        f"{len(ranks)} known positives that were hidden in turn. That is rough; give a prior if you know better."
    )
