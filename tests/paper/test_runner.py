import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import asdict

import pytest

from pugnn.errors import PugnnError, PugnnWarning
from pugnn.sweep.executors import LocalExecutor, attempt
from pugnn_paper import runner
from pugnn_paper.cells import Cell, measure
from pugnn_paper.records import RecordStore
from pugnn_paper.rows import MORE_METHODS, PAPER_METHODS, READINGS, Row
from pugnn_paper.runner import duration, run_cells, seconds_left
from standard_error import replaced_stderr

FAST = MORE_METHODS["label-propagation"]  # no training: a few hundredths of a second


def cells(count, row=FAST, dataset="cora"):
    return [Cell.of(row, READINGS["default"], dataset=dataset, ratio=0.01, draw=draw) for draw in range(count)]


def made_up(cell, seconds=2.0):
    return {"key": cell.key, "cell": asdict(cell), "metrics": {"macro_f1": 70.0}, "seconds": {"total": seconds}}


@pytest.fixture
def store(tmp_path):
    return RecordStore(tmp_path / "out")


@pytest.fixture
def trained(monkeypatch):
    """Cells that were trained; made-up results instead of real ones, in this process only."""
    found = []

    def measure(cell):
        found.append(cell)
        return made_up(cell)

    monkeypatch.setattr(runner, "measure", measure)
    return found


# ---------------------------------------------------------------------- what is trained


def records_of(*arguments, **options):
    """What comes out where nothing fails."""
    records, failures = run_cells(*arguments, **options)
    assert failures == {}
    return records


def test_only_cells_without_a_record_are_trained(store, trained):
    some = cells(6)
    store.append(made_up(some[1], seconds=9))
    store.append(made_up(some[4], seconds=9))
    store.append({"key": "of another grid"})
    records = records_of(some, store, LocalExecutor(1))
    assert trained == [some[number] for number in (0, 2, 3, 5)]
    assert set(records) == {cell.key for cell in some}
    assert [records[some[number].key]["seconds"]["total"] for number in (1, 2)] == [9, 2.0]
    assert records_of(some, store, LocalExecutor(1)) == records
    assert len(trained) == 4
    assert {key: record for key, record in store.read().items() if key in records} == records


def test_a_cell_that_comes_twice_is_trained_once(store, trained):
    run_cells([*cells(3), *cells(2)], store, LocalExecutor(1))
    assert trained == cells(3)


def test_no_cells(store, trained):
    assert records_of([], store, LocalExecutor(1)) == {}


def test_a_damaged_record_is_made_again_with_one_warning(store, trained):
    for cell in cells(3):
        store.append(made_up(cell))
    size = store.path.stat().st_size
    with store.path.open("r+b") as file:
        file.truncate(size - 20)  # its key is still there to be read
    with pytest.warns(PugnnWarning, match="damaged record in line 6") as caught:
        records = records_of(cells(3), store, LocalExecutor(1))
    assert len(caught) == 1
    assert trained == cells(3)[2:]
    assert set(records) == {cell.key for cell in cells(3)}
    assert store.read(warn=False) == records


def test_a_cell_that_was_finished_elsewhere_since_we_looked_is_not_trained(store, trained, monkeypatch):
    claim, first = RecordStore.claim, cells(2)[0]

    def late(self, key):
        if key == first.key and not self.holds(key):
            self.append(made_up(first, seconds=5))
        return claim(self, key)

    monkeypatch.setattr(RecordStore, "claim", late)
    records = records_of(cells(2), store, LocalExecutor(1))
    assert trained == cells(2)[1:]
    assert records[first.key]["seconds"]["total"] == 5


# ---------------------------------------------------------------------- beside other processes

HOLD = """
import json, sys
from pathlib import Path
from pugnn_paper.records import RecordStore
store, record = RecordStore(Path(sys.argv[1])), json.loads(sys.argv[2])
with store.claim(record["key"]) as ours:
    print(ours, flush=True)
    sys.stdin.readline()
    store.append(record)
"""


@pytest.fixture
def holder(store):
    """Another process that is at work on the second of three cells."""
    record = json.dumps(made_up(cells(3)[1], seconds=7))
    command = [sys.executable, "-c", HOLD, str(store.folder), record]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "True\n"
        yield process
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)


@pytest.mark.skipif(sys.platform == "win32", reason="no such locks there")
def test_the_work_of_another_process_is_waited_for(store, trained, holder, monkeypatch):
    waited = []

    def sleep(seconds):
        waited.append(seconds)
        if len(waited) == 2:
            holder.communicate("\n")

    monkeypatch.setattr(runner.time, "sleep", sleep)
    records = records_of(cells(3), store, LocalExecutor(1))
    assert trained == [cells(3)[0], cells(3)[2]]
    assert records[cells(3)[1].key]["seconds"]["total"] == 7
    assert waited == [runner.LOOK_EVERY] * 2


@pytest.mark.skipif(sys.platform == "win32", reason="no such locks there")
def test_what_a_killed_process_had_not_finished_is_done_here(store, trained, holder, monkeypatch):
    def sleep(seconds):
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()

    monkeypatch.setattr(runner.time, "sleep", sleep)
    records = records_of(cells(3), store, LocalExecutor(1))
    assert trained == [cells(3)[number] for number in (0, 2, 1)]
    assert records[cells(3)[1].key]["seconds"]["total"] == 2.0


# ---------------------------------------------------------------------- real processes


def test_the_number_of_processes_changes_no_result(tmp_path):
    brief = Row("pu-gnn", training={"epochs": 3})
    some = [*cells(4), *cells(2, brief)]
    found = [records_of(some, RecordStore(tmp_path / str(jobs)), LocalExecutor(jobs)) for jobs in (1, 2)]
    for cell in some:
        one, two = (records[cell.key] for records in found)
        assert {**one, "seconds": 0, "finished": 0} == {**two, "seconds": 0, "finished": 0}
    for jobs in (1, 2):
        assert set(RecordStore(tmp_path / str(jobs)).read()) == {cell.key for cell in some}


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_training_that_fails_keeps_no_other_from_it(store, jobs):
    bad = cells(2, Row("naive", training={"learning_rate": 1e30, "epochs": 20}))
    good = cells(3)
    done = records_of(good[:1], store, LocalExecutor(jobs))
    records, failures = run_cells([*bad, *good], store, LocalExecutor(jobs))
    assert set(records) == {cell.key for cell in good}
    assert set(failures) == {cell.key for cell in bad}
    assert all("the loss became" in why for why in failures.values())
    assert store.read() == records
    assert {key: records[key] for key in done} == done
    # What failed is tried again the next time.
    assert set(run_cells(bad[:1], store, LocalExecutor(jobs)).failures) == {bad[0].key}


def test_a_full_disk_stops_the_grid_with_one_message(store, monkeypatch, trained):
    store.append(made_up(cells(1)[0]))
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[: len(data) // 2]))
    with pytest.raises(PugnnError, match=r"No space left on device\. All records so far are kept"):
        run_cells(cells(3), store, LocalExecutor(1))
    monkeypatch.setattr(os, "write", write)
    assert len(trained) == 1
    with pytest.warns(PugnnWarning, match="damaged"):
        assert len(records_of(cells(3), store, LocalExecutor(1))) == 3


class _Own:
    def __reduce__(self):
        return (os.getpid, ())


class Deadly(Cell):
    """Kills each worker that gets it."""

    def __reduce__(self):
        return (os.kill, (_Own(), signal.SIGKILL))


@pytest.mark.slow
def test_a_training_that_kills_its_worker_again_and_again_is_one_clear_message(store):
    deadly = Deadly(**asdict(cells(1)[0]))
    words = r"^a worker process was killed, .*, 4 times .* All results so far are kept: .*\(now 2\)"
    with (
        pytest.warns(PugnnWarning, match="its training starts again") as caught,
        pytest.raises(PugnnError, match=words),
    ):
        run_cells([deadly], store, LocalExecutor(2))
    assert [str(each.message)[-14:] for each in caught] == ["(1 of 3 times)", "(2 of 3 times)", "(3 of 3 times)"]
    assert not list(store.folder.glob(".cell*"))  # it is not claimed any more


ONCE = "path.exists() and Cell(**given) or path.touch() or os.kill(os.getpid(), 9)"


def test_a_worker_that_is_killed_once_changes_no_result(store, tmp_path):
    class DeadlyOnce(Cell):
        def __reduce__(self):
            return (eval, (ONCE, {"os": os, "path": tmp_path / "killed", "Cell": Cell, "given": asdict(self)}))

    some = cells(4)
    whole = records_of(some, RecordStore(tmp_path / "whole"), LocalExecutor(1))
    some[2] = DeadlyOnce(**asdict(some[2]))
    with pytest.warns(PugnnWarning, match="its training starts again"):
        found = records_of(some, store, LocalExecutor(2))
    assert store.read() == found
    assert {key: record["metrics"] for key, record in found.items()} == {
        key: record["metrics"] for key, record in whole.items()
    }


def test_a_worker_of_another_version_does_nothing():
    found = attempt(measure, cells(1)[0], "0.0.1")
    assert re.fullmatch(r"a worker has pugnn .*, but this task is from 0\.0\.1; install the same .*", found)


# ---------------------------------------------------------------------- progress


def test_the_time_left_counts_each_kind_by_what_it_took():
    naive, far = PAPER_METHODS["naive"], cells(1, dataset="pubmed")
    wanted = {cell.key: cell for cell in [*cells(4), *cells(3, naive), *far]}
    done = [made_up(cells(4)[0], 10), made_up(cells(4)[1], 20), made_up(cells(3, naive)[0], 85)]
    # Two of 15 s, two of 85 s, and one of a kind not seen yet: the mean of both kinds, 50 s.
    assert seconds_left(wanted, {record["key"]: record for record in done}) == 2 * 15 + 2 * 85 + 50


@pytest.mark.parametrize("terminal", [False, True])
def test_a_line_says_how_far_it_is(store, trained, monkeypatch, terminal):
    stream = replaced_stderr(monkeypatch, terminal=terminal)
    store.append(made_up(cells(1)[0]))

    def measure(cell):
        stream.wait_for(f"{1 + len(trained)} of 3 trainings, about {4 - 2 * len(trained)} s left")
        trained.append(cell)
        return made_up(cell)

    monkeypatch.setattr(runner, "measure", measure)
    run_cells(cells(3), store, LocalExecutor(1))
    assert trained == cells(3)[1:]


def test_no_line_where_none_is_wanted(store, trained, monkeypatch):
    stream = replaced_stderr(monkeypatch, patience=600)  # nothing takes that long, however busy the machine is
    run_cells(cells(3), store, LocalExecutor(1))
    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "0 s"),
        (29.4, "29 s"),
        (60, "1 min"),
        (89 * 60, "89 min"),
        (90 * 60, "1 h 30 min"),
        (7205, "2 h 00 min"),
        (36000, "10 h 00 min"),
    ],
)
def test_durations(seconds, words):
    assert duration(seconds) == words
