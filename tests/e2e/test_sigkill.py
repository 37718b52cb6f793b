"""Commands that are killed at random moments lose nothing, leave nothing behind, and give the same result afterwards.

Five kills of each command by default; ``PUGNN_KILLS=50`` for more.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL there")]

KILLS = int(os.environ.get("PUGNN_KILLS", "5"))
NODES = 300


def write_tables(folder: Path) -> None:
    rng = np.random.default_rng(0)
    ends = rng.integers(0, NODES, (3 * NODES, 2))
    (folder / "edges.csv").write_text("source,target\n" + "".join(f"v{a},v{b}\n" for a, b in ends))
    rows = rng.normal(size=(NODES, 4)) + (np.arange(NODES) < 60)[:, None]
    (folder / "nodes.csv").write_text(
        "id,a,b,c,d\n" + "".join(f"v{i}," + ",".join(f"{x:.3f}" for x in row) + "\n" for i, row in enumerate(rows))
    )
    (folder / "positives.csv").write_text("id\n" + "".join(f"v{i}\n" for i in range(12)))


def started(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    (folder / "tmp").mkdir(exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(folder / "tmp"), "PUGNN_CACHE": str(folder / "cache")}
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, "-m", "pugnn", *arguments], cwd=folder, env=environment, **quiet)


def completed(folder: Path, *arguments: str) -> str:
    process = started(folder, *arguments)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err.decode()
    return out.decode()


def killed(folder: Path, after: float, *arguments: str) -> None:
    process = started(folder, *arguments)
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
    process.communicate(timeout=600)


def content(file: Path) -> object:
    """What a file says, without the clock and the checksums of it."""
    if file.suffix == ".safetensors":
        with safe_open(file, "numpy") as model:
            return {name: model.get_tensor(name).tobytes() for name in model.keys()}  # noqa: SIM118 (no mapping)
    return hashlib.sha256(file.read_bytes()).hexdigest()


def results(run: Path) -> dict[str, object]:
    return {name: content(run / name) for name in ("scores.csv", "scores.parquet", "model.safetensors")}


def everything(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    write_tables(folder)
    return folder


def moments(seconds: float) -> list[float]:
    rng = random.Random(1)
    return [rng.uniform(0.05, 1.05) * seconds for _ in range(KILLS)]


def nothing_left(folder: Path) -> None:
    left = [path.name for path in (folder / "tmp").iterdir()] if (folder / "tmp").exists() else []
    assert [name for name in left if name.startswith("pugnn")] == []


@pytest.mark.parametrize("form", ["tables", "store"])
def test_fit(tables: Path, form: str, tmp_path: Path) -> None:
    data = ["--edges", str(tables / "edges.csv"), "--nodes", str(tables / "nodes.csv")]
    if form == "store":
        if not (tables / "store").exists():
            completed(tables, "build", *data, "--out", str(tables / "store"))
        data = ["--store", str(tables / "store")]
    command = ["fit", *data, "--positives", str(tables / "positives.csv"), "--out", "run"]
    (tmp_path / "whole").mkdir()
    completed(tmp_path / "whole", *command)  # compiles kernels
    began = time.monotonic()
    (tmp_path / "again").mkdir()
    completed(tmp_path / "again", *command)
    seconds, expected = time.monotonic() - began, results(tmp_path / "whole" / "run")
    names = sorted(path.name for path in (tmp_path / "whole" / "run").iterdir())
    assert results(tmp_path / "again" / "run") == expected
    for number, moment in enumerate(moments(seconds)):
        folder = tmp_path / str(number)
        folder.mkdir()
        killed(folder, moment, *command)
        if not (folder / "run").exists():
            completed(folder, *command, *(["--resume"] if (folder / "run.partial").exists() else []))
        assert results(folder / "run") == expected, moment
        assert sorted(path.name for path in (folder / "run").iterdir()) == names, moment
        assert not (folder / "run.partial").exists()
        json.loads((folder / "run" / "run.json").read_text())
        nothing_left(folder)


def test_evaluate(tables: Path, tmp_path: Path) -> None:
    data = ["--edges", str(tables / "edges.csv"), "--nodes", str(tables / "nodes.csv")]
    completed(tmp_path, "fit", *data, "--positives", str(tables / "positives.csv"), "--out", "run")
    began = time.monotonic()
    expected = completed(tmp_path, "evaluate", "run", "--methods", "centroid", "--json")
    seconds, files = time.monotonic() - began, everything(tmp_path / "run")
    for moment in moments(seconds):
        killed(tmp_path, moment, "evaluate", "run", "--methods", "centroid", "--json")
        assert everything(tmp_path / "run") == files, moment
        nothing_left(tmp_path)
    assert completed(tmp_path, "evaluate", "run", "--methods", "centroid", "--json") == expected


def test_sweep(tables: Path, tmp_path: Path) -> None:
    data = ["--edges", str(tables / "edges.csv"), "--nodes", str(tables / "nodes.csv")]
    data += ["--positives", str(tables / "positives.csv")]
    command = ["sweep", *data, "--method", "nnpu", "--trials", "3", "--over", "epochs=5", "--over", "hidden=4,8"]
    command += ["--jobs", "1", "--out", "found"]

    def best(folder: Path) -> tuple[str, list[object]]:
        trials = json.loads((folder / "found" / "sweep.json").read_text())["trials"]
        kept = [{name: value for name, value in trial.items() if name != "seconds"} for trial in trials]
        return (folder / "found" / "best.toml").read_text(), kept

    (tmp_path / "whole").mkdir()
    began = time.monotonic()
    completed(tmp_path / "whole", *command)
    seconds, expected = time.monotonic() - began, best(tmp_path / "whole")
    names = sorted(everything(tmp_path / "whole" / "found"))
    for number, moment in enumerate(moments(seconds)):
        folder = tmp_path / str(number)
        folder.mkdir()
        killed(folder, moment, *command)
        completed(folder, *command)
        assert best(folder) == expected, moment
        assert sorted(everything(folder / "found")) == names, moment
        nothing_left(folder)
