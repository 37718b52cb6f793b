"""The page: the template with its values, style and script, and a policy that lets nothing else run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from pugnn.errors import counted, percent, shown
from pugnn.evidence.signal import lift
from pugnn.explain.sentences import score_words, signed
from pugnn.features import grouped
from pugnn.files import write_text
from pugnn.metrics import in_words
from pugnn.runs.audit_log import audit_so_far
from pugnn.runs.report import charts
from pugnn.runs.report.answers import (
    GOALS,
    answers,
    choice_words,
    number_words,
    on_checks,
    share_words,
    unknown_share,
    what_changed,
    with_band,
)
from pugnn.runs.report.data import island, page_data
from pugnn.runs.report.picture import picture
from pugnn.runs.report.words import next_steps, summary
from pugnn.runs.run import Evidence, Run, count_nodes, describe_data
from pugnn.runs.writers import table_file
from pugnn.templates import content_policy, fill_template, resource

#: Shares of the ranking for which the report tells how many hidden positives are there.
TOPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)

#: Lines of the recipe, and of the repairs, that are shown.
MAX_LINES = 200

#: Words that the template asks for by their names.
FILTERS = (
    *(shown, percent, signed, score_words, with_band, unknown_share),
    *(number_words, choice_words, on_checks, share_words, what_changed),
)


def write_report(path: Path, run: Run) -> None:
    """Write the report of a run as one HTML file that works without a network."""
    write_text(path, render(run), "replace")


def renew_report(run: Run) -> None:
    """Write the report of an opened run again, with what its audit says by now."""
    run.evidence.audit = audit_so_far(run)
    write_report(run.path / "report.html", run)


def render(run: Run) -> str:
    """The page as text. What comes from the user is escaped, in the template and in the data of the script."""
    style, script = resource(__package__, "style.css"), resource(__package__, "report.js")
    axis = charts.score_axis(run)
    data = {**page_data(run), "axis": axis}
    values = {
        "title": run.settings.title or f"Report on {shown(run.path.resolve().name)}",
        "run": run,
        "table_file": table_file(run.task.graph.num_targets),
        "policy": content_policy(style, script),
        "style": style,
        "script": script,
        "data": island(data),
        "listed": data["list"]["kept"],
        "answers": answers(run.path, len(run.others), run.evidence, run.results),
        "estimate": run.evidence.estimate,
        "hidden": _hidden(run),
        "measured": run.evidence.measured,
        "choice": (run.evidence.audit or {}).get("choice"),
        "precision": _precision(run.evidence),
        "goals": GOALS,
        "metrics": in_words(run.evidence.metrics or {}),
        "summary": summary(run),
        "steps": next_steps(run),
        "axis": axis,
        "bins": charts.BINS,
        "height": charts.HEIGHT,
        "histograms": [charts.histogram(run.scores[members], axis) for members in run.rings.values()],
        "curves": charts.curves(run.log),
        "picture": picture(run),
        "most_lines": MAX_LINES,
        "recipe": grouped(run.data.recipe),
        "settings": _settings(run),
    }
    filters: dict[str, Callable[..., Any]] = {each.__name__: each for each in FILTERS}
    filters |= {"grouped": "{:,}".format, "day": _day, "hops": lambda hops: counted(hops, "hop")}
    return fill_template(__package__, "template.html", values, filters)


def _hidden(run: Run) -> list[dict[str, Any]]:
    """How many hidden positives are in the first parts of the ranking, and how much better than chance that is."""
    estimate, nodes = run.evidence.estimate, len(run.others)
    ranks = np.array([] if estimate is None else estimate["hidden"].get("ranks", []), np.float64)
    return [
        {
            "share": share,
            "nodes": round(share * nodes),
            "within": int((ranks < share).sum()),
            "of": len(ranks),
            "lift": asdict(lift(ranks, share)),
        }
        for share in TOPS
        if len(ranks) and share * nodes >= 1
    ]


def _precision(evidence: Evidence) -> list[dict[str, Any]]:
    """The precision of the top of the list and of the nodes decided positive, as far as it was measured, or expected.

    Beside it is the truth, where it is known.
    """
    source = evidence.measured or evidence.estimate
    if source is None:
        return []
    truth = None if evidence.estimate is None else evidence.estimate["truth"]
    right = {} if truth is None else {each["taken"]: each["precision"] for each in truth["first"]}
    lines = [
        {"words": f"first {each['taken']:,}", "truth": right.get(each["taken"]), **each} for each in source["first"]
    ]
    decided = source["decided"]
    if decided is None:  # nobody is
        return lines
    share = None if truth is None else truth["decided"]["precision"]
    return [*lines, {"words": f"{decided['taken']:,} decided positive", "truth": share, **decided}]


def _settings(run: Run) -> list[tuple[str, list[tuple[str, str]]]]:
    """What is shown nowhere else on the page, in groups of names and values."""
    results = {name: getattr(run.results, name) for name in ("threshold", "decided_by", "prior")}
    groups: dict[str, Mapping[str, Any]] = {
        "run": {"pugnn": run.settings.pugnn, "finished": run.settings.finished, **count_nodes(run.task), **results},
        "options": run.settings.options,
        "data": describe_data(run.task),
        "versions": run.settings.versions,
        "seconds": run.results.seconds,
    }
    return [(name, _flat(rows)) for name, rows in groups.items() if rows]


def _flat(values: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    flat: list[tuple[str, str]] = []
    for name, value in values.items():
        words = before + name.replace("_", " ")
        flat += _flat(value, f"{words} · ") if isinstance(value, Mapping) else [(words, shown(value, limit=300))]
    return flat


def _day(moment: str) -> str:
    """``2026-05-04T10:11:12+00:00`` → ``4 May 2026, 10:11 UTC``."""
    when = datetime.fromisoformat(moment).astimezone(UTC)
    return f"{when.day} {when:%B %Y, %H:%M} UTC"
