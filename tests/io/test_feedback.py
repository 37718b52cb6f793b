import numpy as np
import pytest

from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.io import read_feedback

GRAPH = Graph.from_edges(["a", "b", "c", "d"], ["b", "c", "d", "e"], ids=["a", "b", "c", "d", "e"])
KNOWN = np.array([0])


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda name, text: (tmp_path / name).write_text(text)


def read(graph=GRAPH, known=KNOWN, **lists):
    return read_feedback(graph, known, "positives.csv", **lists)


def test_several_lists_add_up(write):
    write("one.csv", "id\nb\n")
    write("two.csv", "d\nb\n")
    write("wrong.csv", "id,score\ne,0.9\n")
    found = read(confirmed=["one.csv", "two.csv"], rejected=["wrong.csv"])
    assert found.confirmed.tolist() == [1, 3]
    assert found.rejected.tolist() == [4]
    assert found.notes == ("two.csv: has no header; its first line is read as an id",)


def test_rows_of_a_run_can_be_given_back(write):
    write("right.csv", "id,score,decision,rank,known,distance,nearest\nc,0.9,1,2,0,2,a\n")
    assert read(confirmed=["right.csv"]).confirmed.tolist() == [2]


def test_ids_that_are_numbers(write):
    write("right.csv", "id\n12\n")
    for ids in ([11, 12, 13], np.array([11.0, 12.0, 13.5])):
        graph = Graph.from_edges([0, 1], [1, 2], num_nodes=3)
        graph = Graph.from_scipy(graph.to_scipy(), ids=ids)
        assert read(graph, confirmed=["right.csv"]).confirmed.tolist() == [1]


def test_columns_as_in_other_tables(write):
    write("checked.csv", "account,fraud\nb,1\nc,0\n")
    assert read(confirmed=["checked.csv"], id="account", label="fraud").confirmed.tolist() == [1]
    write("plain.csv", "account,place\nb,x\nc,y\n")
    assert read(confirmed=["plain.csv"], usual="account", label="fraud").confirmed.tolist() == [1, 2]


@pytest.mark.parametrize("text", ["", "id\n", "\n\n"])
def test_no_feedback_yet(write, text):
    write("right.csv", text)
    found = read(confirmed=["right.csv"])
    assert (found.confirmed.tolist(), found.rejected.tolist()) == ([], [])
    assert found.notes == ("right.csv: names no confirmed nodes yet",)


def test_what_is_known_already_is_noted(write):
    write("right.csv", "id\na\nb\n")
    found = read(confirmed=["right.csv"])
    assert found.confirmed.tolist() == [1]
    assert found.notes == ("1 confirmed node known already from positives.csv",)


def test_contradictions_name_both_files(write):
    write("right.csv", "id\nb\n")
    write("wrong.csv", "id\nc\nb\n")
    with pytest.raises(PugnnError, match=r"wrong.csv rejects 'b', but right.csv confirms it. Remove it from one"):
        read(confirmed=["right.csv"], rejected=["wrong.csv"])
    write("wrong.csv", "id\na\n")
    with pytest.raises(PugnnError, match=r"wrong.csv rejects 'a', which is a known positive of positives.csv"):
        read(rejected=["wrong.csv"])


def test_an_id_that_is_not_in_the_graph_names_file_and_row(write):
    write("wrong.csv", "id\nb\nzz\n")
    with pytest.raises(PugnnError, match=r"wrong.csv, row 3: 'zz' is not a node of the graph"):
        read(rejected=["wrong.csv"])
    with pytest.raises(PugnnError, match=r"cannot read nowhere.csv|nowhere.csv"):
        read(rejected=["nowhere.csv"])
