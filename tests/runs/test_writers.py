import gzip
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from pugnn.errors import PugnnError, PugnnWarning
from pugnn.runs.writers import WrittenIds, table_file, write_log, write_scores

TABLE = {"id": np.array(["a", "b"]), "score": np.array([0.75, 0.1])}


def test_scores_are_packed_where_the_name_says_so(tmp_path):
    for name in ("s.csv", "s.csv.gz", "again.csv.gz", "scores"):
        write_scores(tmp_path / name, TABLE)
    packed = (tmp_path / "s.csv.gz").read_bytes()
    assert gzip.decompress(packed) == (tmp_path / "s.csv").read_bytes() == b"id,score\na,0.75\nb,0.1\n"
    assert (tmp_path / "scores").read_bytes() == (tmp_path / "s.csv").read_bytes()
    assert (tmp_path / "again.csv.gz").read_bytes() == packed, "no name and no time in it"


@pytest.mark.parametrize("name", ["s.csv.zst", "s.xlsx", "s.json", "s.gz"])
def test_a_name_that_promises_another_format_is_refused(tmp_path, name):
    with pytest.raises(PugnnError, match=r"written as \.csv, \.csv\.gz or \.parquet; rename the file"):
        write_scores(tmp_path / name, TABLE)
    assert list(Path(tmp_path).iterdir()) == []


def test_ids_of_a_store_are_taken_by_position_and_may_be_empty(tmp_path):
    ids, nearest = np.array(["a", "b", "=c"], dtype=object), np.array([2, -1, 0])
    table = {"id": WrittenIds(ids, np.array([2, 0, 1])), "score": np.array([0.9, 0.5, 0.1])}
    table["nearest"] = WrittenIds(ids, nearest)
    write_scores(tmp_path / "s.parquet", table)
    found = pq.read_table(tmp_path / "s.parquet").to_pydict()
    assert found == {"id": ["=c", "a", "b"], "score": [0.9, 0.5, 0.1], "nearest": ["=c", None, "a"]}
    with pytest.warns(PugnnWarning, match="1 ids begin like a spreadsheet formula"):
        write_scores(tmp_path / "s.csv", table)
    assert (tmp_path / "s.csv").read_text() == "id,score,nearest\n'=c,0.9,'=c\na,0.5,\nb,0.1,a\n"


def test_a_log_has_its_values_under_their_names_whatever_the_order_of_a_record(tmp_path):
    write_log(tmp_path / "log.csv", [{"epoch": 1, "total": 0.5}, {"total": 0.25, "epoch": 2}])
    assert (tmp_path / "log.csv").read_text() == "epoch,total\n1,0.5\n2,0.25\n"


def test_a_table_that_no_spreadsheet_can_open_is_not_the_one_to_open():
    assert [table_file(nodes) for nodes in (3, 1_000_000, 1_000_001)] == ["scores.csv", "scores.csv", "scores.parquet"]
