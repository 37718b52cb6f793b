"""Check Table 2 on Cora by a local Ray cluster of two workers, with faults, against the local executor.

    python benchmarks/ray_cluster.py [--draws 1] [--methods naive,nnpu,pu-gnn] [--ratios 0.01]

The same command runs three times: with the local executor; with Ray, where one worker is killed (SIGKILL) half-way; and
with Ray, where the driver is killed half-way and started again. All must give the same records bit for bit, apart from
the times, and each record once. Needs `pip install 'pugnn[ray]'`; Linux only.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measuring import machine, sized, table
from pugnn_paper.records import RecordStore

PUGNN = [sys.executable, "-c", "from pugnn.cli import main; main()"]
TIMES = {"seconds", "finished"}


def start(command: list[str], out: Path, executor: str) -> subprocess.Popen[str]:
    arguments = [*command, "--executor", executor, "--jobs", "2", "--out", str(out)]
    return subprocess.Popen([*PUGNN, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> str:
    _, errors = process.communicate()
    if process.returncode:
        raise SystemExit(errors)
    return errors


def wait_for(process: subprocess.Popen[str], out: Path, records: int) -> None:
    while process.poll() is None and (not out.exists() or len(RecordStore(out).read(warn=False)) < records):
        time.sleep(0.05)
    assert process.poll() is None, process.communicate()


def workers(driver: int) -> list[int]:
    """Return the Ray workers below a driver that are training."""
    parents, busy = {}, []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if (folder / "cmdline").read_bytes().startswith(b"ray::attempt"):
                busy.append(int(folder.name))
        except OSError:  # it has ended
            continue

    def below(pid: int) -> bool:
        return pid == driver or (pid in parents and below(parents[pid]))

    return [pid for pid in busy if below(pid)]


def results(out: Path) -> dict[str, dict[str, object]]:
    lines = [line for line in (out / "records.jsonl").read_bytes().split(b"\n") if line]
    records = RecordStore(out).read()
    assert len(lines) == len(records), "a training was recorded twice"
    return {key: {name: part for name, part in record.items() if name not in TIMES} for key, record in records.items()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", default="1")
    parser.add_argument("--methods", default=sized("naive,nnpu,dist-pu,pu-gnn,views", "naive,nnpu"))
    parser.add_argument("--ratios", default=sized("0.002,0.01", "0.01"))
    given = parser.parse_args()
    command = ["reproduce", "table2", "--datasets", "cora"]
    command += ["--draws", given.draws, "--methods", given.methods, "--ratios", given.ratios]
    print(machine(), "\n")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        started = time.perf_counter()
        finish(start(command, folder / "local", "local"))
        expected = results(folder / "local")
        rows.append(["local executor", f"{time.perf_counter() - started:.0f} s", str(len(expected)), "", ""])

        for fault in ("none", "a worker is killed half-way", "the driver is killed half-way and started again"):
            out, started = folder / fault, time.perf_counter()
            process = start(command, out, "ray")
            if fault != "none":
                wait_for(process, out, len(expected) // 2)
            if fault.startswith("a worker"):
                while not (found := workers(process.pid)):
                    time.sleep(0.01)
                os.kill(found[0], signal.SIGKILL)
            elif fault.startswith("the driver"):
                process.kill()
                process.communicate()
                process = start(command, out, "ray")
            said = [line for line in finish(process).splitlines() if line.startswith("warning")]
            same = "equal" if results(out) == expected else "DIFFERENT"
            seconds = f"{time.perf_counter() - started:.0f} s"
            rows.append([f"Ray, fault: {fault}", seconds, str(len(results(out))), same, " ".join(said)])
    print(table(["", "time", "records", "against local", "message"], rows))


if __name__ == "__main__":
    main()
