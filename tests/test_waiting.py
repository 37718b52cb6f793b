import subprocess
import sys
import time

import pytest

from pugnn.waiting import status_line
from standard_error import replaced_stderr


def test_short_work_says_nothing(monkeypatch):
    stream = replaced_stderr(monkeypatch, patience=60)
    with status_line() as line:
        line.say("reading edges.csv")
    assert stream.getvalue() == ""


def test_long_work_is_named(monkeypatch):
    stream = replaced_stderr(monkeypatch, line_every=60)
    with status_line() as line:
        time.sleep(0.1)
        line.say("building [the] graph")
    assert stream.getvalue() == "building [the] graph\n"


def test_a_long_phase_repeats_itself_with_the_seconds_so_far(monkeypatch):
    stream = replaced_stderr(monkeypatch)
    with status_line() as line:
        line.say("reading edges.csv")
        stream.wait_for("reading edges.csv (1 s so far)\n", times=2)


def test_how_far_it_is_shows_when_a_line_is_due(monkeypatch):
    stream = replaced_stderr(monkeypatch)
    with status_line() as line:
        line.say("epoch 1")
        stream.wait_for("epoch 1")
        line.update("epoch 2")
        stream.wait_for("epoch 2")


def test_short_things_one_after_the_other_are_not_all_worth_a_line():
    code = """
from pugnn import waiting
waiting.SILENT_SECONDS = 60
for number in range(3):
    with waiting.status_line(patience=0) as line:
        line.say(f"compiling {number}")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "compiling 0\n"


def test_on_a_terminal_a_line_appears_and_goes_away(monkeypatch):
    stream = replaced_stderr(monkeypatch, terminal=True)
    with status_line() as line:
        line.say("reading edges.csv")
        stream.wait_for("reading edges.csv")
    assert stream.getvalue().endswith("\x1b[2K")  # the line is erased


def test_inside_another_it_is_the_same_line(monkeypatch):
    stream = replaced_stderr(monkeypatch)
    with status_line() as outer:
        outer.say("training")
        with status_line() as inner:
            assert inner is outer
            inner.say("compiling")
            stream.wait_for("compiling")
        stream.wait_for("training")


def test_after_an_error_the_next_line_is_a_new_one():
    def work():
        with status_line() as line:
            lines.append(line)
            raise ValueError("broken")

    lines = []
    for _ in range(2):
        with pytest.raises(ValueError, match="broken"):
            work()
    assert lines[0] is not lines[1]
