"""Fit again, in a process of its own: the new run stands beside, and nothing is overwritten."""

import json
import time
from dataclasses import replace

import pytest

from e2e.own_tables import snapshot
from pugnn.cli.input_data import open_run
from rooms import Client


def wait(client, seconds=120):
    end = time.monotonic() + seconds
    while (found := client.get("api/learn"))["state"] == "running":
        assert time.monotonic() < end, found
        time.sleep(0.1)
    return found


@pytest.fixture
def checked(client):
    for at, row in enumerate(client.get("api/queue")["rows"]):
        client.post("decisions", node=row["node"], verdict="yes" if at % 2 else "no", queue="audit")
    return client


def test_the_next_round(checked, run):
    before = snapshot(run)
    assert checked.post("learn")["state"] == "running"
    assert checked.send("learn").status_code == 400  # one at a time
    assert checked.send("open", run="mine-2").status_code == 400  # it is not done
    found = wait(checked)
    assert found["state"] == "done", found
    assert found["run"] == "mine-2"
    assert found["seconds"] > 0
    after = snapshot(run)
    del before["cases.sqlite-shm"]  # SQLite's shared memory: whoever reads the log is in it
    assert {name: after[name] for name in before} == before
    record = json.loads((run.with_name("mine-2") / "run.json").read_text())
    assert record["parent"]["run"] == "../mine"
    assert record["labelled"] == 20
    assert record["negative"] == 10
    moved = record["changes"]
    told = [(each["id"], each["before"], each["after"]) for each in found["changes"]["rose"]]
    assert told == [(each["id"], each["rank_before"], each["rank_now"]) for each in moved["rose"][:10]]
    assert "10 nodes confirmed and 10 rejected" in found["changes"]["words"][0]
    assert found["measured"]["before"]["title"].startswith("Measured on 20 checks")

    for wrong in ("../mine-2", str(run), "mine", ""):
        assert checked.send("open", run=wrong).status_code == 400
    assert checked.post("open", run="mine-2") == {"ok": True}
    assert checked.get("api/run")["name"] == "mine-2"
    assert checked.get("api/run")["parent"] == "mine"
    assert checked.get("api/learn")["state"] == "idle"
    assert checked.get("api/queue")["checked"] == 0


def test_the_new_run_does_not_depend_on_later_decisions(checked, run):
    checked.post("learn")
    assert wait(checked)["state"] == "done"
    checked.post("undo")
    assert len(open_run(run.with_name("mine-2")).task.negative) == 10


def test_nothing_to_learn_from(client):
    found = client.send("learn")
    assert found.status_code == 400
    assert "confirm or reject" in found.json()["error"]


def test_other_tables_than_those_of_the_run_are_not_learnt_from(run, page, monkeypatch):
    opened = open_run(run)
    monkeypatch.setattr("rooms.open_run", lambda _: replace(opened, changed="edges differ"))
    client = Client(run, page)
    assert any("edges differ" in words for words in client.get("api/run")["caveats"])
    client.post("decisions", node=20, verdict="yes")
    found = client.send("learn")
    assert found.status_code == 400
    assert "learn from other data: edges differ. Restore them" in found.json()["error"]


def test_what_was_decided_during_the_training_is_told(checked, run):
    checked.post("learn")
    row = checked.get("api/queue", goal="finds")["rows"][-1]
    checked.post("decisions", node=row["node"], verdict="yes")
    assert wait(checked)["newer"] == 1
    checked.post("open", run="mine-2")
    words = "1 verdict in mine is newer than this training: fit again from there."
    assert words in checked.get("api/run")["caveats"]


def test_files_that_are_not_there_are_named_with_the_folder(checked, run, tmp_path, monkeypatch):
    options = checked.room.run.data.options
    monkeypatch.setitem(options, "edges", ["edges.csv"])
    monkeypatch.chdir(tmp_path)
    found = checked.send("learn")
    assert found.status_code == 400
    assert found.json()["error"].startswith(f"edges.csv is not there, seen from {tmp_path}")
    assert "Start `pugnn explore` in the folder" in found.json()["error"]


def test_cancelling(checked, run):
    checked.post("learn")
    assert checked.post("learn/cancel")["state"] == "cancelled"
    assert wait(checked)["state"] == "cancelled"
    assert not run.with_name("mine-2").exists()
    assert checked.post("learn")["state"] == "running"  # and again
    checked.server.close()
    assert checked.server.desk.learning.now()["state"] == "cancelled"


def test_a_training_that_fails_says_why(checked, run):
    file = run / "run.json"
    record = json.loads(file.read_text())
    record["options"]["edges"] = ["nowhere.csv"]
    file.write_text(json.dumps(record))
    checked.post("learn")
    found = wait(checked)
    assert found["state"] == "failed"
    assert "nowhere.csv" in found["error"]
