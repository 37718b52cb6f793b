"""`pugnn predict`: score a graph with a model from an earlier run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_type_hints

import typer

from pugnn.cli import options
from pugnn.cli.config import option_value, read_config
from pugnn.cli.input_data import read_input
from pugnn.cli.options import FEEDBACK, FOR_DRAWS, OUTPUT, DataOptions, command, option, options_of
from pugnn.cli.terminal import print_json, print_notes, print_snapshot
from pugnn.errors import PugnnError, quoted, shorten

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pugnn.runs.run import InputData
    from pugnn.task import PUTask

#: Options that say something of a training.
NOT_FOR_PREDICT = ("truth", "column", *FOR_DRAWS, *FEEDBACK)


@command(data=options_of(DataOptions, without=NOT_FOR_PREDICT))
def predict(
    *,
    model: Annotated[Path, typer.Argument(help="A run folder, or the model.safetensors in it.")],
    config: options.Config = None,  # noqa: ARG001 (it has set the defaults of all others)
    data: DataOptions,
    seed: options.Seed = 0,  # noqa: ARG001 (scoring has nothing random in it)
    out: Annotated[Path, option("Where to write the scores: a .csv, .csv.gz or .parquet file.", panel=OUTPUT)] = Path(
        "scores.csv"
    ),
    as_json: options.Json = False,
) -> None:
    """Score every node of a graph: the one of the training, or a later snapshot of it.

    Attributes become features by the recipe that the model was trained with: columns are found by name, in any order;
    a missing column counts as missing for every node, a new one is ignored, and both are reported.

    The model remembers the known nodes of its training by their ids: known positives, unless `--positives` names
    others, and checked ones. Rejected nodes score 0. In a run folder, the scores are compared with those of the run:
    who is new, gone, decided otherwise, has risen or fallen.

    Example:

        pugnn predict runs/mine --edges new_edges.csv --nodes new_nodes.csv --out new_scores.csv
    """
    from pugnn.estimator import PUNodeClassifier
    from pugnn.files import require_new
    from pugnn.model_file import model_file_of
    from pugnn.runs.changes import changes_since
    from pugnn.runs.writers import require_ending, score_table, write_scores
    from pugnn.training import scores_of

    require_new(out)
    require_ending(out)
    file = model_file_of(model)
    estimator = PUNodeClassifier.load(file)
    # Columns that had to be named for the training have the same names in the next snapshot.
    run = file.with_name("run.json")
    trained_with = read_config(run) if data.dataset is None and run.exists() else {}
    names = ["id", *(["label"] if data.positives else [])]
    names += ["source", "target", "weight", "edge_type", "directed"] if data.store is None else []
    names += ["time"] if data.as_of else []
    hints = get_type_hints(DataOptions)
    named = {
        name: option_value(run, name, trained_with[name], hints[name])
        for name in names
        if trained_with.get(name) is not None and getattr(data, name) is None
    }
    if data.edges and trained_with.get("edges"):
        _require_relations(data.edges, option_value(run, "edges", trained_with["edges"], hints["edges"]))
    found = read_input(replace(data, **named), known=False, recipe=estimator.recipe_)
    task = _known_nodes(found, estimator.known_.find(found.graph), file)
    print_notes(found.notes)
    if estimator.model_.needs_known and (task is None or not len(task.labelled)):
        print_notes(["none of the known positives is in this graph, so closeness to them says nothing"])
    log_odds = estimator.decision_function(found.graph, None if task is None else task.labelled)
    scores = scores_of(log_odds)
    decided = scores >= estimator.threshold_
    if task is not None:
        decided[task.negative] = False
    table = score_table(found.graph, scores, estimator.threshold_, task, log_odds=log_odds, shown=found.shown)
    earlier, changes = file.with_name("scores.parquet"), None
    if earlier.exists():
        try:
            changes = changes_since(earlier, found.graph, task, scores, decided, log_odds)
        except PugnnError as error:
            print_notes([str(error)])
    write_scores(out, table)
    result = {"scores": str(out), "nodes": len(scores), "positive": int(decided.sum()), "changes": changes}
    if as_json:
        print_json(result)
        return
    typer.echo(f"{result['nodes']:,} nodes scored, {result['positive']:,} decided positive: {out}")
    if changes is not None:
        print_snapshot(changes)


def _require_relations(given: list[str], trained: list[str]) -> None:
    """Raise, before tables are read, if they are not called as in a training with several kinds of nodes."""
    from pugnn.store.assembly.input_tables import named_tables

    here, then = ([name for name, _ in named_tables(edges)] for edges in (given, trained))
    if any(":" in name for name in then) and set(here) != set(then):
        raise PugnnError(f"the model was trained with {shorten(then, 20)}; name them so: --edges {then[0]}=FILE")


def _known_nodes(found: InputData, remembered: dict[str, NDArray[np.int64]], model: Path) -> PUTask | None:
    """The graph with its known nodes: those that are given, and those of the training, if there are any."""
    import numpy as np

    from pugnn.task import PUTask

    given = remembered["positives"] if found.task is None else found.task.labelled
    rejected = remembered["rejected"]
    both = rejected[np.isin(rejected, given)]
    if len(both):
        named = f"{found.options['positives']} names {quoted(str(found.graph.ids[both[0]]))}"
        raise PugnnError(f"{named}, which was rejected when {model} was trained. Train again, or remove it there.")
    if not len(given) + len(remembered["confirmed"]) + len(rejected):
        return None
    return PUTask.from_positives(found.graph, np.union1d(given, remembered["confirmed"]), rejected)
