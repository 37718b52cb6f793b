"""What all tests of the command line share."""

import sys
import warnings
from functools import cache
from types import SimpleNamespace

import pytest
import typer.main
from typer.testing import CliRunner

from e2e.own_tables import FIT, write_tables
from pugnn.cli import app, main
from pugnn.errors import PugnnWarning


@pytest.fixture(autouse=True, scope="session")
def _commands_made_once():
    """A process has one command line; to make it anew for each call would take a tenth of the time of all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", cache(typer.main.get_command))
        yield


@pytest.fixture
def pugnn_main(monkeypatch, capfd):
    """Call the entry point as the shell would; gives exit code, standard output and standard error."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["pugnn", *map(str, arguments)])
        capfd.readouterr()
        with warnings.catch_warnings():
            warnings.simplefilter("default", PugnnWarning)
            with pytest.raises(SystemExit) as left:
                main()
        out, err = capfd.readouterr()
        # Whichever test is the first to need a kernel on a new machine sees that it is compiled.
        err = "".join(line for line in err.splitlines(keepends=True) if "pugnn: compil" not in line)
        return SimpleNamespace(code=left.value.code or 0, out=out, err=err)

    return call


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An own folder with a path of twelve nodes in CSV files, the first two known positives."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("PUGNN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("pugnn.waiting.SILENT_SECONDS", 600)  # on a busy machine there would be words on the phases
    write_tables(folder)
    return folder


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory):
    """A run of the tables, trained once."""
    folder = tmp_path_factory.mktemp("run")
    write_tables(folder)
    tables = [str(folder / argument) if argument.endswith(".csv") else argument for argument in FIT]
    assert CliRunner().invoke(app, [*tables, "--out", str(folder / "mine")]).exit_code == 0
    return folder / "mine"
