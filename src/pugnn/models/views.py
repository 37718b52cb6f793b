r"""Views of a node: attributes of its wider neighbourhood, its own, and those of its neighbours.

With :math:`\bar X` the attributes, each row at length 1, and :math:`\hat A` the normalised adjacency, the views are

.. math:: S = \overline{H^{(T)}}, \quad H^{(t+1)} = (1 - \beta) \hat A H^{(t)} + \beta \bar X, \quad H^{(0)} = \bar X;
    \qquad \bar X; \qquad N = \overline{D^{-1} A \bar X}

where the bar scales rows to length 1, :math:`T = 10` and :math:`\beta = 0.15`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from pugnn import processes
from pugnn.errors import PugnnError
from pugnn.features.structural import Structure
from pugnn.graph import Graph
from pugnn.graph.smoothing import LANES, Table, neighbour_sums
from pugnn.graph.vectors import aligned
from pugnn.models.inputs import GraphInputs
from pugnn.models.rows import CHUNK, KeptTables, Rows, TablePlan

#: The names of the views. The first one is the base that the others are compared with.
VIEWS = ("smoothed", "own", "neighbours")
STEPS, RESTART = 10, 0.15
#: A view has at most this many columns, and with at least 256 columns at most this many numbers; wider attributes are
#: hashed.
MOST_COLUMNS, MOST_NUMBERS, LEAST_HASHED = 4096, 2**26, 256
#: Attributes must stay below this: the squares of larger ones overflow.
LARGEST = 1e18
#: Shorter rows count as zero.
SHORTEST = 1e-12


@dataclass(frozen=True)
class Attributes:
    """How the attributes of nodes become rows of length 1, the same way for every graph.

    If most entries are not zero, columns are standardised, since zero then has no special meaning and scales differ;
    and a column of ones is added, without which rows of length 1 would not tell large from small. Words, tags and
    categories, which are mostly zero, stay as they are. Attributes that are too wide are hashed: each
    column is added to, or subtracted from, one of ``width`` columns. A graph without attributes has structural ones.

    Args:
        centre: subtracted from each column, shape ``(F,)``.
        scale: what each column is divided by, shape ``(F,)``.
        width: number of columns.
    """

    centre: NDArray[np.float32]
    scale: NDArray[np.float32]
    width: int

    @classmethod
    def of(cls, graph: Graph) -> Attributes:
        """As the attributes of a graph suggest."""
        x = _features(graph)
        n, columns = x.shape
        centre, scale = np.zeros(columns, np.float32), np.ones(columns, np.float32)
        filled = sum(np.count_nonzero(part if isinstance(part, np.ndarray) else part.data) for part in _chunks(x))
        if filled > 0.5 * n * columns:
            mean = sum(_dense(part).sum(axis=0, dtype=np.float64) for part in _chunks(x)) / n
            spread = sum(np.square(_dense(part) - mean).sum(axis=0) for part in _chunks(x)) / n
            centre, spread = mean.astype(np.float32), np.sqrt(spread).astype(np.float32)
            scale = np.where(spread > 0, spread, np.float32(1))
            columns += 1
        return cls(centre, scale, min(columns, MOST_COLUMNS, max(LEAST_HASHED, MOST_NUMBERS // n)))

    def tensors(self) -> dict[str, Tensor]:
        """What a model must keep of it, besides the width."""
        return {"centre": torch.from_numpy(self.centre), "scale": torch.from_numpy(self.scale)}

    def columns(self, x: NDArray[np.float32] | sp.csr_array) -> NDArray[np.float32] | sp.csr_array:
        """Features of some nodes before they are hashed and scaled, shape ``(n, C)``."""
        if self.centre.any() or (self.scale != 1).any():
            standardised = (_dense(x) - self.centre) / self.scale
            x = np.hstack([standardised, np.ones((len(standardised), 1), np.float32)])
        return x

    def columns_of(self, graph: Graph) -> NDArray[np.float32] | sp.csr_array:
        """The same of all nodes of a graph."""
        return self.columns(_features(graph))

    def hashing(self, columns: int) -> sp.csr_array | None:
        """The matrix that hashes so many columns, shape ``(C, width)``; none if they are few enough."""
        return _hashing(columns, self.width) if self.width < columns else None

    def rows(self, graph: Graph, nodes: slice = slice(None)) -> Iterator[NDArray[np.float32]]:
        """The attributes of nodes, by default of all, each row at length 1, some at a time, shape ``(n, width)``."""
        hashing = None
        for part in _chunks(_features(graph)[nodes]):
            x = self.columns(part)
            hashing = self.hashing(x.shape[1]) if hashing is None else hashing
            values = np.array(_dense(x if hashing is None else x @ hashing), dtype=np.float32)
            if not (np.abs(values) < LARGEST).all():
                raise PugnnError(f"features reach {LARGEST:.0e} and more, too large to compare nodes; scale them down")
            yield unit_rows(torch.from_numpy(values)).numpy()


def make_views(
    attributes: Attributes, inputs: GraphInputs, names: Sequence[str] = VIEWS, *, keep: KeptTables | None = None
) -> dict[str, Rows]:
    """Some of :data:`VIEWS`, by name.

    Args:
        attributes: how attributes become rows of length 1.
        inputs: the graph, and the device.
        names: of the views.
        keep: where to keep tables that are larger than memory, or that several processes share.
    """
    if inputs.device.type == "cpu":
        return _tables(attributes, inputs.graph, names, keep)
    own = torch.cat([torch.from_numpy(part).to(inputs.device) for part in attributes.rows(inputs.graph)])
    found = {"own": own}
    if "smoothed" in names:
        found["smoothed"] = unit_rows(smooth(own, inputs))
    if "neighbours" in names:
        found["neighbours"] = unit_rows(inputs.mean_adjacency @ own)
    return {name: Rows.of(found[name]) for name in names}


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


def unit_rows(values: Tensor) -> Tensor:
    """Scale rows to Euclidean length 1; all-zero rows stay zero."""
    return torch.nn.functional.normalize(values, dim=1, eps=SHORTEST)


def _tables(attributes: Attributes, graph: Graph, names: Sequence[str], keep: KeptTables | None) -> dict[str, Rows]:
    """The views on the CPU."""
    needed = tuple(dict.fromkeys(("own", *names)))
    plan = TablePlan.of(
        graph.num_nodes, attributes.width, len(needed), shared=keep is not None and processes.count() > 1
    )
    if keep is None or not plan.mapped:
        made = {name: plan.table() for name in needed}
        _fill_tables(made, plan, attributes, graph)
    else:
        keep = keep.everywhere()
        if processes.bytes_of_first(b"yes" if keep.finished(plan, needed) else b"no") == b"no":
            if processes.rank() == 0:
                keep.create(plan, needed)
            processes.meet()
            _fill_tables({name: keep.open(plan, name) for name in needed}, plan, attributes, graph)
            if processes.rank() == 0:
                keep.finish(plan, needed)
            processes.meet()
        made = {name: keep.open(plan, name) for name in names}
    found = {}
    for name in names:
        table, ones = torch.from_numpy(made[name]), torch.ones(graph.num_nodes)
        found[name] = Rows((table,), (ones if name == "own" else _inverse_lengths(table),), attributes.width)
    return found


def _fill_tables(made: dict[str, NDArray[Any]], plan: TablePlan, attributes: Attributes, graph: Graph) -> None:
    """Compute all views; several processes share the nodes, and then the blocks of columns."""
    shared = isinstance(made["own"], np.memmap) and processes.count() > 1
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


@lru_cache(maxsize=1)
def _features(graph: Graph) -> NDArray[np.float32] | sp.csr_array:
    return graph.features if graph.num_features else Structure().encode(graph)


def _chunks(x: NDArray[np.float32] | sp.csr_array) -> Iterator[NDArray[np.float32] | sp.csr_array]:
    for first in range(0, x.shape[0], CHUNK):
        yield x[first : first + CHUNK]


def _dense(x: NDArray[np.float32] | sp.csr_array) -> NDArray[np.float32]:
    return x if isinstance(x, np.ndarray) else x.toarray()


def _hashing(columns: int, width: int) -> sp.csr_array:
    rng = np.random.default_rng(0)  # the same for every model, so that it need not be saved
    signs = rng.choice(np.array([-1, 1], np.float32), columns)
    return sp.csr_array((signs, rng.integers(width, size=columns), np.arange(columns + 1)), shape=(columns, width))
