import subprocess
import sys

CODE = """
import sys
sys.path.insert(0, {folder!r})
import kernel_module
from pugnn.graph.compiling import say_if_compiling
for _ in range(2):
    say_if_compiling(kernel_module.double)
    assert kernel_module.double(2) == 4
"""

MODULE = """
from numba import njit


@njit(cache=True)
def double(x):
    return 2 * x
"""


def test_the_first_compilation_says_so_and_no_other(tmp_path):
    (tmp_path / "kernel_module.py").write_text(MODULE)
    run = [sys.executable, "-c", CODE.format(folder=str(tmp_path))]
    first, second = (subprocess.run(run, capture_output=True, text=True, check=True).stderr for _ in range(2))
    assert first == "pugnn: compiling a kernel, once after installation; this takes some seconds\n"
    assert second == ""
