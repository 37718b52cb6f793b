import numpy as np
import pandas as pd
import pytest

from pugnn.errors import PugnnError
from pugnn.store import read_graph
from pugnn.store.tables.column_names import is_label

EDGES = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")]


def known(positives, **options) -> tuple[list[str], tuple[str, ...]]:
    data = read_graph(EDGES, positives=positives, **options)
    return [data.graph.ids[at] for at in np.flatnonzero(data.known)], data.notes


@pytest.mark.parametrize(
    "labels",
    [
        [1, 0, 0, 1],
        [1.0, 0.0, None, 1.0],
        [True, False, False, True],
        [1, -1, -1, 1],
        ["1", "-1", "-1", "1"],
        ["yes", "no", "NO", "Yes"],
        ["true", "", "false", "t"],
        ["1", "0", "0", "1"],
        pd.Categorical(["yes", "no", "no", "yes"]),
    ],
)
@pytest.mark.parametrize("name", ["label", "is_fraud", "Class", "Is Positive"])
def test_only_rows_that_say_so_count(labels, name):
    found, notes = known(pd.DataFrame({"id": ["a", "b", "c", "d"], name: labels}))
    assert found == ["a", "d"]
    assert f"positives: column {name!r} says which rows are positives: 2 of 4 rows" in notes


def test_in_a_file_and_of_the_truth(tmp_path):
    (tmp_path / "truth.csv").write_text("id,label\na,1\nb,0\nzz,0\nd,1\n")  # one that does not count need not be a node
    data = read_graph(EDGES, positives=["a"], truth=tmp_path / "truth.csv")
    assert np.flatnonzero(data.positive).tolist() == [0, 3]


def test_a_column_of_another_name_needs_to_be_chosen():
    table = {"id": ["a", "b"], "verified": [1, 0], "since": [2020, 2021]}
    with pytest.raises(PugnnError, match=r"'verified' may say which rows are positives.*--label COLUMN"):
        known(table)
    assert known(table, label="verified")[0] == ["a"]


def test_two_such_columns_are_not_chosen_between():
    table = {"id": ["a", "b"], "label": [1, 0], "is_old": [0, 1]}
    with pytest.raises(PugnnError, match="'label', 'is_old' may say"):
        known(table)
    assert known(table, label="is_old")[0] == ["b"]
    with pytest.raises(PugnnError, match="'label', 'is_old' may say"):
        known({"id": ["a", "b"], "label": [1, 1], "is_old": [0, 1]})


def test_labels_that_are_neither_true_nor_false():
    for labels in (["fraud", "fine", "fraud"], [1, 0, 2]):
        with pytest.raises(PugnnError, match=r"the label .* is neither yes nor no"):
            known({"id": ["a", "b", "c"], "label": labels})


@pytest.mark.parametrize("labels", [[1, 1], ["fraud", "fraud"]])
def test_a_label_that_all_rows_share_says_nothing(labels):
    assert known({"id": ["a", "b"], "label": labels})[0] == ["a", "b"]


@pytest.mark.parametrize("labels", [[0, 0], [None, None], ["no", "no"]])
def test_no_row_that_counts_is_an_error(labels):
    with pytest.raises(PugnnError, match="positives names no positives"):
        known({"id": ["a", "b"], "label": labels})


@pytest.mark.parametrize(
    "cells",
    [
        ["1", "-1", "1"],
        pd.Categorical(["yes", "no", "yes"]),
        ["yes", "no", "unknown"],
        [1, None, 1],
        [0, 0, 0],
        ["true", "0", "no"],
    ],
)
def test_a_column_that_may_hold_labels_is_asked_about(cells):
    with pytest.raises(PugnnError, match="'fraud' may say which rows are positives"):
        known(pd.DataFrame({"id": ["a", "b", "c"], "fraud": cells}))


def test_a_node_cannot_count_and_not_count():
    table = {"id": ["a", "b", "a"], "label": [1, 0, 0]}
    with pytest.raises(PugnnError, match="row 3 rejects 'a', but positives, row 1 confirms it"):
        known(table)


def test_rows_of_our_own_scores_count_whatever_they_say():
    table = {"id": ["a", "b"], "score": [0.9, 0.8], "decision": [1, 0], "rank": [1, 2], "known": [1, 0]}
    assert known(table)[0] == ["a", "b"]
    assert known(table | {"label": [0, 1]})[0] == ["b"]
    with pytest.raises(PugnnError, match="'confirmed' may say"):
        known(table | {"confirmed": ["no", "yes"]})


def test_other_columns_are_no_labels():
    table = pd.DataFrame({"id": ["a", "b"], "amount": [1, 7], "note": ["x", "y"], "parts": [[1, 2], [0]]})
    assert known(table)[0] == ["a", "b"]


def test_a_chosen_column_must_be_there():
    with pytest.raises(PugnnError, match=r"no column 'fraud' \(--label\)"):
        known({"id": ["a"], "label": [1]}, label="fraud")
    with pytest.raises(PugnnError, match="those lists contain only a column of ids"):
        known(["a"], label="fraud")


def test_names_of_labels():
    assert all(map(is_label, ("label", "LABELS", "is-fraud", "has card", "fraud_flag", "y")))
    assert not any(map(is_label, ("id", "island", "yes", "amount")))


@pytest.mark.parametrize("vector", [[0, 0, 1, 0, 1], np.array([1, 0, 0, 0, 1]), [1.0, 1.0, 0.0], [1, -1, 1, -1, -1]])
def test_a_vector_of_ones_and_zeros_is_no_list_of_ids(vector):
    numbered = [(0, 1), (1, 2), (2, 3), (3, 4)]
    with pytest.raises(PugnnError, match="a vector with one entry per node, or the ids 0 and 1"):
        read_graph(numbered, positives=vector)
    assert np.flatnonzero(read_graph(numbered, positives=[0, 1]).known).tolist() == [0, 1]
