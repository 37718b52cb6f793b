"""The structural regulariser on CUDA devices, as Triton kernels.

Like the CPU kernel, they compute both sums and their gradients in one pass and store nothing of size (edges × K).

* Neighbours: one program per node. Both directions of an edge contribute equally, so a program writes only its own row.
* Non-neighbours, sampled: one program per few directed edges, with the same draws as on the CPU. Gradients of drawn
  nodes are added atomically in arbitrary order, so the last digits may differ between runs. A node with more draws
  than candidates gives the same few nodes thousands of equal gradients, which are added in double precision.
* Non-neighbours, exact (formulas: ``structural.py``): all pairs in tiles, as in flash attention; the neighbours
  kernel subtracts those that do not count. Again a program writes only its own rows; the result is deterministic.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from pugnn.graph import Graph
from pugnn.regularisers.structural import expectation_weights

#: Directed edges and draws that a program of the sampled kernel handles at a time.
EDGES, DRAWS = 2, 64
#: Rows of a program of the exact kernel, and columns that it handles at a time.
ROWS, COLUMNS = 64, 128
#: In the exact form, a node with fewer candidates than 1/HUB_PART of all nodes is a hub: subtracting its neighbours
#: from all pairs would cancel, so its few candidates are summed separately.
HUB_PART = 8
#: Neighbours that a program of the neighbours kernel handles at a time.
NEIGHBOURS = 16


class GraphOnDevice:
    """The arrays that the kernels read, moved to the device once."""

    def __init__(self, graph: Graph, device: torch.device) -> None:
        parts = graph.indptr, graph.indices, graph.sources
        self.indptr, self.indices, self.sources = (_move(array, device) for array in parts)
        weight = expectation_weights(graph, 1)
        self.most_draws_per_candidate = float(weight.max(initial=0.0))
        # Hubs are prepared here: while an epoch is recorded, the host may not read from the device.
        self.hubs: list[tuple[int, Tensor, float]] = []
        for hub in np.flatnonzero(graph.num_nodes - 1 - graph.degrees < graph.num_nodes / HUB_PART).tolist():
            others = np.setdiff1d(np.arange(graph.num_nodes), np.append(graph.neighbours(hub), hub))
            self.hubs.append((hub, _move(others, device), float(weight[hub])))
            weight[hub] = 0.0
        self.weight_without_hubs = _move(weight.astype(np.float32), device)


_moved: WeakKeyDictionary[Graph, dict[torch.device, GraphOnDevice]] = WeakKeyDictionary()


def structural_sums_gpu(
    z: Tensor, graph: Graph, negatives: int, seed: int | Tensor | None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """A and B in double precision, and the gradient of each with respect to ``z``, shape ``(N, d)``, float32.

    ``seed`` as in ``structural_sums``. The graph's arrays stay on the device as long as the graph lives.
    """
    there = _moved.setdefault(graph, {})
    if z.device not in there:
        there[z.device] = GraphOnDevice(graph, z.device)
    arrays = there[z.device]
    n, d = z.shape
    width = max(16, triton.next_power_of_2(d))
    table = z if width == d else torch.nn.functional.pad(z, (0, width - d))
    weight = arrays.weight_without_hubs * negatives
    edge_sums = z.new_zeros(n)
    grad_edges = torch.empty_like(table)
    if seed is None:
        pair_sums, grad_pairs = z.new_empty(n), torch.empty_like(table)
        _all_pairs[(triton.cdiv(n, ROWS),)](
            table, weight, pair_sums, grad_pairs, n, WIDTH=width, ROWS=ROWS, COLUMNS=COLUMNS
        )
    else:
        pair_sums, grad_pairs = _sampled(table, arrays, negatives, seed)
    inputs, outputs = (table, arrays.indptr, arrays.indices, weight), (edge_sums, grad_edges, pair_sums, grad_pairs)
    _neighbours[(n,)](*inputs, *outputs, WIDTH=width, BLOCK=NEIGHBOURS, EXACT=seed is None)
    edges, non_edges = (part.sum(dtype=torch.float64) for part in (edge_sums, pair_sums))
    if seed is None:
        for hub, others, per_draw in arrays.hubs:
            non_edges += _add_hub(hub, others, table, per_draw * negatives, grad_pairs)
    return edges, non_edges, grad_edges[:, :d], grad_pairs[:, :d]


def _add_hub(hub: int, others: Tensor, table: Tensor, weight: float, grad: Tensor) -> Tensor:
    """Weighted sum of S² over the candidates of a hub; gradients are added to ``grad``."""
    products = table[others] @ table[hub]
    squares = torch.sigmoid(products).square()
    slopes = 2 * weight * squares * torch.sigmoid(-products)
    grad[hub] += slopes @ table[others]
    grad[others] += slopes[:, None] * table[hub]  # each row once, so the order does not matter
    return weight * squares.sum(dtype=torch.float64)


def _sampled(table: Tensor, arrays: GraphOnDevice, negatives: int, seed: int | Tensor) -> tuple[Tensor, Tensor]:
    (n, width), directed = table.shape, len(arrays.indices)
    programs = max(1, triton.cdiv(directed, EDGES))
    sums, grad = table.new_zeros(programs), torch.zeros_like(table)
    crowded = arrays.most_draws_per_candidate * negatives > 1
    precise = torch.zeros_like(table, dtype=torch.float64) if crowded else grad
    if isinstance(seed, int):  # reinterpret the 64 bits as the signed integer that torch can hold
        seed = torch.tensor([seed - (1 << 64) if seed >= 1 << 63 else seed], device=table.device)
    inputs, outputs = (table, arrays.sources, arrays.indptr, arrays.indices, seed), (sums, grad, precise)
    sizes = {"WIDTH": width, "EDGES": EDGES, "DRAWS": DRAWS, "CROWDED": crowded}
    _draws[(programs,)](*inputs, *outputs, n, directed, negatives, **sizes)
    return sums, grad + precise.float() if crowded else grad


def _move(array: np.ndarray[Any, Any], device: torch.device) -> Tensor:
    return torch.from_numpy(np.array(array)).to(device)


# ---------------------------------------------------------------------- kernels


@triton.jit
def _neighbours(  # type: ignore[no-untyped-def]
    z,
    indptr,
    indices,
    weight,
    edge_sums,
    grad_edges,
    pair_sums,
    grad_pairs,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
    EXACT: tl.constexpr,
):
    """Sum and gradient of (S - 1)² over a node's neighbours; EXACT: subtract S² of these and itself from all pairs."""
    i = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, WIDTH)
    start, stop = tl.load(indptr + i), tl.load(indptr + i + 1)
    own = tl.load(z + i * WIDTH + lanes)
    total = tl.zeros([BLOCK], tl.float32)
    gradient = tl.zeros([WIDTH], tl.float32)
    if EXACT:
        own_weight = tl.load(weight + i)
        length = tl.sum(own * own)
        to_itself = tl.sigmoid(length)
        taken = own_weight * to_itself * to_itself
        taken_gradient = 4 * own_weight * to_itself * to_itself * tl.sigmoid(-length) * own
    for first in range(start, stop, BLOCK):
        at = first + tl.arange(0, BLOCK)
        live = at < stop
        j = tl.load(indices + at, mask=live, other=0).to(tl.int64)
        other = tl.load(z + j[:, None] * WIDTH + lanes[None, :], mask=live[:, None], other=0.0)
        product = tl.sum(other * own[None, :], 1)
        miss = tl.where(live, tl.sigmoid(-product), 0.0)
        total += miss * miss
        gradient += tl.sum((-4 * miss * miss * tl.sigmoid(product))[:, None] * other, 0)
        if EXACT:
            s = tl.where(live, tl.sigmoid(product), 0.0)
            both = own_weight + tl.load(weight + j, mask=live, other=0.0)
            taken += own_weight * tl.sum(s * s)
            taken_gradient += tl.sum((2 * both * s * s * tl.sigmoid(-product))[:, None] * other, 0)
    tl.store(edge_sums + i, tl.sum(total))
    tl.store(grad_edges + i * WIDTH + lanes, gradient)
    if EXACT:
        tl.store(pair_sums + i, tl.load(pair_sums + i) - taken)
        at_own = grad_pairs + i * WIDTH + lanes
        tl.store(at_own, tl.load(at_own) - taken_gradient)


@triton.jit
def _draws(  # type: ignore[no-untyped-def]
    z,
    sources,
    indptr,
    indices,
    key,
    sums,
    grad,
    precise,
    n,
    directed,
    negatives,
    WIDTH: tl.constexpr,
    EDGES: tl.constexpr,
    DRAWS: tl.constexpr,
    CROWDED: tl.constexpr,
):
    """Draws, their sum of S² and the gradient at both ends, for EDGES directed edges."""
    program = tl.program_id(0)
    lanes = tl.arange(0, WIDTH)
    edge = program.to(tl.int64) * EDGES + tl.arange(0, EDGES)
    live = edge < directed
    i = tl.load(sources + edge, mask=live, other=0).to(tl.int64)
    start, stop = tl.load(indptr + i), tl.load(indptr + i + 1)
    candidates = n - 1 - (stop - start)
    live = live & (candidates > 0)
    own = tl.load(z + i[:, None] * WIDTH + lanes[None, :])
    seed = tl.load(key).to(tl.uint64)
    many = (stop - start) * negatives > candidates
    gradient = tl.zeros([EDGES, WIDTH], tl.float32)
    total = tl.zeros([EDGES, DRAWS], tl.float32)
    for first in range(0, negatives, DRAWS):
        draw = first + tl.arange(0, DRAWS)
        valid = live[:, None] & (draw < negatives)[None, :]
        # SplitMix64, then the high word of the product: as in pugnn.graph.random.
        x = seed + 0x9E3779B97F4A7C15 * ((edge[:, None] * negatives + draw[None, :]).to(tl.uint64) + 1)
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB
        bits = x ^ (x >> 31)
        bound = candidates[:, None].to(tl.uint64)
        rank = (((bits >> 32) * bound + (((bits & 0xFFFFFFFF) * bound) >> 32)) >> 32).to(tl.int64)
        # The non-neighbour of that rank by bisection: as in pugnn.graph.random.
        low = tl.zeros([EDGES, DRAWS], tl.int64) + start[:, None]
        high = tl.zeros([EDGES, DRAWS], tl.int64) + stop[:, None]
        while tl.max(tl.max(high - low, 1), 0) > 0:
            unsettled = low < high
            middle = (low + high) >> 1
            neighbour = tl.load(indices + middle, mask=unsettled, other=0).to(tl.int64)
            number = neighbour - (neighbour > i[:, None]).to(tl.int64)
            below = number - (middle - start[:, None]) <= rank
            high = tl.where(unsettled & (below == 0), middle, high)
            low = tl.where(unsettled & below, middle + 1, low)
        number = rank + (low - start[:, None])
        node = tl.where(valid, number + (number >= i[:, None]).to(tl.int64), 0)
        at = node[:, :, None] * WIDTH + lanes[None, None, :]
        other = tl.load(z + at, mask=valid[:, :, None], other=0.0)
        product = tl.sum(other * own[:, None, :], 2)
        s = tl.where(valid, tl.sigmoid(product), 0.0)
        total += s * s
        slope = 2 * s * s * tl.sigmoid(-product)
        gradient += tl.sum(slope[:, :, None] * other, 1)
        given = slope[:, :, None] * own[:, None, :]
        if CROWDED:
            few = (valid & (many[:, None] == 0))[:, :, None]
            tl.atomic_add(grad + at, given, mask=few, sem="relaxed")
            tl.atomic_add(precise + at, given.to(tl.float64), mask=(valid & many[:, None])[:, :, None], sem="relaxed")
        else:
            tl.atomic_add(grad + at, given, mask=valid[:, :, None], sem="relaxed")
    tl.store(sums + program, tl.sum(tl.sum(total, 1), 0))
    at_own = i[:, None] * WIDTH + lanes[None, :]
    if CROWDED:
        tl.atomic_add(grad + at_own, gradient, mask=(live & (many == 0))[:, None], sem="relaxed")
        tl.atomic_add(precise + at_own, gradient.to(tl.float64), mask=(live & many)[:, None], sem="relaxed")
    else:
        tl.atomic_add(grad + at_own, gradient, mask=live[:, None], sem="relaxed")


@triton.jit
def _all_pairs(  # type: ignore[no-untyped-def]
    z, weight, sums, grad, n, WIDTH: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    """Weighted sum and gradient of S² over all pairs with these ROWS, neighbours and the nodes themselves included."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    lanes = tl.arange(0, WIDTH)
    own = tl.load(z + rows[:, None] * WIDTH + lanes[None, :], mask=(rows < n)[:, None], other=0.0)
    own_weight = tl.load(weight + rows, mask=rows < n, other=0.0)
    total = tl.zeros([ROWS], tl.float32)
    gradient = tl.zeros([ROWS, WIDTH], tl.float32)
    for first in range(0, n, COLUMNS):
        columns = first + tl.arange(0, COLUMNS)
        live = columns < n
        other = tl.load(z + columns[:, None] * WIDTH + lanes[None, :], mask=live[:, None], other=0.0)
        other_weight = tl.load(weight + columns, mask=live, other=0.0)
        # tf32x3: three products on the tensor cores with the digits that one would drop.
        product = tl.dot(own, tl.trans(other), input_precision="tf32x3")
        odds = tl.exp(-tl.maximum(product, -80.0))
        s = 1.0 / (1.0 + odds)
        squares = tl.where(live[None, :], s * s, 0.0)
        total += tl.sum(squares, 1)
        slope = (own_weight[:, None] + other_weight[None, :]) * squares * (s * odds)
        gradient = tl.dot(slope, other, gradient, input_precision="tf32x3")
    tl.store(sums + rows, own_weight * total, mask=rows < n)
    tl.store(grad + rows[:, None] * WIDTH + lanes[None, :], 2 * gradient, mask=(rows < n)[:, None])
