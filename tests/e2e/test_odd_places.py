"""Names, places and machines that are not as one would wish: one line and exit code 2, and no run is lost."""

import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from archives import archive_bytes
from e2e.own_tables import FIT, PUGNN, TABLES, assert_refused, scores, snapshot
from pugnn.datasets import Archive

NO_UTF8 = os.fsdecode(b"run\xff")


def test_a_name_that_is_not_utf8(here, pugnn_main):
    result = pugnn_main(*FIT, "--out", NO_UTF8)
    assert result.code == 0
    assert "run?" in result.out
    assert (here / NO_UTF8 / "scores.parquet").read_bytes().startswith(b"PAR1")
    assert_refused(pugnn_main(*FIT, "--out", NO_UTF8), ["run� already exists"])
    pugnn_main("predict", NO_UTF8, *TABLES, "--out", NO_UTF8 + ".csv")
    assert scores(here / (NO_UTF8 + ".csv")) == scores(here / NO_UTF8 / "scores.csv")
    assert pugnn_main("predict", NO_UTF8, *TABLES, "--out", NO_UTF8 + ".parquet").code == 0
    assert (here / (NO_UTF8 + ".parquet")).read_bytes().startswith(b"PAR1")


def test_options_that_are_not_utf8_come_back_from_a_run(here, pugnn_main, monkeypatch):
    monkeypatch.setattr(sys.modules["pugnn.cli.commands.fit"], "read_input", _with_option("truth", NO_UTF8))
    assert pugnn_main(*FIT, "--out", "mine").code == 0
    assert json.loads((here / "mine" / "run.json").read_text())["options"]["truth"] == NO_UTF8


def _with_option(name, value):
    from dataclasses import replace

    from pugnn.cli.input_data import read_input

    def read(*options, **more):
        found = read_input(*options, **more)
        return replace(found, options={**found.options, name: value})

    return read


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("c.toml", 'edges = "e\\u0000.csv"', "edges holds a zero byte: e�.csv"),
        ("c.toml", 'column = ["a\\u0000=text"]', "column holds a zero byte"),
        ("c.toml", "a = " + "[" * 100_000, "nested too deeply"),
        ("c.json", "[" * 100_000, "not the run.json of a run"),
    ],
)
def test_configs_that_are_not_right(here, pugnn_main, name, text, words):
    (here / name).write_text(text)
    assert_refused(pugnn_main("fit", "--config", name), [words])


@pytest.mark.parametrize("options", [{"id": ["x"]}, {"source": {"a": 1}}, {"weight": True}])
def test_a_run_json_with_values_of_the_wrong_kind(here, pugnn_main, run_folder, options):
    shutil.copytree(run_folder, here / "mine")
    (here / "mine" / "run.json").write_text(json.dumps({"options": options}))
    result = pugnn_main("predict", "mine", *TABLES, "--out", "s.csv")
    assert_refused(result, [f"run.json: {next(iter(options))} must be text; got"])


@pytest.mark.parametrize("name", ["s.csv.zst", "s.xlsx", "s.json"])
def test_scores_in_a_format_that_is_not_written(here, pugnn_main, name):
    before = snapshot(here)
    result = pugnn_main("predict", "nowhere", *TABLES, "--out", name)
    assert_refused(result, [f"{name}: scores are written as .csv, .csv.gz or .parquet"])
    assert snapshot(here) == before


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(28, "No space left on device"), "error: No space left on device"),
        (PermissionError(13, "Permission denied", "\x1b[31m/x"), "error: �[31m/x: Permission denied"),
        (MemoryError("Unable to allocate 7 TiB"), "there is not enough memory: Unable to allocate 7 TiB"),
        (RecursionError(), "nested too deeply"),
    ],
)
def test_what_the_machine_cannot_do_is_one_line(here, pugnn_main, monkeypatch, error, words):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(sys.modules["pugnn.cli.commands.fit"], "read_input", fail)
    assert_refused(pugnn_main(*FIT), [words])


def test_a_mistake_of_ours_is_not_hidden(here, monkeypatch):
    from pugnn.cli import main

    def fail(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(sys.modules["pugnn.cli.commands.fit"], "read_input", fail)
    monkeypatch.setattr(sys, "argv", ["pugnn", *FIT])
    with pytest.raises(ZeroDivisionError):
        main()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_device_and_a_closed_pipe_lose_no_run(here):
    with open("/dev/full", "wb") as full:
        told = subprocess.run(
            [*PUGNN, *FIT, "--out", "mine"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert told.returncode == 2
    assert told.stderr.splitlines()[-1] == "error: cannot write to standard output: No space left on device"
    assert (here / "mine" / "run.json").exists()

    reading, writing = os.pipe()
    os.close(reading)
    quiet = subprocess.run(
        [*PUGNN, *FIT, "--out", "next"], stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)
    assert quiet.returncode == 0
    assert not {"error", "Traceback", "Exception"} & set(re.findall(r"\w+", quiet.stderr))
    assert (here / "next" / "run.json").exists()


def test_ids_of_a_data_set_are_exported_as_text(here, pugnn_main, monkeypatch):
    rng = np.random.default_rng(0)
    edges = np.array([range(11), range(1, 12)], dtype=np.int32)
    x = sp.csr_array(np.eye(12, dtype=np.float32))
    name = "=cmd;1"
    (here / "data" / name).mkdir(parents=True)
    labels = rng.permutation(np.arange(12) % 2).astype(np.int16)
    (here / "data" / name / f"{name}.npz").write_bytes(archive_bytes(Archive(edges, x, labels)))
    monkeypatch.setenv("PUGNN_DATA", str(here / "data"))
    assert pugnn_main("export", "--dataset", name, "--labels", "1", "--out", "tables").code == 0
    assert (here / "tables" / "edges.csv").read_text().splitlines()[1] == '"\'=cmd;1-0","\'=cmd;1-1"'


def test_the_umask_is_kept(here, pugnn_main):
    before = os.umask(0o077)
    try:
        pugnn_main(*FIT, "--out", "mine")
        pugnn_main("export", "--dataset", "cora", "--out", "tables")
    finally:
        os.umask(before)
    made = [path for name in ("mine", "tables") for path in (here / name, *(here / name).iterdir())]
    assert len(made) > 10
    assert [path.name for path in made if path.stat().st_mode & 0o077] == []
