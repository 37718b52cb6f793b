"""The innermost loop of attention on the CPU, 16 or 4 lanes at a time.

numba must assume that its arrays overlap and would handle the lanes one by one. So the loop over a neighbourhood is
written with LLVM vectors, which compile to the machine's vector instructions.

A row of the table holds four vectors: for each lane a node's own score, its score as a member, and its contributions
to the sum of the members above zero and to that of the others.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from pugnn.graph.compiling import kernel

WIDE, NARROW = 16, 4


@kernel(nogil=True, error_model="numpy")
def sums_of_16(table, indptr, indices, sums, first):  # type: ignore[no-untyped-def]
    """Both sums of every node, for 16 lanes: ``table`` has rows of 4 · 16 numbers, flat.

    The result goes to the lanes of ``sums``, shape ``(2, N, lanes)``, from ``first`` on.
    """
    flat, n, lanes = sums.reshape(-1), sums.shape[1], sums.shape[2]
    for i in range(n):
        at = i * lanes + first
        _row_of_16(table, indices, flat, (i, indptr[i], indptr[i + 1], at, n * lanes + at))


@kernel(nogil=True, error_model="numpy")
def sums_of_4(table, indptr, indices, sums, first):  # type: ignore[no-untyped-def]
    """The same for 4 lanes, with rows of 4 · 4 numbers."""
    flat, n, lanes = sums.reshape(-1), sums.shape[1], sums.shape[2]
    for i in range(n):
        at = i * lanes + first
        _row_of_4(table, indices, flat, (i, indptr[i], indptr[i + 1], at, n * lanes + at))


@intrinsic
def _row_of_16(_context, table, indices, sums, places):  # type: ignore[no-untyped-def]
    """Add up the rows of a node's members and write the two sums.

    ``places``: the node, start and stop of its members in ``indices``, and the positions of its two sums.
    """
    return types.void(table, indices, sums, places), partial(_add_rows, lanes=WIDE)


@intrinsic
def _row_of_4(_context, table, indices, sums, places):  # type: ignore[no-untyped-def]
    return types.void(table, indices, sums, places), partial(_add_rows, lanes=NARROW)


def _add_rows(context: Any, builder: Any, signature: Any, arguments: Any, *, lanes: int) -> None:
    vector, index = ir.VectorType(ir.FloatType(), lanes), ir.IntType(64)
    table, indices, sums = (
        context.make_array(kind)(context, builder, value).data
        for kind, value in zip(signature.args[:3], arguments[:3], strict=True)
    )
    own, start, stop, above, below = cgutils.unpack_tuple(builder, arguments[3], 5)

    def place(data: Any, at: Any) -> Any:
        return builder.bitcast(builder.gep(data, [at]), vector.as_pointer())

    def load(row: Any, part: int) -> Any:
        at = builder.add(builder.mul(row, ir.Constant(index, 4 * lanes)), ir.Constant(index, part * lanes))
        return builder.load(place(table, at), align=4)  # numpy guarantees alignment for one number only

    nothing = ir.Constant(vector, [0.0] * lanes)
    threshold = builder.fsub(ir.Constant(vector, [-0.0] * lanes), load(own, 0))
    entry = builder.block
    loop, done = builder.append_basic_block("loop"), builder.append_basic_block("done")
    builder.cbranch(builder.icmp_signed("<", start, stop), loop, done)

    builder.position_at_end(loop)
    e, upper, lower = builder.phi(index), builder.phi(vector), builder.phi(vector)  # the sums stay in registers
    member = builder.sext(builder.load(builder.gep(indices, [e])), index)
    positive = builder.fcmp_ordered(">", load(member, 1), threshold)
    uppers = builder.fadd(upper, builder.select(positive, load(member, 2), nothing))
    lowers = builder.fadd(lower, builder.select(positive, nothing, load(member, 3)))
    following = builder.add(e, ir.Constant(index, 1))
    for phi, first, value in ((e, start, following), (upper, nothing, uppers), (lower, nothing, lowers)):
        phi.add_incoming(first, entry)
        phi.add_incoming(value, loop)
    builder.cbranch(builder.icmp_signed("<", following, stop), loop, done)

    builder.position_at_end(done)
    totals = builder.phi(vector), builder.phi(vector)
    for total, value, at in zip(totals, (uppers, lowers), (above, below), strict=True):
        total.add_incoming(nothing, entry)
        total.add_incoming(value, loop)
        builder.store(total, place(sums, at), align=4)
