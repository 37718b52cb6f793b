"""The training loop, the same for every method and loader."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import chain
from typing import TypedDict

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pugnn import processes
from pugnn.errors import PugnnError, PugnnWarning
from pugnn.graph import Graph
from pugnn.models import Backbone, Scored, backbone_name, inputs_on, make_backbone
from pugnn.threads import threads_for
from pugnn.training.adam import Adam
from pugnn.training.ahead import ahead
from pugnn.training.batches import Batch, Loader
from pugnn.training.checkpoint import Checkpoint, Log, Part, Weights, copy_of_weights
from pugnn.training.forecast import forecast_scoring, memory_on
from pugnn.training.patience import Patience
from pugnn.training.progress import epoch_progress
from pugnn.training.sampled import sampled_logits
from pugnn.training.seeds import derive_seed
from pugnn.training.settings import TrainingSettings
from pugnn.training.steps import Objective, ReplayedStep, Step


class RunOptions(TypedDict, total=False):
    """How a training starts, is saved and shown: arguments that a method's ``fit`` passes on to :func:`train`."""

    start: Weights | None
    checkpoint: Checkpoint | None
    progress: bool


@dataclass(frozen=True)
class Trained:
    """A trained network and, for each epoch, every term of its loss, their total and the seconds so far."""

    model: Backbone
    log: Log


def make_network(num_features: int, settings: TrainingSettings) -> Backbone:
    """The network that the settings describe, with new weights."""
    return make_backbone(settings.backbone, num_features, hidden=settings.hidden, dropout=settings.dropout)


def train(
    loader: Loader,
    objective: Objective,
    settings: TrainingSettings,
    *,
    build: Callable[[int, TrainingSettings], Backbone] = make_network,
    patience: int | None = None,
    before_epoch: Callable[[int, Adam], None] | None = None,
    replayable: bool = True,
    start: Weights | None = None,
    checkpoint: Checkpoint | None = None,
    part: int | None = None,
    progress: bool = False,
) -> Trained:
    """Minimise the sum of the objective's terms with Adam and keep the weights of the last epoch.

    Args:
        loader: hands out the batches of each epoch.
        objective: the loss, as named terms, from the network's output, the batch, and a seed that is new in every step.
        settings: backbone and optimiser.
        build: makes the network from the number of features and the settings; or returns one to train further.
        patience: stop when the loss has not fallen for this many epochs, and keep the weights of its lowest value.
        before_epoch: called with the number of the coming epoch, from 0, and the optimiser: the place to change
            the learning rate, or weights in the objective.
        replayable: the objective does the same in every step, without looking at values on the host, so that a CUDA
            device may record it once.
        start: weights of an earlier training of the same network, to go on from instead of new ones.
        checkpoint: where to save the state at intervals; training continues from a state found there.
        part: number of this training where a method makes several; its final state is then kept in the checkpoint.
        progress: show a line when it takes longer than two seconds.
    """
    device = loader.device
    # Dropout and initial weights draw from torch's global generator: borrow it and restore it afterwards.
    with _current(device), torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        _seed(device, derive_seed(settings.seed))
        model = build(loader.graph.num_features, settings).to(device)
        if start is not None:
            model.load_state_dict(start)
        _check_network(model, loader, settings)
        optimizer = _adam(model, settings)
        saved = checkpoint.load(part or 0) if checkpoint else None
        log: Log = []
        if saved is not None:
            if saved.finished:
                model.load_state_dict(saved.weights)
                return Trained(model.eval(), saved.log)
            saved.restore(model, optimizer)
            log = list(saved.log)
        processes.copy_from_first(model.state_dict().values())
        lowest = None if patience is None else Patience(model, patience, log, saved.best if saved else {})
        model.train()
        replayable = replayable and loader.replayable and model.replayable and before_epoch is None
        replayable = replayable and processes.count() == 1
        step = (ReplayedStep if replayable and device.type == "cuda" else Step)(model, objective, optimizer)
        started = time.perf_counter() - (log[-1]["seconds"] if log else 0.0)
        shown = epoch_progress(settings.epochs, len(log), part=part, show=progress)
        epochs = range(len(log), settings.epochs)
        seeds = (derive_seed(settings.seed, epoch, 0) for epoch in epochs)
        prepare: Callable[[int], Iterable[Batch]] = loader.batches
        if loader.threads:
            prepare = lambda seed: list(loader.batches(seed))  # noqa: E731 (a generator would wait until it is read)
        with shown as show, ahead(prepare, seeds, loader.threads) as prepared:
            for epoch, batches in zip(epochs, prepared, strict=True):
                _seed(device, derive_seed(settings.seed, epoch))
                if before_epoch is not None:
                    before_epoch(epoch, optimizer)
                if lowest is not None:
                    lowest.before_step()
                values = [
                    step(batch, derive_seed(settings.seed, epoch, 1 + number)) for number, batch in enumerate(batches)
                ]
                means = values[0] if len(values) == 1 else torch.stack(values).mean(dim=0)
                log.append(_record(epoch, step.names, means.tolist(), time.perf_counter() - started))
                show(epoch + 1, log[-1]["total"])
                if lowest is not None:
                    lowest.after_step(log[-1]["total"])
                    if lowest.exhausted:
                        break
                if checkpoint and epoch + 1 < settings.epochs and checkpoint.due(epoch + 1):
                    checkpoint.save(part or 0, Part.of(model, optimizer, lowest.best if lowest else {}, log))
        if lowest is not None:
            lowest.restore_best()
        if device.type == "cuda":
            # Recorded steps hold memory of their own, including gradients: release it.
            model.zero_grad()
            del step
            torch.cuda.empty_cache()
        if checkpoint and part is not None:
            checkpoint.save(part, Part(copy_of_weights(model), {}, {}, log, finished=True))
    return Trained(model.eval(), log)


@torch.no_grad()
def log_odds(model: Backbone, graph: Graph) -> Tensor:
    """Log-odds of being positive for every node of a graph, shape ``(N,)``, in double precision on the CPU."""
    device = _device_of(model)
    with _current(device), threads_for(graph.num_nodes * graph.num_features):
        if scores_whole(graph, model, str(device)):
            logit: Tensor = model.eval()(inputs_on(graph, device)).logit
        else:
            logit = sampled_logits(model.eval(), graph, device)
    lost = int(logit.isnan().sum())
    if lost:  # a loss is computed before its step, so the last step may fail unseen
        raise PugnnError(
            f"the scores of {lost:,} of {graph.num_nodes:,} nodes are nan. Lower the learning rate, or scale the "
            "features down if they are large."
        )
    return logit.double().cpu()


def scores_whole(graph: Graph, model: Backbone, device: str) -> bool:
    """Whether a graph is scored in one pass: as that of the training; or if it fits into memory."""
    if model.neighbours is None:  # the network cannot do otherwise
        return True
    reduced = model.reduces(graph)
    return forecast_scoring(graph, model).total <= memory_on(device) if reduced is None else not reduced


def fix_scoring(model: Backbone, graph: Graph) -> None:
    """Decide how a trained model scores the graph of its training, now and whenever it is loaded."""
    model.scored = None
    whole = scores_whole(graph, model, str(_device_of(model)))
    model.scored = Scored(not whole, graph.num_nodes, len(graph.indices))


def score(model: Backbone, graph: Graph) -> Tensor:
    """Probability of being positive for every node of a graph, shape ``(N,)``, on the CPU."""
    return torch.from_numpy(scores_of(log_odds(model, graph).numpy()))


def scores_of(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probabilities that belong to log-odds."""
    scores: NDArray[np.float64] = torch.from_numpy(log_odds).sigmoid().numpy()
    return scores


def _check_network(model: Backbone, loader: Loader, settings: TrainingSettings) -> None:
    name = backbone_name(settings.backbone)
    if loader.graph.weights is not None and not model.uses_weights:
        warnings.warn(
            f"the graph has edge weights, but the backbone {name} does not use them. "
            "Take gcn, gcn-linear or appnp, or give no weights.",
            PugnnWarning,
            stacklevel=5,
        )


def _device_of(model: Backbone) -> torch.device:
    return next(chain(model.parameters(), model.buffers())).device


def _current(device: torch.device) -> AbstractContextManager[object]:
    """Make a CUDA device the current one, on which streams, generators and kernels work."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


def _seed(device: torch.device, seed: int) -> None:
    # Weights are initialised on the CPU, so its generator always matters. Generators of other devices are left alone.
    torch.default_generator.manual_seed(seed)
    if device.type == "cuda":
        torch.cuda.manual_seed(seed)


def _adam(model: Backbone, settings: TrainingSettings) -> Adam:
    first = list(model.first_layer.parameters())
    known = set(first)
    others = [parameter for parameter in model.parameters() if parameter not in known]
    return Adam([(first, settings.weight_decay), (others, 0.0)], settings.learning_rate)


def _record(epoch: int, names: list[str], values: list[float], seconds: float) -> dict[str, float]:
    if not math.isfinite(values[-1]):
        raise PugnnError(
            f"the loss became {values[-1]} in epoch {epoch + 1}. Lower the learning rate, or scale the features "
            "down if they are large."
        )
    return {"epoch": epoch + 1, **dict(zip([*names, "total"], values, strict=True)), "seconds": seconds}
