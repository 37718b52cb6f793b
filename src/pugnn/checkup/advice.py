"""Which method and which δ to start with, from what was measured where the truth is known (docs/results.md)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pugnn.checkup.homophily import Homophily
from pugnn.checkup.rings import LARGEST_DELTA, NEAR_SHARE, NEARLY_ALL, Rings
from pugnn.graph import GraphStatistics


@dataclass(frozen=True)
class Advice:
    """What to start with: a method and other options of `pugnn fit`, and the reasons, a sentence or two each."""

    method: str
    options: dict[str, Any] = field(default_factory=dict)
    why: tuple[str, ...] = ()


def advise(statistics: GraphStatistics, homophily: Homophily, rings: Rings) -> Advice:
    """Choose by homophily first, then by rings."""
    if homophily.verdict in ("no sign", "apart") and statistics.features:
        return Advice("naive", {"balanced": True, "backbone": "mlp"}, _without_edges(homophily))
    options: dict[str, Any] = {"delta": rings.delta}
    if homophily.verdict == "weak":
        options["backbone"] = "sage"
    return Advice("pu-gnn", options, _with_edges(homophily, rings))


def _without_edges(homophily: Homophily) -> tuple[str, ...]:
    seen = "avoid each other" if homophily.verdict == "apart" else "do not cluster"
    return (
        f"Known positives {seen}, so a method that lets neighbours vote is misled. The backbone mlp uses the features "
        "alone.",
        "Balanced training ranks well without knowing the share of positives; use the top of the list, since its "
        "threshold of one half means nothing here.",
        "If you know the share of positives, use --method dist-pu --backbone mlp --prior SHARE instead: it also knows "
        "where to cut.",
    )


def _with_edges(homophily: Homophily, rings: Rings) -> tuple[str, ...]:
    why = {
        "together": "Positives cluster, which is what PU-GNN relies on. It needs no exact share of positives.",
        "weak": "Positives cluster only slightly. PU-GNN uses that and needs no exact share of positives; the backbone "
        "sage treats a node and its neighbours separately.",
    }.get(
        homophily.verdict,
        "Too little is known to see whether positives cluster. PU-GNN assumes that they do and needs no exact share of "
        "positives.",
    )
    reasons = [why, _delta(rings)]
    if homophily.verdict != "together":
        reasons.append(
            "Also train with --method naive --balanced --backbone mlp, which ignores links: where both lists agree, "
            "trust them more."
        )
    reasons.append(
        "If you know the share of positives among the unlabelled nodes, use --method dist-pu --prior SHARE: with the "
        "right share it was ahead of PU-GNN on three of four data sets."
    )
    return tuple(reasons)


def _delta(rings: Rings) -> str:
    near = f"makes {100 * rings.near_share:.0f} % of the unlabelled nodes near"
    if rings.near_share > NEAR_SHARE:
        extent = "nearly all" if rings.near_share > NEARLY_ALL else "more than half"
        return (
            f"δ = {rings.delta}, the smallest possible, already {near}, {extent} of them: distance carries little "
            "information in this graph."
        )
    if rings.delta == LARGEST_DELTA:
        return f"δ = {rings.delta} {near}; it is the largest that was tried."
    return f"δ = {rings.delta} {near}: the largest δ that keeps the near set below one half, where PU-GNN did best."
