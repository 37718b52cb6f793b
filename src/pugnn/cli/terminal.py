"""Results, notes and check-ups on the terminal."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from pugnn.errors import counted, printable, shown

if TYPE_CHECKING:  # numpy, torch and what needs them are slow to load
    from pugnn.checkup import CheckUp
    from pugnn.features import Statement
    from pugnn.runs.run import Run
    from pugnn.task import PUBenchmark

#: Longer ids are shortened.
MAX_ID_LENGTH = 40
#: Nodes that are named among those whose rank has changed most.
MAX_MOVES = 5
#: Best finds that are listed.
MAX_FOUND = 10
#: Marks of the levels, distinguishable without colour.
MARKS = {"good": ("✓", "green"), "note": ("·", "cyan"), "warning": ("!", "yellow")}
#: Colours of what is said on standard error.
COLOURS = {"note": "cyan", "warning": "yellow", "error": "red"}
INDENTED = (0, 0, 0, 2)


def make_console() -> Console:
    """Standard output, on which numbers and brackets are plain text."""
    return Console(highlight=False, emoji=False)


def print_json(value: Any) -> None:
    """Print plain values as JSON."""
    typer.echo(json.dumps(value))


def print_files(paths: Iterable[Path], as_json: bool) -> None:
    """Print the names of files that were written."""
    names = [str(path) for path in paths]
    typer.echo(json.dumps({"files": names}) if as_json else "\n".join(names))


def print_notes(notes: Iterable[str], kind: str = "note") -> None:
    """Show notes, warnings or errors on standard error."""
    console = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)
    for note in notes:
        console.print(f"[{COLOURS[kind]}]{kind}:[/] {escape(printable(note))}")


def make_table(columns: Sequence[Column | str], rows: Iterable[Sequence[Any]], title: str | None = None) -> Table:
    """A table of plain or styled text; see :func:`texts` and :func:`numbers` for its columns."""
    table = Table(*columns, title=title, title_justify="left", caption_justify="left", box=box.SIMPLE)
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    return table


def texts(*names: str) -> list[Column]:
    """Columns of text, which is never cut."""
    return [Column(escape(shown(name, MAX_ID_LENGTH)), overflow="fold") for name in names]


def numbers(*names: str) -> list[Column]:
    """Columns of numbers."""
    return [Column(name, justify="right") for name in names]


def print_verdicts(console: Console, check_up: CheckUp) -> None:
    """Show what a check-up found, a line each."""
    for finding in check_up.findings:
        _print_marked(console, finding.level, finding.title, style="bold")


def print_check_up(console: Console, check_up: CheckUp, command: str, *, truth: PUBenchmark | None = None) -> None:
    """Show a check-up in full and the command to go on with; the truth adds the share of positives in each ring."""
    for finding in check_up.findings:
        _print_marked(console, finding.level, finding.title, style="bold")
        console.print(Padding(Text(finding.text), INDENTED))
        if finding.remedy:
            console.print(Padding(Text.assemble(("→ ", "bold"), finding.remedy), INDENTED))
    console.print()
    console.print(Text("Advice: what the default method will do here", style="bold"))
    for step in check_up.advice:
        console.print(Padding(Text(f"- {step}"), INDENTED))
    console.print("To run it:")
    console.print(Text(f"  {command}", style="bold"), soft_wrap=True)  # not broken, so that it can be copied
    console.print()
    console.print(_sizes(check_up))
    console.print(_rings(check_up, truth))
    if truth is not None:
        from pugnn.graph import edge_homophily

        same = edge_homophily(truth.task.graph, truth.positive)
        words = f"Truth (never shown to a method): {100 * truth.positive.mean():.1f} % of the nodes are positive, and "
        console.print(Text(f"{words}{100 * same:.1f} % of all edges join nodes of the same class."))


def _print_marked(console: Console, level: str, words: str, style: str = "") -> None:
    """Words beside the mark of their level."""
    mark, colour = MARKS[level]
    line = Table.grid(padding=(0, 1))
    line.add_row(Text(mark, style=f"bold {colour}"), Text(words, style=style))
    console.print(line)


def _sizes(check_up: CheckUp) -> Table:
    sizes, degrees, reach = check_up.statistics, check_up.degrees, check_up.reach
    middle = dict(degrees.quantiles)
    hubs = [f"{shown(hub.id, MAX_ID_LENGTH)} ({hub.degree:,})" for hub in degrees.hubs]
    rows = {
        "nodes, edges": f"{sizes.nodes:,} nodes, {sizes.edges:,} edges, {sizes.features:,} features",
        "components": f"{sizes.components:,}; the largest has {sizes.largest_component:,} nodes; "
        f"{sizes.isolated:,} nodes have no links",
        "links": f"mean {sizes.mean_degree:.1f}, median {middle[0.5]:,}, 90th percentile {middle[0.9]:,}; the top 1 % "
        f"of nodes have {100 * degrees.top_share:.0f} % of all",
        "most links": ", ".join(hubs) or "–",
        "known positives": f"{reach.labelled:,}, of which {reach.isolated_labelled:,} have no links",
    }
    return _pairs("Graph", rows)


def _rings(check_up: CheckUp, truth: PUBenchmark | None) -> Table:
    from pugnn.checkup import true_share_of_rings

    shares = () if truth is None else true_share_of_rings(truth)
    rows = []
    for ring, share in zip_longest(check_up.rings.rings, shares):
        hops = "unreachable" if ring.distance is None else str(ring.distance)
        cells = [hops, f"{ring.nodes:,}", f"{100 * ring.share_within:.1f} %"]
        rows.append(cells + ([] if share is None else [f"{100 * share:.1f} %"]))
    columns = numbers("hops", "nodes", "share up to here", *(["truly positive"] if shares else []))
    return make_table(columns, rows, "Unlabelled nodes by distance to a known positive")


def print_run(run: Run) -> None:
    """Show what is known, what is measured and what to do next; then the best finds, and a summary of the run."""
    from pugnn.runs.report.answers import answers

    console = make_console()
    lines = Table.grid(padding=(0, 1))
    told = answers(run.path, len(run.others), run.evidence, run.results)
    for answer in told:
        lines.add_row(Text(answer.question, style="bold"), Text(printable(f"{answer.short} {answer.text}")))
    console.print(lines)
    if told[-1].command:
        console.print(Text(f"  {told[-1].command}", style="bold"), soft_wrap=True)  # not broken, to be copied
    estimate = run.evidence.estimate
    if estimate is not None and estimate["caveat"] is not None:
        _print_marked(console, "warning", printable(estimate["caveat"]))
    for note in run.results.method_notes:
        _print_marked(console, "note", printable(note))
    console.print(_found(run))
    console.print(_summary(run))
    if (changes := run.results.changes) is not None:
        checked = f"{changes['confirmed']:,} confirmed, {changes['rejected']:,} rejected"
        trained = "continued from the earlier model" if changes["warm"] else "started from scratch"
        console.print(_changes(changes, {"checked": checked, "training": trained}))
    if run.results.degenerate:
        _print_marked(console, "warning", "This result is degenerate", style="bold reverse")
        for reason in run.results.degenerate:
            console.print(Padding(Text(f"- {reason['message']}"), INDENTED))


def print_suggestions(suggestions: Iterable[Mapping[str, Any]], goal: str, run: Path, out: Path | None) -> None:
    """Show which nodes to check next, and how to go on; ``out`` is the table to fill in, if there is one."""
    from pugnn.runs.report.answers import GOALS, feedback_command

    console = make_console()
    title, words = GOALS[goal]
    rows = (
        (shown(each["id"], MAX_ID_LENGTH), f"{each['rank']:,}", f"{each['score']:.4f}", each["reason"])
        for each in suggestions
    )
    table = make_table([*texts("id"), *numbers("rank", "score"), *texts("reason")], rows, title)
    table.caption = words
    console.print(table)
    words = "Put the ids that are right into confirmed.csv, those that are wrong into rejected.csv, and run again:"
    if out is not None:
        words = f"The list is in {printable(str(out))}. Fill in its column verdict, yes or no, and run again:"
    console.print(Text(words))
    command = feedback_command(shlex.quote(str(run)), None if out is None else shlex.quote(str(out)))
    console.print(Text(f"  {command}", style="bold"), soft_wrap=True)  # not broken, so that it can be copied


def print_recipe(console: Console, recipe: Iterable[Statement], *, verbose: bool) -> None:
    """How the attributes of the nodes became features, a line per group of columns or, if verbose, per column."""
    from pugnn.features import grouped

    rows = [
        (shown(line.column, MAX_ID_LENGTH), line.kind, f"{line.features:,}", line.text)
        for line in (recipe if verbose else grouped(recipe))
    ]
    if rows:
        columns = [*texts("column", "kind"), *numbers("features"), *texts("how")]
        console.print(make_table(columns, rows, "How attributes become features"))


def _pairs(title: str, rows: Mapping[str, str]) -> Table:
    table = make_table([Column(style="bold", no_wrap=True), ""], rows.items(), title)
    table.show_header = False
    return table


def _found(run: Run) -> Table:
    from pugnn.graph import UNREACHABLE

    classes, truth, best = run.data.class_of_node, run.truth, run.others[:MAX_FOUND]
    columns = [*texts("id"), *numbers("score", "log-odds", "hops to a known positive")]
    columns += [] if classes is None else texts("true class (never shown to the method)")
    columns += [] if truth is None else texts("right")
    rows = []
    for node in best:
        hops = run.task.distances[node]
        row: list[str | Text] = [shown(run.task.graph.ids[node], MAX_ID_LENGTH)]
        row += [f"{run.scores[node]:.4f}", f"{run.log_odds[node]:.3f}"]
        row.append("unreachable" if hops == UNREACHABLE else str(hops))
        row += [] if classes is None else [classes[node]]
        if truth is not None:
            row.append(Text("yes", "green") if truth.positive[node] else Text("no", "red"))
        rows.append([*row, *(shown(cells[node], MAX_ID_LENGTH) for cells in run.data.shown.values())])
    title = f"Found: the {len(best)} best of {len(run.others):,} unlabelled nodes"
    return make_table([*columns, *texts(*run.data.shown)], rows, title)


def _summary(run: Run) -> Table:
    from pugnn.metrics import in_words

    task, graph, metrics, seconds = run.task, run.task.graph, run.evidence.metrics, run.results.seconds
    negative = f" and {counted(len(task.negative), 'negative')}" if len(task.negative) else ""
    known = f"{counted(len(task.labelled), 'positive')}{negative} among {graph.num_targets:,} nodes"
    if run.truth is not None:
        classes = run.data.class_of_node or []
        names = sorted({classes[node] for node in run.truth.positive.nonzero()[0]} if classes else ())
        known += f"; {int(run.truth.positive.sum()):,} are truly positive"
        known += f" ({', '.join(names)})" if names else ""
    score = "scores" if run.found == 1 else "score"
    found = f"{counted(run.found, 'unlabelled node')} {score} {run.results.threshold:.3g} or more"
    if run.found in (0, len(run.others)):
        found += f" ({'all' if run.found else 'none'} of them)"
    found += "" if run.results.decided_by is None else f"; decided positive: {run.results.decided_by}"
    rows = {
        **({"title": run.settings.title} if run.settings.title else {}),
        "graph": f"{graph.num_nodes:,} nodes, {graph.num_edges:,} edges, {graph.num_features:,} features",
        "known": known,
        "found": found,
    }
    if metrics is not None:
        measured = (f"{metric.short} {value}" for metric, value in in_words(metrics))
        rows["measured"] = f"on {metrics['test_nodes']:,} test nodes: {', '.join(measured)}"
    rows |= {
        "time": f"{seconds['training']:.1f} s training, {seconds['total']:.1f} s in total",
        "run folder": str(run.path),
        "report": f"{run.path / 'report.html'} (open it in a browser)",
    }
    return _pairs("Run", rows)


def _changes(changes: Mapping[str, Any], rows: Mapping[str, str]) -> Table:
    """What has changed since an earlier run: these rows, and who rose and who fell most."""

    def moved(node: Mapping[str, Any]) -> str:
        return f"{shown(node['id'], MAX_ID_LENGTH)} ({node['rank_before']:,} → {node['rank_now']:,})"

    moves = {name: ", ".join(map(moved, changes[name][:MAX_MOVES])) or "–" for name in ("rose", "fell")}
    title = f"Since {shown(changes['before'], MAX_ID_LENGTH)}, by rank among unlabelled nodes"
    return _pairs(title, {**rows, **moves})


def print_snapshot(changes: Mapping[str, Any]) -> None:
    """Show what has changed in a snapshot since the run whose model has scored it."""
    rows = {
        "new": f"{counted(changes['new'], 'node')}, {changes['new_positive']:,} decided positive",
        "gone": counted(changes["gone"], "node"),
        "newly decided positive": counted(changes["became_positive"], "node"),
        "no longer positive": counted(changes["no_longer_positive"], "node"),
    }
    make_console().print(_changes(changes, rows))
