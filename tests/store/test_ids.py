import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pugnn.store.ids import EMPTY, UNKNOWN, IdTable
from pugnn.store.ids import text_column as column

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
    assert table.add(column(values))[0].tolist() == positions
    assert table.texts() == ids
    assert len(table) == len(ids)
    assert table.find(column(values)).tolist() == positions
    assert table.trimmed == 2 * sum(value != value.strip(SPACES) for value in values)


@given(st.lists(st.tuples(st.text("ab ", max_size=3), st.text("ab ", max_size=3)), max_size=60))
@settings(deadline=None)
def test_pairs_are_added_row_by_row(rows):
    left, right = [row[0] for row in rows], [row[1] for row in rows]
    table = IdTable()
    found = table.add(column(left), column(right))
    expected, ids = plainly([left, right])
    assert [positions.tolist() for positions in found] == expected
    assert table.texts() == ids


def test_white_space_of_every_kind_is_trimmed():
    values = [f"{space}{core}{space}" for space in SPACES for core in ("", "é", "é é", "日")]
    table = IdTable()
    assert table.add(column(values))[0].tolist() == [EMPTY, 0, 1, 2] * len(SPACES)
    assert table.texts() == ["é", "é é", "日"]
    others = ["\u200b", "\u180e", "\x08x", "Âx", "x\u2015", "\u3001"]  # look alike in bytes, and are no white space
    assert table.add(column(others))[0].tolist() == [3, 4, 5, 6, 7, 8]
    assert table.texts(3) == others


@pytest.mark.parametrize("length", [1, 7, 8, 9, 15, 16, 17, 1_000_000])
def test_every_byte_counts(length):
    base = "x" * length
    near = [base, base + "x", *(base[:at] + "y" + base[at + 1 :] for at in {0, length // 2, length - 1})]
    table = IdTable()
    assert table.add(column(near))[0].tolist() == list(range(len(near)))
    assert table.texts() == near


def test_zeros_inside_ids():
    values = ["a\0b", "a", "\0", "a\0"]
    table = IdTable()
    assert table.add(column(values))[0].tolist() == [0, 1, 2, 3]
    assert table.texts() == values


def test_many_ids_and_batches():
    rng = np.random.default_rng(0)
    values = [f"node {number}" for number in rng.integers(0, 50_000, 200_000)]
    table = IdTable()
    found = [table.add(column(values[start : start + 9_999]))[0] for start in range(0, len(values), 9_999)]
    assert np.concatenate(found).tolist() == plainly([values])[0][0]
    assert table.texts() == list(dict.fromkeys(values))
    assert table.find(column(["node -1", "node"])).tolist() == [UNKNOWN, UNKNOWN]


@pytest.mark.parametrize("different", [1, 3])
def test_texts_with_the_same_hash_stay_apart(monkeypatch, different):
    def badly(letters, starts, keys, first, last):
        keys[first:last] = (starts[first + 1 : last + 1] - starts[first:last]) % different

    monkeypatch.setattr("pugnn.store.ids.hash_texts", badly)
    values = [f"node {number}" for number in np.random.default_rng(0).integers(0, 300, 1000)]
    table = IdTable()
    found = [table.add(column(part))[0] for part in (values[:500], values[500:])]
    assert [table.texts()[at] for at in np.concatenate(found)] == values
    assert sorted(table.texts()) == sorted(set(values))
    assert table.find(column(values)).tolist() == np.concatenate(found).tolist()
    assert table.find(column(["node", "node 300"])).tolist() == [UNKNOWN, UNKNOWN]


def test_nulls_are_empty():
    table = IdTable()
    assert table.add(column(["a", None, ""]))[0].tolist() == [0, EMPTY, EMPTY]
    assert table.find(column([None, "a"])).tolist() == [EMPTY, 0]


def test_known_ids_keep_their_positions():
    table = IdTable()
    table.add(column(["c", "a"]))
    found = table.add(column(["x", "a"]), column(["b", " x "]))
    assert [positions.tolist() for positions in found] == [[2, 1], [3, 2]]
    assert table.texts() == ["c", "a", "x", "b"]
    assert table.texts(1, 3) == ["a", "x"]
