import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pugnn.errors import PugnnError
from pugnn.io.arrow import Texts
from pugnn.io.ids import EMPTY, UNKNOWN, IdTable

#: Python trims white space as Unicode has it; a byte order mark in the middle of nowhere is trimmed as well.
SPACES = "".join(map(chr, [*range(0x110000)][:0xD800])) + "\ufeff"
SPACES = "".join(letter for letter in SPACES if letter.isspace() or letter == "\ufeff")

texts = st.lists(st.text(max_size=30), max_size=60)


def plainly(columns: list[list[str]]) -> tuple[list[list[int]], list[str]]:
    """Positions by a dictionary, row by row."""
    known: dict[str, int] = {}
    found: list[list[int]] = [[] for _ in columns]
    for row in zip(*columns, strict=True):
        for values, text in zip(found, row, strict=True):
            trimmed = text.strip(SPACES)
            values.append(known.setdefault(trimmed, len(known)) if trimmed else EMPTY)
    return found, list(known)


@given(texts)
@settings(deadline=None)
def test_positions_are_those_of_a_dictionary(values):
    table = IdTable()
    (positions,), ids = plainly([values])
    assert table.add(Texts.of(values)).tolist() == positions
    assert table.texts() == ids
    assert len(table) == len(ids)
    assert table.find(Texts.of(values)).tolist() == positions
    assert table.trimmed == 2 * sum(value != value.strip(SPACES) for value in values)


@given(st.lists(st.tuples(st.text("ab ", max_size=3), st.text("ab ", max_size=3)), max_size=60))
@settings(deadline=None)
def test_pairs_are_added_row_by_row(rows):
    left, right = [row[0] for row in rows], [row[1] for row in rows]
    table = IdTable()
    found = table.add_pairs(Texts.of(left), Texts.of(right))
    expected, ids = plainly([left, right])
    assert [positions.tolist() for positions in found] == expected
    assert table.texts() == ids


def test_white_space_of_every_kind_is_trimmed():
    values = [f"{space}{core}{space}" for space in SPACES for core in ("", "é", "é é", "日")]
    table = IdTable()
    assert table.add(Texts.of(values)).tolist() == [EMPTY, 0, 1, 2] * len(SPACES)
    assert table.texts() == ["é", "é é", "日"]
    others = ["\u200b", "\u180e", "\x08x", "Âx", "x\u2015", "\u3001"]  # look alike in bytes, and are no white space
    assert table.add(Texts.of(others)).tolist() == [3, 4, 5, 6, 7, 8]
    assert table.texts(3) == others


@pytest.mark.parametrize("length", [1, 7, 8, 9, 15, 16, 17, 1_000_000])
def test_every_byte_counts(length):
    base = "x" * length
    near = [base, base + "x", *(base[:at] + "y" + base[at + 1 :] for at in {0, length // 2, length - 1})]
    table = IdTable()
    assert table.add(Texts.of(near)).tolist() == list(range(len(near)))
    assert table.texts() == near


def test_zeros_inside_ids():
    values = ["a\0b", "a", "\0", "a\0"]
    table = IdTable()
    assert table.add(Texts.of(values)).tolist() == [0, 1, 2, 3]
    assert table.texts() == values


def test_many_ids_and_batches():
    rng = np.random.default_rng(0)
    values = [f"node {number}" for number in rng.integers(0, 50_000, 200_000)]
    table = IdTable()
    found = [table.add(Texts.of(values[start : start + 9_999])) for start in range(0, len(values), 9_999)]
    assert np.concatenate(found).tolist() == plainly([values])[0][0]
    assert table.texts() == list(dict.fromkeys(values))
    assert table.find(Texts.of(["node -1", "node"])).tolist() == [UNKNOWN, UNKNOWN]


def test_ids_with_the_same_hash_are_told_apart():
    """The hash works word by word, so a second word can be chosen that undoes the difference of two first ones."""
    first, other = (int.from_bytes(text, "little") for text in (b"aaaaaaaa", b"bbbbbbbb"))
    second = int.from_bytes(b"cccccccc", "little")

    def mixed(word: int) -> int:
        state = ((16 ^ word) * 0x9E3779B97F4A7C15) % 2**64
        return state ^ (state >> 29)

    clash = second ^ mixed(first) ^ mixed(other)
    letters = b"".join(word.to_bytes(8, "little") for word in (first, second, other, clash, first, second))
    ids = Texts(np.array([0, 16, 32, 48], dtype=np.int32), np.frombuffer(letters, dtype=np.uint8).copy())
    table = IdTable()
    assert table.add(ids).tolist() == [0, 1, 0]
    assert table.find(ids).tolist() == [0, 1, 0]


def test_more_than_positions_can_hold():
    with pytest.raises(PugnnError, match="32-bit positions"):
        IdTable().reserve(2**31)
