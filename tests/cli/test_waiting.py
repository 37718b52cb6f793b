import time

import pytest

from pugnn.cli import waiting


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(waiting, "PATIENCE", 0.05)


def test_short_work_says_nothing(capsys):
    with waiting.shown_phases() as say:
        say("reading edges.csv")
    assert capsys.readouterr() == ("", "")


def test_long_work_is_named_on_standard_error(capsys, quick):
    with waiting.shown_phases() as say:
        say("reading edges.csv")
        time.sleep(0.1)
        say("building [the] graph")
    out, err = capsys.readouterr()
    assert (out, err) == ("", "building [the] graph\n")


def test_on_a_terminal_a_line_appears_and_goes_away(capsys, quick, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with waiting.shown_phases() as say:
        say("reading edges.csv")
        time.sleep(0.3)
    assert "reading edges.csv" in capsys.readouterr().err


def test_it_is_cleared_away_after_an_error(quick):
    def work():
        with waiting.shown_phases():
            time.sleep(0.1)
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        work()
