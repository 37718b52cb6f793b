"""The marginals of GRAB (Yoo et al., ICDM 2021): belief propagation from the known positives."""

from __future__ import annotations

import numpy as np
import torch

from pugnn.evidence import RankedPositives
from pugnn.graph import propagate_beliefs
from pugnn.priors.base import MAX_ESTIMATE, PRIORS
from pugnn.priors.lowest_bound import lowest_bound

#: Weight of two neighbours having the same class, as in GRAB.
HOMOPHILY = 0.9


@PRIORS.register("grab")
def grab_marginals(hidden: RankedPositives) -> float:
    """The mean belief of the unlabelled nodes, after beliefs have spread along the links.

    With π the lowest bound, the share π of the nodes that are most like the known positives is positive with
    probability 1 − π to begin with, and the others with probability π, as in the authors' code; known positives are
    certain. See :mod:`pugnn.graph.belief_propagation`. Where nodes have many links, beliefs end near 0 and 1.
    """
    task, rows = hidden.task, hidden.rows()
    prior = min(lowest_bound(hidden), MAX_ESTIMATE)
    scores = (rows @ rows[torch.from_numpy(task.labelled.copy())].mean(dim=0)).numpy()
    potentials = np.where(scores >= np.quantile(scores, 1 - prior), 1 - prior, prior)
    potentials[task.labelled], potentials[task.negative] = 1.0, 0.0
    beliefs = propagate_beliefs(task.graph, potentials, homophily=HOMOPHILY)
    return float(beliefs[task.unlabelled].mean())
