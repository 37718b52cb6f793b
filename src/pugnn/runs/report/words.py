"""The summary in words, for someone who knows the domain but not the method."""

from __future__ import annotations

from pugnn.errors import counted
from pugnn.explain.sentences import score_words
from pugnn.graph import UNREACHABLE
from pugnn.methods import DEFAULT_METHOD
from pugnn.runs.report.answers import on_checks
from pugnn.runs.run import Run


def summary(run: Run) -> dict[str, str]:
    """What was known, what was found, and how sure that is, each under its title."""
    sure = "Scores rank nodes; 0.8 does not mean right in 80 of 100 cases. Checks of an audit tell how many are right."
    if run.evidence.measured is not None:
        sure = (
            f"Measured on {on_checks(run.evidence.measured)}. Scores still only rank nodes; probabilities.csv has a "
            "probability for each, calibrated on the checks."
        )
    elif run.truth is not None:
        sure = "The truth was never shown to the method: below, decisions are compared with it."
    return {"What was known": _known(run), "What was found": _found(run), "How sure that is": sure}


def next_steps(run: Run) -> list[str]:
    """What to do next besides checking what is suggested, most useful first."""
    warned = [finding for finding in run.check_up["findings"] if finding["level"] == "warning"]
    remedies = [f"{finding['title']}: {finding['remedy']}" for finding in warned if finding["remedy"]]
    method = run.settings.options["method"]
    if method != DEFAULT_METHOD:
        remedies.append(f"Compare with the default method, --method {DEFAULT_METHOD}; this run used {method}.")
    if not run.results.ranked:
        return ["Follow the notice at the top and run again: the list below is not worth checking.", *remedies]
    steps = []
    if run.found in (0, len(run.others)):
        steps.append("Move the threshold below to where it separates nodes, or run again with more epochs.")
    return [*steps, *remedies]


def _known(run: Run) -> str:
    graph, known = run.task.graph, len(run.task.labelled)
    are = "is" if known == 1 else "are"
    rejected = f", and {len(run.task.negative):,} not to be" if len(run.task.negative) else ""
    return (
        f"{known:,} of {graph.num_targets:,} nodes {are} known to be positive{rejected}. Nothing is known about the "
        f"other {len(run.others):,}. The method learns from how the nodes are linked "
        f"({counted(graph.num_edges, 'link')}) and from their features ({counted(graph.num_features, 'feature')})."
    )


def _found(run: Run) -> str:
    others, rule = len(run.others), run.results.decided_by
    text = (
        f"{run.found:,} of the {others:,} other nodes {'reaches' if run.found == 1 else 'reach'} the threshold of "
        f"{run.results.threshold:.3g}: decided positive{'' if rule is None else f' ({rule})'}."
    )
    if not run.results.ranked:
        text += " The ranking means nothing."
    else:
        best = int(run.others[0])
        hops = run.task.distances[best]
        where = "no path joins it to a known one"
        if hops != UNREACHABLE:
            where = f"it lies {counted(int(hops), 'hop')} from the known {run.name(int(run.task.nearest[best]))}"
        text += f" The best find is {run.name(best)} with a score of {score_words(run.scores[best])}; {where}."
    return text
