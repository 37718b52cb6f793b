"""Why a node has its score."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from pugnn.explain.parts import How, Unit

Known = Literal["positive", "negative"]


@dataclass(frozen=True)
class NodePart:
    """What another node contributes.

    Args:
        id: of that node.
        contribution: above 0 if it speaks for the explained node.
        hops: number of links between them, if they are few.
        known: whether it is a known positive or negative.
        score_without: the score of the explained node as if this one contributed nothing: computed anew if exact, else
            estimated.
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
        contribution: above 0 if it speaks for the node: ``own`` and ``around`` together.
        own: by the node's own value.
        around: by the values of the nodes around it.
    """

    name: str
    value: str
    contribution: float
    own: float
    around: float


@dataclass(frozen=True)
class Change:
    """The fewest parts found without which the decision would be another one.

    Args:
        kind: what the parts are.
        count: how many they are.
        names: of the first of them, nodes (ids) or attributes, largest contribution first.
        score: of the node without them, computed anew if exact, else estimated.
    """

    kind: Literal["nodes", "attributes"]
    count: int
    names: list[Any]
    score: float


@dataclass(frozen=True)
class Explanation:
    """Why a node has its score: parts that add up to its log-odds.

    ``base``, ``own``, ``around`` and ``rest`` add up to ``total``. All contributions are in ``unit``.

    Args:
        id: of the node.
        rank: among the nodes that are not known, from 1, as in ``scores.csv``; ``None`` if it is known.
        nodes_ranked: number of the nodes that are not known.
        score: probability of being positive.
        threshold: from which a node is decided positive.
        decision: whether it reaches the threshold.
        known: whether it is a known positive or negative.
        how: ``exact``, or ``gradients`` where a network is explained by integrated gradients.
        unit: what the parts add up to: ``log-odds``, or ``odds`` where the evidence itself is a sum.
        total: log-odds (or odds) of the score.
        base: what is left of it if nothing speaks for or against the node.
        own: contribution of its own attributes.
        around: contribution of all other nodes.
        rest: what integrated gradients could not assign; 0 if exact.
        nodes: the nodes that contribute most, for and against it.
        speak_for: the attributes that speak for it most.
        speak_against: the attributes that speak against it most.
        nearest: for each of the nearest known positives, the ids on a shortest path to it, both ends included; ``None``
            if it is not said which positives are known.
        changes: what would change the decision.
        shown: columns of the node table that were asked for, with its own values.
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
    rest: float
    nodes: list[NodePart]
    speak_for: list[AttributePart]
    speak_against: list[AttributePart]
    nearest: list[list[Any]] | None
    changes: list[Change]
    shown: dict[str, str]
    sentences: tuple[str, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        """The explanation in a form fit for JSON."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, tuple) and all(isinstance(each, str) for each in value):
        return list(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)
