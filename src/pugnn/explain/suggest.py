"""Which nodes to check next: the best finds, likely positives of other kinds, or those whose answer teaches most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError, counted, given, require_choice, require_number, require_whole, shown
from pugnn.explain.explanation import plain
from pugnn.graph import UNREACHABLE, Graph
from pugnn.graph.arrays import require_numbers
from pugnn.graph.layers import ALL, layers_of
from pugnn.models import Backbone
from pugnn.store.given import as_task
from pugnn.task import PUTask
from pugnn.training.scoring import ABOVE_ALL_SCORES
from pugnn.views import Attributes, LinearModel, comparable_rows

Rows = NDArray[np.float32]
Goal = Literal["precision", "discovery", "learning"]
GOALS: tuple[Goal, ...] = get_args(Goal)

#: At most this many nodes are compared with each other; of more, a random sample.
MAX_COMPARED = 2_000
#: The best finds are chosen among this many times their number; a twin moves down this share of them.
SURE, SPREAD = 2, 0.5
#: The pool of a goal, as a multiple of the expected number of positives.
REACH: dict[Goal, float] = {"discovery": 1.0, "learning": 2.0}
#: The pool has at least this many nodes for each that is wanted.
MIN_CHOICE = 5
#: Scores this close to the threshold are called border cases.
BORDER = 0.1
#: Cosines of the same nodes may differ by this, from one product of matrices to another.
ROUNDING = 1e-6


@dataclass(frozen=True)
class Suggestion:
    """A node to check: its position and its id, its rank as in the table of scores, its score, and why."""

    position: int
    id: Any
    rank: int
    score: float
    reason: str

    def to_plain(self) -> dict[str, Any]:
        """The suggestion for JSON, without the position."""
        return {"id": plain(self.id), "rank": self.rank, "score": self.score, "reason": self.reason}


def node_rows(model: Backbone, graph: Graph) -> Rows:
    """A row of numbers for every node, similar for similar nodes (:func:`pugnn.views.comparable_rows`)."""
    graph = layers_of(graph)[ALL]  # which the method has made views of
    return comparable_rows(graph, model.attributes if isinstance(model, LinearModel) else Attributes.of(graph))


def suggest(
    task: PUTask,
    scores: NDArray[np.float64],
    rows: Rows,
    *,
    goal: Goal,
    prior: float,
    threshold: float,
    count: int = 20,
    log_odds: NDArray[np.float64] | None = None,
    order: NDArray[np.int64] | None = None,
    seed: int = 0,
) -> list[Suggestion]:
    r"""Unlabelled nodes to check next, most useful first.

    - ``precision``: the top of the list, less near copies. How many are right tells how good the list is.
    - ``discovery``: likely positives that neither touch nor resemble a known positive: from the better half of as many
      nodes as there should be positives or, if these are too few, from all of them. There may be fewer, or none.
    - ``learning``: nodes that stand for many others, from twice as many as there should be positives, so that both
      sides of the decision are covered.

    For the last two, nodes are chosen one by one, each the one that adds most to

    .. math:: \sum_j \max\bigl(0, \max_{i \,\text{known or chosen}} \cos(z_i, z_j)\bigr)

    over the nodes j of the pool, with rows z less their mean: every node should resemble one whose answer is known. So
    a node counts by how many it stands for, and twins are never chosen. (Nearness to the threshold was tried as a
    weight, and taught less.)

    A node is said to resemble a known positive if their cosine is above 0 and at least typical: the median, over as
    many nodes as there should be positives, of the highest cosine with a known positive.

    Args:
        task: the graph, its known positives and known negatives.
        scores: of all nodes.
        rows: of all nodes, see :func:`node_rows`.
        goal: what the answers are for.
        prior: positive share of the unlabelled nodes.
        threshold: score from which a node is decided positive.
        count: how many, at most.
        log_odds: order of the nodes where scores are rounded to 1.
        order: positions of all nodes, best first, if they are sorted already.
        seed: of the samples that are compared in a large graph.
    """
    require_choice("goal", goal, GOALS)
    require_whole("count", count, 1)
    require_whole("seed", seed, 0)
    for name, value, most in (("prior", prior, 1.0), ("threshold", threshold, ABOVE_ALL_SCORES)):
        require_number(name, value)
        if not 0 <= value <= most:
            raise PugnnError(f"{name} must lie between 0 and 1, got {value}")
    task = as_task(task)
    require_numbers("scores", scores, task.graph.num_targets)
    if log_odds is not None:
        require_numbers("log_odds", log_odds, task.graph.num_targets)
    if not isinstance(rows, np.ndarray) or rows.ndim != 2 or len(rows) != task.graph.num_nodes:
        raise PugnnError(f"rows must be rows of all nodes, as node_rows gives them; got {given(rows)}")
    sorted_by = scores if log_odds is None else log_odds
    order = np.argsort(-sorted_by, kind="stable") if order is None else order
    rank = task.ranks(sorted_by, order)
    candidates = order[np.isin(order, task.unlabelled) & ~np.isin(order, task.negative)]
    if count > len(candidates):
        words = f"there are only {len(candidates):,} that are neither known positives nor known negatives"
        raise PugnnError(f"cannot suggest {counted(count, 'node')}: {words}. Ask for fewer.")
    require_whole("count", count, 1, MAX_COMPARED)
    expected = round(prior * len(candidates)) or int((scores[candidates] >= threshold).sum())
    likely = candidates[:expected]
    if goal == "precision":
        chosen, reasons = _best_finds(task, rows, candidates, likely, count, seed)
    else:
        pool, each = _pool(task, rows, candidates, likely, rank, goal, count, seed)
        chosen, stands_for = _covering(task, rows, pool, min(count, len(pool)), each, seed)
        learning = goal == "learning"
        told = [_verdict(scores[node], threshold) if learning else _where(task, int(node)) for node in chosen]
        reasons = [f"{words}; {like}" for words, like in zip(told, stands_for, strict=True)]
    found = zip(chosen.tolist(), task.graph.ids[chosen].tolist(), reasons, strict=True)
    return [Suggestion(node, name, int(rank[node]), float(scores[node]), reason) for node, name, reason in found]


def _best_finds(
    task: PUTask, rows: Rows, candidates: NDArray[np.int64], likely: NDArray[np.int64], count: int, seed: int
) -> tuple[NDArray[np.int64], list[str]]:
    """The top of the list without near copies, and what is around each node."""
    pool = candidates[: SURE * count]
    chosen = pool[sorted(_without_twins(rows[pool], count))]
    closest = _most_like(task, rows, likely, chosen, seed)
    like = ["" if known is None else f"; most like the known {shown(task.graph.ids[known])}" for known in closest]
    return chosen, [_surroundings(task, node) + words for node, words in zip(chosen.tolist(), like, strict=True)]


def _pool(
    task: PUTask,
    rows: Rows,
    candidates: NDArray[np.int64],
    likely: NDArray[np.int64],
    rank: NDArray[np.int64],
    goal: Goal,
    count: int,
    seed: int,
) -> tuple[NDArray[np.int64], float]:
    """The nodes to choose from for discovery or learning, and for how many each stands where they are a sample."""
    learning = goal == "learning"
    pool = candidates[: max(round(REACH[goal] * len(likely)), MIN_CHOICE * count)]
    pool = pool if learning else pool[task.distances[pool] > 1]
    each = max(1.0, len(pool) / MAX_COMPARED)
    pool = _sample(pool, seed)
    if not learning:
        pool = pool[[known is None for known in _most_like(task, rows, likely, pool, seed)]]
        better = rank[pool] <= rank[candidates[len(likely) // 2]]
        pool = pool[: max(count, int(better.sum()))]
    return pool, each


def _sample(nodes: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """As many nodes as can be compared, in their order."""
    if len(nodes) <= MAX_COMPARED:
        return nodes
    return nodes[np.sort(np.random.default_rng(seed).choice(len(nodes), MAX_COMPARED, replace=False))]


def _without_twins(rows: NDArray[np.float32], count: int) -> list[int]:
    """Places in a pool, best first: a node moves down by how much it resembles one that was chosen."""
    value = 1 - np.arange(len(rows)) / len(rows)
    resembles = np.zeros(len(rows))
    chosen: list[int] = []
    for _ in range(count):
        worth = value - SPREAD * resembles
        worth[chosen] = -np.inf
        chosen.append(int(worth.argmax()))
        resembles = np.maximum(resembles, rows @ rows[chosen[-1]])
    return chosen


def _most_like(
    task: PUTask, rows: Rows, likely: NDArray[np.int64], nodes: NDArray[np.int64], seed: int
) -> list[int | None]:
    """The known positive that each node resembles most, if it resembles any as much as ``likely`` positives do."""
    labelled = _sample(task.labelled, seed)
    alike = rows[nodes] @ rows[labelled].T
    highest = (rows[_sample(likely, seed)] @ rows[labelled].T).max(axis=1).astype(np.float64)
    typical = float(np.median(highest)) - ROUNDING if len(highest) else 0.0
    closest = zip(alike.max(axis=1).tolist(), labelled[alike.argmax(axis=1)].tolist(), strict=True)
    return [known if most > 0 and most >= typical else None for most, known in closest]


def _covering(
    task: PUTask, rows: Rows, pool: NDArray[np.int64], count: int, each: float, seed: int
) -> tuple[NDArray[np.int64], list[str]]:
    """Nodes of the pool that resemble most of what nothing known resembles, and for how many of them each stands.

    A node of the pool stands for ``each`` nodes where it is a sample.
    """
    known = _sample(np.concatenate([task.labelled, task.negative]), seed)
    own = rows[pool]
    alike = np.maximum(own @ own.T, 0)
    of_known = covered = np.maximum(rows[known] @ own.T, 0).max(axis=0)
    closest = np.full(len(pool), -1)
    chosen: list[int] = []
    for turn in range(count):
        gain = np.maximum(alike - covered, 0).sum(axis=1)
        gain[chosen] = -np.inf
        chosen.append(int(gain.argmax()))
        closest[alike[chosen[-1]] > covered] = turn
        covered = np.maximum(covered, alike[chosen[-1]])
    stands_for = np.bincount(closest[closest >= 0], minlength=count)
    numbers = [round(each * int(number)) for number in stands_for]
    return pool[chosen], [_alike(number, of_known[at] > 0) for number, at in zip(numbers, chosen, strict=True)]


def _surroundings(task: PUTask, node: int) -> str:
    """How many neighbours are known positives or, where none is, how far the nearest one is."""
    neighbours = task.graph.neighbours(node)
    known = int(np.isin(neighbours, task.labelled).sum())
    if not known:
        return _where(task, node)
    if len(neighbours) == 1:
        return "its only neighbour is a known positive"
    are = "is a known positive" if known == 1 else "are known positives"
    return f"{known:,} of its {len(neighbours):,} neighbours {are}"


def _where(task: PUTask, node: int) -> str:
    hops = int(task.distances[node])
    if hops == UNREACHABLE:
        return "no path joins it to a known positive"
    return f"{counted(hops, 'hop')} from the nearest known positive"


def _verdict(score: float, threshold: float) -> str:
    if abs(score - threshold) <= BORDER:
        return f"at the border, score {score:.2f}"
    return "decided positive" if score >= threshold else "not decided positive"


def _alike(number: int, like_known: bool) -> str:
    if number <= 1:
        return "it represents no other node" if like_known else "unlike any labelled node"
    return f"about {number:,} nodes resemble it more than any known one"
