import subprocess
import sys

import pytest

from pugnn.processes import end_process

STUBBORN = """
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
print("here", flush=True)
time.sleep(600)
"""
WILLING = """
import time
try:
    print("here", flush=True)
    time.sleep(600)
except KeyboardInterrupt:
    raise SystemExit(3)
"""


@pytest.mark.parametrize(("code", "patience", "ended"), [(STUBBORN, 0.1, -9), (WILLING, 600, 3)])
def test_it_has_ended_afterwards(code, patience, ended):
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"here\n"
        end_process(process, patience)
        assert process.returncode == ended
        end_process(process, patience)  # which has ended
