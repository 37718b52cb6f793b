"""What was found, in words for someone who knows the data but not the method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

from pugnn.checkup.homophily import Homophily
from pugnn.checkup.rings import NEAR_SHARE, NEARLY_ALL, TINY, Rings
from pugnn.checkup.sampling import MIN_KNOWN, DegreeCheck, Sampling
from pugnn.checkup.sizes import Reach
from pugnn.errors import counted
from pugnn.graph import GraphStatistics

Level = Literal["good", "note", "warning"]
Topic = Literal["size", "homophily", "rings", "sampling"]

#: With fewer known positives, results vary a lot between sets of known positives.
MIN_RECOMMENDED = 20


@dataclass(frozen=True)
class Finding:
    """One thing that was found.

    Args:
        topic: what it is about.
        level: ``"good"``, ``"note"`` (worth knowing) or ``"warning"`` (results may suffer).
        title: the verdict in a few words.
        text: what was seen, and what follows from it.
        remedy: what to do about it; may be empty.
    """

    topic: Topic
    level: Level
    title: str
    text: str
    remedy: str = ""


_size, _homophily, _rings, _sampling = (partial(Finding, topic) for topic in get_args(Topic))


def find(
    statistics: GraphStatistics, reach: Reach, homophily: Homophily, rings: Rings, sampling: Sampling
) -> tuple[Finding, ...]:
    """All findings, topic by topic."""
    return (
        *_about_size(statistics, reach),
        _about_homophily(homophily),
        _about_rings(rings, reach),
        *_about_sampling(sampling, reach),
    )


def chance_in_words(p_value: float) -> str:
    """A p-value in plain words.

    Example:
        >>> chance_in_words(0.001)
        'chance alone gives that in 1 of 1,000 shuffles or fewer'
        >>> chance_in_words(0.034)
        'chance alone gives that in 34 of 1,000 shuffles'
        >>> chance_in_words(0.4)
        'chance alone gives that in 40 of 100 shuffles'
    """
    if p_value <= 0.001:
        return "chance alone gives that in 1 of 1,000 shuffles or fewer"
    shuffles = 1000 if p_value < 0.1 else 100
    return f"chance alone gives that in {round(shuffles * p_value)} of {shuffles:,} shuffles"


def _about_size(statistics: GraphStatistics, reach: Reach) -> Iterator[Finding]:
    if reach.labelled < MIN_RECOMMENDED:
        yield _size(
            "warning" if reach.labelled < MIN_KNOWN else "note",
            f"Few known positives ({reach.labelled:,})",
            "With so few, the result depends heavily on which ones happen to be known. On data with known truth, "
            "macro-F1 varied by 3 to 15 points between sets of 3 to 7 known positives, and by 0.5 to 8 with 27 and "
            "more.",
            "Every further known positive helps.",
        )
    if reach.isolated_labelled:
        share = reach.isolated_labelled / reach.labelled
        yield _size(
            "warning" if share > 0.2 else "note",
            f"{reach.isolated_labelled:,} of {reach.labelled:,} known positives have no links",
            "They show what positives look like, but nothing about their surroundings.",
            "If their links were lost along the way (ids written differently in the two files?), restore them.",
        )
    if reach.unreachable:
        share = reach.unreachable / max(reach.unlabelled, 1)
        yield _size(
            "warning" if share > 0.2 else "note",
            f"{reach.unreachable:,} unlabelled nodes ({100 * share:.0f} %) cannot be reached from any known positive",
            f"The graph has {statistics.components:,} separate parts. Known positives lie in "
            f"{reach.components_with_labelled:,} of them; nodes in the other parts are judged by features alone.",
            "Where such a part matters, name at least one positive in it.",
        )


_ONLY_SMOOTHING = (
    "Methods that average over neighbours may be misled; the default method tests on hidden positives whether "
    "neighbours help."
)


def _about_homophily(found: Homophily) -> Finding:
    chance = chance_in_words(found.p_value)
    if found.verdict == "together":
        text = f"{_evidence(found)}; {chance}. (Known positives that were found by following links look the same.)"
        return _homophily("good", "Positives cluster", text)
    if found.verdict == "weak":
        strength = "" if found.evidence == "links" else f"{_lift(found)}. "
        return _homophily(
            "note",
            "Positives cluster, but only weakly",
            f"{_evidence(found)}; {chance}. {strength}A neighbour of a positive is only slightly more likely to be "
            "positive than any other node.",
        )
    if found.verdict == "too few":
        return _homophily(
            "note",
            "Too few links to tell whether positives cluster",
            f"{_links(found)}. {_visible(found)}",
            "More known positives would show it.",
        )
    if found.verdict == "apart":
        return _homophily(
            "note",
            "Positives avoid each other",
            f"{_lift(found)}; chance alone gives so few in {round(1000 * found.p_apart)} of 1,000 shuffles. "
            f"{_ONLY_SMOOTHING}",
        )
    return _homophily(
        "note",
        "No sign that positives cluster",
        f"{_lift(found)}; {chance}. A clear tendency would have shown. {_ONLY_SMOOTHING}",
    )


def _lift(found: Homophily) -> str:
    if found.lift is None:
        return "Random nodes with as many links are never linked to each other, nor do they share neighbours"
    return (
        f"Known positives are linked, or share neighbours, {found.lift:.1f} times as often as random nodes with as "
        "many links"
    )


def _links(found: Homophily) -> str:
    number = {0: "No link joins", 1: "One link joins"}.get(found.links, f"{found.links:,} links join")
    return f"{number} two of the {found.known:,} known positives"


def _evidence(found: Homophily) -> str:
    if found.evidence == "links":
        return _lift(found)
    return "The surroundings of a known positive resemble other known positives, more so than those of random nodes do"


def _visible(found: Homophily) -> str:
    if found.visible_lift is None or found.visible_lift <= 1:
        return "With so few of them, even strong clustering would not show."
    return (
        f"With so few, they would have to be linked, or share neighbours, {found.visible_lift:.1f} times as often as "
        "random nodes to be distinguished from chance."
    )


_ONLY_DISTANCES = "That matters to PU-GNN (--method pu-gnn), whose loss uses distances; the default method does not."


def _about_rings(rings: Rings, reach: Reach) -> Finding:
    nearest = next((ring.share_within for ring in rings.rings if ring.distance == 1), 0.0)
    linked = reach.unlabelled - reach.unreachable
    neighbours = f"{100 * nearest:.0f} % of the unlabelled nodes are linked to a known positive"
    if nearest > NEARLY_ALL:
        return _rings(
            "note",
            "Nearly every node is a neighbour of a known positive",
            f"{neighbours}, so distance carries no information. {_ONLY_DISTANCES}",
        )
    hops = counted(rings.delta, "hop")
    within = f"{100 * rings.near_share:.3g} % of the unlabelled nodes lie within {hops} of a known positive"
    if rings.near_share < TINY:
        return _rings(
            "note",
            "Hardly any node is near a known positive",
            f"Only {within}"
            + (f", and only {linked:,} can be reached at all." if linked < reach.unlabelled else ".")
            + f" {_ONLY_DISTANCES}",
            "If there are positives in other places of the graph, name some.",
        )
    if rings.near_share > NEAR_SHARE:
        title = "More than half of the nodes are neighbours of a known positive"
        return _rings("note", title, f"{neighbours}, so distance carries little information. {_ONLY_DISTANCES}")
    text = f"{within}."
    if rings.saturated_from is not None:
        text += f" Within {rings.saturated_from} hops, nearly all do (more than {100 * NEARLY_ALL:.0f} %)."
    return _rings("good", "Distance separates the nodes", text)


_SCAR = (
    "Training treats the known positives as a random sample of all positives; whatever is special about them is taken "
    "to be typical of positives."
)


def _about_sampling(found: Sampling, reach: Reach) -> Iterator[Finding]:
    if found.verdict == "too few":
        yield _sampling(
            "note",
            "Too few known positives to tell how they were picked",
            f"At least {MIN_KNOWN} are needed to see whether they look like a random sample. {_SCAR}",
            "Think about how they came to be known.",
        )
    if found.verdict == "random":
        yield _sampling(
            "good",
            "Known positives look like a random sample",
            "Their number of links, the parts of the graph they lie in, and their closeness to each other give no "
            "reason to doubt it. (No check can see whole kinds of positives of which none is known.)",
        )
    if found.degree is not None and found.degree.bias is not None:
        yield _about_degree(found.degree)
    if found.component is not None and found.component.concentrated:
        yield _sampling(
            "warning",
            "Known positives lie in one part of the graph",
            f"{100 * found.component.known_share:.0f} % of them are in one connected part that holds "
            f"{100 * found.component.node_share:.0f} % of the nodes. {_SCAR} Positives elsewhere will be missed.",
            "Name positives in other parts, if there are any.",
        )
    if found.links is not None and found.links.close:
        yield _sampling(
            "note",
            "Known positives are each other's neighbours",
            f"{100 * found.links.known_share:.0f} % of the neighbours of known positives are known positives. If these "
            f"were a random sample, there could be no more than {found.links.implied_positives:,.0f} positives in all. "
            "So either nearly all are known already, or they were found by following links, and positives elsewhere "
            "will be missed.",
            "If they were found by following links, name positives that were found in another way.",
        )
    if found.features is not None and found.features.close:
        yield _sampling(
            "note",
            "Known positives are all alike",
            f"Among the nodes that resemble a known positive most, {100 * found.features.known_share:.0f} % are known. "
            "If these were a random sample, there could be no more than "
            f"{max(found.features.implied_positives, reach.labelled):,.0f} positives in all. So either nearly all are "
            "known already, or one kind was picked, and other kinds will be missed.",
            "Name positives of other kinds, if there are any.",
        )


def _about_degree(found: DegreeCheck) -> Finding:
    many = found.bias == "many"
    share = found.more_links if many else 1 - found.more_links
    likely = found.compared_with == "likely positives"
    favoured, missed = ("well-linked nodes", "with few links") if many else ("nodes with few links", "with many links")
    text = (
        f"In {100 * share:.0f} of 100 comparisons a known positive has {'more' if many else 'fewer'} links than "
        f"{'a likely positive (a neighbour of a known one)' if likely else 'another node'}. {_SCAR} Scores will favour "
        f"{favoured}, and positives {missed} will be missed."
    )
    if not likely:
        text += " (Positives may also be like that by nature here; the known ones alone cannot tell.)"
    return _sampling(
        "warning",
        f"Known positives have unusually {'many' if many else 'few'} links",
        text,
        f"Name some positives {missed}, even if they are harder to find.",
    )
