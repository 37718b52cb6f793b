"""Whether a network is trained on the whole graph or in batches, and what that needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from pugnn import processes
from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.losses import Sets
from pugnn.memory import Forecast, memory_words
from pugnn.models import Backbone, backbone_name
from pugnn.training.batches import FullGraph, Loader
from pugnn.training.checkpoint import Checkpoint
from pugnn.training.device import resolve_device
from pugnn.training.forecast import forecast_batches, forecast_whole, memory_on
from pugnn.training.loop import scores_whole
from pugnn.training.sampled import FAN_OUT, SampledGraph
from pugnn.training.settings import TrainingSettings

#: Batches that ``auto`` tries: the largest one that fits. Each node brings up to a hundred others, so these are large.
SIZES = (16_384, 8_192, 4_096, 2_048, 1_024, 512, 256)
SCORED_BY_SAMPLE = "Scores, too, were computed from random neighbours."
#: A batch size for the whole graph, however large it is.
WHOLE = 2**60


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
    room = processes.value_of_first(memory_on(settings.device))  # all processes must decide alike
    whole = forecast_whole(graph, model, with_pairs=with_pairs)
    wanted = settings.batch_size
    if whole.total <= room if wanted == "auto" else int(wanted) >= unlabelled:
        return Plan(None, whole, f"Training on the whole graph takes about {whole} of memory.")
    too_much = f"training on the whole graph takes about {memory_words(whole.total)}"
    refused = only_whole or _why_whole(model, settings)
    if refused:
        tried = (
            f"{too_much} of memory, and {memory_words(room)} are available"
            if wanted == "auto"
            else f"batch_size={wanted} was given"
        )
        raise PugnnError(f"{tried}, but {refused}. The method views trains on graphs of any size.")
    forecast = partial(forecast_batches, graph, model, with_pairs=with_pairs)
    size = (
        int(wanted) if wanted != "auto" else next((size for size in SIZES if forecast(size).total <= room), SIZES[-1])
    )
    found = forecast(size)
    drawn = f"Every step took {size:,} random unlabelled nodes, and at most {FAN_OUT} random neighbours of each node."
    scored = () if scores_whole(graph, model, settings.device) else (SCORED_BY_SAMPLE,)
    available = f", and {memory_words(room)} are available" if wanted == "auto" else ""
    memory = f"Training in batches of {size:,} unlabelled nodes takes about {found} of memory; {too_much}{available}."
    return Plan(size, found, memory, (drawn, *scored))


def plan_as_before(
    plan: Callable[[TrainingSettings], Plan], settings: TrainingSettings, checkpoint: Checkpoint | None
) -> Plan:
    """The plan of a training, with the batch size that it has had so far if it continues from a checkpoint."""
    chosen = plan(settings)
    if checkpoint is None:
        return chosen
    size = checkpoint.same_batch_size(chosen.batch_size)
    return chosen if size == chosen.batch_size else plan(replace(settings, batch_size=WHOLE if size is None else size))


def _why_whole(model: Backbone, settings: TrainingSettings) -> str:
    """Why a network needs the whole graph; empty if it does not."""
    if model.neighbours is not None or not model.reads_edges:
        return ""
    return (
        f"the backbone {backbone_name(settings.backbone)} needs the whole graph; use gcn, gcn-linear, sage, gat or gin"
    )
