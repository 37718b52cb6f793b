"""Every script can be imported; and runs, at its smallest size."""

from __future__ import annotations

import shutil
import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path

import pytest
from typer.testing import CliRunner

from e2e.own_tables import FIT, write_tables
from pugnn.cli import app
from script_process import run_script

ROOT = Path(__file__).parents[2]
SCRIPTS = {
    str(path.relative_to(ROOT)): path
    for folder in ("benchmarks", "scripts", "examples")
    for path in sorted((ROOT / folder).glob("*.py"))
    if "__main__" in path.read_text(encoding="utf-8")  # the others are modules
}
#: How those are called that need to be told something, once or several times.
ARGUMENTS = {
    "benchmarks/check_up.py": [["rates"], ["delta"], ["backbones"]],
    "benchmarks/minibatch.py": [["results"], ["gradients"], ["speed"]],
    "benchmarks/relations.py": [[], ["--bipartite"]],
    "examples/ray_train.py": [["edges.csv", "nodes.csv", "positives.csv", "--out", "model", "--workers", "1"]],
    "scripts/build_room_screenshots.py": [["run", "positives.csv"]],
    "scripts/build_screenshots.py": [["run"]],
}
#: Importing these takes longer than the scripts, so all of them are forked from one process that has done it.
LIBRARIES = ["duckdb", "numba", "pandas", "polars", "pyarrow", "sklearn.linear_model", "torch", "torch_geometric.nn"]


@pytest.fixture(scope="module")
def processes():
    context = get_context("forkserver")
    context.set_forkserver_preload(LIBRARIES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDA_VISIBLE_DEVICES", "")  # a process that was forked cannot use a GPU
        yield context


@pytest.fixture
def tree(tmp_path):
    """The repository, but for its docs, into which scripts write: these are a copy."""
    for name in ("src", "tests", "benchmarks", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=shutil.ignore_patterns("*.html", "*.png"))
    write_tables(tmp_path)
    return tmp_path


IMPORT = """
import importlib.util, sys
for path in sys.argv[1:]:
    sys.path.insert(0, path.rpartition("/")[0])
    spec = importlib.util.spec_from_file_location("script", path)
    spec.loader.exec_module(sys.modules.setdefault("script", importlib.util.module_from_spec(spec)))
    del sys.path[0], sys.modules["script"]
"""


def test_all_scripts_can_be_imported():
    paths = [str(path) for name, path in SCRIPTS.items() if "ray" not in name]
    done = subprocess.run([sys.executable, "-c", IMPORT, *paths], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_runs(name, processes, tree):
    if name == "scripts/build_cora.py":
        pytest.skip("downloads its source; tests/paper/test_planetoid.py runs it")
    if "screenshots" in name:
        if shutil.which("chromium") is None:
            pytest.skip("needs Chromium")
        fit = [str(tree / word) if word.endswith(".csv") else word for word in FIT]
        assert CliRunner().invoke(app, [*fit, "--out", str(tree / "run")]).exit_code == 0
    for arguments in ARGUMENTS.get(name, [[]]):
        process = processes.Process(target=run_script, args=(tree / name, arguments, tree))
        process.start()
        process.join()
        said = (tree / "output.txt").read_text()
        assert process.exitcode == 0, said
        assert said.strip(), "it said nothing"
