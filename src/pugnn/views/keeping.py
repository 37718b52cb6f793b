"""Whether the tables that views consist of are worth keeping in memory, and the memory that a fit takes."""

from __future__ import annotations

import numpy as np

from pugnn.features.structure import WIDTH
from pugnn.graph import Graph
from pugnn.graph.smoothing import LANES, STEPS
from pugnn.memory import Forecast, available_memory
from pugnn.views.view import VIEWS, ViewTable

#: Products of a fit with the views of all nodes, and with those of the nodes that are sampled for training.
PRODUCTS, SAMPLED_PRODUCTS = 50, 120
#: Largest number of unlabelled nodes that are sampled for training.
TRAINING_SAMPLE = 2048
#: Share of the available memory that kept tables may take.
MAX_SHARE = 0.5
#: Memory that methods need besides the views: scores of several models, ranks, sets.
BYTES_PER_NODE = 400


def worth_keeping(graph: Graph, width: int, filled: int) -> bool:
    """Whether keeping the tables in memory makes a fit faster, and fits.

    Making a table smooths all columns once; products then read rows of tables only. Without tables, each product is
    smoothed: it takes up to two vectors for each entry of the attributes, and one for each entry of the adjacency and
    pass. The costs that are compared are numbers read.

    Args:
        graph: the graph.
        width: number of columns of the attributes.
        filled: number of entries of the attributes.
    """
    n, entries, tables = graph.num_nodes, len(graph.indices), _all_tables()
    passes = sum(STEPS if table == "smoothed" else table for table in tables)
    with_tables = width * (passes * entries + len(tables) * (PRODUCTS * n + SAMPLED_PRODUCTS * min(n, TRAINING_SAMPLE)))
    without = (PRODUCTS + SAMPLED_PRODUCTS) * LANES * (2 * filled + passes * entries)
    return with_tables <= without and 4 * len(tables) * n * width <= MAX_SHARE * available_memory()


def forecast_views(graph: Graph) -> tuple[Forecast, str]:
    """The memory that a fit on all views of a graph takes, and a sentence about it."""
    n, x = graph.num_nodes, graph.features
    if isinstance(x, np.ndarray):
        width, feature_arrays = (graph.num_features or WIDTH) + 1, [x]
        filled, views = n * width, 4 * n * width
    else:
        width, feature_arrays = graph.num_features or WIDTH, [x.data, x.indices, x.indptr]
        filled, views = x.nnz, 16 * x.nnz
    if worth_keeping(graph, width, filled):
        views = 4 * len(_all_tables()) * n * width
    arrays = [graph.indptr, graph.indices, graph.weights, *feature_arrays]
    stored = 0 if graph.stored is None else sum(array.nbytes for array in arrays if array is not None)
    forecast = Forecast({"views of the nodes": views, "scores and ranks": BYTES_PER_NODE * n, "the store": stored})
    return forecast, f"The run takes about {forecast} of memory."


def _all_tables() -> set[ViewTable]:
    return {table for view in VIEWS.values() for table in view.tables}
