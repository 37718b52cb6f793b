"""The marginals of GRAB (Yoo et al., ICDM 2021): belief propagation from the known positives."""

from __future__ import annotations

import numpy as np

from pugnn.graph import propagate_beliefs
from pugnn.priors.base import LEAST_PRIOR, PRIORS, Evidence

#: Weight of two neighbours having the same class, as in GRAB.
HOMOPHILY = 0.9
#: Rounds of belief propagation.
ROUNDS = 10


@PRIORS.register("grab")
def grab_marginals(evidence: Evidence) -> float:
    """Known positives are certain, all others positive with probability π, at first the share of known positives.
    Beliefs spread along the links (:mod:`pugnn.graph.belief_propagation`), and the share of unlabelled nodes with a
    belief of one half or more is the next π, until it stays. It reads neither attributes nor hidden positives.
    """
    task = evidence.task
    prior = len(task.labelled) / task.graph.num_nodes
    for _ in range(ROUNDS):
        potentials = np.full(task.graph.num_nodes, prior)
        potentials[task.labelled] = 1.0
        beliefs = propagate_beliefs(task.graph, potentials, homophily=HOMOPHILY)
        before, prior = prior, max(float((beliefs[task.unlabelled] >= 0.5).mean()), LEAST_PRIOR)
        if abs(prior - before) < 0.01 * before:
            break
    return min(prior, 1.0)
