"""Whether a network is trained on the whole graph or in batches, and how much memory that needs at its peak.

One rule for all networks: a step holds the features and what dropout leaves of them, the adjacency, and tables with one
row per node: activations, masks of dropout, gradients. It is meant to tell whether a graph fits, not to the megabyte:
``benchmarks/memory.py`` prints forecasts beside measured peaks. The graph itself is there already and is not counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch

from pugnn import processes
from pugnn.errors import PugnnError
from pugnn.graph import Graph, sample_neighbours
from pugnn.losses import Sets
from pugnn.memory import Forecast, available_memory, memory_words
from pugnn.models import Backbone, backbone_name
from pugnn.training.batches import EDGES, FAN_OUT, HOPS, FullGraph, Loader, SampledGraph, background_threads
from pugnn.training.checkpoint import Checkpoint
from pugnn.training.settings import TrainingSettings, resolve_device

#: Batches that ``auto`` tries: the largest one that fits. Each node brings up to a hundred others, so these are large.
SIZES = (16_384, 8_192, 4_096, 2_048, 1_024, 512, 256)
#: A batch size for the whole graph, however large it is.
WHOLE = 2**60
#: Tables of the size of the first layer's output in a step, and in a structural regulariser on the whole graph.
TABLES, REGULARISER_TABLES = 8, 10
#: Bytes per entry of the adjacency, in a step and while it is computed.
ENTRY, BUILDING = 16, 48
#: The same for attention over edges, which also has tables with a row for each entry.
ATTENTION, ATTENTION_TABLES = 166, 4.2
#: Bytes per entry of sparse features, with the transpose.
SPARSE = 24
#: A batch that is prepared: bytes per entry and per node.
PREPARED_ENTRY, PREPARED_NODE = 43, 220


@dataclass(frozen=True)
class Plan:
    """How a network will be trained.

    Args:
        batch_size: unlabelled nodes per step; ``None`` for the whole graph.
        forecast: memory of the training.
        memory: a sentence about it.
        notes: what differs from a training on the whole graph.
        model: the network, where it reads batches.
        with_pairs: whether batches have pairs of nodes for a regulariser.
    """

    batch_size: int | None
    forecast: Forecast
    memory: str
    notes: tuple[str, ...] = ()
    model: Backbone | None = None
    with_pairs: bool = False

    def loader(self, graph: Graph, sets: Sets, settings: TrainingSettings) -> Loader:
        """The batches."""
        if self.batch_size is None or self.model is None:
            return FullGraph(graph, sets, settings.device)
        device = resolve_device(settings.device)
        return SampledGraph(graph, sets, self.batch_size, self.model, device, with_pairs=self.with_pairs)


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
        only_whole: why the method cannot be trained in batches, if it cannot.
    """
    room = processes.value_of_first(memory_on(settings.device))  # all processes must decide alike
    whole = forecast_whole(graph, model, with_pairs=with_pairs)
    wanted = settings.batch_size
    if whole.total <= room if wanted == "auto" else int(wanted) >= unlabelled:
        return Plan(None, whole, f"Training on the whole graph takes about {whole} of memory.")
    too_much = f"training on the whole graph takes about {memory_words(whole.total)}"
    available = f"{memory_words(room)} are available"
    if not only_whole and model.reads_edges and model.neighbours is None:
        name = backbone_name(settings.backbone)
        only_whole = f"the backbone {name} needs the whole graph; use gcn, gcn-linear, sage, gat or gin"
    if only_whole:
        why = f"{too_much} of memory, and {available}" if wanted == "auto" else f"batch_size={wanted} was given"
        raise PugnnError(f"{why}, but {only_whole}. The method views trains on graphs of any size.")
    for size in SIZES if wanted == "auto" else (int(wanted),):  # the first that fits, or the last
        found = forecast_batches(graph, model, size, with_pairs=with_pairs)
        if found.total <= room:
            break
    drawn = f"Every step took {size:,} random unlabelled nodes, and at most {FAN_OUT} random neighbours of each node."
    by_sample = ("Scores, too, were computed from random neighbours.",)
    scored = () if scores_whole(graph, model, settings.device) else by_sample
    memory = f"Training in batches of {size:,} unlabelled nodes takes about {found} of memory; {too_much}, and"
    return Plan(size, found, f"{memory} {available}.", (drawn, *scored), model, with_pairs)


def plan_as_before(
    plan: Callable[[TrainingSettings], Plan], settings: TrainingSettings, checkpoint: Checkpoint | None
) -> Plan:
    """The plan of a training, with the batch size that it has had so far if it continues from a checkpoint."""
    chosen = plan(settings)
    size = chosen.batch_size if checkpoint is None else checkpoint.same_batch_size(chosen.batch_size)
    return chosen if size == chosen.batch_size else plan(replace(settings, batch_size=size or WHOLE))


def forecast_whole(graph: Graph, model: Backbone, *, with_pairs: bool) -> Forecast:
    """Of a training on the whole graph, with a structural regulariser or without."""
    nodes, entries, features = _sizes(graph, model)
    parts = {
        "features": 2 * features,
        "adjacency": ENTRY * entries,
        "activations and gradients": _tables(model, nodes, entries),
        "regulariser": with_pairs * REGULARISER_TABLES * 4 * width_of(model) * nodes,
    }
    building = {"features": features, "adjacency": BUILDING * entries}
    return max(Forecast(parts), Forecast(building), key=lambda forecast: forecast.total)


def forecast_batches(graph: Graph, model: Backbone, size: int, *, with_pairs: bool) -> Forecast:
    """Of a training in batches, from a trial: so many random nodes and their sampled neighbours."""
    seeds = round(size * (1 + 3 * EDGES)) if with_pairs else size
    trial = np.random.default_rng(0).integers(0, graph.num_nodes, seeds)
    found = sample_neighbours(graph, trial, hops=HOPS if model.reads_edges else 0, fan_out=FAN_OUT, seed=0)
    nodes, entries, prepared = len(found.nodes), len(found.indices), background_threads() + 1
    return Forecast(
        {
            "features": (prepared + 1) * _features(graph, nodes),
            "sampled neighbours": prepared * (PREPARED_ENTRY * entries + PREPARED_NODE * nodes),
            "activations and gradients": _tables(model, nodes, entries),
        }
    )


def forecast_scoring(graph: Graph, model: Backbone) -> Forecast:
    """Of scoring the whole graph in one pass, without gradients."""
    nodes, entries, features = _sizes(graph, model)
    return Forecast(
        {"features": features, "adjacency": BUILDING * entries, "layers": _tables(model, nodes, entries) // 2}
    )


def memory_on(device: str) -> int:
    """Bytes that are available to this process where it trains."""
    found = resolve_device(device)
    if found.type == "cpu":
        return available_memory() // processes.count_on_host()
    return int(torch.cuda.mem_get_info(found)[0])


def _tables(model: Backbone, nodes: int, entries: int) -> int:
    row = 4 * width_of(model)
    attention = ATTENTION + ATTENTION_TABLES * row if model.neighbours == "edge_index" else 0
    return int(TABLES * row * nodes + attention * entries)


def _features(graph: Graph, nodes: int) -> int:
    if isinstance(graph.features, np.ndarray):
        return 4 * nodes * graph.num_features
    return SPARSE * int(graph.features.nnz * nodes // max(1, graph.num_nodes))


def _sizes(graph: Graph, model: Backbone) -> tuple[int, int, int]:
    """Nodes of a graph, entries of its adjacency with self loops, and bytes of its features."""
    entries = len(graph.indices) + graph.num_nodes if model.reads_edges else 0
    return graph.num_nodes, entries, _features(graph, graph.num_nodes)


def width_of(model: Backbone) -> int:
    """Outputs of the first layer."""
    return max((len(weights) for weights in model.first_layer.parameters()), default=1)


def scores_whole(graph: Graph, model: Backbone, device: str) -> bool:
    """Whether a graph is scored in one pass: as that of the training; or if it fits into memory."""
    if model.neighbours is None:  # the network cannot do otherwise
        return True
    reduced = model.reduces(graph)
    return forecast_scoring(graph, model).total <= memory_on(device) if reduced is None else not reduced
