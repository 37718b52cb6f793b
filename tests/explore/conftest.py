"""Runs that all tests of the case room share; each test gets a copy of its own."""

import shutil

import pytest

from rooms import HOSTILE, Client, fit, opened, stub_page, write_tables


@pytest.fixture(scope="session")
def _plain_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    return fit(folder, write_tables(folder, [f"n{at}" for at in range(60)]), "--method", "centroid")


@pytest.fixture(scope="session")
def _relations_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("relations")
    options = write_tables(folder, [f"n{at}" for at in range(60)], relations=True)
    return fit(folder, options, "--method", "centroid")


@pytest.fixture(scope="session")
def _hostile_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    ids = [f"n{at}" for at in range(30)] + HOSTILE
    options = write_tables(folder, ids, names=["x"] * 30 + HOSTILE)
    return fit(folder, options, "--method", "centroid")


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    """On a busy machine even a small graph may take a moment to explain."""
    monkeypatch.setattr("pugnn.explore.case.PATIENCE", 60.0)


@pytest.fixture
def run(_plain_run, tmp_path):
    return shutil.copytree(_plain_run, tmp_path / "mine")


@pytest.fixture
def relations_run(_relations_run, tmp_path):
    return shutil.copytree(_relations_run, tmp_path / "mine")


@pytest.fixture
def hostile_run(_hostile_run, tmp_path):
    return shutil.copytree(_hostile_run, tmp_path / "mine")


@pytest.fixture
def page(tmp_path):
    return stub_page(tmp_path / "page")


@pytest.fixture
def room(run):
    return opened(run)


@pytest.fixture
def client(run, page):
    return Client(run, page)
