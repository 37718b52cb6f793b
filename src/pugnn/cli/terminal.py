"""Results, notes and check-ups on the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pugnn.errors import printable, shown
from pugnn.features import Statement, grouped
from pugnn.graph import UNREACHABLE

if TYPE_CHECKING:
    # The estimator and torch are slow to load, and `check` needs neither.
    from pugnn.checkup import Advice, CheckUp, Finding
    from pugnn.cli.input_data import InputData
    from pugnn.runs import Run
    from pugnn.task import PUBenchmark

#: Longer ids are shortened.
LONGEST_ID = 40

#: Marks of the levels, distinguishable without colour.
MARKS = {"good": ("✓", "green"), "note": ("·", "cyan"), "warning": ("!", "yellow")}


def print_check_up(console: Console, check_up: CheckUp, *, brief: bool, truth: PUBenchmark | None = None) -> None:
    """Show a check-up.

    Args:
        console: where to.
        check_up: what was found.
        brief: only verdicts and advice, for the start of a training.
        truth: adds the true share of positives in each ring; not if brief.
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
            "components",
            f"{sizes.components:,}; the largest has {sizes.largest_component:,} nodes; "
            f"{sizes.isolated:,} nodes have no links",
        ),
        (
            "links",
            f"mean {sizes.mean_degree:.1f}, median {middle[0.5]:,}, 90th percentile {middle[0.9]:,}; the top 1 % of "
            f"nodes have {100 * degrees.top_share:.0f} % of all",
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
        f"{100 * same:.1f} % of all edges join nodes of the same class."
    )


def print_run(run: Run, data: InputData, *, top: int = 10) -> None:
    """Show the best finds, and a summary of the run."""
    assert data.task is not None
    console = Console(highlight=False, emoji=False)
    console.print(_found(run, data, top))
    console.print(_summary(run, data))


def print_notes(notes: Iterable[str]) -> None:
    """Show notes on standard error."""
    console = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)
    for note in notes:
        console.print(f"[cyan]note:[/] {escape(printable(note))}")


def print_recipe(console: Console, recipe: Iterable[Statement], *, verbose: bool) -> None:
    """How the attributes of the nodes became features, a line per group of columns or, if verbose, per column."""
    lines = list(recipe) if verbose else grouped(recipe)
    if not lines:
        return
    table = Table(title="How attributes become features", title_justify="left", box=box.SIMPLE)
    table.add_column("column", overflow="fold")
    table.add_column("kind")
    table.add_column("features", justify="right")
    table.add_column("how", overflow="fold")
    for line in lines:
        table.add_row(escape(shown(line.column, LONGEST_ID)), line.kind, f"{line.features:,}", escape(line.text))
    console.print(table)


def pairs_table(title: str, rows: list[tuple[str, str]]) -> Table:
    """A table of names and values."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE, show_header=False)
    table.add_column(style="bold")
    table.add_column()
    for name, value in rows:
        table.add_row(name, escape(value))
    return table


def _found(run: Run, data: InputData, top: int) -> Table:
    assert data.task is not None
    graph, classes, truth = data.graph, data.class_of_node, data.benchmark
    unknown = np.setdiff1d(np.arange(graph.num_nodes), data.task.labelled)
    best = unknown[np.argsort(-run.scores[unknown], kind="stable")][:top]
    table = Table(title=f"Found: the {len(best)} best of {len(unknown):,} unlabelled nodes", box=box.SIMPLE)
    table.add_column("id")
    table.add_column("score", justify="right")
    table.add_column("hops to a known one", justify="right")
    if classes is not None:
        table.add_column("true class (never shown to the method)")
    if truth is not None:
        table.add_column("right")
    for node in best:
        hops = data.task.distances[node]
        row = [
            escape(shown(graph.ids[node], LONGEST_ID)),
            f"{run.scores[node]:.4f}",
            "unreachable" if hops == UNREACHABLE else str(hops),
        ]
        if classes is not None:
            row.append(escape(classes[node]))
        if truth is not None:
            row.append("[green]yes[/]" if truth.positive[node] else "[red]no[/]")
        table.add_row(*row)
    return table


def _hint(found: int, nodes: int) -> str:
    if 0 < found < nodes:
        return ""
    return f" ({'all' if found else 'none'} of them: train for more epochs, or use --threshold prior)"


def _summary(run: Run, data: InputData) -> Table:
    assert data.task is not None
    graph, record = data.graph, run.record
    known = f"{len(data.task.labelled):,} positives among {graph.num_nodes:,} nodes"
    if data.benchmark is not None:
        classes = data.class_of_node or []
        names = sorted({classes[node] for node in np.flatnonzero(data.benchmark.positive)} if classes else ())
        known += f"; {int(data.benchmark.positive.sum()):,} are truly positive"
        known += f" ({', '.join(names)})" if names else ""
    unlabelled = np.setdiff1d(np.arange(graph.num_nodes), data.task.labelled)
    found = int((run.scores[unlabelled] >= record["threshold"]).sum())
    rows = [
        ("graph", f"{graph.num_nodes:,} nodes, {graph.num_edges:,} edges, {graph.num_features:,} features"),
        ("known", known),
        ("found", f"{found:,} unlabelled nodes score {record['threshold']:.3g} or more{_hint(found, len(unlabelled))}"),
    ]
    metrics = record["metrics"]
    if metrics is not None:
        rows += [
            ("macro-F1", f"{metrics['macro_f1']:.1f} % on {metrics['test_nodes']:,} test nodes"),
            ("AUC", "not defined: one class only" if metrics["roc_auc"] is None else f"{metrics['roc_auc']:.1f} %"),
        ]
    rows += [
        ("time", f"{record['seconds']['training']:.1f} s training, {record['seconds']['total']:.1f} s in total"),
        ("run folder", str(run.path)),
        ("report", f"{run.path / 'report.html'} (open it in a browser)"),
    ]
    return pairs_table("Run", rows)
