"""`pugnn evaluate`: how good the ranking of a run is."""

import json
import shutil

import pytest

from e2e.own_tables import FIT, assert_refused


@pytest.fixture
def run(run_folder, tmp_path):
    """A copy of the run that the tests share."""
    return shutil.copytree(run_folder, tmp_path / "mine")


def test_bands_are_shown_and_written(pugnn_main, here, run):
    result = pugnn_main("evaluate", run, "--methods", "centroid")
    assert result.code == 0, result.err
    assert "Of the 2 known positives, hidden in turn" in result.out
    assert "cannot be told from so few" in result.out
    found = json.loads((run / "estimate.json").read_text())
    assert list(found) == ["views", "centroid"]
    band = found["views"]["auc"]
    assert f"{100 * band['low']:.0f} to {100 * band['high']:.0f} %" in result.out


def test_a_method_that_does_not_exist_is_refused(pugnn_main, here, run):
    assert_refused(pugnn_main("evaluate", run, "--methods", "nope"), ["'nope'"])
    assert not (run / "estimate.json").exists()


def test_one_known_positive_gives_no_band(pugnn_main, here):
    (here / "positives.csv").write_text("id\nn0\n")
    fitted = pugnn_main(*FIT, "--out", "one")
    assert fitted.code == 0, fitted.err
    assert "Nobody can tell yet. With a single known positive" in " ".join(fitted.out.split())
    assert_refused(pugnn_main("evaluate", "one"), ["with one known positive, nothing can be hidden"])
