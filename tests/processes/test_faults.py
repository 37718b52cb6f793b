"""A process that fails, is killed or is interrupted: all stop, one of them says why, and the run can go on."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from e2e.own_tables import FIT, write_tables
from processes.workers import PUGNN, ended, start
from pugnn.training import load_sealed

NETWORK = ["--method", "naive", "--batch-size", "8"]
LONG = [*FIT[:-1], "800", *NETWORK, "--out", "mine"]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
HINT = "stopped; the same options with --out mine --resume continue from here"


@pytest.fixture
def here(tmp_path):
    write_tables(tmp_path)
    return tmp_path


def wait_for_checkpoint(folder: Path, *processes: subprocess.Popen[str]) -> None:
    give_up = time.monotonic() + 600
    while not (folder / "mine.partial" / "checkpoint.safetensors").exists():
        assert time.monotonic() < give_up
        assert all(process.poll() is None for process in processes)
        time.sleep(0.01)


def errors(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("error: ")]


def test_a_killed_process_stops_the_others(here):
    first, second = start(*PUGNN, *LONG, folder=here)
    wait_for_checkpoint(here, first, second)
    os.kill(second.pid, signal.SIGKILL)
    (code, _, err), (other_code, _, other_err) = ended([first, second])
    assert (code, other_code) == (2, -signal.SIGKILL)
    assert len(errors(err)) == 1
    assert "another process of this job has ended or does not answer, and process 0 of 2" in err
    assert HINT in err
    assert "Traceback" not in err
    assert other_err == ""
    assert len(load_sealed(here / "mine.partial" / "checkpoint.safetensors")[1]["parts"][0]["log"]) < 800


def test_an_error_in_one_process_is_told_once(here):
    """The second process has one known positive more."""
    first, second = start(
        "-c",
        "import os, sys\n"
        "sys.argv[1:] = [*sys.argv[1:], '--positives', f'positives-{os.environ[\"RANK\"]}.csv']\n"
        "from pugnn.cli import main\nmain()",
        *FIT[:5],
        *NETWORK,
        "--out",
        "mine",
        folder=here,
    )
    (here / "positives-0.csv").write_text("id\nn0\nn1\n")
    (here / "positives-1.csv").write_text("id\nn0\nn1\nn2\n")
    (code, _, err), (other_code, other_out, other_err) = ended([first, second])
    assert (code, other_code) == (2, 2)
    assert errors(err + other_err) == [
        "error: process 1 has different data or settings from the first one. Give all of them the same files and "
        "options."
    ]
    assert "Traceback" not in err + other_err
    assert other_out == ""
    assert not (here / "mine").exists()
    assert not (here / "mine.partial").exists(), "nothing was trained, so nothing is left"


def test_an_error_in_all_processes_is_told_once(here):
    found = ended(start(*PUGNN, "check", "--edges", "edges.csv", folder=here))
    assert [code for code, _, _ in found] == [2, 2]
    assert errors("".join(err for _, _, err in found)) == [
        "error: `pugnn check` works in one process, but 2 were started; only `pugnn fit` shares its work. Run it "
        "without torchrun."
    ]


def test_interrupted_processes_say_how_to_go_on(here):
    processes = start(*PUGNN, *LONG, folder=here)
    wait_for_checkpoint(here, *processes)
    for process in processes:
        process.send_signal(signal.SIGTERM)  # what a launcher and SLURM send; Ctrl-C does the same
    (code, _, err), (other_code, _, other_err) = ended(processes)
    assert 0 not in (code, other_code)
    assert HINT in err
    assert "Traceback" not in err + other_err
    assert other_err == ""


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["launcher", "worker", "all"])
def test_a_killed_job_goes_on_to_the_same_bits(here, victim):
    launcher = subprocess.Popen([*TORCHRUN, *PUGNN, *LONG], cwd=here, stderr=subprocess.PIPE, text=True)
    wait_for_checkpoint(here, launcher)
    listed = subprocess.run(["pgrep", "-P", str(launcher.pid)], capture_output=True, text=True, check=True)
    workers = list(map(int, listed.stdout.split()))
    assert len(workers) == 2
    for pid in {"launcher": [launcher.pid], "worker": workers[1:], "all": [launcher.pid, *workers]}[victim]:
        os.kill(pid, signal.SIGKILL)
    err = launcher.communicate(timeout=600)[1]  # until the workers have ended, too
    if victim != "all":
        assert HINT in err

    for name, *options in (["mine", "--resume"], ["whole"]):
        subprocess.run([*TORCHRUN, *PUGNN, *LONG[:-1], name, *options], cwd=here, check=True)
    assert (here / "mine" / "scores.csv").read_bytes() == (here / "whole" / "scores.csv").read_bytes()
