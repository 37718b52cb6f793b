r"""Loopy belief propagation between two states, with one homophily potential for all edges.

Each node is positive or negative. Its own potential :math:`\phi_i` says how likely before the neighbours are asked; the
edge potential gives weight :math:`\varepsilon` to neighbours in the same state and :math:`1 - \varepsilon` to others.
Messages are passed along all edges at once until the beliefs stand still. On trees the result is exact.

With two states a distribution is one number, its log-odds. The textbook update

.. math:: m_{i \to j}(v) \propto \sum_u \frac{b_i(u)}{m_{j \to i}(u)}\, \psi(u, v), \qquad
    b_i(u) \propto \phi_i(u) \prod_{k \in N(i)} m_{k \to i}(u)

becomes a sum and one function, and exact zeros (a node that is surely positive) are infinities that do no harm:

.. math:: \mu_{i \to j} = 2 \operatorname{artanh}\big( (2\varepsilon - 1) \tanh \tfrac12 (\lambda_i - \mu_{j \to i})
    \big), \qquad \lambda_i = \operatorname{logit} \phi_i + \sum_{k \in N(i)} \mu_{k \to i}
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.graph.graph import Graph


def require_homophily(homophily: float) -> None:
    """Neither sure agreement nor sure disagreement: between those, every state of the graph is possible."""
    if not 0 < homophily < 1:
        raise PugnnError(f"homophily must lie between 0 and 1, got {homophily}")


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
        graph: who exchanges messages; weights play no part.
        potentials: :math:`\phi_i(+)`, probability of being positive before messages, shape ``(N,)``; 0 and 1 allowed.
        homophily: :math:`\varepsilon`, weight of two neighbours in the same state, between 0 and 1.
        tolerance: stop when no belief moves by more.
        max_iterations: stop in any case.
    """
    require_homophily(homophily)
    reverse = _reverse_edges(graph)
    with np.errstate(divide="ignore"):  # sure nodes are at plus or minus infinity
        prior = np.log(potentials) - np.log1p(-potentials)
    messages = np.zeros(len(graph.indices))
    log_odds, beliefs = prior, potentials
    for _ in range(max_iterations):
        cavity = log_odds[graph.sources] - messages[reverse]  # what i believes without hearing j
        messages = 2 * np.arctanh((2 * homophily - 1) * np.tanh(cavity / 2))
        # Edge e leads from sources[e] to indices[e]; its mirror image carries the message that sources[e] receives.
        log_odds = prior + np.bincount(graph.sources, messages[reverse], minlength=graph.num_nodes)
        before, beliefs = beliefs, 0.5 * (1 + np.tanh(log_odds / 2))
        if np.abs(beliefs - before).max(initial=0.0) < tolerance:
            break
    return beliefs


def _reverse_edges(graph: Graph) -> NDArray[np.int64]:
    """For each directed edge the place of the same edge the other way round."""
    # The edges are sorted by (source, target), so sorting them by (target, source) lists their mirror images.
    return np.lexsort((graph.sources, graph.indices))
