"""How much memory the training of a network will need at its peak, before it begins.

One rule for all networks: a step holds the features and what dropout leaves of them, the adjacency, and tables with one
row per node: activations, masks of dropout, gradients. It is meant to tell whether a graph fits, not to the megabyte:
``benchmarks/memory.py`` prints forecasts beside measured peaks. The graph itself is there already and is not counted.
"""

from __future__ import annotations

import numpy as np
import torch

from pugnn import processes
from pugnn.graph import Graph, sample_neighbours
from pugnn.memory import Forecast, available_memory
from pugnn.models import Backbone
from pugnn.training.device import resolve_device
from pugnn.training.sampled import EDGES, FAN_OUT, HOPS, background_threads

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


def forecast_whole(graph: Graph, model: Backbone, *, with_pairs: bool) -> Forecast:
    """Of a training on the whole graph, with a structural regulariser or without."""
    nodes, entries = graph.num_nodes, _entries(graph, model)
    features = _features(graph, nodes)
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
    nodes, entries = graph.num_nodes, _entries(graph, model)
    layers = _tables(model, nodes, entries) // 2
    return Forecast({"features": _features(graph, nodes), "adjacency": BUILDING * entries, "layers": layers})


def memory_on(device: str) -> int:
    """Bytes that are available to this process where it trains."""
    found = resolve_device(device)
    if found.type == "cpu":
        return available_memory() // processes.count_on_host()
    return int(torch.cuda.mem_get_info(found)[0])


def _tables(model: Backbone, nodes: int, entries: int) -> int:
    """Bytes of activations and gradients."""
    row = 4 * width_of(model)
    attention = ATTENTION + ATTENTION_TABLES * row if model.neighbours == "edge_index" else 0
    return int(TABLES * row * nodes + attention * entries)


def _features(graph: Graph, nodes: int) -> int:
    """Bytes of the features of so many nodes."""
    if isinstance(graph.features, np.ndarray):
        return 4 * nodes * graph.num_features
    return SPARSE * int(graph.features.nnz * nodes // max(1, graph.num_nodes))


def _entries(graph: Graph, model: Backbone) -> int:
    """Of the adjacency, with self loops."""
    return len(graph.indices) + graph.num_nodes if model.reads_edges else 0


def width_of(model: Backbone) -> int:
    """Outputs of the first layer."""
    return max((len(weights) for weights in model.first_layer.parameters()), default=1)
