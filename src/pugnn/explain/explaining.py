"""From a fitted model to explanations of its scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

from pugnn.errors import PugnnError, given, require_type
from pugnn.estimator import PUNodeClassifier
from pugnn.explain.changes import smallest_change
from pugnn.explain.columns import Columns
from pugnn.explain.explanation import AttributePart, Change, Explanation, Known, NodePart
from pugnn.explain.gradients import gradient_parts
from pugnn.explain.parts import Parts, largest
from pugnn.explain.paths import distances_around, nearest_paths
from pugnn.explain.propagation import propagation_parts
from pugnn.explain.view_parts import view_parts
from pugnn.explain.wording import sentences
from pugnn.graph import UNREACHABLE, Graph
from pugnn.graph.arrays import as_array, positions_within, require_numbers
from pugnn.models import Backbone, Propagation
from pugnn.parameters import require_fitted
from pugnn.store import TableGraph
from pugnn.store.given import as_graph
from pugnn.task import PUTask
from pugnn.training import scores_of
from pugnn.views import LinearViews
from pugnn.waiting import advance

#: Finds that are explained after a training, whether that is exact and fast, or not.
MAX_EXACT, MAX_BY_GRADIENTS = 20, 3
#: Parts that are named: for and against.
MAX_FOR, MAX_AGAINST = 6, 3
#: Parts that are named among those that would change a decision.
MAX_IN_CHANGES = 5
#: Parts smaller than this share of the largest are not worth a name, nor are those that would be shown as 0.00.
MIN_SHARE, MIN_SHOWN = 0.02, 0.005
#: Smaller differences of log-odds may be due to single precision.
ROUNDING = 1e-4

NOTHING = np.zeros(0, np.int64)


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
        >>> graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], features=np.eye(5))
        >>> classifier = PUNodeClassifier("centroid").fit(graph, [0])
        >>> for each in explain(classifier, graph, [1]):
        ...     print(each.rank, each.decision, round(each.base + each.own + each.around - each.total, 9))
        2 True 0.0
    """
    require_fitted(estimator)
    known = task.task if isinstance(task, TableGraph) else task if isinstance(task, PUTask) else None
    graph = known.graph if known is not None else as_graph(task, estimator.recipe_)
    positions = positions_within(nodes, graph.num_nodes, "nodes")
    positives = None if known is None else known.labelled
    if log_odds is None:
        log_odds = estimator.decision_function(graph, positives)
    require_numbers("log_odds", log_odds, graph.num_nodes)
    _require_shown(shown, graph.num_nodes)
    context = _Context(graph, known, log_odds, order, estimator.threshold_, shown or {})
    found = []
    for node, parts in zip(positions, _parts(estimator.model_for(graph, positives), graph, positions), strict=True):
        found.append(context.explanation(int(node), parts))
        advance(len(found) / len(positions))
    return found


def _require_shown(shown: Any, nodes: int) -> None:
    """Raise unless these are columns to show, with one text per node."""
    require_type("shown", shown, Mapping | None, "a mapping of names to columns")
    for name, cells in (shown or {}).items():
        if as_array(cells, f"shown: the column {name!r}").shape != (nodes,):
            raise PugnnError(f"shown: the column {name!r} must have one text per node, {nodes}; got {given(cells)}")


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
        count = MAX_EXACT if isinstance(estimator.model_, LinearViews | Propagation) else MAX_BY_GRADIENTS
    order = np.argsort(-log_odds, kind="stable") if order is None else order
    unlabelled = np.zeros(len(order), np.bool_)
    unlabelled[task.unlabelled] = True
    best = order[unlabelled[order]][:count]
    return explain(estimator, task, best, log_odds=log_odds, order=order, shown=shown)


def _parts(model: Backbone, graph: Graph, nodes: NDArray[np.int64]) -> Iterator[Parts]:
    if isinstance(model, LinearViews):
        return view_parts(model, graph, nodes)
    if isinstance(model, Propagation):
        return propagation_parts(model, graph, nodes)
    return gradient_parts(model, graph, nodes)


class _Context:
    """What all explanations of a graph share."""

    def __init__(
        self,
        graph: Graph,
        task: PUTask | None,
        log_odds: NDArray[np.float64],
        order: NDArray[np.int64] | None,
        threshold: float,
        shown: Mapping[str, NDArray[Any]],
    ) -> None:
        self.graph, self.task, self.threshold, self.shown = graph, task, threshold, shown
        self.scores = scores_of(log_odds)
        self.rank = (task or PUTask(graph, NOTHING, NOTHING)).ranks(log_odds, order)
        self.known: dict[int, Known] = {}
        if task is not None:
            self.known = dict.fromkeys(task.labelled.tolist(), "positive")
            self.known |= dict.fromkeys(task.negative.tolist(), "negative")
        self.columns: Columns | None = None

    def id_of(self, node: int) -> Any:
        """The id of a node, as a type of Python's."""
        return self.graph.ids[[node]].tolist()[0]

    def explanation(self, node: int, parts: Parts) -> Explanation:
        if self.columns is None:
            self.columns = Columns(self.graph, len(parts.own), closeness=parts.closeness)
        farthest = 0 if self.task is None else int(self.task.distances[node])
        distances = distances_around(self.graph, node, farthest)
        own, around = self.columns.total(parts.own), self.columns.total(parts.around)
        by_others = parts.by_node.copy()
        by_others[node] = 0.0
        decision = bool(self.scores[node] >= self.threshold) and self.known.get(node) != "negative"
        with np.errstate(divide="ignore"):
            odds = np.divide(self.threshold, 1 - self.threshold)
            limit = float(odds if parts.unit == "odds" else logit(self.threshold))
            # A total at the limit may be rounded to the other side of it than the score was.
            limit = min(limit, parts.total) if decision else max(limit, float(np.nextafter(parts.total, np.inf)))
        attributes = self._attributes(node, parts, own, around)
        found = Explanation(
            id=self.id_of(node),
            rank=int(self.rank[node]) or None,
            nodes_ranked=int(self.rank.max()),
            score=float(self.scores[node]),
            threshold=self.threshold,
            decision=decision,
            known=self.known.get(node),
            how=parts.how,
            unit=parts.unit,
            total=parts.total,
            base=parts.base,
            own=float(parts.by_node[node]),
            around=float(by_others.sum()),
            score_without_own=_score(parts, parts.without(np.array([node]), NOTHING)),
            closeness=float(parts.own[-1] + parts.around[-1]) if parts.closeness else None,
            rest=float(parts.total - parts.base - parts.by_node.sum()) if parts.how == "gradients" else 0.0,
            nodes=[
                NodePart(
                    self.id_of(other),
                    float(by_others[other]),
                    None if distances[other] == UNREACHABLE else int(distances[other]),
                    self.known.get(other),
                    _score(parts, total),
                )
                for other, total in _speaking(parts, by_others, lambda other: parts.without(np.array([other]), NOTHING))
            ],
            speak_for=[part for part in attributes if part.contribution > 0],
            speak_against=[part for part in attributes if part.contribution < 0],
            nearest=None
            if self.task is None
            else [
                [self.id_of(each) for each in path]
                for path in nearest_paths(self.graph, node, self.task.labelled, distances)
            ],
            changes=[] if self.known.get(node) == "negative" else self._changes(parts, by_others, own + around, limit),
            shown={name: str(cells[node]) for name, cells in self.shown.items()},
        )
        return replace(found, sentences=sentences(found))

    def _attributes(
        self, node: int, parts: Parts, own: NDArray[np.float64], around: NDArray[np.float64]
    ) -> list[AttributePart]:
        assert self.columns is not None
        columns = self.columns
        return [
            AttributePart(
                columns.names[at],
                columns.value(at, node),
                float(own[at] + around[at]),
                float(own[at]),
                float(around[at]),
                _score(parts, total),
            )
            for at, total in _speaking(
                parts, own + around, lambda at: parts.without(NOTHING, columns.of_attributes(np.array([at])))
            )
        ]

    def _changes(
        self, parts: Parts, by_others: NDArray[np.float64], by_attribute: NDArray[np.float64], limit: float
    ) -> list[Change]:
        assert self.columns is not None
        columns, changes = self.columns, []
        nodes = smallest_change(parts.total, limit, by_others, lambda some: parts.without(some, NOTHING))
        if nodes is not None:
            names = [self.id_of(each) for each in nodes[0][:MAX_IN_CHANGES].tolist()]
            changes.append(Change("nodes", len(nodes[0]), names, _score(parts, nodes[1])))
        attributes = smallest_change(
            parts.total, limit, by_attribute, lambda some: parts.without(NOTHING, columns.of_attributes(some))
        )
        if attributes is not None:
            names = [columns.names[each] for each in attributes[0][:MAX_IN_CHANGES].tolist()]
            changes.append(Change("attributes", len(attributes[0]), names, _score(parts, attributes[1])))
        return changes


def _speaking(
    parts: Parts, contributions: NDArray[np.float64], without: Callable[[int], float]
) -> list[tuple[int, float]]:
    """The parts that speak for and against a node, largest first, each with the total without it.

    A part speaks for a node if its contribution is positive and the total, computed anew without it, is lower. The
    latter need not follow: rows have length 1, so that without one part all others gain weight.
    """
    found: dict[int, float] = {}
    in_log_odds = parts.unit == "log-odds"
    least = max(MIN_SHARE * np.abs(contributions).max(initial=0.0), MIN_SHOWN if in_log_odds else 0.0)
    for sign, most in ((1.0, MAX_FOR), (-1.0, MAX_AGAINST)):
        enough = len(found) + most
        for at in largest(sign * contributions, 2 * most).tolist():
            if len(found) == enough or sign * contributions[at] <= 0 or sign * contributions[at] < least:
                break
            total = without(at)
            if sign * (parts.total - total) > (ROUNDING if in_log_odds else 0.0):
                found[at] = total
    return sorted(found.items(), key=lambda item: -abs(contributions[item[0]]))


def _score(parts: Parts, total: float) -> float:
    return float(total / (1 + total)) if parts.unit == "odds" else float(expit(total))
