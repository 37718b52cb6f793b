"""An explanation in words, for someone who knows the domain but not the method."""

from __future__ import annotations

from collections.abc import Sequence

from pugnn.errors import counted, shown
from pugnn.explain.changes import MOST
from pugnn.explain.explanation import AttributePart, Change, Explanation, NodePart

#: So many nodes or attributes are named in a sentence.
NAMED = 3
#: Longer ids and names are cut.
LONGEST = 60


def sentences(explanation: Explanation) -> tuple[str, ...]:
    """What the parts of an explanation say, one sentence each."""
    if explanation.unit == "odds":
        middle = [_evidence(explanation)]
    else:
        middle = [
            _balance(explanation),
            _nodes("for", [part for part in explanation.nodes if part.contribution > 0]),
            _nodes("against", [part for part in explanation.nodes if part.contribution < 0]),
            _attributes("for", explanation.speak_for),
            _attributes("against", explanation.speak_against),
        ]
    found = [_verdict(explanation), *middle, _nearest(explanation), *_changes(explanation)]
    return tuple(sentence for sentence in found if sentence)


def signed(value: float) -> str:
    """``+1.25``, ``−0.30``."""
    return f"{value:+.2f}".replace("-", "−")


def _verdict(explanation: Explanation) -> str:
    decided = "decided positive" if explanation.decision else "not decided positive"
    known = "" if explanation.known is None else f" It is a known {explanation.known}."
    if explanation.known == "negative":
        known += " So its score is fixed; what follows is what the model alone makes of it."
    rank = "" if explanation.rank is None else f", rank {explanation.rank:,} of {explanation.nodes_ranked:,}"
    threshold = f"threshold {explanation.threshold:.3g}"
    return f"Its score is {score_words(explanation.score)}{rank}: {decided} ({threshold}).{known}"


def _balance(explanation: Explanation) -> str:
    """Which of its own attributes and its neighbourhood counts more."""
    own, around = explanation.own, explanation.around
    words = (
        f"Of its log-odds, {signed(explanation.total)}, its own attributes contribute {signed(own)} and those of the "
        f"nodes around it {signed(around)}; {signed(explanation.base)} would be left with {_neutral(explanation)}."
    )
    if abs(explanation.rest) >= 0.005:
        words += f" {signed(explanation.rest)} could not be assigned."
    return words


def _evidence(explanation: Explanation) -> str:
    """The known positives that label propagation adds up."""
    if not explanation.total:
        return "No known positive reaches it."
    parts = [
        f"{_name(part.id)} {100 * part.contribution / explanation.total:.0f} %"
        for part in explanation.nodes[:NAMED]
        if part.contribution >= 0.005 * explanation.total
    ]
    itself = 100 * explanation.own / explanation.total
    own = f", and {itself:.0f} % from being known itself" if explanation.own else ""
    return f"Its odds, {explanation.total:.3g} to 1, come from known positives: {', '.join(parts) or 'no other'}{own}."


def _nodes(side: str, parts: Sequence[NodePart]) -> str:
    if not parts:
        return ""
    named = [f"{_name(part.id)} ({signed(part.contribution)}{_where(part)})" for part in parts[:NAMED]]
    return f"The nodes that speak {side} it most: {', '.join(named)}."


def _where(part: NodePart) -> str:
    known = "" if part.known is None else f", known {part.known}"
    return known if part.hops is None else f", {counted(part.hops, 'hop')}{known}"


def _attributes(side: str, parts: Sequence[AttributePart]) -> str:
    if not parts:
        return ""
    named = [f"{attribute_words(part.name, part.value)} ({signed(part.contribution)})" for part in parts[:NAMED]]
    return f"The attributes that speak {side} it most: {', '.join(named)}."


def attribute_words(name: str, value: str) -> str:
    """An attribute and what the node has there: ``age: 34``, ``city = Bern: yes``."""
    return f"{shown(name, LONGEST)}: {shown(value, LONGEST)}" if value else shown(name, LONGEST)


def _nearest(explanation: Explanation) -> str:
    paths = explanation.nearest
    if paths is None or (not paths and explanation.known == "positive"):
        return ""
    if not paths:
        return "No path leads to a known positive."
    hops = counted(len(paths[0]) - 1, "hop")
    path = " → ".join(map(_name, paths[0]))
    others = [_name(each[-1]) for each in paths[1:]]
    more = f". {_listed(others)} {'is' if len(others) == 1 else 'are'} as near" if others else ""
    other = "other " if explanation.known == "positive" else ""
    return f"The nearest {other}known positive is {hops} away: {path}{more}."


def _changes(explanation: Explanation) -> list[str]:
    if explanation.known == "negative":
        return []
    if not explanation.changes:
        side = "for" if explanation.decision else "against"
        return [f"The decision would be the same without the {MOST} nodes, or attributes, that speak {side} it most."]
    return [_change(explanation, change) for change in explanation.changes]


def _change(explanation: Explanation, change: Change) -> str:
    names = [_name(each) for each in change.names]
    if change.count > len(names):
        names.append(f"{change.count - len(names)} more")
    if explanation.unit == "odds":
        condition = f"were {_listed(names)} not known"
    elif change.kind == "nodes":
        condition = f"if {_listed(names)} had {_neutral(explanation)}"
    else:
        what = "average here and around it" if explanation.how == "exact" else "0 for all nodes"
        condition = f"if {_listed(names)} were {what}"
    verdict = "it would not be decided positive" if explanation.decision else "it would be decided positive"
    about = "" if explanation.how == "exact" else "about "
    return f"{condition[0].upper()}{condition[1:]}, its score would be {about}{score_words(change.score)}: {verdict}."


def _neutral(explanation: Explanation) -> str:
    return "average attributes" if explanation.how == "exact" else "features of 0"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _name(value: object) -> str:
    return shown(value, LONGEST)


def score_words(score: float) -> str:
    """A score with enough digits to tell it from 0 and 1."""
    return f"{score:.4f}" if 0.0001 <= score <= 0.9999 or score in (0, 1) else f"{score:.6g}"
