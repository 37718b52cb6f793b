"""The tables of an audit: nodes to check, what was measured, and probabilities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import numpy as np

from pugnn.errors import counted, percent
from pugnn.evidence.audit import Audit, Choice
from pugnn.evidence.measured import Measurement, checks_to_settle, foreseen
from pugnn.evidence.rank_model import Band
from pugnn.explain.explaining import explain
from pugnn.explain.sentences import link_words, why_words
from pugnn.files import write_json
from pugnn.runs.run import Run
from pugnn.runs.writers import MAX_IN_CSV, IdColumn, Table, write_scores

#: In larger graphs, explaining a node takes more than a moment.
MAX_NODES_EXPLAINED = 1_000_000
#: More nodes are not explained.
MAX_EXPLAINED = 200
#: Checks whose worth is foreseen.
MORE = 20


def audit_table(run: Run, audit: Audit) -> tuple[list[str], Iterable[list[Any]]]:
    """Columns and rows of the file to fill in, of the last draw: neither rank nor score, which would sway a person."""
    event = audit.events[-1]
    positions = audit.ranking[[place for _, place, _ in event["nodes"]]]
    reasons = dict.fromkeys(positions.tolist(), ("", ""))
    if run.task.graph.num_nodes <= MAX_NODES_EXPLAINED and len(positions) <= MAX_EXPLAINED:
        found = explain(run.estimator, run.task, np.sort(positions), log_odds=run.log_odds, order=run.order)
        explained = zip(np.sort(positions).tolist(), found, strict=True)
        reasons |= {position: (why_words(each), link_words(each)) for position, each in explained}
    rows = (
        [event["draw"], name, *(cells[position] for cells in run.data.shown.values()), *reasons[position], None]
        for (name, _, _), position in zip(event["nodes"], positions.tolist(), strict=True)
    )
    return ["audit", "id", *run.data.shown, "why", "link", "verdict"], rows


def measured_rows(measured: Measurement) -> list[tuple[str, str, str]]:
    """What was measured, its value and its interval, in words."""

    def shares(words: str, band: Band) -> tuple[str, str, str]:
        return words, percent(band.value), f"{percent(band.low)} to {percent(band.high)}"

    rows = [shares(f"precision of the first {top.taken:,}", top.precision) for top in measured.first if top.checked]
    if (decided := measured.decided) is not None:
        rows.append(shares(f"precision of the {decided.taken:,} decided positive", decided.precision))
        rows += [shares("their recall", decided.recall), shares("their F1", decided.f1)]
    count = measured.positives
    number = (f"{value:,.0f}" for value in (count.value, count.low, count.high))
    value, low, high = number
    return [*rows, (f"positives among {measured.unlabelled:,} unlabelled nodes", value, f"{low} to {high}")]


def next_checks(audit: Audit, measured: Measurement) -> list[str]:
    """What the numbers rest on, and what more checks would buy."""
    sample, words = audit.sample(), []
    top = max((each for each in measured.first if each.taken <= 100), key=lambda each: each.taken, default=None)
    if top is not None and measured.checks:
        now, later = foreseen(sample, MORE, top.taken)
        words.append(
            f"{MORE} more checks: ± {100 * later:.0f} instead of ± {100 * now:.0f} % for the precision of the first "
            f"{top.taken:,}."
        )
    if measured.narrowed:
        words.append("Number, recall and F1 are narrowed by where hidden positives rank; precision is measured alone.")
    else:
        words.append(f"Nothing is narrowed by hidden positives: {measured.why_not_narrowed}.")
    if measured.positives.high > 3 * max(measured.positives.value, 1.0):
        beyond, wanted = int(sample.edges[-2]), checks_to_settle(sample, measured)
        words.append(
            f"What lies beyond rank {beyond:,} is hardly known: {counted(wanted, 'check')} there without a find would "
            "bound it to as many positives as are estimated in all."
        )
    return words


def write_measured(run: Run, audit: Audit, measured: Measurement, choice: Choice | None) -> dict[str, Any]:
    """Write ``audit.json``, which is returned, and the probabilities of all unlabelled nodes to the folder of a run."""
    found = {"measured": measured.to_plain(), "choice": None if choice is None else asdict(choice)}
    write_json(run.path / "audit.json", found)
    probabilities = audit.probabilities()
    table: Table = {
        "id": IdColumn(run.task.graph.ids, audit.ranking),
        "rank": np.arange(1, len(audit.ranking) + 1),
        "probability": probabilities,
    }
    if choice is not None:
        table["decision"] = (np.arange(len(probabilities)) < choice.taken).astype(np.int64)
    write_scores(run.path / "probabilities.parquet", table)
    if len(probabilities) <= MAX_IN_CSV:
        write_scores(run.path / "probabilities.csv", table)
    return found
