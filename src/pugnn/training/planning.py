"""Whether a network is trained on the whole graph or in batches, and what that needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.losses import Sets
from pugnn.memory import Forecast, available_memory, memory_words
from pugnn.models import BACKBONES, Backbone, backbone_name
from pugnn.training.batches import FullGraph, Loader
from pugnn.training.device import resolve_device
from pugnn.training.forecast import forecast_batches, forecast_scoring, forecast_whole
from pugnn.training.sampled import FAN_OUT, SampledGraph
from pugnn.training.settings import TrainingSettings

#: The largest and the smallest batch that ``auto`` takes.
MOST, LEAST = 65_536, 256


@dataclass(frozen=True)
class Plan:
    """How a network will be trained.

    Args:
        batch_size: unlabelled nodes per step; ``None`` for the whole graph.
        forecast: memory of the training.
        memory: a sentence about it.
        notes: what differs from a training on the whole graph.
    """

    batch_size: int | None
    forecast: Forecast
    memory: str
    notes: tuple[str, ...] = ()

    def loader(self, graph: Graph, sets: Sets, settings: TrainingSettings, model: Backbone, **pairs: bool) -> Loader:
        """The batches."""
        if self.batch_size is None:
            return FullGraph(graph, sets, settings.device)
        return SampledGraph(graph, sets, self.batch_size, model, resolve_device(settings.device), **pairs)


def plan_training(
    graph: Graph,
    unlabelled: int,
    settings: TrainingSettings,
    model: Backbone,
    *,
    with_pairs: bool = False,
    only_whole: str = "",
) -> Plan:
    """Take the batch size of the settings; by default the whole graph, if it fits into memory.

    Args:
        graph: to train on.
        unlabelled: number of unlabelled nodes.
        settings: of the training.
        model: the network, which may be on torch's meta device.
        with_pairs: whether a regulariser compares pairs of nodes.
        only_whole: why the method cannot be trained in batches; empty if it can.
    """
    room = _room(settings.device)
    whole = forecast_whole(graph, model, with_pairs=with_pairs)
    wanted = settings.batch_size
    if (wanted == "auto" and whole.total <= room) or (wanted != "auto" and int(wanted) >= unlabelled):
        return Plan(None, whole, f"Training on the whole graph takes about {whole} of memory.")
    needs = f"Training on the whole graph takes about {memory_words(whole.total)} of memory"
    refused = only_whole or _why_not(model, settings)
    if refused and wanted == "auto":
        raise PugnnError(
            f"{needs}, and there are {memory_words(room)}. It cannot be done in batches: {refused}. Or take the method "
            "views, which needs less; or set PUGNN_MEMORY=1TB to try it anyway."
        )
    if refused:
        raise PugnnError(f"batch_size={wanted} is not possible: {refused}. Or leave the batch size out.")
    size, found = _largest_that_fits(graph, model, room, with_pairs) if wanted == "auto" else (int(wanted), None)
    found = found or forecast_batches(graph, model, size, with_pairs=with_pairs)
    memory = f"Training in batches of {size:,} unlabelled nodes takes about {found} of memory; {needs[0].lower()}{needs[1:]}."
    notes = [f"Every step took {size:,} random unlabelled nodes, and at most {FAN_OUT} random neighbours of each node."]
    if forecast_scoring(graph, model).total > room:
        notes.append(f"Scores, too, were computed from at most {FAN_OUT} random neighbours of each node.")
    return Plan(size, found, memory, tuple(notes))
