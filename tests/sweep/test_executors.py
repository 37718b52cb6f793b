import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace

import pytest

from pugnn.errors import PugnnError
from pugnn.sweep import make_executor
from pugnn_paper.cells import Cell
from pugnn_paper.records import RecordStore
from pugnn_paper.rows import PAPER_METHODS, READINGS
from pugnn_paper.runner import run_cells

CHILD = """
import os, time
from pugnn.processes import end_with_parent
end_with_parent(os.getppid())
print(os.getpid(), flush=True)
time.sleep(600)
"""
PARENT = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CHILD!r}])"


def test_a_worker_ends_soon_after_its_parent_was_killed():
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        time.sleep(0.5)
        os.kill(child, 0)  # it lives as long as its parent does
        os.kill(parent.pid, signal.SIGKILL)
        started = time.monotonic()
        parent.stdout.read()  # until both have ended
        assert time.monotonic() - started < 300, "it would have slept for ten minutes"


def test_without_ray(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(PugnnError, match=r"needs Ray, which is not installed: pip install 'pugnn\[ray\]'"):
        make_executor("ray")


def test_an_unknown_executor():
    with pytest.raises(PugnnError, match="--executor must be one of local, ray; got 'cloud'"):
        make_executor("cloud")


def test_a_cluster_that_is_not_there(monkeypatch):
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(PugnnError, match=r"cannot join the Ray cluster at 127\.0\.0\.1:1, .*: .*refused"):
        make_executor("ray").__enter__()


# A cluster of two workers, one of which is killed during the fourth of six trainings.
DRIVER = """
import json, os, signal, sys
from pathlib import Path
from pugnn_paper.cells import Cell, measure
from pugnn.sweep import make_executor
from pugnn_paper.runner import run_tasks
from pugnn_paper.records import RecordStore

store, executor = RecordStore(Path(sys.argv[1])), make_executor("ray", 2)
cells = [Cell(**each) for each in json.loads(sys.argv[2])]
deadly, killed = cells[3].key, store.folder / "killed"

def work(cell):
    if cell.key == deadly and not killed.exists():
        killed.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return measure(cell)

with executor:
    done = list(run_tasks(work, cells, store, executor))
print(len(done))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="signals of Unix")
def test_a_cluster_that_loses_a_worker_gives_the_records_of_this_process(tmp_path, monkeypatch):
    pytest.importorskip("ray")
    monkeypatch.setenv("HOME", str(tmp_path))  # where Ray keeps the token of a cluster
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    rows = [PAPER_METHODS["naive"], PAPER_METHODS["pu-gnn"]]
    cells = [
        Cell.of(replace(row, training={"epochs": 3}), READINGS["default"], dataset="cora", ratio=0.01, draw=draw)
        for draw in range(3)
        for row in rows
    ]
    expected = run_cells(cells, RecordStore(tmp_path / "local"), make_executor("local", 1)).records
    command = [sys.executable, "-c", DRIVER, str(tmp_path / "ray"), json.dumps([asdict(cell) for cell in cells])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.stdout == "6\n", done.stderr
    assert done.stderr.count("a worker process was killed, often because memory ran out; its training starts") == 1
    assert (tmp_path / "ray/killed").exists()
    found = RecordStore(tmp_path / "ray").read()
    for key, record in expected.items():
        assert {**found[key], "seconds": 0, "finished": 0} == {**record, "seconds": 0, "finished": 0}
