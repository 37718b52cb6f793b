"""An explanation in words, for someone who knows the domain but not the method."""

from __future__ import annotations

from collections.abc import Sequence

from pugnn.errors import counted, shown
from pugnn.explain.attribute_columns import CLOSENESS, PLACE
from pugnn.explain.explanation import AttributePart, Change, Explanation, NodePart
from pugnn.explain.parts import MAX_PARTS

#: So many nodes or attributes are named in a sentence.
NAMED = 3


def sentences(explanation: Explanation) -> tuple[str, ...]:
    """What the parts of an explanation say, one sentence each."""
    if explanation.unit == "odds":
        middle = [_evidence(explanation)]
    else:
        nodes, attributes = "The nodes that speak", "The attributes that speak"
        middle = [
            _balance(explanation),
            _relations(explanation),
            _speaking("for", nodes, [part for part in explanation.nodes if part.contribution > 0]),
            _speaking("against", nodes, [part for part in explanation.nodes if part.contribution < 0]),
            _speaking("for", attributes, explanation.speak_for),
            _speaking("against", attributes, explanation.speak_against),
        ]
    return tuple(filter(None, (_verdict(explanation), *middle, link_words(explanation), *_changes(explanation))))


def why_words(explanation: Explanation, linked: int) -> str:
    """What speaks for and against a node with so many links to known positives, without its score or rank."""
    cells: dict[str, float] = {}  # what each contributes; several attributes may be made of one
    for part in (*explanation.speak_for, *explanation.speak_against):
        cells[part.cell] = cells.get(part.cell, 0.0) + part.contribution
    said = [_evidence(explanation, told=False)] if explanation.unit == "odds" else []
    for side, sign in (("For it", 1), ("Against it", -1)):
        some = sorted((cell for cell in cells if sign * cells[cell] > 0), key=lambda cell: -abs(cells[cell]))
        said += [f"{side}: {', '.join(map(shown, some[:NAMED]))}."] if some else []
    return " ".join([*said, *filter(None, [linked_words(linked)])])


def linked_words(linked: int) -> str:
    """To how many known positives a node is linked."""
    return f"Linked to {counted(linked, 'known positive')}." if linked else ""


def signed(value: float) -> str:
    """``+1.25``, ``−0.30``."""
    return f"{value:+.2f}".replace("-", "−")


def _verdict(explanation: Explanation) -> str:
    decided = "decided positive" if explanation.decision else "not decided positive"
    known = "" if explanation.known is None else f" It is a known {explanation.known}."
    if explanation.known == "negative":
        known += " So its score is fixed; what follows is what the model alone makes of it."
    rank = "" if explanation.rank is None else f", rank {explanation.rank:,} of {explanation.nodes_ranked:,}"
    score = f"{score_words(explanation.score)}{rank}"
    return f"Its score is {score}: {decided} (threshold {explanation.threshold:.3g}).{known}"


def _balance(explanation: Explanation) -> str:
    """What its log-odds are the sum of."""
    terms = [
        f"{signed(explanation.base)} {'to start with' if explanation.how == 'exact' else 'with all features 0'}",
        f"{signed(explanation.own)} by its own attributes",
        f"{signed(explanation.around)} by {'other nodes' if explanation.closeness else 'those of other nodes'}",
    ]
    if explanation.place is not None and abs(explanation.place) >= 0.005:
        terms.append(f"{signed(explanation.place)} by its {PLACE}")
    if abs(explanation.rest) >= 0.005:
        terms.append(f"{signed(explanation.rest)} that could not be assigned")
    return (
        f"Its log-odds, {signed(explanation.total)}, are the sum of {_listed(terms)}. If it had "
        f"{_neutral(explanation)} itself, its score would be {score_words(explanation.score_without_own)}."
    )


def _relations(explanation: Explanation) -> str:
    """Which relations speak for a node, and which against it; what would be 0.00 is left out."""
    ordered = sorted(explanation.relations.items(), key=lambda each: -abs(each[1]))
    words = [f"{shown(name)} ({signed(value)})" for name, value in ordered if abs(value) >= 0.005]
    return f"By relation: {', '.join(words)}." if words else ""


def _evidence(explanation: Explanation, *, told: bool = True) -> str:
    """The known positives that label propagation adds up; their sum, which is the score, only if it may be told."""
    if not explanation.total:
        return "No known positive reaches it."
    total = explanation.total
    shares = [(shown(part.id), part.contribution) for part in explanation.nodes[:NAMED]]
    shares = [(name, share) for name, share in shares if share >= 0.005 * total]
    others = explanation.around - sum(share for _, share in shares)
    shares += [("all others" if shares else "others", others), ("being known itself", explanation.own)]
    words = [f"{name} {100 * share / total:.0f} %" for name, share in shares if share > 1e-9 * total]
    return f"Its odds{f', {total:.3g} to 1,' if told else ''} come from known positives: {', '.join(words)}."


def _speaking(side: str, what: str, parts: Sequence[NodePart | AttributePart]) -> str:
    words = [_node(part) if isinstance(part, NodePart) else _attribute(part) for part in parts[:NAMED]]
    if any(isinstance(part, AttributePart) and part.name in (CLOSENESS, PLACE) for part in parts[:NAMED]):
        what = "What speaks"
    return f"{what} {side} it most: {', '.join(words)}." if words else ""


def _node(part: NodePart) -> str:
    hops = "" if part.hops is None else f", {counted(part.hops, 'hop')}"
    known = "" if part.known is None else f", known {part.known}"
    return f"{shown(part.id)} ({signed(part.contribution)}{hops}{known})"


def _attribute(part: AttributePart) -> str:
    """What an attribute contributes by the node's own value and by those of others; what would be 0.00 is left out."""
    if part.name in (CLOSENESS, PLACE):
        return f"{part.name} ({signed(part.contribution)})"
    own = f"{signed(part.own)} by its own value{f', {shown(part.value)}' if part.value else ''}"
    around = f"{signed(part.around)} around it"
    if abs(part.own) < 0.005:
        words = around
    elif abs(part.around) < 0.005:
        words = own
    else:
        words = f"{signed(part.contribution)}: {own}{',' if part.value else ''} and {around}"
    return f"{shown(part.name)} ({words})"


def link_words(explanation: Explanation) -> str:
    """How a node is linked to known positives."""
    paths = explanation.nearest
    if paths is None or (not paths and explanation.known == "positive"):
        return ""
    if not paths:
        return "No path leads to a known positive."
    hops = counted(len(paths[0]) - 1, "hop")
    path = " → ".join(map(shown, paths[0]))
    others = [shown(each[-1]) for each in paths[1:]]
    more = f". {_listed(others)} {'is' if len(others) == 1 else 'are'} as near" if others else ""
    other = "other " if explanation.known == "positive" else ""
    return f"The nearest {other}known positive is {hops} away: {path}{more}."


def _changes(explanation: Explanation) -> list[str]:
    if explanation.changes:
        return [_change(explanation, change) for change in explanation.changes]
    in_odds = explanation.unit == "odds"
    if explanation.known == "negative" or (in_odds and not explanation.decision):  # nothing there lowers odds
        return []
    what = "known positives" if in_odds else "nodes, or the attributes,"
    return [f"The decision would be the same without the {what} that contribute most to it, up to {MAX_PARTS} of them."]


def _change(explanation: Explanation, change: Change) -> str:
    names = [shown(each) for each in change.names]
    if change.count > len(names):
        names.append(f"{change.count - len(names)} more")
    if explanation.unit == "odds":
        condition = f"if nothing spread from {_listed(names)}"
    elif change.kind == "nodes":
        known = " and were not known" if explanation.closeness else ""
        condition = f"if {_listed(names)} had {_neutral(explanation)}{known}"
    else:
        what = "average here and around it" if explanation.how == "exact" else "0 for all nodes"
        others = [name for name in names if name not in (CLOSENESS, PLACE)]
        conditions = ["no path led from it to a known positive"] if CLOSENESS in names else []
        conditions += [f"its {PLACE} were average"] if PLACE in names else []
        conditions += [f"{_listed(others)} were {what}"] if others else []
        condition = f"if {' and '.join(conditions)}"
    verdict = "it would not be decided positive" if explanation.decision else "it would be decided positive"
    return f"{condition[0].upper()}{condition[1:]}, its score would be {score_words(change.score)}: {verdict}."


def _neutral(explanation: Explanation) -> str:
    return "average attributes" if explanation.how == "exact" else "features of 0"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def score_words(score: float) -> str:
    """A score with enough digits to tell it from 0 and 1."""
    return f"{score:.4f}" if 0.0001 <= score <= 0.9999 or score in (0, 1) else f"{score:.6g}"
