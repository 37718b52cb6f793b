"""`pugnn explore`: what it refuses, and what it hands to the server."""

import builtins
import json
import os
import shutil
from pathlib import Path

import pytest

from pugnn.evidence.degenerate import RANKING_LOST
from pugnn.explore import replies, serving


@pytest.fixture
def run(run_folder, here):
    return shutil.copytree(run_folder, here / "mine")


@pytest.fixture
def page(here, monkeypatch):
    folder = here / "page"
    folder.mkdir()
    (folder / "index.html").write_text("<!doctype html>")
    monkeypatch.setattr(replies, "PAGE", folder)
    return folder


@pytest.fixture
def served(monkeypatch):
    """How the server was started, without starting it."""
    found = {}

    def serve(server, *, started, **how):
        found.update(how, server=server)
        started("http://127.0.0.1:1/token/")

    monkeypatch.setattr(serving, "serve", serve)
    monkeypatch.setattr("webbrowser.open", lambda url: found.update(opened=url))
    return found


def test_the_address_is_printed_and_opened(pugnn_main, run, page, served):
    result = pugnn_main("explore", run)
    assert result.code == 0
    assert result.out.splitlines()[0] == "http://127.0.0.1:1/token/" == served["opened"]
    assert (served["host"], served["port"], served["token"]) == ("127.0.0.1", 0, None)
    assert served["server"].desk.room.who
    assert not served["server"].desk.room.read_only


def test_options(pugnn_main, run, page, served):
    how = ("--no-browser", "--json", "--read-only", "--who", "ann", "--port", "8123")
    result = pugnn_main("explore", run, *how)
    assert json.loads(result.out) == {"url": "http://127.0.0.1:1/token/"}
    assert "opened" not in served
    assert served["port"] == 8123
    assert served["server"].desk.room.who == "ann"
    assert served["server"].desk.room.read_only


def refused(result, *words):
    assert result.code == 2
    assert result.err.startswith("error: ")
    assert all(word in result.err for word in words), result.err


def test_what_cannot_be_explored(pugnn_main, here, run, page):
    refused(pugnn_main("explore", here), "is not a run folder")
    tables = ("--edges", "edges.csv", "--nodes", "nodes.csv")
    assert pugnn_main("build", *tables, "--out", "store").code == 0
    refused(pugnn_main("explore", "store"), "is a graph store", "pugnn fit --store store")
    record = json.loads((run / "run.json").read_text())
    record["degenerate"] = [{"code": next(iter(RANKING_LOST)), "text": ""}]
    (run / "run.json").write_text(json.dumps(record))
    refused(pugnn_main("explore", run), "means nothing", "run again")


def test_a_folder_that_cannot_be_written_to(pugnn_main, run, page, served, monkeypatch):
    (run / "cases.sqlite").touch()
    for locked in ("mine", "cases.sqlite"):
        monkeypatch.setattr("os.access", lambda path, mode, locked=locked: mode != os.W_OK or Path(path).name != locked)
        refused(pugnn_main("explore", run), "cannot be written to", "--read-only")
    (run / "cases.sqlite").unlink()
    assert pugnn_main("explore", run, "--read-only", "--no-browser").code == 0


def test_others_need_a_token(pugnn_main, run, page):
    refused(pugnn_main("explore", run, "--host", "192.168.7.7"), "set a token with --token")


def test_a_page_that_was_not_built(pugnn_main, run, page):
    (page / "index.html").unlink()
    refused(pugnn_main("explore", run), "was not built", "npm run build")


def test_missing_packages(pugnn_main, run, page, monkeypatch):
    plain_import = builtins.__import__

    def without(name, *rest):
        if name == "pugnn.explore.server":
            raise ModuleNotFoundError("No module named 'starlette'", name="starlette")
        return plain_import(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    refused(pugnn_main("explore", run), "needs starlette", "pip install 'pugnn[explore]'")
