"""The summary in words, for someone who knows the domain but not the method."""

from __future__ import annotations

import numpy as np

from pugnn.errors import counted, percent
from pugnn.evidence.bands import no_signal_words
from pugnn.explain.sentences import score_words
from pugnn.graph import UNREACHABLE
from pugnn.methods import DEFAULT_METHOD
from pugnn.runs.run import Run

#: Scores closer to the threshold than this could as well lie on its other side.
CLOSE = 0.05


def summary(run: Run) -> dict[str, str]:
    """What was known, what was found, and how sure that is, each under its title."""
    return {"What was known": _known(run), "What was found": _found(run), "How sure that is": _sure(run)}


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
        steps.append(
            "Move the threshold below to where it separates nodes, or run again with more epochs or --threshold prior."
        )
    if run.truth is None:
        steps.append("Check the first 20 of the list: how many are right is the best guide to how far down to go.")
    else:
        steps.append(
            "Compare the decisions with the truth below, and move the threshold to what matters more to you: few false "
            "alarms, or few misses."
        )
    return [*steps, *remedies]


def _known(run: Run) -> str:
    graph, known = run.task.graph, len(run.task.labelled)
    are = "is" if known == 1 else "are"
    rejected = f", and {len(run.task.negative):,} not to be" if len(run.task.negative) else ""
    return (
        f"{known:,} of {graph.num_nodes:,} nodes {are} known to be positive{rejected}. Nothing is known about the "
        f"other {len(run.others):,}. The method learns from how the nodes are linked "
        f"({counted(graph.num_edges, 'link')}) and from their features ({counted(graph.num_features, 'feature')})."
    )


def _found(run: Run) -> str:
    others, threshold = len(run.others), f"{run.results.threshold:.3g}"
    ranking = "the ranking may still be of use" if run.results.ranked else "the ranking means nothing either"
    if not run.found:
        text = f"No node reaches the threshold of {threshold}, so none was decided positive; {ranking}."
        if run.evidence.estimate is not None and not run.evidence.signal:
            text = f"{no_signal_words(run.evidence.estimate['chance'])} None was decided positive."
    elif run.found == others:
        text = f"Every node reaches the threshold of {threshold}, so decisions mean nothing; {ranking}."
    else:
        text = (
            f"{run.found:,} of the {others:,} other nodes ({_percent(run.found, others)}) "
            f"{'reaches' if run.found == 1 else 'reach'} the threshold of {threshold}: decided positive."
        )
    text += _assumed(run)
    if others:
        best = int(run.others[0])
        hops = run.task.distances[best]
        where = "no path joins it to a known one"
        if hops != UNREACHABLE:
            where = f"it lies {counted(int(hops), 'hop')} from the known {run.name(int(run.task.nearest[best]))}"
        text += f" The best find is {run.name(best)} with a score of {score_words(run.scores[best])}; {where}."
    return text


def _assumed(run: Run) -> str:
    """The share of positives that the method expected, which affects the number of finds more than anything else.

    Nothing where something else has decided: a budget, a threshold, or that there is no signal.
    """
    given, prior = run.settings.options, run.evidence.settled_prior
    rule = run.results.decided_by or ""
    if rule.startswith(("the first ", "nobody")) or rule.endswith("the given threshold"):
        return ""
    follows, told = " Their number follows from", "what the method was told to expect: that"
    if {"near_prior", "far_prior"} <= given.keys():
        near, far = (percent(given[name]) for name in ("near_prior", "far_prior"))
        within = f"the nodes within {counted(given['delta'], 'hop')} of a known positive"
        return f"{follows} {told} {near} of {within} and {far} of the others are positive."
    if prior is None:
        return ""
    share = f"{percent(prior['value'])} of the unlabelled nodes"
    return {
        "given": f"{follows} {told} {share} are positive.",
        "range": f"{follows} the range of shares that was given: {share} are expected to be positive.",
        "estimated": f"{follows} an estimate: deciding {share} has the highest expected F1.",
        "assumed": f"{follows} an assumption: that {share} are positive.",
    }[prior["source"]]


def _sure(run: Run) -> str:
    scores = run.scores
    if run.truth is None:
        text = (
            "Scores rank nodes; 0.8 does not mean right in 80 of 100 cases. Checking a sample tells how many are right."
        )
    else:
        positive, decided = (part[run.truth.scored] for part in (run.truth.positive, scores >= run.results.threshold))
        right = int((positive & decided).sum())
        text = (
            f"The true classes of {counted(len(positive), 'other node')} are known here and were never shown to the "
            f"method. Of those that it decided positive, {_percent(right, int(decided.sum()))} truly are; of the truly "
            f"positive, it found {_percent(right, int(positive.sum()))}."
        )
    close = int((np.abs(scores[run.others] - run.results.threshold) < CLOSE).sum())
    if close and 0 < run.found < len(run.others):
        text += f" The score of {counted(close, 'node')} lies within {CLOSE} of the threshold: too close to call."
    return text


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "– (there are none)"
