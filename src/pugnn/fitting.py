"""What the estimator does before and after a method: checks, the weights to start from, the threshold."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.methods import METHODS, FittedMethod, Method
from pugnn.metrics.bands import Prior
from pugnn.models import BACKBONES, backbone_name
from pugnn.task import PUTask
from pugnn.training import RunOptions, TrainingSettings, require_fitting
from pugnn.training.checkpoint import Weights
from pugnn.waiting import part

#: Features of a network that is only built to see whether it can be.
ANY_WIDTH = 1000

#: Share of the time that a prior takes where it is estimated before the fit, roughly.
SETTLING = 0.2

#: Log-odds of known negatives: low enough for a score of exactly 0.
KNOWN_NEGATIVE = -1000.0


def check(method: Method, settings: TrainingSettings) -> None:
    """Raise an error if a setting is out of bounds, or if the method cannot have such a network."""
    method.check()
    if isinstance(settings.backbone, str):  # a factory is called for a graph only
        with torch.device("meta"):
            method.build(ANY_WIDTH, settings)


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


def why_fresh(method: Method, settings: TrainingSettings, num_features: int, earlier: str, start: Weights) -> str:
    """Why a training cannot go on from an earlier model; empty if it can.

    Args:
        method: to train with.
        settings: of the training.
        num_features: of the graph.
        earlier: name of the earlier model's method.
        start: its weights.
    """
    if not method.trains:
        return f"{method.name} trains no network"
    if earlier != method.name:
        return f"the earlier model is one of {earlier}, not of {method.name}"
    with torch.device("meta"):
        expected = method.build(num_features, settings).state_dict()
    try:
        require_fitting(expected, start)
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
    return {
        "method": {"name": method.name, **{name: plain(value) for name, value in asdict(method).items()}},
        "parameters": {name: plain(value) for name, value in parameters.items()},
        "provided_by": {kind: provider for kind, provider in providers.items() if provider != "pugnn"},
    }


def check_graph(graph: Any, *, edges: bool = True) -> None:
    """Raise unless it is a graph with nodes and, where they are needed, edges."""
    if not isinstance(graph, Graph):
        raise PugnnError(f"expected a pugnn.Graph, got {type(graph).__name__}; make one with Graph.from_edges")
    if edges and not graph.num_nodes:
        raise PugnnError("the graph is empty: it has no nodes")
    if edges and not graph.num_edges:
        raise PugnnError("the graph has no edges, so there is no structure to learn from; check the edge list")


def prior_threshold(scores: NDArray[np.float64], prior: float) -> float:
    """The score that the share ``prior`` of the unlabelled nodes, whose scores are given, reaches."""
    count = min(len(scores), max(1, round(prior * len(scores))))
    # A score of 0 means that nothing speaks for the node; no prior makes it a positive.
    return max(float(np.sort(scores)[-count]), np.finfo(np.float64).tiny)


def plain(value: Any) -> Any:
    """A setting for JSON: numbers of numpy's as Python's own, a backbone that is no name by the name of its class."""
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, str | int | float | bool | None) else backbone_name(value)
