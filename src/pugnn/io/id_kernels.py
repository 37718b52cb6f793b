"""The compiled parts of :class:`~pugnn.io.ids.IdTable`.

A hash table with open addressing. A slot holds some bits of the hash and the place of a record; a record is the
position of an id, its length and its bytes, padded with zeros to whole words of eight bytes. So a look-up touches two
places in memory. Each of the three steps of a look-up asks for the memory that the next one needs, and ids are in all
steps at once, a few behind each other: most of the time would be spent waiting otherwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types, uint64
from numba.core import cgutils
from numba.extending import intrinsic

from pugnn.graph.compiling import kernel

#: In place of a position: an id that is not known, and one that is empty.
UNKNOWN, EMPTY = -1, -2

#: How many ids a step is ahead of the next one: about as many as a core can wait for at once.
_AHEAD = 8

#: Bits of a slot that hold the place of a record, plus one; the others are those of the hash.
_PLACE_BITS = 40
_PLACE = uint64((1 << _PLACE_BITS) - 1)


# ---------------------------------------------------------------------- memory


@intrinsic
def _word_at(_context, letters, at):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Eight bytes from place ``at`` on, which need not be a multiple of eight."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0]).data
        pointer = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(64).as_pointer())
        word = builder.load(pointer)
        word.align = 1
        return word

    return types.uint64(letters, types.int64), generate


@intrinsic
def _put_word(_context, letters, at, word):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Write eight bytes from place ``at`` on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        data = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0]).data
        pointer = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(64).as_pointer())
        builder.store(arguments[2], pointer).align = 1

    return types.void(letters, types.int64, types.uint64), generate


@intrinsic
def _prefetch(_context, array, at):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Ask for the cache line at place ``at`` ahead of its use."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        data = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0]).data
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        pointer = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        builder.call(ask, [pointer, *(ir.Constant(flag, value) for value in (0, 3, 1))])  # to read, keep it, data

    return types.void(array, types.int64), generate


@kernel(inline="always")
def _last_word(letters, start, length):  # type: ignore[no-untyped-def]
    """The bytes beyond the last whole word, padded with zeros; 0 if there are none. Reads nothing beyond the id."""
    rest = length & 7
    if rest == 0:
        return uint64(0)
    if length > 8:
        return _word_at(letters, start + length - 8) >> uint64(8 * (8 - rest))
    word = uint64(0)
    for at in range(rest):
        word |= uint64(letters[start + at]) << uint64(8 * at)
    return word


# ---------------------------------------------------------------------- white space


@kernel()
def _white_space(letters, at, stop):  # type: ignore[no-untyped-def]
    """The length in bytes of the white space (as Unicode has it, or a byte order mark) at a place; 0 for others."""
    first = letters[at]
    if first <= 0x20:
        return 1 if 0x09 <= first <= 0x0D or first >= 0x1C else 0
    if first == 0xC2 and at + 1 < stop:
        return 2 if letters[at + 1] == 0x85 or letters[at + 1] == 0xA0 else 0
    if first < 0xE1 or at + 2 >= stop:
        return 0
    second, third = letters[at + 1], letters[at + 2]
    space = (
        (first == 0xE1 and second == 0x9A and third == 0x80)
        or (first == 0xE2 and second == 0x80 and (third <= 0x8A or third == 0xA8 or third == 0xA9 or third == 0xAF))
        or (first == 0xE2 and second == 0x81 and third == 0x9F)
        or (first == 0xE3 and second == 0x80 and third == 0x80)
        or (first == 0xEF and second == 0xBB and third == 0xBF)
    )
    return 3 if space else 0


@kernel()
def _trim(letters, start, stop):  # type: ignore[no-untyped-def]
    """Where an id begins and ends without the white space around it."""
    while start < stop:
        width = _white_space(letters, start, stop)
        if width == 0:
            break
        start += width
    while start < stop:
        for width in range(1, 4):
            if stop - width >= start and _white_space(letters, stop - width, stop) == width:
                stop -= width
                break
        else:
            break
    return start, stop


@kernel(inline="always")
def _span(letters, start, stop):  # type: ignore[no-untyped-def]
    """Like :func:`_trim`, quick for ids that plainly have no white space around them."""
    if start < stop and 0x20 < letters[start] < 0x80 and 0x20 < letters[stop - 1] < 0x80:
        return np.int64(start), np.int64(stop)
    return _trim(letters, np.int64(start), np.int64(stop))


# ---------------------------------------------------------------------- the table


@kernel(inline="always")
def _mix(state, word):  # type: ignore[no-untyped-def]
    state = (state ^ word) * uint64(0x9E3779B97F4A7C15)
    return state ^ (state >> uint64(29))


@kernel(inline="always")
def _hash(letters, start, length):  # type: ignore[no-untyped-def]
    state = uint64(length)
    for at in range(length >> 3):
        state = _mix(state, _word_at(letters, start + 8 * at))
    state = _mix(state, _last_word(letters, start, length)) * uint64(0xBF58476D1CE4E5B9)
    return state ^ (state >> uint64(32))


@kernel(inline="always")
def _same(letters, start, length, words, record):  # type: ignore[no-untyped-def]
    if words[record] >> uint64(32) != uint64(length):
        return False
    whole = length >> 3
    for at in range(whole):
        if words[record + 1 + at] != _word_at(letters, start + 8 * at):
            return False
    return length & 7 == 0 or words[record + 1 + whole] == _last_word(letters, start, length)


@kernel(inline="always")
def _candidate(slots, at, hashed):  # type: ignore[no-untyped-def]
    """The first slot from ``at`` on that is free or has the bits of this hash."""
    mask = len(slots) - 1
    while slots[at] != 0 and (slots[at] ^ hashed) >> uint64(_PLACE_BITS) != 0:
        at = (at + 1) & mask
    return at


@kernel()
def _slot_of(letters, start, length, hashed, slots, words):  # type: ignore[no-untyped-def]
    """The slot of an id, or the free one where it belongs."""
    mask = len(slots) - 1
    at = _candidate(slots, np.int64(hashed & uint64(mask)), hashed)
    while slots[at] != 0 and not _same(letters, start, length, words, np.int64(slots[at] & _PLACE) - 1):
        at = _candidate(slots, (at + 1) & mask, hashed)
    return at


@kernel(nogil=True)
def find(offsets, letters, slots, words, found):  # type: ignore[no-untyped-def]
    """Fill in the position of each id; returns how many had white space around them, are unknown and are empty."""
    mask, ring, rows = uint64(len(slots) - 1), 4 * _AHEAD - 1, len(found)
    starts, lengths = np.empty(ring + 1, np.int64), np.empty(ring + 1, np.int64)
    hashes, records = np.empty(ring + 1, np.uint64), np.empty(ring + 1, np.int64)
    trimmed, unknown, empty = 0, 0, 0
    for step in range(rows + 2 * _AHEAD):
        if step < rows:
            i = step & ring
            start, stop = _span(letters, offsets[step], offsets[step + 1])
            trimmed += stop - start < offsets[step + 1] - offsets[step]
            starts[i], lengths[i] = start, stop - start
            hashes[i] = _hash(letters, start, stop - start)
            _prefetch(slots, np.int64(hashes[i] & mask))
        row = step - _AHEAD
        if 0 <= row < rows:
            i = row & ring
            at = _candidate(slots, np.int64(hashes[i] & mask), hashes[i])
            records[i] = np.int64(slots[at] & _PLACE) - 1
            if records[i] >= 0:
                _prefetch(words, records[i])
        row = step - 2 * _AHEAD
        if row >= 0:
            i = row & ring
            record = records[i]
            if lengths[i] == 0:
                found[row] = EMPTY
                empty += 1
                continue
            if record >= 0 and not _same(letters, starts[i], lengths[i], words, record):
                at = _slot_of(letters, starts[i], lengths[i], hashes[i], slots, words)
                record = np.int64(slots[at] & _PLACE) - 1
            if record < 0:
                found[row] = UNKNOWN
                unknown += 1
            else:
                found[row] = np.int32(words[record] & uint64(0xFFFFFFFF))
    return trimmed, unknown, empty


@kernel(nogil=True)
def add(offsets, letters, found, offsets2, letters2, found2, new, done, slots, words, records, sizes):  # type: ignore[no-untyped-def]
    """Add the ids that ``new`` names by twice their row, plus one in the second column, from number ``done`` on.

    Returns how many are done when room runs out.
    """
    mask, ring = uint64(len(slots) - 1), 2 * _AHEAD - 1
    starts, lengths = np.empty(ring + 1, np.int64), np.empty(ring + 1, np.int64)
    hashes = np.empty(ring + 1, np.uint64)
    for step in range(done, len(new) + _AHEAD):
        if step < len(new):
            i, row = step & ring, new[step] >> 1
            if new[step] & 1:
                start, stop = _span(letters2, offsets2[row], offsets2[row + 1])
                hashes[i] = _hash(letters2, start, stop - start)
            else:
                start, stop = _span(letters, offsets[row], offsets[row + 1])
                hashes[i] = _hash(letters, start, stop - start)
            starts[i], lengths[i] = start, stop - start
            _prefetch(slots, np.int64(hashes[i] & mask))
        at = step - _AHEAD
        if at >= done:
            i, row = at & ring, new[at] >> 1
            if not _room(lengths[i], slots, words, records, sizes):
                return at
            if new[at] & 1:
                found2[row] = _position(letters2, starts[i], lengths[i], hashes[i], slots, words, records, sizes)
            else:
                found[row] = _position(letters, starts[i], lengths[i], hashes[i], slots, words, records, sizes)
    return len(new)


@kernel(inline="always")
def _room(length, slots, words, records, sizes):  # type: ignore[no-untyped-def]
    """Whether one more id of this length can be added."""
    return sizes[1] + _size(length) <= len(words) and sizes[0] < len(records) and 8 * sizes[0] < 5 * len(slots)


@kernel(inline="always")
def _size(length):  # type: ignore[no-untyped-def]
    """The words of a record."""
    return 1 + ((length + 7) >> 3)


@kernel()
def _position(letters, start, length, hashed, slots, words, records, sizes):  # type: ignore[no-untyped-def]
    """The position of an id, which is added if it is new."""
    at = _slot_of(letters, start, length, hashed, slots, words)
    if slots[at] == 0:
        record = sizes[1]
        words[record] = uint64(sizes[0]) | uint64(length) << uint64(32)
        for word in range(length >> 3):
            words[record + 1 + word] = _word_at(letters, start + 8 * word)
        if length & 7:
            words[record + _size(length) - 1] = _last_word(letters, start, length)
        slots[at] = (hashed & ~_PLACE) | uint64(record + 1)
        records[sizes[0]] = record
        sizes[0] += 1
        sizes[1] += _size(length)
    return np.int32(words[np.int64(slots[at] & _PLACE) - 1] & uint64(0xFFFFFFFF))


@kernel()
def refill(slots, words, records, ids):  # type: ignore[no-untyped-def]
    """Enter all ids into slots that are all free."""
    letters = words.view(np.uint8)
    mask = len(slots) - 1
    for position in range(ids):
        record = records[position]
        hashed = _hash(letters, 8 * (record + 1), np.int64(words[record] >> uint64(32)))
        at = np.int64(hashed & uint64(mask))
        while slots[at] != 0:
            at = (at + 1) & mask
        slots[at] = (hashed & ~_PLACE) | uint64(record + 1)


@kernel(nogil=True)
def letters(words, records, first, last):  # type: ignore[no-untyped-def]
    """The bytes of ids one after the other, each with a zero behind it, and where each begins."""
    offsets = np.zeros(last - first + 1, dtype=np.int64)
    for position in range(first, last):
        offsets[position - first + 1] = offsets[position - first] + np.int64(words[records[position]] >> uint64(32)) + 1
    letters = np.zeros(offsets[-1] + 8, dtype=np.uint8)
    for position in range(first, last):
        record, to = records[position], offsets[position - first]
        for word in range(1, _size(offsets[position - first + 1] - to - 1)):
            _put_word(letters, to, words[record + word])  # the zeros at the end of an id give way to the next one
            to += 8
    return letters[:-8], offsets
