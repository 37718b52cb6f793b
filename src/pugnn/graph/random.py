"""Stateless random numbers for compiled code: a hash of a seed and a counter.

They do not depend on order or threads, and a backward pass can recompute those of the forward pass.
"""

from __future__ import annotations

from numba import uint64

from pugnn.graph.compiling import kernel


@kernel(inline="always")
def random_bits(seed, counter):  # type: ignore[no-untyped-def]
    """64 random bits for this seed and counter (SplitMix64, Steele et al. 2014)."""
    x = seed + uint64(0x9E3779B97F4A7C15) * (counter + uint64(1))
    x = (x ^ (x >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> uint64(27))) * uint64(0x94D049BB133111EB)
    return x ^ (x >> uint64(31))


@kernel(inline="always")
def random_below(bits, bound):  # type: ignore[no-untyped-def]
    """The high word of ``bits × bound``: uniform on ``0 … bound-1`` to within ``bound / 2**64``; bound < 2**32."""
    low = (bits & uint64(0xFFFFFFFF)) * bound
    high = (bits >> uint64(32)) * bound
    return (high + (low >> uint64(32))) >> uint64(32)
