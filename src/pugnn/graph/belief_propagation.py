r"""Loopy belief propagation between two states, with one homophily potential for all edges.

A node's potential :math:`\phi_i` is its probability of being positive before any message; the edge potential gives
weight :math:`\varepsilon` to neighbours in the same state and :math:`1 - \varepsilon` to others. Messages are passed
along all edges at once until the beliefs converge. On trees the result is exact.

With two states a distribution is a single number, its log-odds (infinite for a certain node), and the update is

.. math:: \mu_{i \to j} = 2 \operatorname{artanh}\big( (2\varepsilon - 1) \tanh \tfrac12 (\lambda_i - \mu_{j \to i})
    \big), \qquad \lambda_i = \operatorname{logit} \phi_i + \sum_{k \in N(i)} \mu_{k \to i}
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError, require_number, require_share, require_type, require_whole
from pugnn.graph.arrays import as_array
from pugnn.graph.graph import Graph


def propagate_beliefs(
    graph: Graph,
    potentials: NDArray[np.float64],
    *,
    homophily: float = 0.9,
    tolerance: float = 1e-6,
    max_iterations: int = 100,
) -> NDArray[np.float64]:
    r"""Belief of being positive for every node, shape ``(N,)``.

    Args:
        graph: the graph; weights are ignored.
        potentials: :math:`\phi_i`, shape ``(N,)``; 0 and 1 are allowed.
        homophily: :math:`\varepsilon`, between 0 and 1.
        tolerance: stop when no belief changes by more than this, or after ``max_iterations``.
    """
    require_type("graph", graph, Graph, "a pugnn.Graph")
    require_share("homophily", homophily)
    require_number("tolerance", tolerance, negative=False)
    require_whole("max_iterations", max_iterations, 0)
    potentials = as_array(potentials, "potentials")
    numbers = potentials.dtype.kind in "biuf" and potentials.shape == (graph.num_nodes,)
    if not numbers or not ((potentials >= 0) & (potentials <= 1)).all():
        raise PugnnError("potentials must be one number from 0 to 1 for each node")
    # Edges are sorted by (source, target), so sorting them by (target, source) lists their reverses.
    reverse = np.lexsort((graph.sources, graph.indices))
    with np.errstate(divide="ignore"):  # certain nodes are at plus or minus infinity
        prior = np.log(potentials) - np.log1p(-potentials)
    messages = np.zeros(len(graph.indices))
    log_odds, beliefs = prior, potentials
    for _ in range(max_iterations):
        cavity = log_odds[graph.sources] - messages[reverse]  # the belief of i without j's message
        messages = 2 * np.arctanh((2 * homophily - 1) * np.tanh(cavity / 2))
        # Edge e leads from sources[e] to indices[e]; its reverse carries the message that sources[e] receives.
        log_odds = prior + np.bincount(graph.sources, messages[reverse], minlength=graph.num_nodes)
        before, beliefs = beliefs, 0.5 * (1 + np.tanh(log_odds / 2))
        if np.abs(beliefs - before).max(initial=0.0) < tolerance:
            break
    return beliefs
