r"""What known positives say when they are hidden in turn: no negatives are needed to compare rankings.

The known positives are dealt out to a few folds. A ranking that was made without a fold places its members among the
unlabelled nodes. :math:`h_i`, the share of unlabelled nodes above hidden positive :math:`i`, is small where the ranking
is good. A hidden positive is in the same situation as the positives that are to be found: it is neither a label nor a
neighbour of itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import softmax
from torch import Tensor

from pugnn.metrics.rank_model import Checked
from pugnn.models import GraphInputs, inputs_on
from pugnn.models.views import VIEWS, Attributes, make_views, side_by_side
from pugnn.models.views.rows import KeptTables, Rows
from pugnn.priors import Evidence, Prior, settle_prior
from pugnn.task import PUTask
from pugnn.training import TrainingSettings, derive_seed, resolve_device
from pugnn.training.progress import stage_progress

#: Known positives are hidden in this many turns, or one by one if there are fewer.
FOLDS = 5
#: How fast weights follow the evidence, and how much of it is needed against the smoothed view, or the trained scores.
SHARPNESS, RESERVE = 2.0, 1.0
#: Views with a smaller weight are left out.
LEAST_WEIGHT = 0.1
#: A usual spread of gains in rank, and how many observations it is worth.
USUAL_SPREAD, USUAL_FREEDOM = 0.15, 4
#: With this many hidden positives, or known negatives, evidence counts half.
THIN = 10
#: The largest share of known negatives in what known positives are compared with.
MOST_NEGATIVE = 0.5


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
            that kind, and make positives seem rare; so no ranking is judged by them, but see :meth:`checked`.
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

    def contrasts(self, rows: Rows) -> Tensor:
        r""":math:`\mu_L - \mu` of the whole, and with each fold hidden, as columns.

        Known negatives move :math:`\mu`, the mean over all nodes, towards their own mean :math:`\mu_N`:

        .. math:: \mu_L - (1 - a) \mu - a \mu_N, \qquad a = \frac12 \cdot \frac{n_N}{n_N + 10}

        A few may be unlike the others, so they hardly count; and even many never count more than all nodes do, as they
        are not a sample of all negatives but of those that were checked.
        """
        seen = self.memberships()
        rest = rows.mean
        if len(self.negative):
            rest = torch.lerp(rest, rows[self.negative].mean(dim=0), self.negative_share)
        return rows[self.labelled].t() @ (seen / seen.sum(dim=0)) - rest[:, None]

    @property
    def negative_share(self) -> float:
        """The share *a* of known negatives in what known positives are compared with."""
        return MOST_NEGATIVE * len(self.negative) / (len(self.negative) + THIN)

    def standardised(self, scores: Tensor) -> Tensor:
        """Scores, one column per fold, with mean 0 and standard deviation 1 over the unlabelled nodes."""
        free = scores[self.unlabelled].double()
        return (scores.double() - free.mean(dim=0)) / free.std(dim=0, correction=0).clamp(min=1e-12)

    def hidden_ranks(self, scores: Tensor) -> NDArray[np.float64]:
        """See :func:`hidden_ranks`; without confirmed nodes, and empty if nothing can be hidden."""
        if not self.turns:
            return np.empty(0)
        ranks = hidden_ranks(scores, self.labelled, self.unlabelled, self.folds)
        return ranks if self.confirmed is None else ranks[~self.confirmed]

    def checked(self, rows: Rows) -> Checked | None:
        """Ranks of confirmed and rejected nodes by the contrast on rows, as if nothing were known about them."""
        if not self.turns or self.confirmed is None or not (self.confirmed.any() or len(self.negative)):
            return None
        blind = replace(self, negative=self.negative[:0], confirmed=None)
        scores = rows @ blind.contrasts(rows)
        hidden = blind.hidden_ranks(scores[:, 1:])[self.confirmed]
        rejected = hidden_ranks(scores[:, :1], self.negative, self.unlabelled, np.zeros(len(self.negative), np.int64))
        positive = np.arange(len(hidden) + len(rejected)) < len(hidden)
        return Checked(np.concatenate([hidden, rejected]), positive)


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


@dataclass(frozen=True)
class Weighing:
    """The views of a task, weighed by how well they rank known positives that are hidden in turn.

    Args:
        attributes: how attributes are read.
        weights: of :data:`pugnn.models.views.VIEWS`, adding up to 1, shape ``(3,)``.
        rows: the weighted views side by side, shape ``(N, d)``.
        contrast: their contrast, shape ``(d,)``.
        hidden_scores: of all nodes by the contrast that does without each fold, shape ``(N, folds)``.
        ranks: of hidden positives by these, shape ``(n_L,)``; empty if nothing can be hidden.
        ranks_of_views: the same by each view alone.
    """

    attributes: Attributes
    weights: Tensor
    rows: Rows
    contrast: Tensor
    hidden_scores: Tensor
    ranks: NDArray[np.float64]
    ranks_of_views: dict[str, NDArray[np.float64]]

    def evidence(self, task: PUTask, known: KnownPositives) -> Evidence:
        """What estimators of the prior read."""
        return Evidence(task, self.rows, known.folds, self.ranks, known.checked(self.rows))


def weigh_views(
    inputs: GraphInputs, known: KnownPositives, *, only: str | None = None, keep: KeptTables | None = None
) -> Weighing:
    r"""Compare the views on hidden positives, and put them side by side.

    With :math:`z_v` the evidence that view v ranks hidden positives higher than the smoothed view, :math:`w_v \propto
    e^{2 (z_v - 1)}`, and 1 for the smoothed view; weights below 0.1 are dropped.

    Args:
        inputs: the graph.
        known: known positives and their folds.
        only: a view to do with, instead of weighing them.
        keep: where to keep views that are larger than memory, or that several processes share.
    """
    attributes = Attributes.of(inputs.graph)
    candidates = make_views(attributes, inputs, keep=keep)
    ranks = {name: known.hidden_ranks(rows @ known.contrasts(rows)[:, 1:]) for name, rows in candidates.items()}
    weights = np.array([float(name == (only or VIEWS[0])) for name in VIEWS])
    if known.turns and only is None:
        base = ranks[VIEWS[0]]
        weights = softmax([0.0, *(SHARPNESS * (advantage(ranks[name], base) - RESERVE) for name in VIEWS[1:])])
        weights = np.where(weights >= LEAST_WEIGHT, weights, 0.0)
        weights /= weights.sum()
    view_weights = torch.from_numpy(weights.astype(np.float32)).to(inputs.device)
    rows = side_by_side(candidates, view_weights)
    contrasts = known.contrasts(rows)
    hidden_scores = rows @ contrasts[:, 1:]
    hidden_ranks = known.hidden_ranks(hidden_scores)
    return Weighing(attributes, view_weights, rows, contrasts[:, 0], hidden_scores, hidden_ranks, ranks)


def prior_of(wanted: float | str, task: PUTask, settings: TrainingSettings, *, progress: bool) -> Prior:
    """The prior for a method that has no ranking of hidden positives itself: that of the weighed views serves."""
    device = resolve_device(settings.device)
    known = KnownPositives.of(task, device, settings.seed)
    with stage_progress("estimating how many positives there are", show=progress):
        weighing = weigh_views(inputs_on(task.graph, device), known)
        return settle_prior(wanted, weighing.evidence(task, known))
