"""The default method on one matrix of views: its plain ranking and its training, weighed and added."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from pugnn.evidence.hidden_positives import FoldedTask, evidence_for
from pugnn.methods.ranking.confident import train_confident
from pugnn.methods.ranking.plain import Ranking
from pugnn.priors import Prior, settle_prior
from pugnn.training import RunOptions, TrainingSettings
from pugnn.training.checkpoint import Log
from pugnn.views import AnyViewMatrix

#: Prior at which training and ranking count the same where hidden positives say nothing: with rarer positives,
#: confident scores are confident about the wrong nodes.
EVEN_PRIOR = 0.05
#: Number of labels that make an estimated prior worth half a given one, where it speaks for training.
MANY = 60


@dataclass(frozen=True, eq=False)
class ViewFit:
    """A linear model of views, and what was learnt on the way.

    Args:
        direction: in the views, shape ``(views, F)``.
        closeness_weight: the weight of closeness.
        scores: of all nodes by the models of the folded task, shape ``(N, k)``.
        prior: the settled prior.
        log: of the training.
        note: a sentence about what training contributes.
    """

    direction: NDArray[np.float32]
    closeness_weight: float
    scores: NDArray[np.float32]
    prior: Prior
    log: Log
    note: str


def fit_views(
    views: AnyViewMatrix,
    ranking: Ranking,
    folded: FoldedTask,
    prior: float | str,
    settings: TrainingSettings,
    run: RunOptions,
) -> ViewFit:
    """Steps 3 to 5 of :class:`pugnn.methods.Views`, from the ranking by the views."""
    settled = settle_prior(prior, ranking.hidden)
    trained, log = train_confident(views, ranking, folded, settled.value, settings, run)
    trained_scores = views @ trained
    spreads = folded.spreads(trained_scores)
    trained_scores /= spreads
    hidden = folded.rank_hidden(trained_scores[:, 1:])
    evidence = evidence_for(hidden.ranks, over=ranking.hidden.ranks, floor=settled.value)
    share = _training_share(evidence, settled, len(folded.task.labelled))
    return ViewFit(
        direction=(1 - share) * ranking.direction[:, :, 0] + share / spreads[0] * trained[:, :, 0],
        closeness_weight=(1 - share) * float(ranking.closeness_weight[0]),
        scores=(1 - share) * ranking.scores + share * trained_scores,
        prior=settled,
        log=log,
        note=_training_note(share, evidence, folded),
    )


def _training_share(evidence: float, prior: Prior, labels: int) -> float:
    """The share of training in the sum of step 5."""
    commonness = np.log(prior.value / EVEN_PRIOR)
    if prior.source != "given" and commonness > 0:
        commonness *= labels / (labels + MANY)
    return float(expit(2 * (evidence + commonness)))


def _training_note(share: float, evidence: float, folded: FoldedTask) -> str:
    shares = f"The score is {100 * share:.0f} % confident training and {100 * (1 - share):.0f} % plain ranking"
    if not folded.turns:
        return f"{shares}; with a single known positive, this cannot be checked."
    if abs(evidence) < 0.05:
        return f"{shares}: training ranks hidden positives no better or worse."
    comparison = "better" if evidence > 0 else "worse"
    return f"{shares}: training ranks hidden positives {comparison} (evidence {evidence:+.1f}, where 2 is strong)."
