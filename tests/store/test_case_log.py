"""The log of a case room as a table of checked nodes."""

import numpy as np
import pytest

from pugnn.errors import PugnnError
from pugnn.explore.decisions import Decisions
from pugnn.graph import Graph
from pugnn.store import read_feedback
from pugnn.store.case_log import is_sqlite, live, read_case_log, read_verdicts


@pytest.fixture
def log(tmp_path):
    return Decisions(tmp_path / "cases.sqlite")


def decide(log, *decisions):
    for node, verdict in decisions:
        log.add(node, verdict, note="said", queue="list", who="ann")


def feedback(graph, file):
    return read_feedback(graph, np.array([0]), "positives", checked=str(file))


@pytest.mark.parametrize("ids", [["a", "b", "c", "d", "7"], [10, 11, 12, 13, 7]])
def test_verdicts_of_now_are_feedback(log, ids):
    graph = Graph.from_edges(ids[:-1], ids[1:], ids=ids)
    decide(log, (ids[1], "yes"), (ids[2], "yes"), (ids[2], "no"), (ids[3], "skip"), (ids[4], "yes"))
    log.undo(None, who="ann")
    found = feedback(graph, log.file)
    assert (found.confirmed.tolist(), found.rejected.tolist()) == ([1], [2])
    assert [event.verdict for event in live(read_case_log(log.file))] == ["yes", "yes", "no", "skip"]
    assert read_verdicts(log.file)[ids[1]].who == "ann"


def test_a_log_without_verdicts_is_no_mistake(log):
    decide(log, ("a", "note"))
    found = feedback(Graph.from_edges(["a"], ["b"], ids=["a", "b"]), log.file)
    assert len(found.confirmed) == len(found.rejected) == 0
    assert "no verdicts yet" in found.notes[0]


def test_other_files(tmp_path):
    graph, file = Graph.from_edges(["a"], ["b"], ids=["a", "b"]), tmp_path / "checked.csv"
    file.write_text("id,verdict\nb,yes\n")
    assert not is_sqlite(file)
    assert not is_sqlite(tmp_path)
    assert not is_sqlite(tmp_path / "nothing")
    assert feedback(graph, file).confirmed.tolist() == [1]
    broken = tmp_path / "x.sqlite"
    broken.write_bytes(b"SQLite format 3\0 and nothing else")
    with pytest.raises(PugnnError, match="not the log of a case room"):
        feedback(graph, broken)
