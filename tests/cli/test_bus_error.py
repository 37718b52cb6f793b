import subprocess
import sys

import pytest

from pugnn import build_store

CUT_SHORT = """
import os, sys
import pugnn.store.opening as reading
from pugnn.cli import main

read_tables = reading.read_tables

def cut_and_read(*arguments):
    for file in os.scandir("store"):
        if file.name.endswith(".npy"):
            os.truncate(file, 0)
    return read_tables(*arguments)

reading.read_tables = cut_and_read
sys.argv = ["pugnn", "check", "--store", "store", "--positives", "positives.csv"]
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="which does not let a mapped file be cut")
def test_a_store_that_is_cut_short_while_it_is_used_ends_the_command_with_a_message(tmp_path):
    build_store(tmp_path / "store", [(f"a{n}", f"a{n + 1}") for n in range(5_000)])
    (tmp_path / "positives.csv").write_text("id\na1\na2\na3\n")
    command = [sys.executable, "-c", CUT_SHORT]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 2, (done.returncode, done.stderr)
    assert "a file that is in use was cut short" in done.stderr
    assert "Traceback" not in done.stderr
