"""From a fitted model to explanations of its scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

from pugnn.errors import PugnnError, given, require_type
from pugnn.estimator import PUNodeClassifier
from pugnn.explain.attribute_columns import Columns
from pugnn.explain.exact_parts import propagation_parts, view_parts
from pugnn.explain.explanation import AttributePart, Change, Explanation, Kind, Known, NodePart
from pugnn.explain.gradient_parts import gradient_parts
from pugnn.explain.layer_parts import layer_parts
from pugnn.explain.parts import NOTHING, Parts, at_once, largest, smallest_change
from pugnn.explain.sentences import sentences
from pugnn.graph import UNREACHABLE, hop_distances
from pugnn.graph.arrays import as_array, positions_within, require_numbers
from pugnn.models import Propagation
from pugnn.parameters import require_fitted
from pugnn.store import TableGraph
from pugnn.store.given import as_graph
from pugnn.task import PUTask
from pugnn.training import scores_of
from pugnn.views import LayeredModel, LinearModel
from pugnn.waiting import advance

#: Finds that are explained after a training at most, whether that is exact and fast, or not.
MAX_EXACT, MAX_BY_GRADIENTS = 20, 3
#: Parts that are named: for and against.
MAX_FOR, MAX_AGAINST = 6, 3
#: Parts that are named among those that would change a decision.
MAX_IN_CHANGES = 5
#: Parts smaller than this share of the largest are not worth a name, nor are those that would be shown as 0.00.
MIN_SHARE, MIN_SHOWN = 0.02, 0.005
#: Smaller differences of log-odds may be due to single precision.
ROUNDING = 1e-4
#: Hops are counted up to this number, or farther if the nearest known positive is.
NEAR = 3
#: Paths that are shown, to as many of the nearest known positives.
MAX_PATHS = 3

KNOWN: dict[int, Known] = {1: "positive", -1: "negative"}
#: Models whose scores are sums; gradients explain all others.
EXACT: dict[type, Callable[..., Iterator[Parts]]] = {
    LinearModel: view_parts,
    LayeredModel: layer_parts,
    Propagation: propagation_parts,
}


def explain(
    estimator: PUNodeClassifier,
    task: Any,
    nodes: ArrayLike,
    *,
    log_odds: NDArray[np.float64] | None = None,
    order: NDArray[np.int64] | None = None,
    shown: Mapping[str, NDArray[Any]] | None = None,
) -> list[Explanation]:
    """Why nodes have their scores.

    The default method, ``centroid``, ``smoothed-logistic`` and ``label-propagation`` are explained exactly, other
    networks by integrated gradients, which takes longer.

    Args:
        estimator: fitted, or loaded.
        task: a graph and its known positives, or what :func:`pugnn.read_graph` returned; with a graph alone, in any
            form that ``fit`` takes, no known positives are named.
        nodes: positions of the nodes, see :meth:`pugnn.Graph.positions`.
        log_odds: those of all nodes (:meth:`~pugnn.PUNodeClassifier.decision_function`), if they are at hand.
        order: positions of all nodes, best first, if they are sorted already.
        shown: columns to show with each node, one text per node.

    Example:
        >>> from pugnn import Graph
        >>> graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], features=np.eye(5))
        >>> classifier = PUNodeClassifier("centroid").fit(graph, [0])
        >>> for each in explain(classifier, graph, [1]):
        ...     print(each.rank, each.decision, round(abs(each.base + each.own + each.around - each.total), 9))
        2 True 0.0
    """
    require_fitted(estimator)
    known_task = task.task if isinstance(task, TableGraph) else task if isinstance(task, PUTask) else None
    graph = known_task.graph if known_task is not None else as_graph(task, estimator.recipe_)
    positions = positions_within(nodes, graph.num_targets, "nodes")
    positives = None if known_task is None else known_task.labelled
    if log_odds is None:
        log_odds = estimator.decision_function(graph, positives)
    require_numbers("log_odds", log_odds, graph.num_targets)
    require_type("shown", shown, Mapping | None, "a mapping of names to columns")
    for name, cells in (shown or {}).items():
        if as_array(cells, f"shown: the column {name!r}").shape != (graph.num_targets,):
            words = f"must have one text per node, {graph.num_targets}; got {given(cells)}"
            raise PugnnError(f"shown: the column {name!r} {words}")
    model = estimator.model_for(graph, positives)
    make_parts = EXACT.get(type(model), gradient_parts)
    explainer = _Explainer(
        known_task or PUTask(graph, NOTHING, NOTHING), log_odds, order, estimator.threshold_, shown or {}
    )
    found = []
    for node, parts in zip(positions.tolist(), make_parts(model, estimator.graph_for(graph), positions), strict=True):
        found.append(explainer.explanation(node, parts))
        advance(len(found) / len(positions))
    return found


def explain_best(
    estimator: PUNodeClassifier,
    task: PUTask,
    log_odds: NDArray[np.float64],
    shown: Mapping[str, NDArray[Any]],
    count: int | None = None,
    order: NDArray[np.int64] | None = None,
) -> list[Explanation]:
    """Explain the unlabelled nodes that score highest; by default as many as can be explained in a moment."""
    if count is None:
        exact = min(MAX_EXACT, at_once(task.graph.num_nodes))
        count = exact if type(estimator.model_) in EXACT else MAX_BY_GRADIENTS
    order = np.argsort(-log_odds, kind="stable") if order is None else order
    best = order[np.isin(order, task.unlabelled)][:count]
    return explain(estimator, task, best, log_odds=log_odds, order=order, shown=shown)


class _Explainer:
    """What all explanations of a graph share."""

    def __init__(
        self,
        task: PUTask,
        log_odds: NDArray[np.float64],
        order: NDArray[np.int64] | None,
        threshold: float,
        shown: Mapping[str, NDArray[Any]],
    ) -> None:
        self.task, self.graph, self.threshold, self.shown = task, task.graph, threshold, shown
        self.scores, self.rank, self.known = scores_of(log_odds), task.ranks(log_odds, order), task.known
        self.columns: Columns | None = None

    def ids_of(self, nodes: list[int]) -> list[Any]:
        """The ids of nodes, as types of Python's."""
        ids: list[Any] = self.graph.ids[nodes].tolist()
        return ids

    def explanation(self, node: int, parts: Parts) -> Explanation:
        also = {"closeness": parts.closeness, "place": parts.place}
        columns = self.columns = self.columns or Columns(self.graph, len(parts.own), **also)
        known = KNOWN.get(int(self.known[node]))
        decision = bool(self.scores[node] >= self.threshold) and known != "negative"
        own, around = columns.total(parts.own), columns.total(parts.around)
        by_others = parts.by_node.copy()
        by_others[node] = 0.0
        nodes = _Group("nodes", parts, by_others, lambda some: parts.without(some, NOTHING), self.ids_of)
        attributes = _Group(
            "attributes",
            parts,
            own + around,
            lambda some: parts.without(NOTHING, columns.of_attributes(some)),
            lambda some: [columns.names[each] for each in some],
        )
        named = [
            AttributePart(
                name=columns.names[at],
                value=columns.value(at, node),
                contribution=both,
                own=float(own[at]),
                around=float(around[at]),
                score_without=score,
                cell=columns.cell(at, node),
            )
            for at, both, score in attributes.named()
        ]
        limit = _limit(parts, self.threshold, decision)
        changes = [] if known == "negative" else [nodes.change(limit), attributes.change(limit)]
        farthest = int(self.task.distances[node])
        hops = hop_distances(self.graph, [node], cap=NEAR if farthest == UNREACHABLE else max(NEAR, farthest))
        found = Explanation(
            id=self.ids_of([node])[0],
            rank=int(self.rank[node]) or None,
            nodes_ranked=int(self.rank.max()),
            score=float(self.scores[node]),
            threshold=self.threshold,
            decision=decision,
            known=known,
            how=parts.how,
            unit=parts.unit,
            total=parts.total,
            base=parts.base,
            own=float(parts.by_node[node]),
            around=float(by_others.sum()),
            score_without_own=nodes.score_without(np.array([node])),
            closeness=float(parts.own[-1] + parts.around[-1]) if parts.closeness else None,
            place=float(parts.around[-1 - parts.closeness]) if parts.place else None,
            relations=dict(parts.relations),
            rest=float(parts.total - parts.base - parts.by_node.sum()) if parts.how == "gradients" else 0.0,
            nodes=[
                NodePart(
                    self.ids_of([other])[0],
                    contribution,
                    None if hops[other] == UNREACHABLE else int(hops[other]),
                    KNOWN.get(int(self.known[other])),
                    score,
                )
                for other, contribution, score in nodes.named()
            ],
            speak_for=[part for part in named if part.contribution > 0],
            speak_against=[part for part in named if part.contribution < 0],
            nearest=self._nearest_paths(node, hops) if len(self.task.labelled) else None,
            changes=[change for change in changes if change is not None],
            shown={name: str(cells[node]) for name, cells in self.shown.items()},
        )
        return replace(found, sentences=sentences(found))

    def _nearest_paths(self, node: int, hops: NDArray[np.int32]) -> list[list[Any]]:
        """Ids on shortest paths from a node to the known positives that are nearest to it, itself apart."""
        others = self.task.labelled[(self.task.labelled != node) & (hops[self.task.labelled] != UNREACHABLE)]
        paths = []
        for end in others[hops[others] == hops[others].min(initial=UNREACHABLE)][:MAX_PATHS].tolist():
            path = [end]
            while path[-1] != node:
                around = self.graph.neighbours(path[-1])
                path.append(int(around[hops[around] == hops[path[-1]] - 1][0]))
            paths.append(self.ids_of(path[::-1]))
        return paths


@dataclass(frozen=True, eq=False)
class _Group:
    """The nodes or the attributes: what each contributes, the total without some of them, and their names."""

    kind: Kind
    parts: Parts
    contributions: NDArray[np.float64]
    total_without: Callable[[NDArray[np.int64]], float]
    names: Callable[[list[int]], list[Any]]

    def named(self) -> list[tuple[int, float, float]]:
        """The parts that speak for and against a node, largest first: place, contribution, and the score without it.

        A part speaks for a node if its contribution is positive and the total, computed anew without it, is lower. The
        latter need not follow: rows have length 1, so without one part all others gain weight.
        """
        found: dict[int, float] = {}
        in_log_odds = self.parts.unit == "log-odds"
        least = max(MIN_SHARE * np.abs(self.contributions).max(initial=0.0), MIN_SHOWN if in_log_odds else 0.0)
        for sign, most in ((1.0, MAX_FOR), (-1.0, MAX_AGAINST)):
            enough = len(found) + most
            for at in largest(sign * self.contributions, 2 * most).tolist():
                size = sign * self.contributions[at]
                if len(found) == enough or size <= 0 or size < least:
                    break
                total = self.total_without(np.array([at]))
                if sign * (self.parts.total - total) > (ROUNDING if in_log_odds else 0.0):
                    found[at] = self._score(total)
        places = sorted(found, key=lambda at: -abs(self.contributions[at]))
        return [(at, float(self.contributions[at]), found[at]) for at in places]

    def change(self, limit: float) -> Change | None:
        """What would change the decision, if so few parts do."""
        change = smallest_change(self.parts.total, limit, self.contributions, self.total_without)
        if change is None:
            return None
        some, total = change
        return Change(self.kind, len(some), self.names(some[:MAX_IN_CHANGES].tolist()), self._score(total))

    def score_without(self, some: NDArray[np.int64]) -> float:
        return self._score(self.total_without(some))

    def _score(self, total: float) -> float:
        return float(total / (1 + total)) if self.parts.unit == "odds" else float(expit(total))


def _limit(parts: Parts, threshold: float, decision: bool) -> float:
    """The total from which a node is decided positive."""
    threshold = min(threshold, 1.0)  # one that no score reaches is just above 1
    with np.errstate(divide="ignore"):
        limit = float(np.divide(threshold, 1 - threshold) if parts.unit == "odds" else logit(threshold))
    # A total at the limit may be rounded to the other side of it than the score was.
    return min(limit, parts.total) if decision else max(limit, float(np.nextafter(parts.total, np.inf)))
