import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent


@pytest.mark.parametrize(
    ("folder", "reason"),
    [(None, "PUGNN_DATA is not set to a folder with data sets"), ("empty", "PUGNN_DATA has no tolokers")],
)
def test_tests_of_data_sets_that_are_missing_skip(tmp_path, folder, reason):
    environment = {name: value for name, value in os.environ.items() if name != "PUGNN_DATA"}
    if folder is not None:
        environment["PUGNN_DATA"] = str(tmp_path / folder)
    test = f"{TESTS / 'checkup' / 'test_sampling.py'}::test_named_data_sets_by_degree"
    run = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", test]
    done = subprocess.run(run, cwd=TESTS.parent, env=environment, capture_output=True, text=True)
    assert done.returncode == 0
    assert "3 skipped" in done.stdout
    assert reason in done.stdout


def test_other_tests_do_not_see_the_data_sets():
    assert "PUGNN_DATA" not in os.environ
