import time

from pugnn import waiting
from pugnn.cli.waiting import shown_phases


def test_phases_are_named_once_they_take_long(capsys, monkeypatch):
    monkeypatch.setattr(waiting, "PATIENCE", 0.05)
    monkeypatch.setattr(waiting.StatusLine, "_last_line", -float("inf"))
    with shown_phases() as say:
        say("reading edges.csv")
        time.sleep(0.1)
        say("building [the] graph")
    assert capsys.readouterr().err.splitlines()[-1] == "building [the] graph"
