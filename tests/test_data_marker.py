import os

import pytest

from conftest import pytest_runtest_setup


@pytest.mark.parametrize(
    ("folder", "reason"),
    [(None, "PUGNN_DATA is not set to a folder with data sets"), ("empty", "PUGNN_DATA has no tolokers")],
)
@pytest.mark.parametrize("mark", [pytest.mark.data("tolokers"), pytest.mark.data], ids=["named", "by parameter"])
@pytest.mark.parametrize("name", ["tolokers"])
def test_tests_of_data_sets_that_are_missing_skip(request, monkeypatch, tmp_path, folder, reason, mark, name):
    if folder is not None:
        monkeypatch.setenv("PUGNN_DATA", str(tmp_path / folder))
    request.node.add_marker(mark)
    with pytest.raises(pytest.skip.Exception, match=reason):
        pytest_runtest_setup(request.node)


@pytest.mark.data("tolokers")
def test_a_test_with_the_mark_sees_the_data_sets():
    assert "PUGNN_DATA" in os.environ


def test_other_tests_do_not_see_the_data_sets():
    assert "PUGNN_DATA" not in os.environ
