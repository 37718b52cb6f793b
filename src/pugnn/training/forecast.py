"""How much memory the training of a network will need at its peak, before it begins.

A step holds features, adjacency, and tables with one row per node: activations, masks of dropout, gradients. The
numbers of tables and bytes below were counted in the code and adjusted to what was measured (``benchmarks/memory.py``
prints forecasts beside measured peaks). The graph itself is there already and is not counted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from pugnn import processes
from pugnn.graph import Graph, sample_neighbours
from pugnn.memory import Forecast, available_memory
from pugnn.models import Backbone
from pugnn.training.device import resolve_device
from pugnn.training.sampled import EDGES, FAN_OUT, HOPS, background_threads

#: Blocks below this size come from a heap, where gaps stay; larger ones are returned to the system.
HEAP = 2**25
#: What the gaps add.
GAPS = 1.5
#: Vectors with a number for each node: sets, logits, losses, scores. Bytes per node.
VECTORS = 70


class Cost(NamedTuple):
    """What a network holds.

    Args:
        tables: of the size of the first layer's output, in a step.
        building: bytes per entry of the adjacency while it is computed.
        entry: bytes per entry of the adjacency in a step, and
        entry_tables: tables of the first layer's width with a row for each entry.
    """

    tables: float
    building: int = 0
    entry: int = 0
    entry_tables: float = 0.0


#: By the attribute through which a network reads its neighbours.
COSTS: dict[str | None, Cost] = {
    "gcn_adjacency": Cost(tables=4, building=48, entry=8),
    "mean_adjacency": Cost(tables=3.3, building=64, entry=24),
    "sum_adjacency": Cost(tables=12, building=32, entry=8),
    "edge_index": Cost(tables=4, building=32, entry=166, entry_tables=4.2),
    None: Cost(tables=8, building=48, entry=8),
}
NO_EDGES = Cost(tables=3.5)
#: Further tables of a network with a linear layer after its embedding.
HEAD_TABLES = 4
#: Tables that the regulariser on the whole graph holds: eight of gradients in one block, their sum, and that of edges.
CHUNK_TABLES, SUM_TABLES = 8, 2
#: Bytes per entry of sparse features, with the transpose; and of those that dropout leaves.
SPARSE, SPARSE_DROPPED = 24, 8
#: A batch that is prepared: bytes per entry and per node.
PREPARED_ENTRY, PREPARED_NODE = 43, 220


def forecast_whole(graph: Graph, model: Backbone, *, with_pairs: bool) -> Forecast:
    """Of a training on the whole graph, with a structural regulariser or without."""
    nodes, entries, cost = graph.num_nodes, _entries(graph, model), _cost(model)
    stored, dropped = _features(graph, nodes)
    table = 4 * nodes * width_of(model)
    parts = {
        "features": _blocks(stored, 1) + _blocks(dropped, 1),
        "adjacency": _blocks(entries * cost.entry, 1),
        "activations and gradients": _activations(model, nodes, entries) + _blocks(VECTORS * nodes, 10),
        "regulariser": with_pairs * (_blocks(CHUNK_TABLES * table, 1) + _blocks(SUM_TABLES * table, SUM_TABLES)),
    }
    building = {"features": _blocks(stored, 1), "adjacency": _blocks(entries * cost.building, 4)}
    return max(Forecast(parts), Forecast(building), key=lambda forecast: forecast.total)


def forecast_batches(graph: Graph, model: Backbone, size: int, *, with_pairs: bool) -> Forecast:
    """Of a training in batches, from a trial: so many random nodes and their sampled neighbours."""
    seeds = round(size * (1 + 3 * EDGES)) if with_pairs else size
    trial = np.random.default_rng(0).integers(0, graph.num_nodes, seeds)
    found = sample_neighbours(graph, trial, hops=HOPS if model.reads_edges else 0, fan_out=FAN_OUT, seed=0)
    nodes, entries, prepared = len(found.nodes), len(found.indices), background_threads() + 1
    cost, (stored, dropped) = _cost(model), _features(graph, nodes)
    tables = 4 * nodes * width_of(model) * _tables(model)
    attention = (entries + nodes) * (cost.entry + 4 * cost.entry_tables * width_of(model)) if cost.entry_tables else 0
    return Forecast(
        {
            "features": prepared * stored + dropped,
            "sampled neighbours": prepared * (PREPARED_ENTRY * entries + PREPARED_NODE * nodes),
            "activations and gradients": int(tables + attention + VECTORS * seeds),
        }
    )


def forecast_scoring(graph: Graph, model: Backbone) -> Forecast:
    """Of scoring the whole graph in one pass, without gradients."""
    nodes, entries, cost = graph.num_nodes, _entries(graph, model), _cost(model)
    stored, _ = _features(graph, nodes)
    table = _blocks(4 * nodes * width_of(model), 3) + _blocks(4 * entries * cost.entry_tables * width_of(model) / 2, 3)
    return Forecast({"features": stored, "adjacency": entries * max(cost.building, cost.entry), "layers": table})


def memory_on(device: str) -> int:
    """Bytes that are available to this process where it trains."""
    found = resolve_device(device)
    if found.type == "cpu":
        return available_memory() // processes.count_on_host()
    return int(torch.cuda.mem_get_info(found)[0])


def _activations(model: Backbone, nodes: int, entries: int) -> int:
    cost, width, tables = _cost(model), width_of(model), _tables(model)
    return _blocks(tables * nodes * width * 4, tables) + _blocks(cost.entry_tables * entries * width * 4, 4)


def _tables(model: Backbone) -> float:
    """Tables of the size of the first layer's output."""
    return _cost(model).tables + (HEAD_TABLES if model.nodewise_head and model.reads_edges else 0)


def _features(graph: Graph, nodes: int) -> tuple[int, int]:
    """Bytes of the features of so many nodes, and of those that dropout leaves."""
    if isinstance(graph.features, np.ndarray):
        return 2 * (4 * nodes * graph.num_features,)
    count = graph.features.nnz * nodes // max(1, graph.num_nodes)
    return SPARSE * count, SPARSE_DROPPED * count


def _entries(graph: Graph, model: Backbone) -> int:
    """Of the adjacency, with self loops."""
    return len(graph.indices) + graph.num_nodes if model.reads_edges else 0


def _cost(model: Backbone) -> Cost:
    return COSTS[model.neighbours] if model.reads_edges else NO_EDGES


def width_of(model: Backbone) -> int:
    """Outputs of the first layer."""
    return max((len(weights) for weights in model.first_layer.parameters()), default=1)


def _blocks(size: float, number: float) -> int:
    """What blocks of so many bytes in all take."""
    return int(size * (GAPS if size / max(number, 1) < HEAP else 1))
