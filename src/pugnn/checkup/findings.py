"""What was found, in words for someone who knows the data but not the method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pugnn.checkup.homophily import Homophily
from pugnn.checkup.relations import RelationCheck
from pugnn.checkup.sampling import MIN_KNOWN, DegreeCheck, Sampling
from pugnn.checkup.sizes import MAX_NEAR_SHARE, Reach, Rings
from pugnn.errors import counted
from pugnn.graph import GraphStatistics

Level = Literal["good", "note", "warning"]
Topic = Literal["size", "homophily", "relations", "rings", "sampling"]

#: With fewer known positives, results vary a lot between sets of known positives.
MIN_RECOMMENDED = 20

#: A near set with a smaller share of the unlabelled nodes is almost nothing.
MIN_NEAR_SHARE = 0.02


#: Of a relation along which chance alone gives such agreement less often, it is too early to say that it has none.
UNLIKELY = 0.2


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


def find(
    statistics: GraphStatistics,
    reach: Reach,
    homophily: Homophily,
    rings: Rings,
    sampling: Sampling,
    relations: tuple[RelationCheck, ...] = (),
) -> tuple[Finding, ...]:
    """All findings, topic by topic."""
    return (
        *_about_size(statistics, reach),
        _about_homophily(homophily),
        *(_about_relation(each, reach) for each in relations),
        _about_rings(rings),
        *_about_sampling(sampling, reach),
    )


def _about_size(statistics: GraphStatistics, reach: Reach) -> Iterator[Finding]:
    if reach.labelled < MIN_RECOMMENDED:
        text = (
            "With so few, the result depends heavily on which ones happen to be known. On data with known truth, "
            "macro-F1 varied by 3 to 15 points between sets of 3 to 7 known positives, and by 0.5 to 8 with 27 or more."
        )
        level: Level = "warning" if reach.labelled < MIN_KNOWN else "note"
        title = f"Few known positives ({reach.labelled:,})"
        yield Finding("size", level, title, text, "Every further known positive helps.")
    if reach.isolated_labelled:
        level = "warning" if reach.isolated_labelled > 0.2 * reach.labelled else "note"
        title = f"{reach.isolated_labelled:,} of {reach.labelled:,} known positives have no links"
        text = "They show what positives look like, but nothing about their surroundings."
        remedy = "If their links were lost (ids written differently in the two files?), restore them."
        yield Finding("size", level, title, text, remedy)
    if reach.unreachable:
        share = reach.unreachable / reach.unlabelled
        level = "warning" if share > 0.2 else "note"
        nodes = f"{reach.unreachable:,} unlabelled nodes ({100 * share:.0f} %)"
        text = (
            f"The graph has {statistics.components:,} separate parts. Known positives lie in "
            f"{reach.components_with_labelled:,} of them; nodes in the other parts are judged by features alone."
        )
        remedy = "Where such a part matters, name at least one positive in it."
        yield Finding("size", level, f"{nodes} cannot be reached from any known positive", text, remedy)


def _about_homophily(found: Homophily) -> Finding:
    seen = "Random nodes with as many links are never linked, nor do they share neighbours"
    if found.lift is not None:
        often = f"{found.lift:.1f} times as often as random nodes with as many links"
        seen = f"Known positives are linked, or share neighbours, {often}"
    chance = f"chance alone gives that in {max(round(1000 * found.p_value), 1)} of 1,000 shuffles"
    misled = "Methods that average over neighbours may be misled; the default method tests whether neighbours help."
    match found.verdict:
        case "together":
            if found.evidence == "neighbours":
                seen = "Surroundings of known positives resemble other known positives more than those of random nodes"
            text = f"{seen}; {chance}. (Known positives that were found by following links look the same.)"
            return Finding("homophily", "good", "Positives cluster", text)
        case "weak":
            text = f"{seen}; {chance}. Neighbours of a positive are only slightly more likely to be positive."
            return Finding("homophily", "note", "Positives cluster, but only weakly", text)
        case "too few":
            title = "Too few links to tell whether positives cluster"
            links = f"Links between two of the {found.known:,} known positives: {found.links:,}."
            text, remedy = f"{links} Even strong clustering would not show.", "More known positives would show it."
            return Finding("homophily", "note", title, text, remedy)
        case "apart":
            text = f"{seen}; chance alone gives so few in {round(1000 * found.p_apart)} of 1,000 shuffles. {misled}"
            return Finding("homophily", "note", "Positives avoid each other", text)
        case "no sign":
            text = f"{seen}; {chance}. A clear tendency would have shown. {misled}"
            return Finding("homophily", "note", "No sign that positives cluster", text)


def _about_relation(found: RelationCheck, reach: Reach) -> Finding:
    nodes = f"{found.reached:,} of {reach.labelled + reach.unlabelled:,} nodes"
    known = f"{found.known:,} of {reach.labelled:,} known positives"
    often = "Known positives meet along it where random nodes with as many links never do"
    if found.lift is not None:
        often = f"Known positives meet along it {found.lift:.1f} times as often as random nodes with as many links"
    chance = f"chance alone gives that in {max(round(1000 * found.p_value), 1)} of 1,000 shuffles"
    text = f"{counted(found.edges, 'edge')}; it reaches {nodes}, and {known}. {often}; {chance}."
    if found.agrees:
        return Finding("relations", "good", f"Known positives agree along {found.name}", text)
    text += " That is beside how many links nodes have along it, which may be a signal of its own."
    remedy = "The default method gives it little weight where hidden positives do not confirm it."
    if found.p_value > UNLIKELY:
        remedy = f"Leave it out? {remedy}"
    return Finding("relations", "note", f"No agreement beyond chance along {found.name}", text, remedy)


def _about_rings(rings: Rings) -> Finding:
    hops = counted(rings.delta, "hop")
    within = f"{100 * rings.near_share:.3g} % of the unlabelled nodes lie within {hops} of a known positive"
    only = "That matters to PU-GNN (--method pu-gnn), whose loss uses distances; the default method does not."
    if rings.near_share > MAX_NEAR_SHARE:
        text = f"{within}: distance carries little information. {only}"
        return Finding("rings", "note", "More than half of the nodes are neighbours of a known positive", text)
    if rings.near_share < MIN_NEAR_SHARE:
        text, remedy = f"Only {within}. {only}", "If there are positives elsewhere, name some."
        return Finding("rings", "note", "Hardly any node is near a known positive", text, remedy)
    return Finding("rings", "good", "Distance separates the nodes", f"{within}.")


_SCAR = (
    "Training treats the known positives as a random sample of all positives; whatever is special about them is taken "
    "to be typical of positives."
)


def _about_sampling(found: Sampling, reach: Reach) -> Iterator[Finding]:
    if found.verdict == "too few":
        title = "Too few known positives to tell how they were picked"
        text = f"At least {MIN_KNOWN} are needed to see whether they look like a random sample. {_SCAR}"
        yield Finding("sampling", "note", title, text, "Consider how they came to be known.")
    if found.verdict == "random":
        text = (
            "Their number of links, the parts of the graph they lie in, and their closeness to each other give no "
            "reason to doubt it. (No check can see whole kinds of positives of which none is known.)"
        )
        yield Finding("sampling", "good", "Known positives look like a random sample", text)
    if found.degree is not None and found.degree.bias is not None:
        yield _about_degree(found.degree)
    if found.component is not None and found.component.concentrated:
        text = (
            f"{100 * found.component.known_share:.0f} % of them are in one connected part that holds "
            f"{100 * found.component.node_share:.0f} % of the nodes. {_SCAR} Positives elsewhere will be missed."
        )
        remedy = "Name positives in other parts, if there are any."
        yield Finding("sampling", "warning", "Known positives lie in one part of the graph", text, remedy)
    bound = "As a random sample they imply at most {:,.0f} positives in all. Either nearly all are known already, or "
    if found.links is not None and found.links.close:
        text = (
            f"{100 * found.links.known_share:.0f} % of the neighbours of known positives are known positives. "
            f"{bound.format(found.links.implied_positives)}they were found by following links, and positives elsewhere "
            "will be missed."
        )
        remedy = "If they were found by following links, name positives that were found in another way."
        yield Finding("sampling", "note", "Known positives are each other's neighbours", text, remedy)
    if found.features is not None and found.features.close:
        text = (
            f"Among the nodes that resemble a known positive most, {100 * found.features.known_share:.0f} % are known. "
            f"{bound.format(max(found.features.implied_positives, reach.labelled))}one kind was picked, and other "
            "kinds will be missed."
        )
        remedy = "Name positives of other kinds, if there are any."
        yield Finding("sampling", "note", "Known positives are all alike", text, remedy)


def _about_degree(found: DegreeCheck) -> Finding:
    share, more, amount, missed = found.more_links, "more", "many", "few"
    if found.bias == "few":
        share, more, amount, missed = 1 - share, "fewer", "few", "many"
    likely = found.compared_with == "likely positives"
    text = (
        f"In {100 * share:.0f} of 100 comparisons a known positive has {more} links than "
        f"{'a likely positive (a neighbour of a known one)' if likely else 'another node'}. {_SCAR} Scores will favour "
        f"nodes with {amount} links, and positives with {missed} will be missed."
    )
    if not likely:
        text += " (Positives may also be like that by nature here; the known ones alone cannot tell.)"
    remedy = f"Name some positives with {missed} links, even if they are harder to find."
    return Finding("sampling", "warning", f"Known positives have unusually {amount} links", text, remedy)


def advise(known: int, homophily: Homophily, *, attributes: bool) -> tuple[str, ...]:
    """What the default method will do with the data: a sentence or two on each of its steps.

    Args:
        known: number of known positives.
        homophily: whether they cluster.
        attributes: whether the nodes have any; if not, features are made from the edges.
    """
    features = "attributes" if attributes else "features (made from the links, for lack of attributes)"
    views = (
        f"It separates the known positives from other nodes by several views of their {features} at once: their own, "
        "their neighbours', and smoothed ones, which are averages over the wider neighbourhood."
    )
    prior = "If you know it, add --prior 0.1 for one in ten."
    if known == 1:
        test = "With one known positive, the ranking cannot be tested."
        return views, test, f"The share of positives cannot be estimated either. {prior}"
    # It decides nothing: attributes of neighbours may help where links do not.
    links = {
        "together": "Since positives cluster, links should help.",
        "weak": "Since positives cluster only weakly, links may help little.",
        "too few": "There are too few links to say in advance whether they help.",
    }.get(homophily.verdict, "Since positives do not cluster, a node's own view may count more than links.")
    test = "Known positives are hidden in turn to test how well the others find them, and whether training helps."
    thin = f" With {known:,} of them, the evidence is thin." if known < MIN_RECOMMENDED else ""
    share = f"The share of positives is estimated, roughly, from the ranks of the hidden ones. {prior}"
    return views, f"{links} {test}{thin}", share
