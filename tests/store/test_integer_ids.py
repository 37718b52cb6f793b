import numpy as np
import pyarrow as pa
import pytest

from pugnn.store.ids import IdTable, text_column


def column(values) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values, pa.int64())])


@pytest.mark.parametrize("spread", [1, 2**20, 2**41])
def test_positions_are_those_of_ids_as_text(spread):
    rng = np.random.default_rng(0)
    integers, texts = IdTable(integers=True), IdTable()
    for _ in range(3):
        pairs = (rng.integers(-50_000, 50_000, (2, 100_000)) * spread).tolist()
        found = integers.add(*map(column, pairs))
        wanted = texts.add(*(text_column(list(map(str, part))) for part in pairs))
        np.testing.assert_array_equal(found, wanted)
    assert len(integers) == len(texts) > 90_000  # so that the table has grown
    assert integers.texts() == texts.texts()
    assert integers.texts(5, 7) == texts.texts(5, 7)


def test_a_cell_without_an_id_is_empty():
    ids = IdTable(integers=True)
    (first,) = ids.add(column([None, 0, 7]))
    assert first.tolist() == [-2, 0, 1]


def test_texts_are_found_if_they_are_written_as_integers_are():
    ids = IdTable(integers=True)
    ids.add(column([-(2**63) + 1, 7, 2**63 - 1]))
    texts = ["7", str(2**63 - 1), str(2**63), "007", "seven", "", " ", str(-(2**63) + 1), None]
    assert ids.find(text_column(texts)).tolist() == [1, 2, -1, -1, -1, -2, -2, 0, -2]
