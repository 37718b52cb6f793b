"""Dropout with a hashed mask, on the CPU an order of magnitude faster than torch's.

torch makes one Bernoulli draw per entry. Here one number is drawn from torch's generator, so torch's seed still
applies, and the mask of entry e is a hash of that number and e.
"""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from numba import uint64
from numpy.typing import NDArray
from torch import Tensor

from pugnn.graph.compiling import kernel
from pugnn.graph.random import random_bits


def dropout(x: Tensor, p: float, training: bool) -> Tensor:
    """In training, zero a random share ``p`` of the entries and scale the others by ``1 / (1 - p)``."""
    if not training or p == 0.0:
        return x
    if x.device.type != "cpu":
        return F.dropout(x, p)
    mask = np.empty(x.numel(), dtype=np.float32)
    _fill_mask(mask, draw_seed(), *_threshold(p))
    return x * torch.from_numpy(mask).view_as(x)


def draw_seed() -> np.uint64:
    """One number from torch's generator."""
    return np.uint64(torch.empty((), dtype=torch.int64).random_().item())


def drop_entries(values: NDArray[np.float32], p: float, seed: np.uint64) -> NDArray[np.float32]:
    """``values`` with entries dropped according to their position."""
    out = np.empty_like(values)
    _drop(values, out, seed, *_threshold(p))
    return out


def drop_entries_at(
    values: NDArray[np.float32], places: NDArray[np.int64], p: float, seed: np.uint64
) -> NDArray[np.float32]:
    """The same for reordered values; ``places`` holds their original positions."""
    out = np.empty_like(values)
    _drop_at(values, places, out, seed, *_threshold(p))
    return out


def _threshold(p: float) -> tuple[np.uint64, np.float32]:
    return np.uint64(p * 2.0**32), np.float32(1 / (1 - p))


@kernel(inline="always")
def _keep(seed, place, below):  # type: ignore[no-untyped-def]
    return (random_bits(seed, uint64(place)) >> uint64(32)) >= below


@kernel(nogil=True)
def _fill_mask(mask, seed, below, scale):  # type: ignore[no-untyped-def]
    for e in range(len(mask)):
        mask[e] = scale if _keep(seed, e, below) else np.float32(0)


@kernel(nogil=True)
def _drop(values, out, seed, below, scale):  # type: ignore[no-untyped-def]
    for e in range(len(values)):
        out[e] = values[e] * scale if _keep(seed, e, below) else values.dtype.type(0)


@kernel(nogil=True)
def _drop_at(values, places, out, seed, below, scale):  # type: ignore[no-untyped-def]
    for e in range(len(values)):
        out[e] = values[e] * scale if _keep(seed, places[e], below) else values.dtype.type(0)
