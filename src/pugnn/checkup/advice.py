"""What the default method will do with the data, and why, in words for someone who does not know it."""

from __future__ import annotations

from pugnn.checkup.findings import MIN_RECOMMENDED
from pugnn.checkup.homophily import Homophily

#: What is known of the links beforehand. It decides nothing: attributes of neighbours may help where links do not.
_LINKS = {
    "together": "Since positives cluster, links should help.",
    "weak": "Since positives cluster only weakly, links may help little.",
    "no sign": "Since positives do not cluster, links may not help, and a node's own view may count more.",
    "apart": "Since positives avoid each other, links may not help, and a node's own view may count more.",
    "too few": "There are too few links to say in advance whether they help.",
}


def advise(known: int, homophily: Homophily, *, attributes: bool) -> tuple[str, ...]:
    """A sentence or two on each step of the default method.

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
    if known == 1:
        return (
            views,
            "With one known positive, the ranking cannot be tested.",
            "The share of positives cannot be estimated either. If you know it, add --prior 0.1 for one in ten.",
        )
    tested = (
        f"{_LINKS[homophily.verdict]} Known positives are hidden in turn to test how well the others find them, and "
        "whether training helps."
    )
    if known < MIN_RECOMMENDED:
        tested += f" With {known:,} of them, the evidence is thin."
    return (
        views,
        tested,
        "The share of positives is estimated, roughly, from the ranks of the hidden ones. If you know it, add --prior "
        "0.1 for one in ten.",
    )
