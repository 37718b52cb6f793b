import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pugnn import read_graph
from pugnn.store import build_store, open_store


@pytest.mark.parametrize(
    ("ids", "kept", "note"),
    [
        ([1, 2, 3], [1, 2, 3], ""),
        ([1.0, 2.0, 3.0], [1, 2, 3], ""),
        (["b", "a", "ä"], ["b", "a", "ä"], ""),
        ([1.5, 2.0, 3.0], ["1.5", "2", "3"], "ids are numbers; a store keeps all but 64-bit integers as text"),
        (
            [datetime.date(2024, 1, day) for day in (1, 2, 3)],
            ["2024-01-01", "2024-01-02", "2024-01-03"],
            "ids are dates; a store keeps all but 64-bit integers as text",
        ),
        (
            pa.array([2**63, 2**63 + 1, 5], pa.uint64()),
            [str(2**63), str(2**63 + 1), "5"],
            "ids are integers; a store keeps all but 64-bit integers as text",
        ),
    ],
)
def test_types_of_ids(tmp_path, ids, kept, note):
    column = pa.array(ids)
    pq.write_table(pa.table({"source": column[:2], "target": column[1:]}), tmp_path / "edges.parquet")
    manifest = build_store(tmp_path / "store", tmp_path / "edges.parquet")
    stored = open_store(tmp_path / "store")
    assert stored.ids.tolist() == kept
    assert list(manifest.notes) == ([note] if note else [])
    assert stored.positions(kept).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("in_nodes", "in_edges", "kept"),
    [
        ([1, 2, 3], ["1", "2", "3"], [1, 2, 3]),  # text in CSV, integers in the node table
        ([1, 2, 4], ["01", "2", "3"], ["1", "2", "4", "01", "3"]),
    ],
)
def test_ids_without_a_type_become_integers_if_nothing_is_lost(tmp_path, in_nodes, in_edges, kept):
    pq.write_table(pa.table({"id": in_nodes}), tmp_path / "nodes.parquet")
    a, b, c = in_edges
    (tmp_path / "edges.csv").write_text(f"source,target\n{a},{b}\n{b},{c}\n")
    build_store(tmp_path / "store", tmp_path / "edges.csv", tmp_path / "nodes.parquet")
    assert open_store(tmp_path / "store").ids.tolist() == kept
    assert read_graph(tmp_path / "edges.csv", tmp_path / "nodes.parquet").graph.ids.tolist() == kept
