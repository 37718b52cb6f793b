"""`pugnn explain`: why nodes have their scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from pugnn.cli.input_data import open_run
from pugnn.cli.options import ON_A_RUN, OUTPUT, Json, command, option
from pugnn.cli.terminal import INDENTED, make_console, make_table, numbers, print_json, texts
from pugnn.errors import PugnnError, did_you_mean, printable, shown, similar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.table import Table

    from pugnn.explain import Explanation
    from pugnn.graph import Graph

#: Among more ids than this, none that are spelt alike are looked for.
MAX_COMPARED = 100_000


@command(ON_A_RUN)
def explain(
    *,
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    ids: Annotated[list[str] | None, typer.Argument(help="Ids of the nodes to explain.")] = None,
    top: Annotated[int | None, option("Explain this many of the best finds.", panel=None, min=1)] = None,
    out: Annotated[Path | None, option("Write the explanations to this file, as JSON.", panel=OUTPUT)] = None,
    as_json: Json = False,
) -> None:
    """Explain scores: what speaks for and against a node, and what would change the decision.

    Contributions add up to the log-odds of the score; they are exact for the default method and for label propagation.
    `--show` of the run adds columns of the node table.

    Examples:

        pugnn explain runs/mine acct-17 acct-301

        pugnn explain runs/mine --top 5
    """
    from pugnn.explain import explain, explain_best
    from pugnn.files import require_new, write_json

    if (top is None) == (not ids):
        raise PugnnError("name the nodes to explain by their ids, or give --top N for the best finds")
    if out is not None:
        require_new(out)
    opened = open_run(run, as_trained=True)
    task, columns = opened.task, opened.data.shown
    if ids:
        nodes = _positions(task.graph, ids)
        found = explain(opened.estimator, task, nodes, log_odds=opened.log_odds, order=opened.order, shown=columns)
    else:
        found = explain_best(opened.estimator, task, opened.log_odds, columns, top, opened.order)
    plain = [each.to_plain() for each in found]
    if out is not None:
        write_json(out, plain)
    if as_json:
        print_json(plain)
        return
    for each in found:
        print_explanation(each)
    if out is not None:
        typer.echo(f"written to {out}")


def _positions(graph: Graph, ids: list[str]) -> NDArray[np.int64]:
    """Positions of the nodes with these ids, which are text on the command line, whatever they are in the graph."""
    from pugnn.store.ids import ids_of, text_column

    known = ids_of(graph)
    found = known.find(text_column(ids))
    if (found < 0).any():
        wanted = ids[int((found < 0).argmax())]
        if wanted.partition(":")[0] in graph.kinds:
            raise PugnnError(f"{wanted!r} has no score: only nodes of the kind {next(iter(graph.kinds))} have")
        others = set(graph.ids[graph.num_targets :].tolist())
        for kind in graph.kinds:
            if f"{kind}:{wanted}" in others:
                words = f"there is one of the kind {kind}, {kind}:{wanted}"
                raise PugnnError(f"no {next(iter(graph.kinds))} has the id {wanted!r}; {words}, but it has no score")
        near = similar(wanted, known.texts(), 3, 0.75) if len(known) <= MAX_COMPARED else []
        raise PugnnError(f"there is no node {wanted!r} in the graph{did_you_mean(near)}")
    return found.astype("int64")


def print_explanation(explanation: Explanation) -> None:
    """Show why a node has its score: in sentences, and the largest contributions in tables."""
    console = make_console()
    console.print(Text(shown(explanation.id), style="bold"))
    for name, value in explanation.shown.items():
        console.print(Padding(Text(f"{shown(name)}: {shown(value, 200)}", style="dim"), INDENTED))
    for sentence in explanation.sentences:
        console.print(Padding(Text(f"- {printable(sentence)}"), INDENTED))
    if explanation.nodes:
        console.print(Padding(_nodes(explanation), INDENTED))
    if explanation.speak_for or explanation.speak_against:
        console.print(Padding(_attributes(explanation), INDENTED))


def _nodes(explanation: Explanation) -> Table:
    from pugnn.explain.sentences import score_words, signed

    rows = []
    for part in explanation.nodes:
        hops = "far" if part.hops is None else str(part.hops)
        contribution = (signed(part.contribution), score_words(part.score_without))
        rows.append((shown(part.id), hops, part.known or "", *contribution))
    named = sum(part.contribution for part in explanation.nodes)
    rows.append(("all others", "", "", signed(explanation.around - named), ""))
    columns = [*texts("node"), *numbers("hops"), *texts("known"), *numbers(explanation.unit, "score without it")]
    return make_table(columns, rows)


def _attributes(explanation: Explanation) -> Table:
    from pugnn.explain.sentences import score_words, signed

    parts = (*explanation.speak_for, *explanation.speak_against)
    rows = []
    for part in parts:
        contributions = map(signed, (part.contribution, part.own, part.around))
        names = map(shown, (part.name, part.value))
        rows.append((*names, *contributions, score_words(part.score_without)))
    own = explanation.own - sum(part.own for part in parts)
    around = explanation.around + (explanation.place or 0.0) - sum(part.around for part in parts)
    rows.append(("all others", "", *map(signed, (own + around, own, around))))
    columns = numbers(explanation.unit, "own", "around", "score without it")
    return make_table([*texts("attribute", "own value"), *columns], rows)
