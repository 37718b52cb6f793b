import re
import time

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
    stream, before = replaced_stderr(monkeypatch), time.monotonic()
    with epoch_progress(30, 20, part=1) as show:
        stream.wait_for("training 2: first of 10 epochs")
        time.sleep(0.3)
        show(21, 0.5)
        most = time.monotonic() - before
        stream.wait_for("training 2: epoch 21 of 30, loss 0.5000, about ")
    (left,) = set(re.findall(r"about (\d+) s left", stream.getvalue()))
    assert 9 * 0.3 - 0.5 <= int(left) <= 9 * most + 0.5


def test_there_are_lines_at_least_every_ten_seconds():
    assert waiting.LINE_EVERY == 10
