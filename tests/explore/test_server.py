"""Every address of the room, and parameters that make no sense."""

import json
import sqlite3

import pytest

from pugnn.errors import PugnnError
from pugnn.explore.replies import read_page
from rooms import HOSTILE, TOKEN, Client


def test_the_page_and_its_parts(client):
    assert client.ask("").headers["content-type"].startswith("text/html")
    assert client.ask("assets/app.js").headers["content-type"].startswith("text/javascript")
    assert client.ask("assets/other.js").status_code == 404


def test_a_page_that_was_not_built_says_how(tmp_path):
    with pytest.raises(PugnnError, match="npm run build"):
        read_page(tmp_path)


def test_the_run(client):
    found, run = client.get("api/run"), client.room.run
    assert (found["name"], found["path"]) == ("mine", str(run.path))
    assert (found["nodes"], found["edges"]) == (run.task.graph.num_nodes, run.task.graph.num_edges)
    assert (found["labelled"], found["unlabelled"], found["decided"]) == (10, 50, run.found)
    assert found["columns"] == ["name", "city"]
    assert found["relations"] == []
    assert found["parent"] is None
    assert sum(ring["count"] for ring in found["rings"]) == 50
    assert found["counts"]["open"] == 50
    assert found["audit"] == {"drawn": 0, "checked": 0}
    assert found["who"] == "me"
    assert found["signal"] in (True, False)
    assert not found["readOnly"]


def test_a_whole_round(client):
    queue = client.get("api/queue")
    assert (queue["goal"], queue["checked"], queue["total"]) == ("audit", 0, 20)
    for at, row in enumerate(queue["rows"], 1):
        assert row["score"] is None
        assert row["reason"]
        case = client.get(f"api/case/{row['node']}", blind=1)
        assert case["row"]["id"] == row["id"]
        reply = client.post("decisions", node=row["node"], verdict="yes" if at % 2 else "no", queue="audit", note="n")
        assert reply["seq"] == at
        assert reply["audit"] == {"drawn": 20, "checked": at}
        assert reply["note"] == "n"
    assert client.get("api/quality")["measured"]["title"] == "Measured on 20 checks, 10 of them positive"
    undone = client.post("undo")
    assert undone["row"]["node"] == queue["rows"][-1]["node"]
    assert undone["row"]["status"] == "open"
    assert undone["seq"] == 21
    assert undone["audit"]["checked"] == 19
    assert client.send("undo", seq=20).status_code == 409
    changes = client.get("api/changes", after=19)
    assert (changes["seq"], [row["node"] for row in changes["rows"]]) == (21, [queue["rows"][-1]["node"]])
    cases = client.get("api/cases", status="confirmed")
    assert cases["total"] == 10
    assert {row["status"] for row in cases["rows"]} == {"confirmed"}


def test_a_window_of_another_run_changes_nothing(client):
    row = client.get("api/queue", goal="finds")["rows"][0]
    here, own = client.get("api/run")["path"], {"node": row["node"], "id": row["id"], "verdict": "yes"}
    wrong = ({"shows": f"{here}-2"}, {"shows": here, "id": "another"})
    for refused in (client.send("decisions", **{**own, **each}) for each in wrong):
        assert refused.status_code == 409
        assert refused.json()["error"] == "this window shows another run than the room; reload it"
    for path in ("undo", "learn", "learn/cancel", "open"):
        assert client.send(path, shows=f"{here}-2").status_code == 409
    assert client.get("api/changes")["seq"] == 0
    assert client.post("decisions", **own, shows=here)["seq"] == 1


def test_what_others_did_is_told_with_their_names(client):
    first = client.post("decisions", node=20, verdict="yes")["seq"]
    client.room.decisions.add("n20", "no", note=None, queue="list", who="Bob")
    changes = client.get("api/changes", after=first)
    assert changes["path"] == client.get("api/run")["path"]
    assert changes["seq"] == client.get("api/run")["seq"]
    assert changes["events"] == [{"seq": 2, "node": 20, "who": "Bob", "verdict": "no"}]
    refused = client.send("undo", seq=first)
    assert (refused.status_code, refused.json()["error"]) == (409, "Bob rejected n20 after that")


def test_lists(client):
    found = client.get("api/nodes", limit=7, offset=3)
    assert found["total"] == 60
    assert found["offset"] == 3
    assert len(found["rows"]) == 7
    last = client.get("api/nodes", offset=59)["rows"]
    assert len(last) == 1
    assert client.get("api/nodes", offset=60)["rows"] == []
    assert client.get("api/nodes/place", node=last[0]["node"]) == {"place": 59}
    assert client.get("api/nodes/place", node=last[0]["node"], q="nothing") == {"place": None}


def test_graphs(client):
    hub = max(range(60), key=lambda node: len(client.room.graph.neighbours(node)))
    found = client.get("api/graph", nodes=f"{hub},0", hops=1)
    assert {hub, 0} <= {node["node"] for node in found["nodes"]}
    assert {"source", "target", "relation", "weight"} == set(found["edges"][0])
    more = client.get("api/expand", node=hub, have=0, by="score", count=2)
    assert len(more["nodes"]) == 3
    assert more["left"]
    assert client.get("api/path", node=hub)["path"][0]["node"] == hub


@pytest.mark.parametrize(
    "address",
    [
        "nodes?limit=501",
        "nodes?offset=-1",
        "nodes?offset=1e3",
        "nodes?offset=99999999999999999999",
        "nodes?sort=__class__",
        "nodes?sort=score;DROP TABLE events",
        "nodes?status=open,closed",
        "nodes?decided=2",
        "nodes?min=nan",
        "nodes?hops=x",
        "nodes?relation=x",
        f"nodes?q={'x' * 1001}",
        "nodes/place?node=",
        "case/60",
        "graph?nodes=0,x",
        "graph?nodes=0&hops=4",
        f"graph?nodes={','.join(['0'] * 2001)}",
        "expand?node=0&by=name",
        "expand?node=0&count=2001",
        "expand",
        "path?node=60",
        "queue?goal=other",
        "cases?status=open",
        "export?format=exe",
        "export",
        "changes?after=-1",
    ],
)
def test_requests_that_make_no_sense(client, address):
    found = client.raw("GET", f"/{TOKEN}/api/{address}")
    assert found.status_code == 400
    assert found.json()["error"]


@pytest.mark.parametrize("address", ["case/x", "case/-1", "case/1.5", "nope", "decisions", "undo", "open"])
def test_addresses_that_there_are_not(client, address):
    assert client.raw("GET", f"/{TOKEN}/api/{address}").status_code in (404, 405)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b"\xff",
        b"[" * 50_000,
        b'{"node": 20}',
        b'{"node": 20, "verdict": "maybe"}',
        b'{"node": 20, "verdict": ["yes"]}',
        b'{"node": "20", "verdict": "yes"}',
        b'{"node": true, "verdict": "yes"}',
        b'{"node": 2.5, "verdict": "yes"}',
        b'{"node": -1, "verdict": "yes"}',
        b'{"node": 60, "verdict": "yes"}',
        b'{"verdict": "yes"}',
        b'{"node": 20, "verdict": "note"}',
        b'{"node": 20, "verdict": "yes", "note": 5}',
        b'{"node": 20, "verdict": "yes", "queue": "elsewhere"}',
        b'{"node": 20, "verdict": "yes", "who": "somebody else"}',
        b'{"node": 20, "verdict": "undo"}',
    ],
)
def test_decisions_that_make_no_sense(client, body):
    headers = {"content-type": "application/json"}
    found = client.raw("POST", f"/{TOKEN}/api/decisions", content=body, headers=headers)
    assert found.status_code == 400
    assert found.json()["error"]
    assert client.get("api/changes")["seq"] == 0


def test_a_full_disk_is_told_and_changes_nothing(client):
    client.post("decisions", node=20, verdict="yes")
    connection = client.room.decisions._connected()
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    found = client.send("decisions", node=21, verdict="note", note="x" * 9_000)
    assert found.status_code == 507
    assert "nothing was saved" in found.json()["error"]
    assert client.get("api/changes")["seq"] == 1
    assert client.get("api/case/21")["note"] == ""


def test_hostile_ids_and_notes_are_text(hostile_run, page):
    client = Client(hostile_run, page)
    for at, text in enumerate(HOSTILE):
        node = 30 + at
        reply = client.send("decisions", node=node, verdict="note", note=text[:10_000])
        assert reply.headers["content-type"] == "application/json"
        assert reply.json()["note"] == text[:10_000]
        row = reply.json()["row"]
        cut = text if len(text) <= 200 else text[:199] + "…"
        assert row["id"] == cut
        assert row["cells"][0] == cut
        case = client.get(f"api/case/{node}")
        assert case["note"] == text[:10_000]
        assert case["columns"][0]["value"] == text[:10_000]
        assert client.get("api/nodes", q=text[:50], known=0)["total"] >= 1
        assert client.get("api/cases", q=text[:50])["total"] >= 1
    halves = client.raw(
        "POST",
        f"/{TOKEN}/api/decisions",
        content=b'{"node": 20, "verdict": "note", "note": "\\ud800"}',
        headers={"content-type": "application/json"},
    )
    assert halves.json()["note"] == "?"
    names = [
        json.loads(node) for (node,) in sqlite3.connect(hostile_run / "cases.sqlite").execute("SELECT node FROM events")
    ]
    assert names[: len(HOSTILE)] == HOSTILE
