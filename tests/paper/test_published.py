import pytest

from pugnn_paper.published import DATASET_NAMES, TABLE1, TABLE2, TABLE3, TABLE4, TABLE5


def test_table_1_adds_up():
    assert list(TABLE1) == ["cora", "citeseer", "pubmed", "dblp"]
    for counts in TABLE1.values():
        assert list(counts) == ["nodes", "positive", "negative", "training", "testing"]
        assert counts["positive"] + counts["negative"] == counts["nodes"]
        assert counts["training"] + counts["testing"] == counts["nodes"]
    assert TABLE1["pubmed"] == {
        "nodes": 19717,
        "positive": 7875,
        "negative": 11842,
        "training": 1971,
        "testing": 17746,
    }


def test_every_cell_is_there():
    assert len(TABLE2) == 4 * 6 * 4
    assert len(TABLE3) == 4 * 4
    assert len(TABLE4) == 4 * 5
    assert len(TABLE5) == 5
    assert {row for _, row, _ in TABLE2} == {"naive", "nnpu", "dist-pu", "lsdan", "grab", "pu-gnn"}
    assert {dataset for dataset, _, _ in TABLE2} == set(DATASET_NAMES)
    assert {row for _, row, _ in TABLE3} == {"L_G + α R_S", "R_S only", "L_G only", "GCN"}
    for table in (TABLE3, TABLE4, TABLE5):
        assert {dataset for dataset, _, _ in table} == {"cora"}
    for table in (TABLE4, TABLE5):
        assert {ratio for _, _, ratio in table} == {0.002}


@pytest.mark.parametrize(
    ("table", "key", "value"),
    [
        (TABLE2, ("cora", "pu-gnn", 0.001), (84.8, 0.3)),
        (TABLE2, ("cora", "nnpu", 0.005), (83.9, 0.4)),
        (TABLE2, ("pubmed", "lsdan", 0.01), (75.1, 0.2)),
        (TABLE2, ("pubmed", "dist-pu", 0.002), (67.1, 0.2)),
        (TABLE2, ("citeseer", "grab", 0.01), (69.7, 0.4)),
        (TABLE2, ("dblp", "naive", 0.01), (34.6, 0.3)),
        (TABLE2, ("dblp", "pu-gnn", 0.001), (86.5, 0.1)),
        (TABLE3, ("cora", "R_S only", 0.01), (83.4, 0.3)),
        (TABLE3, ("cora", "L_G only", 0.01), (88.7, 0.3)),
        (TABLE3, ("cora", "GCN", 0.001), (78.1, 0.1)),
        (TABLE4, ("cora", "0.5, 0.1", 0.002), (84.6, 0.3)),
        (TABLE4, ("cora", "0.7, 0.4", 0.002), (83.7, 0.4)),
        (TABLE4, ("cora", "0.9, 0.3", 0.002), (84.4, 0.2)),
        (TABLE5, ("cora", "2", 0.002), (85.8, 0.2)),
        (TABLE5, ("cora", "5", 0.002), (82.8, 0.3)),
    ],
)
def test_values_as_printed(table, key, value):
    assert table[key] == value


def test_cells_that_stand_in_two_tables_agree():
    for ratio in (0.001, 0.002, 0.005, 0.01):
        assert TABLE3["cora", "L_G + α R_S", ratio] == TABLE2["cora", "pu-gnn", ratio]
        assert TABLE3["cora", "GCN", ratio] == TABLE2["cora", "naive", ratio]
    default = TABLE2["cora", "pu-gnn", 0.002]
    assert TABLE4["cora", "0.6, 0.3", 0.002] == TABLE5["cora", "3", 0.002] == default
