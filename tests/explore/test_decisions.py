"""The log of decisions: nothing that was acknowledged is lost, whoever else writes and whatever fails."""

import sqlite3

import pytest

from pugnn.errors import PugnnError, WriteError
from pugnn.explore.decisions import DecidedSinceError, Decisions
from pugnn.store.case_log import Case, read_case_log, read_verdicts
from rooms import rows_of


@pytest.fixture
def log(tmp_path):
    return Decisions(tmp_path / "cases.sqlite")


def add(log, node, verdict, note=None):
    return log.add(node, verdict, note=note, queue="list", who="me").seq


def verdicts(log):
    return {node: (case.verdict, case.note) for node, case in log.cases.items()}


def test_a_log_is_made_with_the_first_decision(log):
    assert log.refresh() == []
    assert log.last == 0
    assert not log.file.exists()
    assert add(log, "a", "yes") == 1
    assert log.file.exists()
    assert log.last == 1


def test_the_last_decision_counts_and_a_note_stays(log):
    add(log, "a", "yes", "sure")
    add(log, "a", "no")
    add(log, 7, "skip")
    add(log, 7, "note", "later")
    add(log, "b", "note", "just this")
    assert verdicts(log) == {"a": ("no", "sure"), 7: ("skip", "later"), "b": ("", "just this")}


def test_undo_takes_back_the_last_or_a_given_one(log):
    first, second = add(log, "a", "yes"), add(log, "b", "no", "why")
    add(log, "a", "note", "hm")
    assert log.undo(first, who="me").node == "a"  # a later note is no later decision
    assert verdicts(log) == {"a": ("", "hm"), "b": ("no", "why")}
    assert log.undo(None, who="me").verdict == "note"
    assert log.undo(None, who="me").seq == second
    assert log.cases == {}
    assert [row[2] for row in rows_of(log.file)] == ["yes", "no", "note", "undo", "undo", "undo"]  # nothing is removed


def test_undo_gives_back_what_was_before(log):
    add(log, "a", "yes", "one")
    add(log, "a", "no", "two")
    log.undo(None, who="me")
    assert verdicts(log) == {"a": ("yes", "one")}


def test_what_was_undone_or_decided_again_cannot_be_undone(log):
    first = add(log, "a", "yes")
    second = add(log, "a", "no")
    with pytest.raises(DecidedSinceError, match="later decision"):
        log.undo(first, who="me")
    log.undo(second, who="me")
    for seq in (second, 99):
        with pytest.raises(DecidedSinceError, match="undone already"):
            log.undo(seq, who="me")
    log.undo(first, who="me")
    with pytest.raises(DecidedSinceError, match="nothing to undo"):
        log.undo(None, who="me")


def test_two_writers_see_each_other(log):
    other = Decisions(log.file)
    add(log, "a", "yes")
    assert [event.node for event in other.refresh()] == ["a"]
    add(other, "a", "no")
    assert verdicts(log) == {"a": ("yes", "")}
    with pytest.raises(DecidedSinceError, match="later decision"):
        log.undo(1, who="me")
    assert verdicts(log) == {"a": ("no", "")}
    assert [event.seq for event in log.events] == [1, 2]


def test_a_full_disk_says_so_and_keeps_what_was_saved(log):
    add(log, "a", "yes")
    pages = log._connected().execute("PRAGMA page_count").fetchone()[0]
    log._connected().execute(f"PRAGMA max_page_count = {pages}")  # SQLite's own way to be full
    with pytest.raises(WriteError, match=r"nothing was saved.*full"):
        add(log, "b", "note", "x" * 10_000)
    assert log.cases["a"] == Case("yes", "", log.events[0].at, "me")
    log._connected().execute("PRAGMA max_page_count = 1000000")
    assert add(log, "b", "no") == log.last
    log.close()
    assert read_verdicts(log.file).keys() == {"a", "b"}


def test_a_failed_undo_changes_nothing(log, monkeypatch):
    add(log, "a", "yes")

    def fail(*_):
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(log, "_insert", fail)
        with pytest.raises(WriteError, match="I/O"):
            log.undo(None, who="me")
    assert verdicts(log) == {"a": ("yes", "")}
    assert log.undo(None, who="me").seq == 1


def test_a_log_that_only_is_read(log):
    add(log, "a", "yes")
    reader = Decisions(log.file, read_only=True)
    assert len(reader.refresh()) == 1
    with pytest.raises(WriteError, match="readonly"):
        add(reader, "a", "no")
    assert len(read_case_log(log.file)) == 1


def test_a_file_that_is_no_log(tmp_path):
    file = tmp_path / "cases.sqlite"
    file.write_bytes(b"SQLite format 3\0" + b"nonsense" * 100)
    with pytest.raises(PugnnError, match="cannot be read"):
        Decisions(file).refresh()
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    with pytest.raises(PugnnError, match="not the log of a case room"):
        read_case_log(other)
