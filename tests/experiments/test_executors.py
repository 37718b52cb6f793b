import os
import signal
import subprocess
import sys
import time

CHILD = """
import os, time
from pugnn.experiments.executors import end_with_parent
end_with_parent(os.getppid())
print(os.getpid(), flush=True)
time.sleep(60)
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
        assert time.monotonic() - started < 20
