"""What the commands show on the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pugnn.cli.checkup_tables import LONGEST_ID
from pugnn.errors import printable, shown
from pugnn.features import Statement, grouped
from pugnn.graph import UNREACHABLE

if TYPE_CHECKING:
    # The estimator and torch take their time to load, and `check` needs neither.
    from pugnn.cli.source import Source
    from pugnn.runs import Run


def print_run(run: Run, source: Source, *, top: int = 10) -> None:
    """What was known, what was found, how good it is where that is known, and where it lies."""
    assert source.task is not None
    console = Console(highlight=False, emoji=False)
    console.print(_found(run, source, top))
    console.print(_summary(run, source))


def print_notes(notes: Iterable[str]) -> None:
    """Say on standard error what was repaired."""
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


def _found(run: Run, source: Source, top: int) -> Table:
    assert source.task is not None
    graph, classes, truth = source.graph, source.class_of_node, source.benchmark
    unknown = np.setdiff1d(np.arange(graph.num_nodes), source.task.labelled)
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
        hops = source.task.distances[node]
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


def _summary(run: Run, source: Source) -> Table:
    assert source.task is not None
    graph, record = source.graph, run.record
    known = f"{len(source.task.labelled):,} positives among {graph.num_nodes:,} nodes"
    if source.benchmark is not None:
        classes = source.class_of_node or []
        names = sorted({classes[node] for node in np.flatnonzero(source.benchmark.positive)} if classes else ())
        known += f"; {int(source.benchmark.positive.sum()):,} are truly positive"
        known += f" ({', '.join(names)})" if names else ""
    unlabelled = np.setdiff1d(np.arange(graph.num_nodes), source.task.labelled)
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
        ("time", f"{record['seconds']['training']:.1f} s training, {record['seconds']['total']:.1f} s in all"),
        ("run folder", str(run.path)),
        ("report", f"{run.path / 'report.html'} (open it in a browser)"),
    ]
    return pairs_table("Run", rows)
