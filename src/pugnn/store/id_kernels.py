"""Kernels of the table of ids: a hash table with open addressing, and keys for text."""

from __future__ import annotations

import numpy as np
from numba import uint64

from pugnn.graph.compiling import kernel


@kernel(nogil=True)
def are_tidy(letters, starts):  # type: ignore[no-untyped-def]
    """Whether all texts begin and end with a letter of ASCII, and so not with white space."""
    for at in range(len(starts) - 1):
        if starts[at] < starts[at + 1]:
            one, other = letters[starts[at]], letters[starts[at + 1] - 1]
            if min(one, other) <= 32 or max(one, other) >= 128:
                return False
    return True


@kernel(nogil=True)
def hash_texts(letters, starts, keys, first, last):  # type: ignore[no-untyped-def]
    """Keys for some texts: 64 bits of their letters (FNV-1a)."""
    for at in range(first, last):
        key = uint64(0xCBF29CE484222325)
        for place in range(starts[at], starts[at + 1]):
            key = (key ^ uint64(letters[place])) * uint64(0x100000001B3)
        keys[at] = np.int64(key)


@kernel(inline="always")
def _first_slot(slots, key):  # type: ignore[no-untyped-def]
    mixed = uint64(key) * uint64(0x9E3779B97F4A7C15)
    return np.int64((mixed ^ (mixed >> uint64(32))) & uint64(len(slots) - 1))


@kernel(nogil=True)
def fill_slots(slots, keys, count):  # type: ignore[no-untyped-def]
    """Put so many keys into empty slots; a slot is a key and its position, or −1 if it is free."""
    for position in range(count):
        slot = _first_slot(slots, keys[position])
        while slots[slot, 1] >= 0:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot, 0], slots[slot, 1] = keys[position], position


@kernel(nogil=True)
def visit_keys(slots, known, count, keys, columns, found, first, last):  # type: ignore[no-untyped-def]
    """Find the keys in some rows of columns, and add them if there is a count of those that are known."""
    rows = len(keys) // columns
    for row in range(first, last):
        for column in range(columns):
            at = column * rows + row
            if found[at] == -1:  # not known, or not looked for yet
                slot = _first_slot(slots, keys[at])
                while slots[slot, 1] >= 0 and slots[slot, 0] != keys[at]:
                    slot = (slot + 1) & (len(slots) - 1)
                if slots[slot, 1] < 0 and count >= 0:
                    slots[slot, 0], slots[slot, 1] = keys[at], count
                    known[count] = keys[at]
                    count += 1
                found[at] = slots[slot, 1]
    return count
