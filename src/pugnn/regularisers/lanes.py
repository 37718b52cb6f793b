"""The inner operations of the CPU kernel as vector instructions, sixteen numbers at a time.

LLVM vectors of 16 lanes compile to one AVX-512 instruction, two of AVX2 or four of SSE or NEON. Tables are flat arrays
whose rows start at multiples of 16.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from pugnn.graph.vectors import INDEX, ask_for, data_of, load, loop, spread, store

LANES = 16

# Allow reordered sums and fused multiply-adds: fixed at compile time, so results are still reproducible.
_FAST = ("reassoc", "contract", "nsz", "arcp")
FASTMATH = set(_FAST)


@intrinsic
def dot(_context, table, left, right):  # type: ignore[no-untyped-def]
    """Inner product of the 16 numbers of ``table`` at ``left`` and the 16 at ``right``."""
    signature = table.dtype(table, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = _vector(context, signature.args[0])
        (data,) = data_of(context, builder, signature, arguments, 1)
        left, right = (load(builder, data, at, vector) for at in arguments[1:])
        product = builder.fmul(left, right, flags=_FAST)
        name = f"llvm.vector.reduce.fadd.v16f{signature.args[0].dtype.bitwidth}"
        reduce = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(vector.element, [vector.element, vector]), name
        )
        return builder.call(reduce, [ir.Constant(vector.element, 0.0), product], fastmath=_FAST)

    return signature, generate


@intrinsic
def prefetch(_context, table, at):  # type: ignore[no-untyped-def]
    """Prefetch the cache line at position ``at`` of ``table``."""
    signature = types.void(table, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        (data,) = data_of(context, builder, signature, arguments, 1)
        ask_for(builder, data, arguments[1])

    return signature, generate


@intrinsic
def collect(_context, table, sums, slopes, rows, count, own, shift):  # type: ignore[no-untyped-def]
    """Add slope · (row t of ``table``), which is at ``rows[t] + shift``, to ``sums`` at ``own``, for t < ``count``."""
    signature = types.void(table, sums, slopes, rows, types.int64, types.int64, types.int64)
    return signature, partial(_add_rows, both_ends=False)


@intrinsic
def exchange(_context, table, sums, slopes, rows, count, own, shift):  # type: ignore[no-untyped-def]
    """As :func:`collect`, and also add slope · (own row) to each row, none of which may be the own one."""
    signature = types.void(table, sums, slopes, rows, types.int64, types.int64, types.int64)
    return signature, partial(_add_rows, both_ends=True)


def _add_rows(context: Any, builder: Any, signature: Any, arguments: Any, *, both_ends: bool) -> None:
    vector = _vector(context, signature.args[0])
    table, sums, slopes, rows = data_of(context, builder, signature, arguments, 4)
    count, own, shift = arguments[4:]
    mine = load(builder, table, own, vector)

    def add_row(t: Any, totals: list[Any]) -> list[Any]:
        row = builder.add(builder.load(builder.gep(rows, [t])), shift)
        slope = spread(builder, builder.load(builder.gep(slopes, [t])), vector)
        gained = builder.fmul(slope, load(builder, table, row, vector), flags=_FAST)
        if both_ends:
            given = builder.fmul(slope, mine, flags=_FAST)
            store(builder, sums, row, builder.fadd(load(builder, sums, row, vector), given, flags=_FAST))
        return [builder.fadd(totals[0], gained, flags=_FAST)]

    (total,) = loop(builder, ir.Constant(INDEX, 0), count, [load(builder, sums, own, vector)], add_row)
    store(builder, sums, own, total)


def _vector(context: Any, table: Any) -> Any:
    return ir.VectorType(context.get_value_type(table.dtype), LANES)


# ---------------------------------------------------------------------- exponential


def exponential(x: Any) -> Any:
    """The exponential function in a form that vectorises; in single precision accurate to 2 ulp."""
    raise NotImplementedError("only inside compiled code")


@overload(exponential, inline="always")
def _exponential(x):  # type: ignore[no-untyped-def]
    return _exp_single if x == types.float32 else _exp_double


def _exp_double(x):  # type: ignore[no-untyped-def]
    return np.exp(min(max(x, -700.0), 700.0))


def _exp_single(x):  # type: ignore[no-untyped-def]
    # e^x = 2^n e^f with n = round(x / ln 2) and |f| <= ln 2 / 2. ln 2 is subtracted in two parts to keep f precise; e^f
    # is a polynomial (Cephes, expf); 2^n is assembled from its bits.
    x = min(max(x, np.float32(-87.0)), np.float32(87.0))
    n = np.floor(x * np.float32(1.4426950408889634) + np.float32(0.5))
    f = (x - n * np.float32(0.693359375)) + n * np.float32(2.12194440e-4)
    p = np.float32(1.9875691500e-4)
    p = p * f + np.float32(1.3981999507e-3)
    p = p * f + np.float32(8.3334519073e-3)
    p = p * f + np.float32(4.1665795894e-2)
    p = p * f + np.float32(1.6666665459e-1)
    p = p * f + np.float32(5.0000001201e-1)
    power = _from_bits((np.int32(n) + np.int32(127)) << np.int32(23))
    return (p * f * f + f + np.float32(1.0)) * power


@intrinsic
def _from_bits(_context, bits):  # type: ignore[no-untyped-def]
    """The float32 with these 32 bits."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.FloatType())

    return types.float32(types.int32), generate
