import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import pugnn
from pugnn.files import locked

MODULE = """
from pugnn.graph.compiling import kernel


@kernel()
def double(x):
    return 2 * x
"""

CODE = """
import sys
sys.path.insert(0, {folder!r})
import kernel_module
for x in {arguments}:
    assert kernel_module.double(x) == 2 * x
print(kernel_module.double.stats.cache_path)
"""

COMPILING = "pugnn: compiling kernels, once after installation: kernel_module\n"
NOT_KEPT = "pugnn: compiled kernels cannot be cached"


@pytest.fixture
def folder(tmp_path):
    """A folder with a module that has a kernel."""
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "kernel_module.py").write_text(MODULE)
    return folder


def use_kernel(folder, *, before=(), arguments=(2,), **environment):
    """Use the kernel in a new process; gives the folder where it is kept and what standard error says."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "PUGNN_", "XDG_"))}
    run = [*before, sys.executable, "-c", CODE.format(folder=str(folder), arguments=arguments)]
    done = subprocess.run(run, capture_output=True, text=True, env={**kept, **environment})
    assert done.returncode == 0, done.stderr
    # A busy machine may take so long that the line is repeated.
    return done.stdout.strip(), re.sub(r".* s so far\)\n", "", done.stderr)


def read_only(folder) -> list[str]:
    """Make a folder read-only; gives the words before a command that bind the superuser to that, too."""
    folder.chmod(0o555)
    before = [] if os.geteuid() else ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
    probe = [*before, sys.executable, "-c", f"open({str(folder / 'probe')!r}, 'w')"]
    try:
        binds = b"PermissionError" in subprocess.run(probe, capture_output=True).stderr
    except FileNotFoundError:
        binds = False
    if not binds:
        pytest.skip("permissions do not bind this user")
    return before


def test_the_first_compilation_says_so_and_no_other(folder):
    beside = str(folder / "__pycache__")
    for words in (COMPILING, ""):
        assert use_kernel(folder, arguments=(2, 2.5)) == (beside, words)


def test_numbas_own_setting_wins(folder, tmp_path):
    kept, _ = use_kernel(folder, NUMBA_CACHE_DIR=str(tmp_path / "own"))
    assert Path(kept).parent == tmp_path / "own"


def test_beside_a_read_only_source_the_cache_folder_serves(folder, tmp_path):
    before = read_only(folder)
    for words in (COMPILING, ""):
        kept, err = use_kernel(folder, before=before, XDG_CACHE_HOME=str(tmp_path / "cache"))
        assert Path(kept).parent == tmp_path / "cache" / "numba"
        assert err == words


def test_without_a_writable_place_kernels_are_compiled_each_time_and_one_line_says_so(folder):
    before = read_only(folder)
    for _ in range(2):
        kept, err = use_kernel(folder, before=before, HOME=os.devnull, PYTHONDONTWRITEBYTECODE="1")
        assert kept == "None"
        lines = err.splitlines()
        assert lines[0].startswith(NOT_KEPT)
        assert "NUMBA_CACHE_DIR" in lines[0]
        assert lines[1:] == ["pugnn: compiling kernels: kernel_module"]


def test_a_disk_that_is_full_is_no_error(folder):
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (256, 256))\n"
    limit += "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    (folder / "kernel_module.py").write_text(limit + MODULE)
    kept, err = use_kernel(folder, PYTHONDONTWRITEBYTECODE="1")
    assert err.count(NOT_KEPT) == 1
    assert not list(Path(kept).glob("*.nbc"))


def test_a_process_waits_while_another_writes_kernels_of_the_module(folder):
    """Otherwise their files could get the same number."""
    with ThreadPoolExecutor(1) as pool:
        with locked(folder / "kernel_module.py"):
            waiting = pool.submit(use_kernel, folder)
            time.sleep(2)
            assert not list(folder.rglob("*.nb*"))
        assert waiting.result()[1] == COMPILING
    assert list(folder.rglob("*.nb*"))


def test_a_damaged_file_is_compiled_anew(folder):
    kept, _ = use_kernel(folder)
    for damaged in (next(Path(kept).glob(ending)) for ending in ("*.nbi", "*.nbc")):
        damaged.write_bytes(b"damaged")
        assert use_kernel(folder)[1] == COMPILING
        assert use_kernel(folder)[1] == ""


@pytest.mark.slow  # it compiles everything
def test_a_read_only_installation_without_a_home(tmp_path):
    package = tmp_path / "site" / "pugnn"
    shutil.copytree(Path(pugnn.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (package, *package.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = read_only(package)
    code = f"""
import sys
sys.path.insert(0, {str(package.parent)!r})
import pugnn.methods, pugnn.store
from pugnn import Graph
assert pugnn.__file__.startswith(sys.path[0])
assert Graph.from_edges([0, 1], [1, 2]).num_nodes == 3
"""
    environment = {"HOME": os.devnull, "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([*before, sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(NOT_KEPT) == 1
