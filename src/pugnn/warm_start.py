"""What a training takes over from an earlier run: weights, a checkpoint of the same fit, an estimate."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import torch

from pugnn.errors import PugnnError, shorten
from pugnn.evidence.prior import Prior
from pugnn.fitting import setting_for_json
from pugnn.methods import Method
from pugnn.task import KnownIds, PUTask
from pugnn.training import TrainingSettings
from pugnn.training.checkpoint import Weights


def expected_left(task: PUTask, prior: Prior | None, known: KnownIds) -> float:
    r"""The least number of positives among the unlabelled nodes, by an earlier estimate and the checks since.

    Of :math:`K_0` expected positives, c confirmed and r rejected nodes leave :math:`K_0 \, c / (c + r) - c`.
    Confirmations alone never make positives seem rarer; rejections do so in proportion.

    Args:
        task: the task with the checked nodes.
        prior: the earlier estimate, if there was one.
        known: the nodes that were known at that time.
    """
    confirmed, rejected = len(task.confirmed) - len(known.confirmed), len(task.negative) - len(known.rejected)
    if prior is None or prior.source == "assumed" or confirmed <= 0 or rejected < 0:
        return 0.0
    before = prior.value * (len(task.unlabelled) + confirmed + rejected)
    return max(0.0, before * confirmed / (confirmed + rejected) - confirmed)


def digest_of_fit(task: PUTask, method: Method, settings: TrainingSettings, start: Weights | None) -> str:
    """A digest of everything that determines a fit, so that a checkpoint is only continued by the same one."""
    text = json.dumps([method.name, asdict(method), vars(settings)], sort_keys=True, default=setting_for_json)
    digest = task.digest()
    digest.update(text.encode())
    for name, tensor in (start or {}).items():
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(np.ascontiguousarray(tensor.cpu().numpy()).data)
    return digest.hexdigest()


def require_weights(method: Method, settings: TrainingSettings, num_features: int, weights: Weights) -> None:
    """Raise unless these are finite weights of a method's network for this number of features."""
    expected = method.blueprint(num_features, settings, weights).state_dict()
    if set(expected) != set(weights):
        raise PugnnError(f"its weights are called {shorten(sorted(weights))}, not {shorten(sorted(expected))}")
    for name, tensor in weights.items():
        shape = expected[name].shape
        # Where the size depends on the training data, the expected tensor is empty.
        if tensor.dtype != expected[name].dtype or (tensor.shape != shape and expected[name].numel()):
            raise PugnnError(f"its weights {name} have the shape {tuple(tensor.shape)}, not {tuple(shape)}")
        if not torch.isfinite(tensor).all():
            raise PugnnError(f"its weights {name} contain a non-finite value")


def why_fresh(method: Method, settings: TrainingSettings, num_features: int, earlier: str, start: Weights) -> str:
    """Why a training cannot start from the weights of an ``earlier`` method; empty if it can."""
    if method.fresh or not method.trains:
        return method.fresh or f"{method.name} trains no network"
    if earlier != method.name:
        return f"the earlier model was made by {earlier}, not by {method.name}"
    try:
        require_weights(method, settings, num_features, start)
    except PugnnError as error:
        return f"the earlier model has different layer sizes; {error}"
    return ""
