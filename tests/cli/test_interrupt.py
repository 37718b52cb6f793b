"""Ctrl-C ends a command in the same way wherever it comes."""

import subprocess
import sys

import pytest

from pugnn.cli.faults import plain_interrupts

PRESS = """
import os, signal, sys, threading, time
from pugnn.cli import main

def press(seconds):
    threading.Thread(target=lambda: (time.sleep(seconds), os.kill(os.getpid(), signal.SIGINT))).start()
"""

IN_DUCKDB = """
import pugnn.store.edge_columns as edge_columns

def survey(table, places):
    press(0.5)
    table.query("sum(sqrt(one.range * other.range))", ", range(100000) AS one, range(100000) AS other")

edge_columns._survey = survey
"""

IN_A_KERNEL = """
import pugnn.store.ids as ids

def interrupted(letters, starts):
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt as error:
        raise SystemError("CPUDispatcher(<function are_tidy>) returned a result with an exception set") from error

ids.are_tidy = interrupted
"""

IN_AN_IMPORT = """
class Aborting:
    # Finds nothing, and aborts if it is interrupted, as some libraries do.
    def find_spec(self, name, path, target=None):
        if name == "numpy":
            try:
                press(0)
                time.sleep(60)
            except KeyboardInterrupt:
                os.abort()

sys.meta_path.insert(0, Aborting())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="which has no such signal")
@pytest.mark.parametrize("where", [IN_DUCKDB, IN_A_KERNEL, IN_AN_IMPORT], ids=["duckdb", "kernel", "import"])
def test_ctrl_c_ends_a_command_without_a_traceback(where, tmp_path):
    (tmp_path / "edges.csv").write_text("source,target,amount\na,b,1\nb,c,2\n")
    (tmp_path / "positives.csv").write_text("id\na\n")
    options = ["--edges", "edges.csv", "--positives", "positives.csv"]
    command = [sys.executable, "-c", f"{PRESS}{where}\nmain()", "check", *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr


def test_other_errors_stay_as_they_are():
    with pytest.raises(RuntimeError, match="out of order"), plain_interrupts():
        raise RuntimeError("out of order")
