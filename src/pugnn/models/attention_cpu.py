r"""Attention on the CPU with neither an exponential nor memory per pair of nodes.

With the leaky rectifier's slope :math:`\lambda` and :math:`T = \max_j t_j`, the weight of a pair is a product of one
factor per node:

.. math::
    \exp e_{ij} \propto \begin{cases} P_i \, p_j & s_i + t_j > 0 \\ Q_i \, q_j & \text{otherwise} \end{cases}
    \qquad p_j = e^{t_j - T}, \quad q_j = e^{\lambda (t_j - T)}

Per pair it remains to choose the case and add to one of two sums. The gradients with respect to h and t are sums of
the same kind over the transposed structure, which equals the structure because it is symmetric. So one kernel serves
both directions, nothing is scattered, and results are reproducible to the last bit.

The columns of these sums, a head's values and its weights alone, are called *lanes*.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray
from torch import Tensor

from pugnn.graph.compiling import kernel
from pugnn.graph.vectors import INDEX, aligned, data_of, load, loop, store

Array = NDArray[np.float32]
Rows = tuple[NDArray[np.int64], NDArray[np.int32]]

#: Slope of the leaky rectifier for negative scores.
SLOPE = 0.2
#: A smaller sum of weights has lost precision; the largest weight of all nodes is 1.
MIN_SUM = np.float32(1e-20)
#: Lanes that are added up at a time.
WIDE, NARROW = 16, 4


def attend_cpu(h: Tensor, s: Tensor, t: Tensor, *rows: NDArray[Any]) -> tuple[Tensor, NDArray[np.int64]]:
    """:func:`pugnn.models.attention.neighbour_attention` in single precision, except for the nodes it returns.

    The second result holds the positions of nodes left to the caller: the scores of their members are so far below
    the overall maximum that their weights underflow. Their values and gradients here are zero.
    """
    attended, lost = _Attention.apply(h, s, t, rows)  # type: ignore[no-untyped-call]
    return attended, np.flatnonzero(lost.numpy())


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, source: Tensor, target: Tensor, rows: Rows) -> tuple[Tensor, Tensor]:
        h, s, t = (np.ascontiguousarray(x.detach().numpy()) for x in (values, source, target))
        slope = np.float32(SLOPE)
        largest = target.detach().amax(dim=0).numpy()  # numpy is slow along a short axis
        with np.errstate(invalid="ignore"):  # non-finite values show in the result
            p, q = np.exp(t - largest), np.exp(slope * (t - largest))
            top = s + largest
            bound = np.maximum(top, slope * top)  # an upper bound of the node's scores, so no weight exceeds 1
            up, down = np.exp(top - bound), np.exp(slope * top - bound)
        above, below = _split_sums(s, t, p, q, h, np.ones_like(t), rows)
        attended, by_score, lost = (torch.from_numpy(x) for x in _averages(above, below, up, down, slope, h.shape[1]))
        ctx.mark_non_differentiable(lost)
        ctx.save_for_backward(values, attended, by_score)
        ctx.arrays = s, t, p, q, up, down, rows, slope
        return attended, lost

    @staticmethod
    def backward(ctx: Any, grad: Tensor, _lost: None) -> tuple[Tensor | None, ...]:
        h, attended, by_score = (np.ascontiguousarray(x.detach().numpy()) for x in ctx.saved_tensors)
        g = np.ascontiguousarray(grad.numpy())
        s, t, p, q, up, down, rows, slope = ctx.arrays
        grad_source, along = _row_products(g, by_score, attended, s.shape[1])
        above, below = _split_sums(t, s, up, down, g, along, rows)
        grad_values, grad_target = _transposed(above, below, p, q, h, slope)
        return *(torch.from_numpy(x) for x in (grad_values, grad_source, grad_target)), None


def _split_sums(
    own: Array, other: Array, above: Array, below: Array, values: Array, last: Array, rows: Rows
) -> tuple[Array, Array]:
    r"""Sums over the neighbourhoods, separately for members with :math:`\text{own}_i + \text{other}_j > 0`.

    .. math::
        A_i = \sum_{j \in N_i,\; \text{own}_i + \text{other}_j > 0} \text{above}_j\, v_j, \qquad
        B_i = \sum_{j \in N_i,\; \text{own}_i + \text{other}_j \le 0} \text{below}_j\, v_j

    Here v is ``values``, shape ``(N, heads · size)``, followed by ``last``, shape ``(N, heads)`` as are the scores and
    factors. A and B have shape ``(N, lanes)``, with padding at the end.
    """
    n, heads = own.shape
    lanes = -(-(values.shape[1] + heads) // NARROW) * NARROW
    sums = np.empty((2, n, lanes), dtype=np.float32)
    first = 0
    while first < lanes:
        width = WIDE if lanes - first >= WIDE else NARROW
        table = aligned(np.empty, (n, 4, width), np.float32)
        _lay_out(table, own, other, above, below, values, last, first)
        _SUMS[width](table.reshape(-1), *rows, sums, first)
        first += width
    return sums[0], sums[1]


@kernel(nogil=True, error_model="numpy")
def _lay_out(table, own, other, above, below, values, last, first):  # type: ignore[no-untyped-def]
    """Store everything a pair reads of a node contiguously, for the lanes from ``first`` on."""
    n, heads = own.shape
    d = values.shape[1]
    size = d // heads
    width = table.shape[2]
    head_of = np.empty(width, dtype=np.int64)
    for lane in range(width):
        head_of[lane] = (first + lane) // size if first + lane < d else first + lane - d
    for i in range(n):
        for lane in range(width):
            at, head = first + lane, head_of[lane]
            if head < heads:
                value = values[i, at] if at < d else last[i, head]
                table[i, 0, lane] = own[i, head]
                table[i, 1, lane] = other[i, head]
                table[i, 2, lane] = above[i, head] * value
                table[i, 3, lane] = below[i, head] * value
            else:
                table[i, :, lane] = np.float32(0)


@kernel(nogil=True, error_model="numpy")
def _averages(above, below, up, down, slope, d):  # type: ignore[no-untyped-def]
    """Weighted averages, their derivative with respect to the node's own score, and which nodes underflow.

    Normalises ``up`` and ``down`` in place, from factors of weights to factors of attention.
    """
    n, heads = up.shape
    size = d // heads
    out = np.empty((n, d), dtype=np.float32)
    by_score = np.empty((n, d), dtype=np.float32)
    lost = np.zeros(n, dtype=np.bool_)
    for i in range(n):
        for head in range(heads):
            lost[i] |= up[i, head] * above[i, d + head] + down[i, head] * below[i, d + head] < MIN_SUM
        for head in range(heads):
            a, b = up[i, head] * above[i, d + head], down[i, head] * below[i, d + head]
            scale = np.float32(0) if lost[i] else np.float32(1) / (a + b)
            up[i, head] *= scale
            down[i, head] *= scale
            mean_slope = (a + slope * b) * scale
            for lane in range(head * size, (head + 1) * size):
                x, y = up[i, head] * above[i, lane], down[i, head] * below[i, lane]
                out[i, lane] = x + y
                by_score[i, lane] = x + slope * y - mean_slope * (x + y)
    return out, by_score, lost


@kernel(nogil=True, error_model="numpy")
def _row_products(grad, by_score, out, heads):  # type: ignore[no-untyped-def]
    """Inner products of the gradient with two tables, per head."""
    n, d = grad.shape
    size = d // heads
    left, right = np.zeros((n, heads), dtype=np.float32), np.zeros((n, heads), dtype=np.float32)
    for i in range(n):
        for head in range(heads):
            for lane in range(head * size, (head + 1) * size):
                left[i, head] += grad[i, lane] * by_score[i, lane]
                right[i, head] += grad[i, lane] * out[i, lane]
    return left, right


@kernel(nogil=True, error_model="numpy")
def _transposed(above, below, p, q, h, slope):  # type: ignore[no-untyped-def]
    """Gradients with respect to h and t."""
    n, d = h.shape
    heads = p.shape[1]
    size = d // heads
    grad_values = np.empty((n, d), dtype=np.float32)
    grad_target = np.empty((n, heads), dtype=np.float32)
    for j in range(n):
        for head in range(heads):
            u, v = p[j, head], q[j, head]
            # The derivative of a weight is slope · weight · (G_i · h_j - G_i · o_i), summed over i.
            total = -(u * above[j, d + head] + slope * v * below[j, d + head])
            for lane in range(head * size, (head + 1) * size):
                x, y = u * above[j, lane], v * below[j, lane]
                grad_values[j, lane] = x + y
                total += h[j, lane] * (x + slope * y)
            grad_target[j, head] = total
    return grad_values, grad_target


@intrinsic(prefer_literal=True)
def _add_rows(_context, table, indices, sums, places, lanes):  # type: ignore[no-untyped-def]
    """Add up the rows of a node's members, four vectors each as laid out above, and write the two sums.

    ``places``: the node, start and stop of its members in ``indices``, and the positions of its two sums.
    """
    width = lanes.literal_value
    vector = ir.VectorType(ir.FloatType(), width)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        table, indices, sums = data_of(context, builder, signature, arguments, 3)
        own, start, stop, above, below = cgutils.unpack_tuple(builder, arguments[3], 5)

        def part(row: Any, number: int) -> Any:
            at = builder.add(builder.mul(row, ir.Constant(INDEX, 4 * width)), ir.Constant(INDEX, number * width))
            return load(builder, table, at, vector)

        nothing = ir.Constant(vector, [0.0] * width)
        threshold = builder.fsub(ir.Constant(vector, [-0.0] * width), part(own, 0))

        def add_member(e: Any, totals: list[Any]) -> list[Any]:
            member = builder.sext(builder.load(builder.gep(indices, [e])), INDEX)
            positive = builder.fcmp_ordered(">", part(member, 1), threshold)
            return [
                builder.fadd(totals[0], builder.select(positive, part(member, 2), nothing)),
                builder.fadd(totals[1], builder.select(positive, nothing, part(member, 3))),
            ]

        upper, lower = loop(builder, start, stop, [nothing, nothing], add_member)
        store(builder, sums, above, upper)
        store(builder, sums, below, lower)

    return types.void(table, indices, sums, places, lanes), generate


def _sums_of(width: int) -> Any:
    """The kernel for this number of lanes: one kernel for both widths would be slower."""

    @kernel(nogil=True, error_model="numpy")
    def add_up(table, indptr, indices, sums, first):  # type: ignore[no-untyped-def]
        flat, n, lanes = sums.reshape(-1), sums.shape[1], sums.shape[2]
        for i in range(n):
            at = i * lanes + first
            _add_rows(table, indices, flat, (i, indptr[i], indptr[i + 1], at, n * lanes + at), width)

    return add_up


_SUMS = {width: _sums_of(width) for width in (WIDE, NARROW)}
