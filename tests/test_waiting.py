import io
import sys
import time

import pytest

from pugnn import waiting
from pugnn.waiting import StatusLine, current_line


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(waiting, "PATIENCE", 0.05)
    monkeypatch.setattr(waiting, "LINE_EVERY", 0.2)
    monkeypatch.setattr(waiting, "_LOOK_EVERY", 0.01)
    monkeypatch.setattr(StatusLine, "_last_line", -float("inf"))


def make_terminal(monkeypatch):
    """A terminal in place of standard error."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    return stream


def test_short_work_says_nothing(capsys):
    with StatusLine() as line:
        line.say("reading edges.csv")
    assert capsys.readouterr() == ("", "")


def test_long_work_is_named_on_standard_error(capsys, quick):
    with StatusLine() as line:
        time.sleep(0.1)
        line.say("building [the] graph")
    assert capsys.readouterr() == ("", "building [the] graph\n")


def test_a_long_phase_repeats_itself_with_the_seconds_so_far(capsys, quick):
    with StatusLine() as line:
        line.say("reading edges.csv")
        time.sleep(0.6)
    lines = capsys.readouterr().err.splitlines()
    assert 2 <= len(lines) <= 3
    assert all(line in ("reading edges.csv (0 s so far)", "reading edges.csv (1 s so far)") for line in lines)


def test_how_far_it_is_shows_when_a_line_is_due(capsys, quick):
    with StatusLine() as line:
        line.say("epoch 1")
        time.sleep(0.1)
        line.update("epoch 2")
        time.sleep(0.3)
    assert [line[:7] for line in capsys.readouterr().err.splitlines()] == ["epoch 1", "epoch 2"]


def test_short_things_one_after_the_other_are_not_all_worth_a_line(capsys, quick, monkeypatch):
    monkeypatch.setattr(waiting, "PATIENCE", 60)
    for number in range(3):
        with StatusLine(patience=0) as line:
            line.say(f"compiling {number}")
    assert capsys.readouterr().err == "compiling 0\n"


def test_on_a_terminal_a_line_appears_and_goes_away(quick, monkeypatch):
    terminal = make_terminal(monkeypatch)
    with StatusLine() as line:
        line.say("reading edges.csv")
        time.sleep(0.3)
    assert "reading edges.csv" in terminal.getvalue()
    assert terminal.getvalue().endswith("\x1b[2K")  # the line is erased


def test_inside_another_line_it_is_plain(quick, monkeypatch):
    terminal = make_terminal(monkeypatch)
    with StatusLine() as outer:
        outer.say("training")
        with StatusLine(patience=0) as inner:
            inner.say("compiling")
        assert current_line() is outer
    assert current_line() is None
    assert terminal.getvalue() == "compiling\n"


def test_it_is_cleared_away_after_an_error(quick):
    def work():
        with StatusLine():
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        work()
    assert current_line() is None
