r"""Means and sums over neighbours for columns of numbers, in parallel, and smoothing, which is made of sums.

A table holds :math:`b` columns of every node, :math:`b` a multiple of 8, so that 8 or 16 columns lie in one cache line.
One pass computes, for every node i,

.. math:: y_i = p_i \Big( \sum_{j \in N(i)} w_{ij}\, h_j + t\, h_i \Big) + q_i\, x_i

with vectors p and q and a number t. The rows of the neighbours are read at random, and all time goes into that: so a
pass reads nothing else at random, not even normalised weights (scales of the neighbours are multiplied into the table
by the pass before), and asks for rows some neighbours ahead.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import scipy.sparse as sp
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from pugnn.graph.compiling import kernel
from pugnn.graph.derived import derived
from pugnn.graph.graph import Graph
from pugnn.graph.vectors import INDEX, aligned, ask_for, data_of, load, loop, spread, store
from pugnn.threads import available_threads

#: T and β of smoothing.
STEPS, RESTART = 10, 0.15
#: The number of columns of a table is a multiple of this.
LANES = 8
#: Rows are prefetched this many neighbours ahead.
_AHEAD = 8
#: Entries of the adjacency that a thread takes at a time.
_ENTRIES = 1 << 18

Columns = NDArray[np.float32]
Rows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32] | None]


def smoother_of(graph: Graph) -> Smoother:
    """The smoother of a graph."""
    return derived(graph, "smoother", lambda: Smoother(graph))


class Smoother:
    """Sums over neighbours, for columns of numbers. ``root`` is :math:`\\tilde d^{-1/2}`, with one added to degrees."""

    def __init__(self, graph: Graph) -> None:
        self._rows: Rows = graph.indptr, graph.indices, graph.weights
        strength = graph.degrees if graph.weights is None else graph.to_scipy().sum(axis=1, dtype=np.float64)
        self.root = (1 / np.sqrt(strength + 1)).astype(np.float32)
        self._inverse = (1 / np.maximum(graph.degrees, 1)).astype(np.float32)
        self._ones = np.ones_like(self.root)

    def mean(self, values: NDArray[np.float32], *, transposed: bool = False) -> NDArray[np.float32]:
        """The mean over neighbours, whatever the weights of edges are; 0 without any.

        Transposed: every node passes its numbers on to its neighbours, in equal parts.
        """
        table = whole_vectors(values, self._inverse if transposed else None)
        out = _room(*table.shape)
        neighbour_sums((*self._rows[:2], None), table, out, p=self._ones if transposed else self._inverse)
        return out[:, : values.shape[1]]

    def smooth(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        r"""Personalised PageRank: T steps with restart β; its matrix is symmetric.

        With :math:`s = \tilde d^{-1/2}`, tables hold :math:`g = s \odot h`, so one step
        :math:`h' = (1 - \beta) s \odot \big(\sum_j g_j + g\big) + \beta x` needs no weight of an entry.
        """
        s = self.root
        start, source = whole_vectors(values), whole_vectors(values, s)
        target = _room(*start.shape)
        for step in range(STEPS):
            scale = self._ones if step == STEPS - 1 else s  # the last one gives h itself
            p, q = np.float32(1 - RESTART) * s * scale, np.float32(RESTART) * scale
            neighbour_sums(self._rows, source, target, p=p, q=q, x=start, t=1.0)
            source, target = target, source
        return source[:, : values.shape[1]]


def whole_vectors(values: NDArray[np.float32], factors: NDArray[np.float32] | None = None) -> Columns:
    """Columns, times a factor of each row, filled up with zeros to whole vectors."""
    n, columns = values.shape
    if factors is None and columns % LANES == 0 and values.flags.c_contiguous:
        return values
    table = _room(n, -(-columns // LANES) * LANES)
    np.multiply(values, 1 if factors is None else factors[:, None], out=table[:, :columns])
    table[:, columns:] = 0
    return table


def joined(parts: list[NDArray[np.float32]]) -> Columns:
    """Columns side by side, filled up with zeros to whole vectors."""
    columns = sum(part.shape[1] for part in parts)
    spare = np.zeros((len(parts[0]), -columns % LANES), np.float32)
    return np.concatenate([*parts, spare], axis=1)


def _room(rows: int, columns: int) -> Columns:
    return aligned(np.empty, (rows, columns), np.float32)


class SparseRows:
    """A sparse matrix that is multiplied with tables again and again, three to four times as fast as scipy's."""

    def __init__(self, matrix: sp.csr_array) -> None:
        self._rows = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False), matrix.data
        self._ones = np.ones(matrix.shape[0], np.float32)

    def __matmul__(self, values: NDArray[np.float32]) -> Columns:
        """The product; columns are filled up with zeros to whole vectors."""
        h = whole_vectors(values)
        out = _room(len(self._ones), h.shape[1])
        neighbour_sums(self._rows, h, out, p=self._ones)
        return out


def neighbour_sums(
    rows: Rows,
    h: Columns,
    out: Columns,
    *,
    p: NDArray[np.float32],
    q: NDArray[np.float32] | None = None,
    x: Columns | None = None,
    t: float = 0.0,
) -> None:
    """Write y, as above, into ``out``, which must be different from ``h``.

    ``rows`` are row starts, neighbours as positions in ``h``, and weights or ``None``. Without x, y is p times the sum
    over the neighbours alone.
    """
    (indptr, indices, weights), (n, width) = rows, out.shape
    assert width % LANES == 0, f"a table has a multiple of {LANES} columns, not {width}"
    q, x = (p, None) if q is None or x is None else (q, x.reshape(-1))
    arrays = indptr, indices, weights, h.reshape(-1), out.reshape(-1), p, q, x, np.float32(t), width
    stretches = max(1, min(n, len(indices) // _ENTRIES))
    if stretches == 1:
        _pass(*arrays, 0, n)
        return
    # By entries, so that threads have equal work; every row is added up by one thread, in the same order every time.
    bounds = np.searchsorted(indptr, np.linspace(0, len(indices), stretches + 1)[1:-1])
    bounds = np.concatenate([[0], bounds, [n]])

    def run(at: int) -> None:
        _pass(*arrays, bounds[at], bounds[at + 1])

    with ThreadPoolExecutor(available_threads()) as pool:
        list(pool.map(run, range(stretches)))


@kernel(nogil=True, error_model="numpy")
def _pass(indptr, indices, weights, h, out, p, q, x, t, width, first, last):  # type: ignore[no-untyped-def]
    end = len(indices) - 1
    for i in range(first, last):
        begin, stop = indptr[i], indptr[i + 1]
        shift = 0
        while shift < width:
            left = width - shift
            places = (begin, stop, end, width, shift, i * width + shift)
            factors = (p[i], t, q[i])
            # The number of vectors is fixed when this is compiled, so that sums stay in registers.
            if left >= 64:
                _add_up(h, indices, out, x, places, factors, weights, 4, 16)
                shift += 64
            elif left >= 48:
                _add_up(h, indices, out, x, places, factors, weights, 3, 16)
                shift += 48
            elif left >= 32:
                _add_up(h, indices, out, x, places, factors, weights, 2, 16)
                shift += 32
            elif left >= 16:
                _add_up(h, indices, out, x, places, factors, weights, 1, 16)
                shift += 16
            else:
                _add_up(h, indices, out, x, places, factors, weights, 1, 8)
                shift += 8


@intrinsic(prefer_literal=True)
def _add_up(_context, h, indices, out, x, places, factors, weights, vectors, lanes):  # type: ignore[no-untyped-def]
    """One row of the result, for ``vectors`` · ``lanes`` columns.

    ``places``: start and stop of the node's neighbours in ``indices``, the last entry of ``indices``, the width of the
    tables, the first column, and the position of the node's own numbers. ``factors``: p, t and q. ``weights`` may be
    ``None``, and so may ``x``: then nothing but the sum counts, and the rows of ``h`` need not be those of ``out``.
    """
    count, weighted = vectors.literal_value, not isinstance(weights, types.NoneType)
    square = not isinstance(x, types.NoneType)
    numbers = lanes.literal_value
    vector = ir.VectorType(ir.FloatType(), numbers)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        h, indices, out, *rest = data_of(context, builder, signature, arguments, 4 if square else 3)
        start, stop, end, width, shift, own = cgutils.unpack_tuple(builder, arguments[4], 6)
        p, t, q = (spread(builder, factor, vector) for factor in cgutils.unpack_tuple(builder, arguments[5], 3))
        weight_data = None
        if weighted:
            weight_data = context.make_array(signature.args[6])(context, builder, arguments[6]).data

        def row_of(entry: Any) -> Any:
            node = builder.sext(builder.load(builder.gep(indices, [entry])), INDEX)
            return builder.add(builder.mul(node, width), shift)

        def part(table: Any, at: Any, number: int) -> Any:
            return load(builder, table, builder.add(at, ir.Constant(INDEX, numbers * number)), vector)

        def add_neighbour(entry: Any, totals: list[Any]) -> list[Any]:
            ahead = builder.add(entry, ir.Constant(INDEX, _AHEAD))
            soon = row_of(builder.select(builder.icmp_signed("<", ahead, end), ahead, end))
            for number in range(count):
                ask_for(builder, h, builder.add(soon, ir.Constant(INDEX, numbers * number)))
            row = row_of(entry)
            rows = [part(h, row, number) for number in range(count)]
            if weighted:
                weight = spread(builder, builder.load(builder.gep(weight_data, [entry])), vector)
                rows = [builder.fmul(weight, each) for each in rows]
            return [builder.fadd(total, each) for total, each in zip(totals, rows, strict=True)]

        nothing = ir.Constant(vector, [0.0] * numbers)
        totals = loop(builder, start, stop, [nothing] * count, add_neighbour)
        for number, total in enumerate(totals):
            value = builder.fmul(p, total)
            if square:
                whole = builder.fadd(total, builder.fmul(t, part(h, own, number)))
                value = builder.fadd(builder.fmul(p, whole), builder.fmul(q, part(rest[0], own, number)))
            store(builder, out, builder.add(own, ir.Constant(INDEX, numbers * number)), value)

    return types.void(h, indices, out, x, places, factors, weights, vectors, lanes), generate
