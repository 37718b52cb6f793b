"""A random order of any number of things, of which nothing is stored."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from pugnn.graph.compiling import kernel

ROUNDS = 4


@dataclass(frozen=True)
class Shuffle:
    """A seeded one-to-one map of 0 … size-1 onto itself, both ways.

    Each round multiplies by an odd number and adds another one, modulo a power of two, which carries low bits up; then
    it flips the lower half of the bits by the upper half. Both can be undone. What leaves the range is mapped again
    until it is back.

    Args:
        size: how many numbers.
        seed: of the order.

    Example:
        >>> order = Shuffle(5, seed=1)
        >>> shuffled = order.forwards(np.arange(5))
        >>> sorted(shuffled.tolist()), order.backwards(shuffled).tolist()
        ([0, 1, 2, 3, 4], [0, 1, 2, 3, 4])
    """

    size: int
    seed: int

    def forwards(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where each number is mapped to."""
        return _map(numbers, self.size, self._bits, *self._rounds, False)  # type: ignore[no-any-return]

    def backwards(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which number is mapped to each of these."""
        factors, terms = self._rounds
        inverse = [pow(factor, -1, 2**self._bits) for factor in factors.tolist()]
        undone = np.array(inverse[::-1], dtype=np.uint64), terms[::-1].copy()
        return _map(numbers, self.size, self._bits, *undone, True)  # type: ignore[no-any-return]

    @cached_property
    def _bits(self) -> int:
        return max((self.size - 1).bit_length(), 1)

    @cached_property
    def _rounds(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """An odd factor and a term for each round."""
        drawn = np.random.default_rng(self.seed).integers(0, 2**64, (2, ROUNDS), dtype=np.uint64)
        return drawn[0] | np.uint64(1), drawn[1]


@kernel(nogil=True)
def _map(numbers, size, bits, factors, terms, backwards):  # type: ignore[no-untyped-def]
    mask, half = (uint64(1) << uint64(bits)) - uint64(1), uint64((bits + 1) // 2)
    found = np.empty(len(numbers), dtype=np.int64)
    for at in range(len(numbers)):
        x = uint64(numbers[at])
        while True:
            for each in range(ROUNDS):
                if backwards:
                    x ^= x >> half
                    x = ((x - terms[each]) * factors[each]) & mask
                else:
                    x = (x * factors[each] + terms[each]) & mask
                    x ^= x >> half
            if x < uint64(size):
                break
        found[at] = np.int64(x)
    return found
