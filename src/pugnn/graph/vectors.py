"""Parts of kernels with hand-written LLVM vectors, which compile to the machine's vector instructions.

numba must assume that its arrays overlap, so it does not vectorise a loop that reads one and writes another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numpy.typing import DTypeLike, NDArray

CACHE_LINE = 64
INDEX = ir.IntType(64)


def aligned(make: Callable[..., NDArray[Any]], shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """What ``np.zeros`` or ``np.empty`` make, aligned: a row of 16 float32 fills one cache line and straddles none."""
    size, spare = math.prod(shape), CACHE_LINE // np.dtype(dtype).itemsize
    array = make(size + spare, dtype=dtype)
    skip = -array.ctypes.data % CACHE_LINE // array.itemsize
    return array[skip : skip + size].reshape(shape)


def data_of(context: Any, builder: Any, signature: Any, arguments: Any, count: int) -> list[Any]:
    """Pointers to the data of the first ``count`` arguments, which are arrays."""
    pairs = zip(signature.args[:count], arguments[:count], strict=True)
    return [context.make_array(kind)(context, builder, value).data for kind, value in pairs]


def load(builder: Any, data: Any, at: Any, vector: Any) -> Any:
    """The vector at position ``at``."""
    pointer = builder.bitcast(builder.gep(data, [at]), vector.as_pointer())
    return builder.load(pointer, align=4)  # numpy guarantees alignment for one number only


def store(builder: Any, data: Any, at: Any, value: Any) -> None:
    """Write a vector to position ``at``."""
    builder.store(value, builder.bitcast(builder.gep(data, [at]), value.type.as_pointer()), align=4)


def spread(builder: Any, number: Any, vector: Any) -> Any:
    """The vector that has the same number everywhere."""
    blank = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(blank, number, ir.Constant(ir.IntType(32), 0))
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, blank, everywhere)


def ask_for(builder: Any, data: Any, at: Any) -> None:
    """Prefetch the cache line at position ``at``."""
    byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
    ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    pointer = builder.bitcast(builder.gep(data, [at]), byte)
    builder.call(ask, [pointer, *(ir.Constant(flag, value) for value in (0, 3, 1))])  # to read, keep it, data


def loop(
    builder: Any, start: Any, stop: Any, initial: Sequence[Any], body: Callable[[Any, list[Any]], Sequence[Any]]
) -> list[Any]:
    """The values that remain after ``body``, from position and values to new values, ran from ``start`` to ``stop``.

    The values stay in registers. ``body`` must not branch.
    """
    entry, inside, done = builder.block, builder.append_basic_block("loop"), builder.append_basic_block("done")
    builder.cbranch(builder.icmp_signed("<", start, stop), inside, done)

    builder.position_at_end(inside)
    before = [builder.phi(value.type) for value in (start, *initial)]
    after = [builder.add(before[0], ir.Constant(INDEX, 1)), *body(before[0], before[1:])]
    builder.cbranch(builder.icmp_signed("<", after[0], stop), inside, done)

    builder.position_at_end(done)
    results = [builder.phi(value.type) for value in initial]
    for phi, first, value in zip([*before, *results], [start, *initial, *initial], [*after, *after[1:]], strict=True):
        phi.add_incoming(first, entry)
        phi.add_incoming(value, inside)
    return results
