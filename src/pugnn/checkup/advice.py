"""What the default method will do with the data, and why, in words for someone who does not know it."""

from __future__ import annotations

from pugnn.checkup.findings import FEW_KNOWN
from pugnn.checkup.homophily import Homophily

#: What the links contribute, by what is known of them.
_LINKS = {
    "together": "Positives cluster, so expect the smoothed view to count most.",
    "weak": "Positives cluster only weakly, so expect a node's own view to count as well.",
    "no sign": "Positives do not cluster, so expect a node's own view to count most.",
    "apart": "Positives avoid each other, so expect a node's own view, or its neighbours', to count most.",
    "too few": "Whether links help cannot be told beforehand here; hidden positives will show it.",
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
        f"It compares nodes with the known positives in three views of their {features}: their own, their neighbours', "
        "and smoothed ones, which are averages over the wider neighbourhood."
    )
    if known == 1:
        return (
            views,
            "With one known positive, views cannot be tested: the smoothed one alone counts.",
            "The share of positives cannot be estimated either. If you know it, add --prior 0.1 for one in ten.",
        )
    tested = "Known positives are hidden in turn, and views that find them again count more."
    if known < FEW_KNOWN:
        tested += f" With {known:,} of them that is thin evidence, so the smoothed view is preferred."
    else:
        tested += f" {_LINKS[homophily.verdict]}"
    return (
        views,
        tested,
        "The share of positives is estimated, roughly, from the ranks of the hidden ones. If you know it, add --prior "
        "0.1 for one in ten.",
    )
