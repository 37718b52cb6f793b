"""What the estimator does before and after a method: checks, the weights to start from, the threshold."""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict, fields, replace
from numbers import Real
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from pugnn.checkup import check_up
from pugnn.errors import DegenerateWarning, PugnnError, require_whole, shorten
from pugnn.evidence import Audit, Estimate, Reason
from pugnn.evidence.prior import Prior
from pugnn.evidence.signal import HiddenRanks, has_signal
from pugnn.methods import METHODS, FittedMethod, Method, make_method
from pugnn.methods.ranking.layer_ranking import relation_weights
from pugnn.models import BACKBONES, backbone_name
from pugnn.priors import PRIORS
from pugnn.store import read_feedback
from pugnn.store.given import as_task, given_task, require_edges
from pugnn.task import KnownIds, PUTask, resolve_nodes
from pugnn.task.task import target_positions
from pugnn.training import RunOptions, TrainingSettings, scores_of
from pugnn.training.checkpoint import Weights
from pugnn.training.scoring import ABOVE_ALL_SCORES
from pugnn.waiting import part

#: Features of a network that is only built to see whether it can be.
ANY_WIDTH = 1000

#: Share of the time that a prior takes where it is estimated before the fit, roughly.
SETTLING = 0.2

#: Settings of the training whose default is the method's own.
METHOD_DEFAULTS = ("backbone", "hidden", "dropout", "epochs", "learning_rate", "weight_decay")

#: Log-odds of known negatives: low enough for a score of exactly 0.
KNOWN_NEGATIVE = -1000.0

#: Default score from which a node is decided positive.
USUAL = 0.5


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


def expected_left(task: PUTask, prior: Prior | None, known: KnownIds) -> float:
    r"""How many positives an earlier estimate leaves among the unlabelled nodes, at least, after more were checked.

    Of :math:`K_0` expected ones, c confirmed and r rejected nodes leave :math:`K_0 \, c / (c + r) - c`: right answers
    alone never make positives seem rarer, and wrong ones do so in proportion.

    Args:
        task: with the checked nodes.
        prior: the earlier estimate; ``None`` if there was none.
        known: the nodes that were known then.
    """
    confirmed, rejected = len(task.confirmed) - len(known.confirmed), len(task.negative) - len(known.rejected)
    if prior is None or prior.source == "assumed" or confirmed <= 0 or rejected < 0:
        return 0.0
    before = prior.value * (len(task.unlabelled) + confirmed + rejected)
    return max(0.0, before * confirmed / (confirmed + rejected) - confirmed)


def weigh_relations(method: Method, task: PUTask, settings: TrainingSettings) -> dict[str, float] | None:
    """How much each relation counts for a method that takes one kind of edge; ``None`` if there is no choice."""
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
    """The fit of a method after its prior is settled, and how that was done."""
    estimated = isinstance(getattr(method, "prior", None), str) and not method.settles_prior
    before = SETTLING if estimated else 0.0
    with part(0, before):
        method, settled = method.settle(task, settings, progress=run.get("progress", False))
    with part(before, 1):
        return method.fit(task, settings, **run), settled


def identity(task: PUTask, method: Method, settings: TrainingSettings, start: Weights | None) -> str:
    """A digest of all that determines the result, so that a checkpoint is never continued with something else."""
    text = json.dumps([method.name, asdict(method), vars(settings)], sort_keys=True, default=plain)
    digest = task.digest()
    digest.update(text.encode())
    for name, tensor in (start or {}).items():
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(np.ascontiguousarray(tensor.cpu().numpy()).data)
    return digest.hexdigest()


def require_weights(method: Method, settings: TrainingSettings, num_features: int, weights: Weights) -> None:
    """Raise unless these are finite weights of a method's network for so many features."""
    expected = method.blueprint(num_features, settings, weights).state_dict()
    if set(expected) != set(weights):
        raise PugnnError(f"its weights are called {shorten(sorted(weights))}, not {shorten(sorted(expected))}")
    for name, tensor in weights.items():
        shape = expected[name].shape
        # A tensor whose length depends on the training data is empty in the expected weights.
        if tensor.dtype != expected[name].dtype or (tensor.shape != shape and expected[name].numel()):
            raise PugnnError(f"its weights {name} have the shape {tuple(tensor.shape)}, not {tuple(shape)}")
        if not torch.isfinite(tensor).all():
            raise PugnnError(f"its weights {name} contain a non-finite value")


def why_fresh(method: Method, settings: TrainingSettings, num_features: int, earlier: str, start: Weights) -> str:
    """Why a training cannot go on from the weights of an earlier method, by name; empty if it can."""
    if method.fresh or not method.trains:
        return method.fresh or f"{method.name} trains no network"
    if earlier != method.name:
        return f"the earlier model is one of {earlier}, not of {method.name}"
    try:
        require_weights(method, settings, num_features, start)
    except PugnnError as error:
        return f"the earlier model has other sizes; {error}"
    return ""


def settings_record(method: Method, settings: TrainingSettings, parameters: dict[str, Any]) -> dict[str, Any]:
    """All settings as plain values, for JSON: the method's own and the estimator's, and who provides them."""
    parameters = {**parameters, **(vars(settings) if method.trains else {})}
    del parameters["method"]
    backbone = parameters["backbone"]
    providers: dict[str, str | None] = {}
    providers["method"] = METHODS.provider(method.name) if method.name in METHODS else type(method).__module__
    if backbone is not None:
        # One that is no name comes from nowhere: it must be given again.
        providers["backbone"] = BACKBONES.provider(backbone) if isinstance(backbone, str) else None
    prior = getattr(method, "prior", None)
    if isinstance(prior, str) and prior in PRIORS:
        providers["prior"] = PRIORS.provider(prior)
    return {
        "method": {"name": method.name, **{name: plain(value) for name, value in asdict(method).items()}},
        "parameters": {name: plain(value) for name, value in parameters.items()},
        "provided_by": {kind: provider for kind, provider in providers.items() if provider != "pugnn"},
    }


def warn_of_collapse(reasons: tuple[Reason, ...]) -> tuple[Reason, ...]:
    """The same reasons; whoever called ``fit`` is warned of a collapse if there are any."""
    if words := " ".join(reason.message for reason in reasons):
        warnings.warn(f"the result is degenerate. {words}", DegenerateWarning, stacklevel=4)
    return reasons


def start_audit(task: PUTask, log_odds: NDArray[np.float64], fitted: Any) -> Audit:
    """An audit of a fitted estimator's ranking of all nodes that are not known, as ``pugnn audit`` makes it."""
    order = np.argsort(-log_odds, kind="stable")
    ranking = order[task.known[order] == 0]
    decided = int((scores_of(log_odds[ranking]) >= fitted.threshold_).sum())
    estimate: Estimate | None = getattr(fitted, "estimate_", None)  # none in a model that was loaded
    if estimate is not None:
        estimate = replace(estimate, caveat=check_up(task, seed=fitted.seed).caveat)
    plain = None if estimate is None else estimate.to_plain()
    return Audit.after(task, ranking, decided=decided, prior=fitted.prior_, estimate=plain)


def learnable_task(given: Any) -> PUTask:
    """The task that a user gave, which must have known positives, edges, and nodes to find."""
    task = as_task(given)
    require_edges(task.graph)
    if not len(task.unlabelled):
        raise PugnnError("no unlabelled nodes are left, so there is nothing to learn from")
    return task


def _check_decision(threshold: Any, budget: Any, method: Method) -> None:
    """Raise unless one of the two says who is decided positive, and the method can tell."""
    if isinstance(threshold, str) and threshold == "prior":
        if getattr(method, "prior", 0.5) is None:
            raise PugnnError(f"the threshold 'prior' needs one; give {method.name} a prior, such as 0.1")
    elif isinstance(threshold, bool) or not isinstance(threshold, Real) or not 0 <= float(threshold) <= 1:
        raise PugnnError(f"threshold must be a number from 0 to 1, or 'prior'; got {threshold!r}")
    if budget is None:
        return
    require_whole("budget", budget, 1)
    if threshold != USUAL:
        raise PugnnError("budget and threshold both say who is decided positive; leave one out")


def decide(
    scores: NDArray[np.float64],
    prior: float,
    hidden: HiddenRanks | None,
    threshold: float | str,
    budget: int | None,
    *,
    anyway: bool,
) -> tuple[float, str]:
    """The score from which a node is decided positive, and the rule in words.

    ``scores`` are those of the unlabelled nodes; ``anyway`` decides although there is no signal.
    """
    if budget is not None:
        budget = min(budget, len(scores))
        found = _score_of(scores, budget)
        surplus = int((scores >= found).sum()) - budget
        equal = f", and {surplus:,} more that score as high as the last of them" if surplus > 0 else ""
        return found, f"the first {budget:,}, the given budget{equal}"
    if threshold == "prior":
        return _score_of(scores, round(prior * len(scores))), "the share of positives that the method expects"
    if threshold != USUAL:
        return float(threshold), f"scores from {float(threshold):g}, the given threshold"
    if hidden is None:
        return USUAL, f"scores from {USUAL}"
    if hidden.prior.bounds is None and not has_signal(hidden, len(scores)) and not anyway:
        return ABOVE_ALL_SCORES, "none, because no signal was found"
    by_f1 = "the top list with the highest expected F1"
    return USUAL, {
        "given": "the share of positives that was given",
        "range": f"{by_f1}, within the given range",
        "estimated": f"the share of positives that {hidden.prior.by} estimates" if hidden.prior.by else by_f1,
        "assumed": "a share of positives that is assumed",
    }[hidden.prior.source]


def check_settings(parameters: dict[str, Any]) -> tuple[Method, TrainingSettings]:
    """The method of an estimator's parameters and the settings of its training, all of them checked."""
    named = parameters["method"]
    method = make_method(named) if isinstance(named, str) else named
    if not isinstance(method, Method):
        raise PugnnError(f"method must be a name or a method such as PUGNN(delta=2); got {named!r}")
    _check_decision(parameters["threshold"], parameters["budget"], method)
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


def _score_of(scores: NDArray[np.float64], count: int) -> float:
    """The score that so many nodes reach."""
    count = min(len(scores), max(1, count))
    # A score of 0 means that nothing speaks for the node; no number makes it a positive.
    return max(float(np.sort(scores)[-count]), np.finfo(np.float64).tiny)


def plain(value: Any) -> Any:
    """A setting for JSON: numbers of numpy's as Python's own, a backbone that is no name by the name of its class."""
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, str | int | float | bool | None) else backbone_name(value)
