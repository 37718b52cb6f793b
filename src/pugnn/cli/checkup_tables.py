"""The check-up on the terminal: in full, or what one must know before training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pugnn.errors import shown

if TYPE_CHECKING:
    from pugnn.checkup import Advice, CheckUp, Finding
    from pugnn.task import PUBenchmark

#: Characters of an id that a line shows; ids may be as long as they like.
LONGEST_ID = 40

#: How each level is marked: without colour too, one can tell them apart.
MARKS = {"good": ("✓", "green"), "note": ("·", "cyan"), "warning": ("!", "yellow")}


def print_check_up(console: Console, check_up: CheckUp, *, brief: bool, truth: PUBenchmark | None = None) -> None:
    """Show a check-up.

    Args:
        console: where to.
        check_up: what was found.
        brief: verdicts and advice alone, for the start of a training. In full they come first, too.
        truth: adds the true share of positives in each ring, where the truth is known; only in full.
    """
    if brief:
        for finding in check_up.findings:
            console.print(_title(finding))
        console.print(Text(f"Advice: {command(check_up.advice)}", style="bold"))
        return
    for finding in check_up.findings:
        console.print(_title(finding))
        console.print(Padding(Text(finding.text), (0, 0, 0, 2)))
        if finding.remedy:
            console.print(Padding(Text.assemble(("→ ", "bold"), finding.remedy), (0, 0, 0, 2)))
    console.print()
    console.print(Text(f"Advice: {command(check_up.advice)}", style="bold"))
    for reason in check_up.advice.why:
        console.print(Padding(Text(f"- {reason}"), (0, 0, 0, 2)))
    console.print()
    console.print(_sizes(check_up))
    console.print(_rings(check_up, truth))
    if truth is not None:
        console.print(_truth(truth))


def command(advice: Advice) -> str:
    """The advice as options of `pugnn fit`.

    Example:
        >>> from pugnn.checkup import Advice
        >>> command(Advice("naive", {"balanced": True, "backbone": "mlp"}, ()))
        'pugnn fit … --method naive --balanced --backbone mlp'
    """
    words = ["pugnn fit … --method", advice.method]
    for name, value in advice.options.items():
        words.append(f"--{name.replace('_', '-')}")
        if value is not True:
            words.append(str(value))
    return " ".join(words)


def _title(finding: Finding) -> Text:
    mark, colour = MARKS[finding.level]
    return Text.assemble((f"{mark} ", f"bold {colour}"), (finding.title, "bold"))


def _sizes(check_up: CheckUp) -> Table:
    sizes, degrees, reach = check_up.statistics, check_up.degrees, check_up.reach
    table = Table(title="Graph", title_justify="left", box=box.SIMPLE, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    middle = dict(degrees.quantiles)
    hubs = [f"{escape(shown(hub.id, LONGEST_ID))} ({hub.degree:,})" for hub in degrees.hubs]
    rows = [
        ("nodes, edges", f"{sizes.nodes:,} nodes, {sizes.edges:,} edges, {sizes.features:,} features"),
        (
            "separate parts",
            f"{sizes.components:,}; the largest has {sizes.largest_component:,} nodes; "
            f"{sizes.isolated:,} nodes have no links",
        ),
        (
            "links",
            f"{sizes.mean_degree:.1f} in the mean, {middle[0.5]:,} in the middle, {middle[0.9]:,} at the most for "
            f"nine nodes in ten; one node in a hundred holds {100 * degrees.top_share:.0f} % of all",
        ),
        ("most links", ", ".join(hubs) or "–"),
        ("known positives", f"{reach.labelled:,}, of which {reach.isolated_labelled:,} have no links"),
    ]
    for name, value in rows:
        table.add_row(name, value)
    return table


def _rings(check_up: CheckUp, truth: PUBenchmark | None) -> Table:
    from pugnn.checkup import true_share_of_rings

    shares = None if truth is None else true_share_of_rings(truth)
    table = Table(title="Unlabelled nodes by distance to a known positive", title_justify="left", box=box.SIMPLE)
    for name in ("hops", "nodes", "share up to here", *(["truly positive"] if shares else [])):
        table.add_column(name, justify="right")
    for number, ring in enumerate(check_up.rings.rings):
        hops = "unreachable" if ring.distance is None else str(ring.distance)
        hops += " ← δ" if ring.distance == check_up.rings.delta else ""
        row = [hops, f"{ring.nodes:,}", f"{100 * ring.share_within:.1f} %"]
        table.add_row(*row, *([f"{100 * shares[number]:.1f} %"] if shares else []))
    return table


def _truth(truth: PUBenchmark) -> Text:
    from pugnn.graph import edge_homophily

    same = edge_homophily(truth.task.graph, truth.positive)
    return Text(
        f"Truth (never shown to a method): {100 * truth.positive.mean():.1f} % of the nodes are positive, and "
        f"{100 * same:.1f} % of all edges join nodes of the same kind."
    )
