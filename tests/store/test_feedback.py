import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.store import read_feedback

GRAPH = Graph.from_edges(["a", "b", "c", "d"], ["b", "c", "d", "e"], ids=["a", "b", "c", "d", "e"])
KNOWN = np.array([0])


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda name, text: (tmp_path / name).write_text(text, encoding="utf-8")


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
    assert found.notes == ("right.csv: has no confirmed nodes yet",)


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


# ---------------------------------------------------------------------- tables with verdicts


FILLED_IN = 'id,rank,score,reason,verdict\nc,2,0.8,"near, and alike",no\nb,1,0.9,near,yes\nd,3,0.7,far,\n'


def checked(table, known=KNOWN, **others):
    found = read_feedback(GRAPH, known, "positives.csv", checked=table, **others)
    return found.confirmed.tolist(), found.rejected.tolist()


@pytest.mark.parametrize("text", [FILLED_IN, FILLED_IN.replace(",", ";"), "\ufeff" + FILLED_IN.replace("\n", "\r\n")])
def test_the_table_of_suggestions_is_read_as_it_is(write, text):
    write("to_check.csv", text)
    assert checked(["to_check.csv"]) == ([1], [2])
    found = read(checked=["to_check.csv"])
    assert found.notes == ("to_check.csv: verdicts: 1 yes, 1 no, 1 not given yet",)


@pytest.mark.parametrize("yes", ["yes", "YES", " Yes ", "y", "true", "True", "1", "1.0", "positive", "\u00a0Positive"])
@pytest.mark.parametrize("no", ["no", "No\t", "N", "FALSE", "0", "negative"])
def test_verdicts_in_words(write, yes, no):
    write("checked.csv", f"id,verdict\nb,{yes}\nc,{no}\nd, \n")
    assert checked(["checked.csv"]) == ([1], [2])


@pytest.mark.parametrize(
    "table",
    [
        {"b": "yes", "c": "no", "d": None},
        {"b": True, "c": False},
        {"b": 1, "c": 0.0, "d": float("nan")},
        {"id": ["d", "c", "b"], "verdict": ["", "n", "y"]},
        pd.DataFrame({"id": ["b", "c", "d"], "verdict": [True, False, None]}),
        pd.DataFrame({"id": ["b", "c", "d"], "verdict": [1, 0, np.nan]}),
        pd.DataFrame({"verdict": pd.Categorical(["yes", "no"])}, index=pd.Index(["b", "c"], name="id")),
        [{"b": "yes"}, {"c": "no", "b": "yes"}],
        pa.table({"id": ["b", "c"], "verdict": [True, False]}),
    ],
)
def test_verdicts_of_tables_in_memory_and_of_mappings(table):
    assert checked(table) == ([1], [2])


def test_verdicts_in_parquet(tmp_path):
    pq.write_table(pa.table({"id": ["b", "c", "d"], "verdict": [True, False, None]}), tmp_path / "checked.parquet")
    assert checked(tmp_path / "checked.parquet") == ([1], [2])


@pytest.mark.parametrize("text", ["", "id,verdict\n", "id,rank,verdict\nb,1,\nzz,2, \n,,\n"])
def test_no_verdicts_yet(write, text):
    write("to_check.csv", text)
    found = read(checked=["to_check.csv"])
    assert (found.confirmed.tolist(), found.rejected.tolist()) == ([], [])
    assert found.notes == ("to_check.csv: has no verdicts yet",)
    assert checked({}) == ([], [])


@pytest.mark.parametrize("cell", ["maybe", "2", "-1", "?", "yes!", "not sure"])
def test_what_is_no_verdict_is_named_with_its_row(write, cell):
    write("checked.csv", f"id,verdict\nb,yes\nc,{cell}\n")
    with pytest.raises(PugnnError, match=rf"checked.csv, row 3: the verdict '{re.escape(cell)}' is neither yes nor no"):
        checked(["checked.csv"])


def test_verdicts_need_a_column_and_ids_of_the_graph(write):
    write("checked.csv", "id,rank\nb,1\n")
    with pytest.raises(PugnnError, match=r"checked.csv has no column 'verdict' .* its columns are 'id', 'rank'"):
        checked(["checked.csv"])
    write("checked.csv", "id,verdict\nb,yes\n,no\n")
    with pytest.raises(PugnnError, match=r"checked.csv, row 3: the id is empty"):
        checked(["checked.csv"])
    with pytest.raises(PugnnError, match=r"checked, row 1: 'zz' is not a node of the graph"):
        checked({"zz": "yes"})
    for nodes in ({"b", "c"}, [("b", "yes")], np.array(["b"])):
        with pytest.raises(PugnnError, match="checked nodes come with verdicts"):
            checked(nodes)


def test_verdicts_that_contradict_each_other_name_both_places(write):
    write("one.csv", "id,verdict\nc,yes\nb,yes\nb,no\n")
    with pytest.raises(PugnnError, match=r"one.csv, row 4 rejects 'b', but one.csv, row 3 confirms it"):
        checked(["one.csv"])
    write("one.csv", "id,verdict\nb,yes\n")
    write("two.csv", "id,verdict\nb,no\n")
    with pytest.raises(PugnnError, match=r"two.csv rejects 'b', but one.csv confirms it"):
        checked(["one.csv", "two.csv"])
    write("list.csv", "id\nb\n")
    with pytest.raises(PugnnError, match=r"two.csv rejects 'b', but list.csv confirms it"):
        checked(["two.csv"], confirmed=["list.csv"])
    with pytest.raises(PugnnError, match=r"list.csv rejects 'b', but one.csv confirms it"):
        checked(["one.csv"], rejected=["list.csv"])
    with pytest.raises(PugnnError, match=r"two.csv rejects 'b', which is a known positive of positives.csv"):
        checked(["two.csv"], np.array([1]))
    with pytest.raises(PugnnError, match=r"checked\[1\] rejects 'b', but checked\[0\] confirms it"):
        checked([{"b": "yes"}, {"b": "no"}])


def test_a_table_with_verdicts_as_a_plain_list_names_the_right_option(write):
    write("to_check.csv", FILLED_IN)
    with pytest.raises(
        PugnnError, match=r"'verdict' may say which rows are confirmed nodes.*give the table as --checked"
    ):
        read(confirmed=["to_check.csv"])


def test_ids_that_a_list_cannot_tell_apart_are_refused():
    graph = Graph.from_edges([1, "1"], ["1", " a"], ids=[1, "1", " a", "a"])
    with pytest.raises(PugnnError, match="differ only in type or in white space"):
        read(graph, checked={"a": "yes"})
