"""Notes on ids that may be no ids, or the same one written differently."""

import pytest

from pugnn import read_graph
from pugnn.store.assembly import odd_ids

ROWS = [("a", "b"), ("NULL", "b"), ("a", "NULL"), ("nan", "c"), ("b", "c")]


def notes(edges, words):
    return [note for note in read_graph(edges).notes if words in note]


def test_words_for_missing_ids_are_told_with_their_rows():
    assert notes(ROWS, "means that there is none") == [
        "edges: 'NULL' is the id in 2 rows; leave such rows out if it means that there is none",
        "edges: 'nan' is the id in 1 row; leave such rows out if it means that there is none",
    ]
    assert not notes([("a", "Nancy"), ("Nancy", "c")], "means that there is none")
    assert not notes([(1, 2), (2, 3)], "means that there is none")


@pytest.mark.parametrize("other", ["188.0", "0188"])
def test_ids_that_differ_only_in_spelling_are_told(other, monkeypatch):
    edges = [("188", "Ann"), (other, "B1"), ("ann", "c")]
    words = f"4 ids differ from others only in case, leading zeros or '.0', such as '188' and {other!r}; they are"
    (note,) = notes(edges, "differ from others only")
    assert note.startswith(words)
    assert not notes([("188", "1.5"), ("0x188", "1880")], "differ from others only")
    monkeypatch.setattr(odd_ids, "MAX_COMPARED", 5)
    assert not notes(edges, "differ from others only")
