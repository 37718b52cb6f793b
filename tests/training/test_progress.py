import io
import sys
import time

import pytest

from pugnn import waiting
from pugnn.training.progress import EpochProgress


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(waiting, "PATIENCE", 0.0)
    monkeypatch.setattr(waiting, "_LOOK_EVERY", 0.01)
    monkeypatch.setattr(waiting.StatusLine, "_last_line", -float("inf"))


def test_off_a_terminal_there_is_a_line_now_and_then(capsys, quick, monkeypatch):
    monkeypatch.setattr(waiting, "LINE_EVERY", 0.2)
    with EpochProgress(3) as bar:
        bar.update(1, 0.5)
        time.sleep(0.1)
        bar.update(2, 0.25)
        time.sleep(0.3)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("training: the first epoch")
    assert lines[-1].startswith("training: epoch 2 of 3, loss 0.2500 (0 s so far)")


def test_a_long_first_epoch_is_not_silent(capsys, quick):
    with EpochProgress(3, part=1):
        time.sleep(0.1)
    assert capsys.readouterr().err.startswith("training 2: the first epoch")


def test_there_are_lines_at_least_every_ten_seconds():
    assert waiting.LINE_EVERY == 10


def test_on_a_terminal_there_is_a_bar_that_goes_away(quick, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with EpochProgress(3) as bar:
        bar.update(1, 0.5)
        bar.update(2, 0.25)
    assert "2/3" in stream.getvalue()
    assert "loss 0.2500" in stream.getvalue()


def test_it_can_be_silent(capsys, quick):
    with EpochProgress(3, show=False) as bar:
        bar.update(1, 0.5)
    assert capsys.readouterr().err == ""
