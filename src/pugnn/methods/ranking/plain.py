"""The ranking without a prior: a logistic regression on the views of nodes, with closeness beside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from pugnn.evidence.hidden_positives import FOLDS, FoldedTask, RankedPositives, evidence_for
from pugnn.graph import Graph
from pugnn.graph.derived import derived
from pugnn.methods.ranking.logistic import logistic_regression
from pugnn.priors import Prior, settle_prior
from pugnn.task import PUTask
from pugnn.training import TrainingSettings
from pugnn.training.progress import stage_progress
from pugnn.views import AnyViewMatrix, Attributes, ViewMatrix, closeness, views_of

#: C of the default method.
INVERSE_PENALTY = 1.0
#: Evidence with which closeness counts half.
DOUBT = 1.0
#: Share of the time of a fit that the ranking takes, roughly.
RANKING_TIME = 0.3


@dataclass(frozen=True, eq=False)
class Ranking:
    """Linear models of a folded task, one column each, with scores of standard deviation 1.

    Args:
        scores: shape ``(N, k)``.
        direction: in the views, shape ``(views, F, k)``.
        closeness_weight: shape ``(k,)``.
        hidden: ranks of the hidden positives.
    """

    scores: NDArray[np.float32]
    direction: NDArray[np.float32]
    closeness_weight: NDArray[np.float32]
    hidden: RankedPositives


def rank_views(views: AnyViewMatrix, folded: FoldedTask) -> Ranking:
    r"""Rank by the regression, and by closeness to the known positives as far as that finds hidden ones.

    Scores g of the regression and closeness n (:mod:`pugnn.views.walks`), both of standard deviation 1, are added:
    :math:`g + \sigma(2 (z - 1))\, n`, with z the evidence that g + n ranks hidden positives higher than g does.
    """
    direction = logistic_regression(views, folded, INVERSE_PENALTY)
    regression = _standardised(views @ direction, direction, folded)
    if not folded.turns:
        return regression
    near = closeness(views.graph, folded.seeds())
    near_spreads = folded.spreads(near)
    near /= near_spreads
    both = folded.rank_hidden((regression.scores + near)[:, 1:])
    evidence = evidence_for(both.ranks, over=regression.hidden.ranks, floor=folded.labelled_share)
    share = np.float32(expit(2 * (evidence - DOUBT)))
    return _standardised(regression.scores + share * near, regression.direction, folded, share, near_spreads)


def _standardised(
    scores: NDArray[np.float32],
    direction: NDArray[np.float32],
    folded: FoldedTask,
    closeness_share: np.float32 | float = 0.0,
    closeness_spreads: NDArray[np.float32] | float = 1.0,
) -> Ranking:
    spreads = folded.spreads(scores)
    scores = scores / spreads
    closeness_weight = closeness_share / (closeness_spreads * spreads)
    return Ranking(scores, direction / spreads, closeness_weight, folded.rank_hidden(scores[:, 1:]))


def default_view_matrix(graph: Graph) -> ViewMatrix:
    """All views of a graph, with its attributes read as they suggest."""
    return views_of(graph, Attributes.of(graph))


def rank_task(folded: FoldedTask) -> Ranking:
    """The ranking of a task by all its views. No setting changes it, so it is cached for a task and its folds."""
    graph = folded.task.graph
    key = folded.task.key, folded.folds.tobytes()
    return derived(graph, "ranking", lambda: rank_views(default_view_matrix(graph), folded), key, most=1 + FOLDS)


def estimate_prior(wanted: float | str, task: PUTask, settings: TrainingSettings, *, progress: bool) -> Prior:
    """Settle the prior of a method that hides no positives itself, by those of the default method's ranking."""
    with stage_progress("estimating how many positives there are", show=progress):
        return settle_prior(wanted, rank_task(FoldedTask.of(task, settings.seed)).hidden)
