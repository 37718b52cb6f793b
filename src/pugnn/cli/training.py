"""What `fit` and `demo` share: the check-up, a run into its folder, and its result on the terminal."""

from __future__ import annotations

import os
import shlex
import warnings
from dataclasses import replace
from pathlib import Path

import typer

from pugnn import processes
from pugnn.checkup import check_up
from pugnn.cli.faults import plain_interrupts
from pugnn.cli.input_data import open_run
from pugnn.cli.terminal import make_console, print_json, print_notes, print_recipe, print_run, print_verdicts
from pugnn.errors import DegenerateWarning, PugnnError, WriteError, counted, shorten
from pugnn.estimator import PUNodeClassifier
from pugnn.memory import available_memory
from pugnn.runs.audit_log import LOG, read_events
from pugnn.runs.changes import EarlierRun, measured_for, measured_prior
from pugnn.runs.folder import RunFolder, next_free
from pugnn.runs.report.answers import feedback_command
from pugnn.runs.run import InputData
from pugnn.runs.training_run import train_into_folder
from pugnn.store.case_log import NAME as CASES
from pugnn.store.case_log import read_verdicts
from pugnn.store.ids import ids_of, text_column
from pugnn.task import PUTask
from pugnn.waiting import part, status_line

#: A run that takes less memory than this, and less than half of what there is, needs no words.
NOTEWORTHY = 10**9

#: Share of the time that the check-up takes, roughly.
CHECKING = 0.1


@part(0, 1)
def train_and_show(
    estimator: PUNodeClassifier,
    data: InputData,
    *,
    name: str,
    out: Path | None,
    resume: bool,
    start: Path | None = None,
    repeats: Path | None = None,
    title: str | None = None,
    verbose: bool = False,
    as_json: bool,
) -> None:
    """Train into ``out``, or the next free folder of that name in ``runs``, and show the result.

    ``start`` is the folder of an earlier run to go on from, ``repeats`` of one whose options are used again, ``title``
    that of the report.
    """
    assert data.task is not None
    if resume and out is None:
        raise PugnnError("--resume needs --out, the name of the run that was stopped")
    before, notes, options = None, data.notes, dict(data.options)
    if start is not None:
        before = EarlierRun.of(start, data.task)
        estimator, before, measured = _with_measured_prior(estimator, data.task, before)
        notes, options["start"] = (*notes, *before.notes, *measured), str(start)
    for earlier in dict.fromkeys(filter(None, (start, repeats))):
        notes = (*notes, *(note for note in _unused_verdicts(earlier, data, data.task) if note not in notes))
    if title is not None:
        options["title"] = title
    method, settings = estimator.check_parameters()
    if processes.rank():  # the first process checks, writes and shows
        method.plan(data.task, settings)  # which takes all processes, to decide alike
        model = None if before is None else before.classifier
        estimator.fit_task(data.task, checkpoint=Path("that of the first process"), start=model)
        return
    folder = RunFolder(out if out is not None else next_free(Path("runs"), name), resume=resume)
    try:
        print_notes(notes)
        with part(0, CHECKING), status_line() as line:
            line.say("checking the graph")
            assessed = check_up(data.task, seed=estimator.seed)
        if not as_json:
            console = make_console()
            print_verdicts(console, assessed)
            print_recipe(console, data.recipe, verbose=verbose)
        plan = method.plan(data.task, settings)
        least = min(NOTEWORTHY, available_memory() // 2)
        if plan is not None and (plan.batch_size is not None or plan.forecast.total >= least):
            notes = (*notes, plan.memory)
            print_notes([plan.memory])
        data = replace(data, options=options, notes=notes)
    except BaseException:
        folder.abandon()
        raise
    try:
        with plain_interrupts(), part(CHECKING, 1), warnings.catch_warnings():
            if not as_json:  # print_run shows it
                warnings.simplefilter("ignore", DegenerateWarning)
            run = train_into_folder(estimator, data, folder, assessed, before)
    except (KeyboardInterrupt, WriteError, processes.LostProcessError):
        words = "stopped before the first checkpoint; nothing was kept"
        if folder.path.exists():
            words = f"stopped; the run in {folder.path} is complete, but for suggestions and explanations"
        elif folder.checkpoint.exists():
            words = f"stopped; the same options with --out {folder.path} --resume continue from here"
        typer.echo(words, err=True)
        raise
    if as_json:
        print_json({"folder": str(run.path), **run.record})
    else:
        print_run(run)


def _with_measured_prior(
    estimator: PUNodeClassifier, task: PUTask, before: EarlierRun
) -> tuple[PUNodeClassifier, EarlierRun, list[str]]:
    """With the prior that was measured by the audit of the earlier run or before, unless the user has given one.

    Also the earlier run with that prior, and a note on it.
    """
    method, _ = estimator.check_parameters()
    prior = getattr(method, "prior", None)
    audited = (before.folder / LOG).exists()
    if not isinstance(prior, str) or not (audited or measured_for(before.record.get("parent"))):
        return estimator, before, []
    try:
        parent = open_run(before.folder)
        found = measured_prior(parent, task)
    except PugnnError as error:
        return estimator, before, [f"the audit of {before.folder} is not used: {error}"]
    if found is None or prior not in ("auto", found[0]):  # the same where a run is repeated
        return estimator, before, []
    measured, checks = found
    on = f"on {counted(checks, 'check')} of" if checks else "in a round before"
    method = replace(method, prior=measured)  # type: ignore[call-arg]
    words = f"the prior {measured} was measured {on} {before.folder}"
    return estimator.unfitted().set_params(method=method), replace(before, measured=measured), [words]


def _unused_verdicts(run: Path, data: InputData, task: PUTask) -> list[str]:
    """A note on verdicts in the audit or case room of an earlier run that no given file has, and how to take them."""
    try:
        recorded = [event for event in read_events(run) if "verdicts" in event]
    except PugnnError as error:
        return [f"the audit of {run} is not used: {run / LOG}: {error}"]
    source_of = {str(name): event["source"] for event in recorded for name, _, _ in event["verdicts"]}
    if (log := run / CASES).exists():
        source_of |= dict.fromkeys(map(str, read_verdicts(log)), str(log))
    if not source_of:
        return []
    found, known = ids_of(task.graph).find(text_column(list(source_of))).tolist(), task.known
    left_out = [file for at, file in zip(found, source_of.values(), strict=True) if at >= 0 and not known[at]]
    if not left_out:
        return []
    files = dict.fromkeys([*data.options.get("checked", ()), *left_out])
    gone = [file for file in files if not os.path.exists(file)]
    first = f" (after {shorten(gone)} is back, or its verdicts are in another file)" if gone else ""
    command = feedback_command(shlex.quote(str(run)), " --checked ".join(map(shlex.quote, files)))
    places = " and ".join(str(run / name) for name in (LOG, CASES) if (run / name).exists())
    words = f"{counted(len(left_out), 'verdict')} in {places} left out, since no given file has them"
    return [f"{words}. To learn from them{first}: {command}"]
