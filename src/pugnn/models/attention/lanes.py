"""The innermost loop of attention on the CPU, 16 or 4 lanes at a time.

A row of the table holds four vectors: for each lane a node's own score, its score as a member, and its contributions
to the sum of the members above zero and to that of the others.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from pugnn.graph.compiling import kernel
from pugnn.graph.vectors import INDEX, data_of, load, loop, store

WIDE, NARROW = 16, 4


@kernel(nogil=True, error_model="numpy")
def sums_of_16(table, indptr, indices, sums, first):  # type: ignore[no-untyped-def]
    """Both sums of every node, for 16 lanes: ``table`` has rows of 4 · 16 numbers, flat.

    The result goes to the lanes of ``sums``, shape ``(2, N, lanes)``, from ``first`` on.
    """
    flat, n, lanes = sums.reshape(-1), sums.shape[1], sums.shape[2]
    for i in range(n):
        at = i * lanes + first
        _add_rows(table, indices, flat, (i, indptr[i], indptr[i + 1], at, n * lanes + at), WIDE)


@kernel(nogil=True, error_model="numpy")
def sums_of_4(table, indptr, indices, sums, first):  # type: ignore[no-untyped-def]
    """The same for 4 lanes, with rows of 4 · 4 numbers; one kernel for both widths would be slower."""
    flat, n, lanes = sums.reshape(-1), sums.shape[1], sums.shape[2]
    for i in range(n):
        at = i * lanes + first
        _add_rows(table, indices, flat, (i, indptr[i], indptr[i + 1], at, n * lanes + at), NARROW)


@intrinsic(prefer_literal=True)
def _add_rows(_context, table, indices, sums, places, lanes):  # type: ignore[no-untyped-def]
    """Add up the rows of a node's members and write the two sums.

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
