"""What the estimator does around a method: the task, settings, weights of relations, the prior, warnings."""

from __future__ import annotations

import warnings
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pugnn.checkup import check_up
from pugnn.decisions import check_decision
from pugnn.errors import DegenerateWarning, PugnnError
from pugnn.evidence import Audit, Estimate, Reason
from pugnn.evidence.prior import Prior
from pugnn.methods import METHODS, FittedMethod, Method, make_method
from pugnn.methods.ranking.layer_ranking import relation_weights
from pugnn.models import BACKBONES, backbone_name
from pugnn.priors import PRIORS
from pugnn.store import read_feedback
from pugnn.store.given import as_task, given_task, require_edges
from pugnn.task import PUTask, resolve_nodes
from pugnn.task.task import target_positions
from pugnn.training import RunOptions, TrainingSettings, scores_of
from pugnn.waiting import part

#: Features of a network that is only built to see whether it can be.
ANY_WIDTH = 1000

#: Share of the time that a prior takes where it is estimated before the fit, roughly.
SETTLING = 0.2

#: Settings of the training whose default is the method's own.
METHOD_DEFAULTS = ("backbone", "hidden", "dropout", "epochs", "learning_rate", "weight_decay")


def make_task(
    graph: Any, positives: Any, *, checked: Any, confirmed: Any, negatives: Any, unlabelled: ArrayLike | None
) -> tuple[PUTask, tuple[str, ...]]:
    """The task that the arguments of :meth:`pugnn.PUNodeClassifier.fit` describe, and notes on how they were read."""
    task, notes = given_task(graph, positives)
    known = ((confirmed, "confirmed"), (negatives, "negatives"))
    task = task.with_feedback(*(resolve_nodes(task.graph, *each) for each in known))
    if checked is not None:
        about = {"checked": checked, "negative": task.negative}
        found = read_feedback(task.graph, task.labelled, "positives or confirmed", **about)
        task, notes = task.with_feedback(found.confirmed, found.rejected), (*notes, *found.notes)
    if unlabelled is None:
        return task, notes
    nodes = target_positions(task.graph, unlabelled, "unlabelled")
    if len(np.unique(nodes)) < len(nodes):
        remedy = "for a vector or mask with one entry per node, give np.flatnonzero(…)"
        raise PugnnError(f"unlabelled must be a list of distinct positions; {remedy}")
    return replace(task, unlabelled=np.sort(nodes[task.known[nodes] == 0])), notes


def weigh_relations(method: Method, task: PUTask, settings: TrainingSettings) -> dict[str, float] | None:
    """Weights of relations for a method that reads a single kind of edge; ``None`` if there is nothing to weigh."""
    graph = task.graph
    if method.reads_relations or not graph.relations:
        return None
    if not method.blueprint(graph.num_features, settings).uses_weights:
        return dict.fromkeys(graph.relations, 1.0)
    return relation_weights(task, settings.seed)


@part(0, 1)
def settle_and_fit(
    method: Method, task: PUTask, settings: TrainingSettings, run: RunOptions
) -> tuple[FittedMethod, Prior | None]:
    """Settle the prior of a method and fit it; also returns the settled prior."""
    estimated = isinstance(getattr(method, "prior", None), str) and not method.settles_prior
    before = SETTLING if estimated else 0.0
    with part(0, before):
        method, settled = method.settle(task, settings, progress=run.get("progress", False))
    with part(before, 1):
        return method.fit(task, settings, **run), settled


def settings_record(method: Method, settings: TrainingSettings, parameters: dict[str, Any]) -> dict[str, Any]:
    """All settings of a fit as plain values, with the packages that provide method, backbone and prior."""
    parameters = {**parameters, **(vars(settings) if method.trains else {})}
    del parameters["method"]
    backbone = parameters["backbone"]
    providers: dict[str, str | None] = {}
    providers["method"] = METHODS.provider(method.name) if method.name in METHODS else type(method).__module__
    if backbone is not None:
        # A network without a name must be given again when the model is loaded.
        providers["backbone"] = BACKBONES.provider(backbone) if isinstance(backbone, str) else None
    prior = getattr(method, "prior", None)
    if isinstance(prior, str) and prior in PRIORS:
        providers["prior"] = PRIORS.provider(prior)
    return {
        "method": {"name": method.name, **{name: setting_for_json(value) for name, value in asdict(method).items()}},
        "parameters": {name: setting_for_json(value) for name, value in parameters.items()},
        "provided_by": {kind: provider for kind, provider in providers.items() if provider != "pugnn"},
    }


def warn_of_collapse(reasons: tuple[Reason, ...]) -> tuple[Reason, ...]:
    """Warn the caller of ``fit`` of a collapse, if there are reasons to; returns these."""
    if words := " ".join(reason.message for reason in reasons):
        warnings.warn(f"the result is degenerate. {words}", DegenerateWarning, stacklevel=4)
    return reasons


def start_audit(task: PUTask, log_odds: NDArray[np.float64], fitted: Any) -> Audit:
    """Start an audit of a fitted estimator's ranking of all nodes that are not known, as ``pugnn audit`` does."""
    order = np.argsort(-log_odds, kind="stable")
    ranking = order[task.known[order] == 0]
    decided = int((scores_of(log_odds[ranking]) >= fitted.threshold_).sum())
    estimate: Estimate | None = getattr(fitted, "estimate_", None)  # none in a model that was loaded
    if estimate is not None:
        estimate = replace(estimate, caveat=check_up(task, seed=fitted.seed).caveat)
    record = None if estimate is None else estimate.to_plain()
    return Audit.after(task, ranking, decided=decided, prior=fitted.prior_, estimate=record)


def learnable_task(given: Any) -> PUTask:
    """The task that a user gave, after checking that it has known positives, edges and unlabelled nodes."""
    task = as_task(given)
    require_edges(task.graph)
    if not len(task.unlabelled):
        raise PugnnError("no unlabelled nodes are left, so there is nothing to learn from")
    return task


def check_settings(parameters: dict[str, Any]) -> tuple[Method, TrainingSettings]:
    """The method and the training settings that an estimator's parameters describe, checked."""
    named = parameters["method"]
    method = make_method(named) if isinstance(named, str) else named
    if not isinstance(method, Method):
        raise PugnnError(f"method must be a name or a method such as PUGNN(delta=2); got {named!r}")
    check_decision(parameters["threshold"], parameters["budget"], method)
    mine = {field.name: parameters[field.name] for field in fields(TrainingSettings)}
    given = {name: value for name, value in mine.items() if value is not None or name not in METHOD_DEFAULTS}
    chosen = [name for name in METHOD_DEFAULTS if name in given] + ["batch_size"] * (mine["batch_size"] != "auto")
    if chosen and not method.trains:
        raise PugnnError(f"{method.name} trains no network, so {chosen[0]} has no effect; leave it out")
    own = TrainingSettings(**method.training)
    settings = replace(own, **given)
    for name in chosen:
        if name in method.unused and given[name] != getattr(own, name):  # a loaded model has them all
            raise PugnnError(f"{name} has no effect on {method.name}; leave it out, or take another method")
    method.check()
    if isinstance(settings.backbone, str):  # a factory is called for a graph only
        method.blueprint(ANY_WIDTH, settings)
    return method, settings


def setting_for_json(value: Any) -> Any:
    """A setting as a plain value: numbers as Python's own, a network by the name of its class."""
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, str | int | float | bool | None) else backbone_name(value)
