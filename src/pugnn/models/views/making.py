r"""Views of a node: attributes of its wider neighbourhood, its own, and those of its neighbours.

With :math:`\bar X` the attributes, each row at length 1, and :math:`\hat A` the normalised adjacency, the views are

.. math:: S = \overline{H^{(T)}}, \quad H^{(t+1)} = (1 - \beta) \hat A H^{(t)} + \beta \bar X, \quad H^{(0)} = \bar X;
    \qquad \bar X; \qquad N = \overline{D^{-1} A \bar X}

where the bar scales rows to length 1, :math:`T = 10` and :math:`\beta = 0.15`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pugnn import processes
from pugnn.features.structural import WIDTH
from pugnn.graph import Graph
from pugnn.graph.smoothing import LANES, Table, neighbour_sums
from pugnn.graph.vectors import aligned
from pugnn.memory import Forecast, memory_words
from pugnn.models.inputs import GraphInputs
from pugnn.models.views.attributes import SHORTEST, Attributes, most_columns, unit_rows
from pugnn.models.views.rows import CHUNK, KeptTables, Rows, TablePlan

#: The names of the views. The first one is the base that the others are compared with.
VIEWS = ("smoothed", "own", "neighbours")
STEPS, RESTART = 10, 0.15
#: What methods compute from the views: scores of several models, ranks, sets. The check-up before them takes less.
BYTES_PER_NODE = 200


def make_views(
    attributes: Attributes,
    inputs: GraphInputs,
    names: Sequence[str] = VIEWS,
    *,
    keep: KeptTables | None = None,
    half: bool | None = None,
) -> dict[str, Rows]:
    """Some of :data:`VIEWS`, by name.

    Args:
        attributes: how attributes become rows of length 1.
        inputs: the graph, and the device.
        names: of the views.
        keep: where to keep tables that are larger than memory, or that several processes share.
        half: whether tables have half precision; by default if they are larger than memory.
    """
    if inputs.device.type == "cpu":
        return _tables(attributes, inputs.graph, names, keep, half)
    own = torch.cat([torch.from_numpy(part).to(inputs.device) for part in attributes.rows(inputs.graph)])
    found = {"own": own}
    if "smoothed" in names:
        found["smoothed"] = unit_rows(smooth(own, inputs))
    if "neighbours" in names:
        found["neighbours"] = unit_rows(inputs.mean_adjacency @ own)
    return {name: Rows.of(found[name]) for name in names}


def forecast_views(graph: Graph) -> tuple[Forecast, str]:
    """What comparing all views of a graph on the CPU will take, and a sentence about it."""
    n, columns = graph.num_nodes, graph.num_features or WIDTH
    # Whether a column is added is known only once all features have been read.
    width = most_columns(columns + isinstance(graph.features, np.ndarray), n)
    plan = TablePlan.of(n, width, len(VIEWS), shared=processes.count() > 1)
    x = graph.features
    mapped = [graph.indptr, graph.indices, *([x] if isinstance(x, np.ndarray) else [x.data, x.indices, x.indptr])]
    mapped += [] if graph.weights is None else [graph.weights]
    in_memory = 3 * 4 * n * plan.block if plan.mapped else len(VIEWS) * plan.bytes
    forecast = Forecast(
        {
            "views of the nodes": in_memory,
            "scores and ranks": BYTES_PER_NODE * n,
            # Side by side, two views of them are copied about three times, and a perceptron has its hidden units twice.
            "rows at a time": 4 * min(n, CHUNK) * (6 * width + 2 * 64),
            "the store": 0 if graph.stored is None else sum(part.nbytes for part in mapped),
        }
    )
    words = f"The run takes about {forecast} of memory"
    if not plan.mapped:
        return forecast, f"{words}."
    precision = "half" if plan.dtype == np.float16 else "single"
    return (
        forecast,
        f"{words}, and {memory_words(len(VIEWS) * plan.bytes)} on disk for the views, in {precision} precision.",
    )


def side_by_side(views: dict[str, Rows], weights: Tensor) -> Rows:
    """The views that have a weight, each times the root of it, as one matrix."""
    used = [(name, float(weight.sqrt())) for name, weight in zip(VIEWS, weights, strict=True) if weight > 0]
    first, *others = (views[name] for name, _ in used)
    return first.beside([root for _, root in used], others)


def smooth(values: Tensor, inputs: GraphInputs) -> Tensor:
    """Personalised PageRank of the columns: T steps with restart β."""
    if inputs.device.type == "cpu":
        n, columns = values.shape
        start = aligned(np.zeros, (n, -(-columns // LANES) * LANES), np.float32)
        start[:, :columns] = values.numpy()
        smoothed, spare = (aligned(np.empty, start.shape, np.float32) for _ in range(2))
        _smooth(inputs.graph, start, smoothed, spare)
        return torch.from_numpy(smoothed[:, :columns])
    block = values
    for _ in range(STEPS):
        block = torch.lerp(inputs.gcn_adjacency @ block, values, RESTART)
    return block


def _tables(
    attributes: Attributes, graph: Graph, names: Sequence[str], keep: KeptTables | None, half: bool | None
) -> dict[str, Rows]:
    """The views on the CPU."""
    needed = tuple(dict.fromkeys(("own", *names)))
    shared = keep is not None and processes.count() > 1  # otherwise each process has tables of its own
    plan = TablePlan.of(graph.num_nodes, attributes.width, len(needed), shared=shared, half=half)
    keep = None if keep is None else keep.everywhere()
    before = None if keep is None else keep.finished(plan, needed)
    if keep is None or not (plan.mapped or before):
        made = {name: plan.table() for name in needed}
        _fill_tables(made, plan, attributes, graph, shared=False)
    else:
        processes.meet()  # all have looked
        if before is not None:
            plan = before
        else:
            if processes.rank() == 0:
                keep.create(plan, needed)
            processes.meet()
            _fill_tables({name: keep.open(plan, name) for name in needed}, plan, attributes, graph, shared=shared)
            if processes.rank() == 0:
                keep.finish(plan, needed)
            processes.meet()
        made = {name: keep.open(plan, name) for name in names}
    found = {}
    for name in names:
        table, ones = torch.from_numpy(made[name]), torch.ones(graph.num_nodes)
        found[name] = Rows((table,), (ones if name == "own" else _inverse_lengths(table),), attributes.width)
    return found


def _fill_tables(
    made: dict[str, NDArray[Any]], plan: TablePlan, attributes: Attributes, graph: Graph, *, shared: bool
) -> None:
    """Compute all views; if tables are shared, all processes share the nodes, and then the blocks of columns."""
    own = slice(0, graph.num_nodes)
    mine = range(plan.shape[0])
    if shared:
        own, mine = processes.own_share(graph.num_nodes), mine[processes.rank() :: processes.count()]
    _fill(made["own"], attributes.rows(graph, own), own.start)
    if shared:
        _flush(made)
        processes.meet()

    def in_memory(name: str, block: int) -> Table:
        """Where to compute a block of a view: in its table, unless that is a file."""
        stays = name in made and not plan.mapped
        table: Table = made[name][block] if stays else aligned(np.empty, plan.shape[1:], np.float32)
        return table

    for block in mine:
        start = made["own"][block] if not plan.mapped else made["own"][block].astype(np.float32)
        around = in_memory("neighbours", block)
        if "smoothed" in made:
            smoothed = in_memory("smoothed", block)
            _smooth(graph, start, smoothed, around)
            if plan.mapped:
                made["smoothed"][block] = smoothed
        if "neighbours" in made:
            inverse = (1 / np.maximum(graph.degrees, 1)).astype(np.float32)
            neighbour_sums(graph, start, around, p=inverse, weighted=False)
            if plan.mapped:
                made["neighbours"][block] = around
    _flush(made)
    if shared:
        processes.meet()


def _flush(tables: dict[str, NDArray[Any]]) -> None:
    for table in tables.values():
        if isinstance(table, np.memmap):
            table.flush()


def _smooth(graph: Graph, start: Table, smoothed: Table, spare: Table) -> None:
    r"""T steps with restart β for some columns; ``smoothed`` and ``spare`` are other tables of the same size.

    With :math:`s = \tilde d^{-1/2}`, tables hold :math:`g = s \odot h`, so that one step
    :math:`h' = (1 - \beta) s \odot \big(\sum_j g_j + g\big) + \beta x` needs no weight of an entry.
    """
    degree = graph.degrees if graph.weights is None else graph.to_scipy().sum(axis=1, dtype=np.float64)
    s = (1 / np.sqrt(degree + 1)).astype(np.float32)
    source, target = (spare, smoothed) if STEPS % 2 else (smoothed, spare)
    np.multiply(start, s[:, None], out=source)
    for step in range(STEPS):
        scale = np.ones_like(s) if step == STEPS - 1 else s  # the last one gives h itself
        p, q = np.float32(1 - RESTART) * s * scale, np.float32(RESTART) * scale
        neighbour_sums(graph, source, target, p=p, q=q, x=start, t=1.0)
        source, target = target, source


def _fill(table: NDArray[Any], rows: Iterator[NDArray[np.float32]], first: int) -> None:
    """Write the rows of nodes, from the ``first`` one on, into a table."""
    columns = table.shape[2]
    for part in rows:
        for block in range(len(table)):
            values = part[:, block * columns : (block + 1) * columns]
            table[block, first : first + len(part), : values.shape[1]] = values
        first += len(part)


def _inverse_lengths(table: Tensor) -> Tensor:
    lengths = []
    for first in range(0, table.shape[1], CHUNK):
        part = table[:, first : first + CHUNK].float().square()
        # Vector by vector, so that the sums do not depend on how columns are divided into blocks.
        sums = part.view(*part.shape[:2], -1, LANES).sum(dim=3).transpose(0, 1).flatten(1)
        lengths.append(sums.sum(dim=1).sqrt())
    return 1 / torch.cat(lengths).clamp(min=SHORTEST)
