"""The training loop, the same for every method and loader."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypedDict

import torch

from pugnn import processes
from pugnn.errors import PugnnError, PugnnWarning
from pugnn.models import Backbone, backbone_name, make_backbone
from pugnn.training.adam import Adam
from pugnn.training.batches import Loader, prefetch
from pugnn.training.checkpoint import Checkpoint, Log, Part, Weights, copy_of_weights
from pugnn.training.progress import epoch_progress
from pugnn.training.scoring import current_device
from pugnn.training.settings import TrainingSettings, derive_seed
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
    rate: Callable[[int], float] | None = None,
    replayable: bool = True,
    start: Weights | None = None,
    checkpoint: Checkpoint | None = None,
    part: int | None = None,
    progress: bool = False,
) -> Trained:
    """Minimise the sum of the objective's terms with Adam and keep the weights of the last epoch.

    Args:
        loader: hands out the batch of each epoch.
        objective: the loss, as named terms, from the network's output, the batch, and a seed that is new in every step.
        settings: backbone and optimiser.
        build: makes the network from the number of features and the settings; or returns one to train further.
        patience: stop when the loss has not fallen for this many epochs, and keep the weights of its lowest value.
        rate: the learning rate by the number of the epoch, from 0; by default that of the settings.
        replayable: the objective does the same in every step, without looking at values on the host, so a CUDA
            device may record it once.
        start: weights of an earlier training of the same network, to go on from instead of new ones.
        checkpoint: where to save the state at intervals; training continues from a state found there.
        part: number of this training where a method makes several; its final state is then kept in the checkpoint.
        progress: show a line when it takes longer than two seconds.
    """
    device = loader.device
    # Dropout and initial weights draw from torch's global generator: borrow it and restore it afterwards.
    with current_device(device), torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        _seed(device, derive_seed(settings.seed))
        model = build(loader.graph.num_features, settings).to(device)
        if start is not None:
            model.load_state_dict(start)
        if loader.graph.weights is not None and not model.uses_weights:
            warnings.warn(
                f"the graph has edge weights, but the backbone {backbone_name(settings.backbone)} does not use them. "
                "Take gcn, gcn-linear or appnp, or give no weights.",
                PugnnWarning,
                stacklevel=4,
            )
        optimizer = _adam(model, settings)
        saved = checkpoint.load(part or 0) if checkpoint else None
        log: Log = []
        if saved is not None:
            model.load_state_dict(saved.weights)
            log = list(saved.log)
            if saved.finished:
                return Trained(model.eval(), log)
            optimizer.restore(saved.optimizer)
        processes.copy_from_first(model.state_dict().values())
        best = saved.best if saved is not None else {}
        model.train()
        replayable = replayable and loader.replayable and model.replayable and rate is None
        replayable = replayable and processes.count() == 1 and device.type == "cuda"
        step = (ReplayedStep if replayable else Step)(model, objective, optimizer)
        started = time.perf_counter() - (log[-1]["seconds"] if log else 0.0)
        shown = epoch_progress(settings.epochs, len(log), part=part, show=progress)
        epochs = range(len(log), settings.epochs)
        seeds = (derive_seed(settings.seed, epoch, 0) for epoch in epochs)
        with shown as show, prefetch(loader.draw, seeds, loader.threads) as batches:
            for epoch, batch in zip(epochs, batches, strict=True):
                _seed(device, derive_seed(settings.seed, epoch))
                if rate is not None:
                    optimizer.rate = rate(epoch)
                # The loss of the coming step belongs to these weights, not to those after it.
                before = {} if patience is None else copy_of_weights(model)
                values = step(replace(batch, epoch=epoch), derive_seed(settings.seed, epoch, 1)).tolist()
                log.append(_record(epoch, step.names, values, time.perf_counter() - started))
                show(epoch + 1, log[-1]["total"])
                if patience is not None:
                    waited = epoch - _lowest(log)
                    best = best if waited else before
                    if waited >= patience:
                        break
                if checkpoint and epoch + 1 < settings.epochs and checkpoint.due(epoch + 1):
                    state = Part(copy_of_weights(model), optimizer.state(), best, list(log), finished=False)
                    checkpoint.save(part or 0, state)
        if patience is not None:
            model.load_state_dict(best)
        if device.type == "cuda":
            # Recorded steps hold memory, including gradients: release it.
            model.zero_grad()
            del step
            torch.cuda.empty_cache()
        if checkpoint and part is not None:
            checkpoint.save(part, Part(copy_of_weights(model), {}, {}, log, finished=True))
    return Trained(model.eval(), log)


def _lowest(log: Log) -> int:
    """The place of the lowest loss, the first if there are several."""
    totals = [record["total"] for record in log]
    return totals.index(min(totals))


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
