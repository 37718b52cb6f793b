"""The tables of an audit: nodes to check, what was measured, and probabilities."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from pugnn.errors import PugnnError, WriteError, counted, percent
from pugnn.evidence.audit import Audit, Event
from pugnn.evidence.measured import Measurement, checks_to_settle, foreseen
from pugnn.evidence.purposes import Choice
from pugnn.explain.explaining import explain
from pugnn.explain.sentences import link_words, why_words
from pugnn.files import require_new, write_json
from pugnn.runs.audit_log import sources
from pugnn.runs.report.answers import command_of_next_round
from pugnn.runs.run import Run
from pugnn.runs.writers import MAX_IN_CSV, Table, WrittenIds, write_scores, write_table

#: In larger graphs, explaining a node takes more than a moment.
MAX_NODES_EXPLAINED = 1_000_000
#: More nodes are not explained.
MAX_EXPLAINED = 200
#: Checks whose worth is foreseen.
MORE = 20

_VERDICTS = {True: "yes", False: "no", None: None}


def place_file(run: Run, audit: Audit, out: Path | None) -> None:
    """Choose the file of the last draw, ``audit-1.csv``, ``audit-2.csv``, … in the folder of the run unless given."""
    number = len(audit.draws)
    while out is None and os.path.lexists(run.path / f"audit-{number}.csv"):
        number += 1
    if out is not None:
        require_new(out)
        if not os.access(out.absolute().parent, os.W_OK):
            raise PugnnError(f"cannot write {out}: its folder is not there, or cannot be written to")
    audit.draws[-1]["file"] = f"audit-{number}.csv" if out is None else str(out.absolute())


def write_draw(run: Run, audit: Audit, draw: Event) -> Path:
    """Write the file to fill in: neither rank nor score, which would sway a person."""
    file: Path = run.path / draw["file"]  # which --out has made absolute
    positions = audit.ranking[[place for _, place, _ in draw["nodes"]]]
    reasons = dict.fromkeys(positions.tolist(), ("", ""))
    if run.task.graph.num_nodes <= MAX_NODES_EXPLAINED and len(positions) <= MAX_EXPLAINED:
        found = explain(run.estimator, run.task, np.sort(positions), log_odds=run.log_odds, order=run.order)
        for position, each in zip(np.sort(positions).tolist(), found, strict=True):
            linked = int((run.known[run.task.graph.neighbours(position)] == 1).sum())
            reasons[position] = why_words(each, linked), link_words(each)
    first, last = ["audit", "id"], ["why", "link", "verdict"]
    shown = [f"{name} (shown)" if name in first + last else name for name in run.data.shown]
    rows = (
        [
            draw["draw"],
            name,
            *(cells[position] for cells in run.data.shown.values()),
            *reasons[position],
            _VERDICTS[audit.verdicts.get(position)],
        ]
        for (name, _, _), position in zip(draw["nodes"], positions.tolist(), strict=True)
    )
    write_table(file, [*first, *shown, *last], rows)
    return file


def progress(run: Run, audit: Audit) -> list[dict[str, Any]]:
    """The draws that are not checked entirely: the file of each, and how many of its nodes were drawn and checked.

    A file that is gone is written again.
    """
    verdicts, found = audit.verdicts, []
    for draw in audit.draws:
        places = [place for _, place, _ in draw["nodes"]]
        checked = sum(position in verdicts for position in audit.ranking[places].tolist())
        if checked < len(places):
            file = run.path / draw["file"]
            if not os.path.lexists(file):
                with suppress(WriteError):  # where it was put cannot be written to any more
                    write_draw(run, audit, draw)
            found.append({"file": str(file), "drawn": len(places), "checked": checked})
    return found


def measured_title(measured: Measurement) -> str:
    """What numbers rest on."""
    own = f"{counted(measured.others, 'node')} of your own choice" if measured.others else ""
    if not measured.checks:
        return f"Known from {own}"
    words = f"Measured on {counted(measured.checks, 'check')}, {measured.positive:,} of them positive"
    return f"{words}, and {own}" if own else words


def measured_rows(measured: Measurement) -> list[tuple[str, str, str]]:
    """What was measured, its value and its interval, in words; values with a wide interval are unknown."""
    rows = []
    for words, band, of in measured.rows():
        shown: Callable[[float], str] = percent if of == "share" else "{:,.0f}".format
        value = "unknown" if measured.unknown(band) else shown(band.value)
        rows.append((words, value, f"{shown(band.low)} to {shown(band.high)}"))
    return rows


def next_checks(audit: Audit, measured: Measurement) -> list[str]:
    """What the numbers rest on, and what more checks would buy."""
    sample, words = audit.sample(), []
    top = min(100, len(audit.ranking))
    more = min(MORE, audit.left)
    if measured.checks and more:
        now, later = foreseen(sample, more, top)
        words.append(
            f"{counted(more, 'more check')}: ± {100 * later:.0f} instead of ± {100 * now:.0f} percentage points for "
            f"the precision of the first {top:,}."
        )
    if measured.narrowed:
        words.append("Number, recall and F1 are narrowed by where hidden positives rank; precision is measured alone.")
    else:
        words.append(f"Hidden positives were not used to narrow this: {measured.why_not_narrowed}.")
    if sample.cells().checked[-1] and measured.positives.high > 3 * max(measured.positives.value, 1.0):
        beyond, wanted = int(sample.edges[-2]), checks_to_settle(sample, measured)
        words.append(
            f"Few checks fall beyond rank {beyond:,}: {counted(wanted, 'check')} there without a find would show that "
            "no more positives are hidden there than are estimated in all."
        )
    return words


def next_command(run: Run, audit: Audit, measured: Measurement | None) -> tuple[str, str]:
    """What to do next, in words, and the command for it."""
    folder = shlex.quote(str(run.path))
    if unfinished := progress(run, audit):
        file = shlex.quote(unfinished[0]["file"])
        return f"Fill in the column verdict of {file}, yes or no, and then:", f"pugnn audit {folder} {file}"
    if audit.left and measured is not None and measured.unknown(measured.positives):
        return "To know more:", f"pugnn audit {folder} -n {min(MORE, audit.left)}"
    files = [source for source in sources(run, audit) if os.path.exists(source)] or ["checked.csv"]
    return "To train with what was found:", command_of_next_round(run.path, files)


def write_measured(run: Run, audit: Audit, choice: Choice | None) -> None:
    """Write ``audit.json``, and the probabilities of all unlabelled nodes with who is on a chosen list."""
    write_json(
        run.path / "audit.json",
        {"measured": audit.estimate().to_plain(), "choice": None if choice is None else asdict(choice)},
    )
    if not audit.estimate().checks:
        return
    probabilities = audit.probabilities()
    table: Table = {
        "id": WrittenIds(run.task.graph.ids, audit.ranking),
        "rank": np.arange(1, len(audit.ranking) + 1),
        "probability": probabilities,
    }
    if choice is not None:
        table["decision"] = (np.arange(len(probabilities)) < choice.taken).astype(np.int64)
    write_scores(run.path / "probabilities.parquet", table)
    if len(probabilities) <= MAX_IN_CSV:
        write_scores(run.path / "probabilities.csv", table)
