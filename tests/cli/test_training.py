"""What `fit` and `demo` show of a method's own words and of a collapse."""

import json
import sys
from dataclasses import replace

import pytest

from pugnn import Naive, PUNodeClassifier
from pugnn.cli.input_data import read_input
from pugnn.cli.options import DataOptions
from pugnn.cli.training import train_and_show
from pugnn.errors import WriteError
from pugnn.training import Adam


class Talkative(Naive):
    def fit(self, task, settings, **run):
        return replace(super().fit(task, settings, **run), notes=("The view [links] counted.",))


@pytest.fixture
def shown(tmp_path, monkeypatch, capsys):
    """Everything that the terminal shows of a short run on Cora."""
    monkeypatch.setenv("COLUMNS", "160")
    data = read_input(DataOptions(dataset="cora", labels=27), seed=0)

    def show(method, epochs=2, resume=False, batch_size="auto", **options):
        estimator = PUNodeClassifier(method, epochs=epochs, batch_size=batch_size, progress=False)
        train_and_show(estimator, data, name="cora", out=tmp_path / "run", resume=resume, **options)
        return capsys.readouterr()

    return show


def test_notes_of_the_method_come_before_the_finds(shown):
    lines = shown(Talkative(), as_json=False).out.splitlines()
    at = lines.index("· The view [links] counted.")
    assert any("Found:" in line for line in lines[at + 1 :])


def test_a_collapse_is_the_last_thing_that_is_shown(shown):
    captured = shown(Naive(), as_json=False)
    _, after = captured.out.split("! This result is degenerate\n")
    assert "- None of the 2,681 unlabelled nodes is decided positive" in after
    assert "report.html" not in after
    assert "degenerate" not in captured.err


def test_as_json_a_collapse_is_also_a_warning(shown):
    with pytest.warns(UserWarning, match="the result is degenerate"):
        record = json.loads(shown(Talkative(), as_json=True).out)
    assert record["method_notes"] == ["The view [links] counted."]
    assert "none-positive" in [reason["code"] for reason in record["degenerate"]]


def test_the_three_answers_come_first(shown, tmp_path):
    out = shown("views", as_json=False).out
    places = [
        out.index(words) for words in ("What is known", "What is measured", "What to do next", "Found: the 10 best")
    ]
    assert places == sorted(places)
    assert f"pugnn audit {tmp_path / 'run'}\nIn the browser: pugnn explore {tmp_path / 'run'}\n" in out
    assert "log-odds" in out


def test_the_memory_of_a_training_in_batches_is_shown_before_it_and_recorded(shown, tmp_path):
    captured = shown(Naive(), batch_size=500, as_json=True)
    words = "Training in batches of 500 unlabelled nodes takes about"
    assert f"note: {words}" in captured.err  # after what is said of compiled kernels
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["notes"][-1].startswith(words)
    assert record["method_notes"][0].startswith("Every step took 500 random unlabelled nodes")
    assert record["options"]["batch_size"] == 500


def test_little_memory_needs_no_words(shown):
    assert "memory" not in shown(Naive(), as_json=True).err


def test_batches_where_the_whole_graph_does_not_fit(shown, monkeypatch):
    monkeypatch.setenv("PUGNN_MEMORY", "2MB")
    err = shown(Naive(), as_json=True).err
    assert err.startswith("note: Training in batches of 256 unlabelled nodes takes about")
    assert ", and 2.0 MB are available." in " ".join(err.split())


@pytest.mark.skipif(sys.platform == "win32", reason="files have no limits there")
def test_a_full_disk_says_how_to_go_on(shown, tmp_path, capsys, monkeypatch):
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    step = Adam.step

    def fill(optimizer):
        step(optimizer)
        if optimizer.state()["0.step"] == 30:  # between the first checkpoint and the second
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))

    try:
        with monkeypatch.context() as patch:
            patch.setattr(Adam, "step", fill)
            with pytest.raises(WriteError, match=r"checkpoint.safetensors: File too large. Nothing was changed there"):
                shown(Naive(), epochs=50, as_json=False)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert f"stopped; the same options with --out {tmp_path / 'run'} --resume continue" in capsys.readouterr().err
    shown(Naive(), epochs=50, as_json=False, resume=True)
    assert (tmp_path / "run" / "report.html").exists()
