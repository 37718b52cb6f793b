import pytest

from pugnn import waiting
from pugnn.training.progress import epoch_progress
from standard_error import replaced_stderr


def test_a_line_says_how_far_it_is(monkeypatch):
    stream = replaced_stderr(monkeypatch)
    with epoch_progress(30) as show:
        stream.wait_for("training: first of 30 epochs")  # a long one is not silent
        show(29, 0.5)
        stream.wait_for("training: epoch 29 of 30, loss 0.5000, about 0 s left")


def test_it_names_the_part_and_counts_the_time_left_from_the_epochs_of_this_run(monkeypatch):
    stream, now = replaced_stderr(monkeypatch), [0.0]
    monkeypatch.setattr(waiting, "monotonic", lambda: now[0])
    with epoch_progress(30, 20, part=1, show=False) as show:
        now[0] = 4.0
        show(21, 0.5)
        assert waiting.time_left() == pytest.approx(36)
        show(28, 0.5)
        assert waiting.time_left() == pytest.approx(1)
    assert stream.getvalue() == ""
    monkeypatch.undo()
    stream = replaced_stderr(monkeypatch)
    with epoch_progress(30, 20, part=1) as show:
        stream.wait_for("training 2: first of 10 epochs")
        show(21, 0.5)
        stream.wait_for("training 2: epoch 21 of 30, loss 0.5000, about ")


def test_there_are_lines_at_least_every_ten_seconds():
    assert waiting.LINE_EVERY == 10
