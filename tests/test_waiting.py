import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from pugnn import waiting
from pugnn.waiting import advance, part, status_line, time_left
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


# ---------------------------------------------------------------------- how long the whole will take


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still unless it is moved: ``clock.now += 1``."""
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(waiting, "monotonic", lambda: clock.now)
    return clock


def test_what_is_left_is_that_of_the_whole(clock):
    assert time_left() is None
    with part(0, 1):
        assert time_left() is None, "nothing is done yet"
        for number in range(4):
            with part(number / 4, (number + 1) / 4):
                for fold in range(5):
                    with part(fold / 5, (fold + 1) / 5), part(0, 1):  # who knows no parts is one
                        advance(0.25)
                        clock.now += 2
                        advance(0.5)
                        assert time_left() == pytest.approx(_left(clock, number * 5 + fold + 0.5, 20))
                        clock.now += 2
                    assert time_left() == pytest.approx(4 * (19 - 5 * number - fold))
    assert time_left() is None


def _left(clock, done, parts):
    return (clock.now - 1000) * (parts - done) / done


def test_parts_may_have_different_lengths_and_be_skipped(clock):
    with part(0, 1):
        with part(0, 0.2):
            clock.now += 10
        assert time_left() == pytest.approx(40)
        with part(0.9, 1):
            clock.now += 35
            assert time_left() == pytest.approx(5)
        assert time_left() == 0


def test_a_part_without_length_shows_nothing(clock):
    with part(0, 0), part(0.5, 1):
        clock.now += 10
        advance(0.5)
        assert time_left() is None


def test_an_error_leaves_nothing_behind(clock):
    with pytest.raises(ValueError, match="broken"), part(0, 0.5), part(0.5, 1):
        raise ValueError("broken")
    assert time_left() is None
    advance(0.5)
    assert time_left() is None
    with part(0, 1):
        clock.now += 1
        advance(0.5)
        assert time_left() == 1


@pytest.mark.parametrize(("left", "words"), [(99, "about 99 s left"), (600, "about 10 min left")])
def test_whoever_writes_on_the_line_it_shows_what_is_left(monkeypatch, left, words):
    stream = replaced_stderr(monkeypatch)
    monkeypatch.setattr(waiting, "time_left", lambda: left)
    with status_line() as line:
        line.say("training nnpu without fold 2 of 5")
        stream.wait_for(f"training nnpu without fold 2 of 5, {words}")
