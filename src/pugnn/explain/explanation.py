"""Why a node has its score."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from pugnn.errors import Displayed, shown
from pugnn.explain.parts import How, Unit

Known = Literal["positive", "negative"]
Kind = Literal["nodes", "attributes"]


@dataclass(frozen=True)
class NodePart:
    """What another node contributes.

    Args:
        id: of that node.
        contribution: above 0 if it speaks for the explained node; the score without it is then lower, and otherwise
            higher.
        hops: number of links between them, if they are few.
        known: whether it is a known positive or negative.
        score_without: the score of the explained node, computed anew, if this one had average attributes (with
            ``gradients``, features of 0); with label propagation, if nothing spread from it.
    """

    id: Any
    contribution: float
    hops: int | None
    known: Known | None
    score_without: float


@dataclass(frozen=True)
class AttributePart:
    """What an attribute contributes.

    Args:
        name: of the attribute, such as ``age`` or ``city = Bern``.
        value: what the node itself has there, in the terms of its table.
        contribution: ``own`` and ``around`` together. Above 0 if it speaks for the node; the score without it is then
            lower, and otherwise higher.
        own: by the node's own value.
        around: by the values of all other nodes; of closeness to known positives and of the place in layers, all of it.
        score_without: the score, computed anew, if the attribute were average for all nodes; with ``gradients``, 0.
        cell: what the node's own row says in the column that the attribute is made of, such as ``city = Bern``.
    """

    name: str
    value: str
    contribution: float
    own: float
    around: float
    score_without: float
    cell: str


@dataclass(frozen=True)
class Change:
    """The fewest parts found without which the decision would be another one.

    Args:
        kind: what the parts are.
        count: how many they are.
        names: of the first of them, nodes (ids) or attributes, largest contribution first.
        score: of the node without them, computed anew.
    """

    kind: Kind
    count: int
    names: list[Any]
    score: float


@dataclass(frozen=True, repr=False)
class Explanation(Displayed):
    """Why a node has its score: parts that add up to its log-odds.

    ``base``, ``own``, ``around``, ``place`` and ``rest`` add up to ``total``. All contributions are in ``unit``.

    Args:
        id: of the node.
        rank: among the nodes that are not known, from 1, as in ``scores.csv``; ``None`` if it is known.
        nodes_ranked: number of the nodes that are not known.
        score: between 0 and 1; no probability.
        threshold: from which a node is decided positive.
        decision: whether it reaches the threshold.
        known: whether it is a known positive or negative.
        how: ``exact``, or ``gradients`` where a network is explained by integrated gradients.
        unit: what the parts add up to: ``log-odds``, or ``odds`` where the evidence itself is a sum.
        total: log-odds (or odds) of the score.
        base: the part of it that belongs to no node; with ``gradients``, the log-odds if all features are 0.
        own: contribution of its own attributes, in whatever view of the node they count; with label propagation, of
            being known itself.
        around: contribution of all other nodes.
        score_without_own: the score without the node's own part, see :class:`NodePart`.
        rest: what integrated gradients could not assign; 0 if exact.
        nodes: the nodes that speak for and against it most.
        speak_for: the attributes that speak for it most.
        speak_against: the attributes that speak against it most.
        nearest: for each of the nearest known positives, the ids on a shortest path to it, both ends included; ``None``
            if it is not said which positives are known.
        changes: what would change the decision.
        shown: columns of the node table that were asked for, with its own values.
        closeness: contribution of its closeness to known positives, which is part of ``around``; ``None`` where it does
            not count.
        place: contribution of its place in the graph, if there are several relations; ``None`` where it does not count,
            or counts as attributes.
        relations: what each relation contributes, if the graph has several; together ``own``, ``around`` and ``place``.
        sentences: all of it in words.
    """

    id: Any
    rank: int | None
    nodes_ranked: int
    score: float
    threshold: float
    decision: bool
    known: Known | None
    how: How
    unit: Unit
    total: float
    base: float
    own: float
    around: float
    score_without_own: float
    rest: float
    nodes: list[NodePart]
    speak_for: list[AttributePart]
    speak_against: list[AttributePart]
    nearest: list[list[Any]] | None
    changes: list[Change]
    shown: dict[str, str]
    closeness: float | None = None
    place: float | None = None
    relations: dict[str, float] = field(default_factory=dict)
    sentences: tuple[str, ...] = ()

    def _facts(self) -> list[str]:
        verdict = "decided positive" if self.decision else "not decided positive"
        rank = f"known {self.known}" if self.rank is None else f"rank {self.rank:,} of {self.nodes_ranked:,}"
        return [shown(self.id), rank, f"score {self.score:.3f}", verdict]

    def to_plain(self) -> dict[str, Any]:
        """The explanation in a form fit for JSON."""
        values = {**asdict(self), "sentences": list(self.sentences)}
        return {name: plain(value) for name, value in values.items()}


def plain(value: Any) -> Any:
    """An id, or a value that holds some, in a form fit for JSON."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value if isinstance(value, str | int | float | None) else str(value)
