"""The marginals of GRAB (Yoo et al., ICDM 2021): belief propagation from the known positives."""

from __future__ import annotations

import numpy as np

from pugnn.graph import propagate_beliefs
from pugnn.priors.base import MOST_PRIOR, PRIORS, Evidence
from pugnn.priors.lowest_bound import lowest_bound

#: Weight of two neighbours having the same class, as in GRAB.
HOMOPHILY = 0.9


@PRIORS.register("grab")
def grab_marginals(evidence: Evidence) -> float:
    """The mean belief of the unlabelled nodes, after beliefs have spread along the links.

    Known positives are certain; all others are positive with the probability of the lowest bound to begin with. See
    :mod:`pugnn.graph.belief_propagation`. Where nodes have many links, nearly all beliefs end at 0, or at 1.
    """
    task = evidence.task
    potentials = np.full(task.graph.num_nodes, min(lowest_bound(evidence), MOST_PRIOR))
    potentials[task.labelled], potentials[task.negative] = 1.0, 0.0
    beliefs = propagate_beliefs(task.graph, potentials, homophily=HOMOPHILY)
    return float(beliefs[task.unlabelled].mean())
