from pugnn.cli.waiting import shown_phases
from standard_error import replaced_stderr


def test_phases_are_named_once_they_take_long(monkeypatch):
    stream = replaced_stderr(monkeypatch)
    with shown_phases() as say:
        say("reading edges.csv")
        stream.wait_for("reading edges.csv")
        say("building [the] graph")
        stream.wait_for("building [the] graph")
