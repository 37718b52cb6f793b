"""Statuses, queues and the audit of an open run."""

import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

from pugnn.cli import app
from pugnn.cli.input_data import open_run
from pugnn.errors import PugnnError
from pugnn.explore.room import QUEUES
from pugnn.runs.audit_log import audit_so_far, read_audit, read_events, recording
from rooms import opened


def decide(room, node, verdict, note=None, queue="list"):
    return room.decide(int(node), verdict, note, queue)


def audit_command(*arguments):
    result = CliRunner().invoke(app, ["audit", *map(str, arguments)])
    assert result.exit_code == 0, result.output


def test_statuses_follow_decisions_and_undos(room):
    a, b, c, d = room.run.others[:4]
    for node, verdict in ((a, "yes"), (b, "no"), (c, "skip"), (d, "note")):
        decide(room, node, verdict, "seen")
    assert [row["status"] for row in room.rows([a, b, c, d])] == ["confirmed", "rejected", "skipped", "open"]
    assert room.counts == {"open": len(room.run.others) - 3, "confirmed": 1, "rejected": 1, "skipped": 1}
    assert room.cases[int(d)].note == "seen"
    taken, node = room.undo(1)
    assert (taken.verdict, node) == ("yes", a)
    assert room.rows([a])[0]["status"] == "open"
    assert set(room.changed_since(0)) == {a, b, c, d}
    assert room.changed_since(4) == [a]


def test_known_nodes_get_notes_and_no_verdicts(room):
    known = int(room.run.task.labelled[0])
    with pytest.raises(PugnnError, match="known before"):
        decide(room, known, "no")
    decide(room, known, "note", "an old case")
    with pytest.raises(PugnnError, match="no node"):
        decide(room, 10_000, "yes")


def test_two_rooms_on_a_run_agree(run):
    one, two = opened(run), opened(run)
    decide(one, one.run.others[0], "yes")
    assert two.counts["confirmed"] == 0
    two.refresh()
    assert two.counts == one.counts


def test_the_audit_is_that_of_the_command(run, tmp_path):
    other = shutil.copytree(run, tmp_path / "other")
    room = opened(run)
    queue = room.queue("audit")
    audit_command(other)
    room.finish()
    assert (run / "audit-1.csv").read_text() == (other / "audit-1.csv").read_text()
    assert queue.nodes == read_audit(open_run(other)).drawn.tolist()
    file = other / "audit-1.csv"
    lines = file.read_text().splitlines()
    for at, node in enumerate(queue.nodes[:9]):
        decide(room, node, "yes" if at % 2 else "no", queue="audit")
        lines[at + 1] += "yes" if at % 2 else "no"
    file.write_text("\n".join(lines) + "\n")
    audit_command(other, file)
    ours, theirs = (read_audit(open_run(folder)) for folder in (run, other))
    assert ours.verdicts == theirs.verdicts
    assert ours.estimate().to_plain() == theirs.estimate().to_plain()
    assert room.progress == {"drawn": 20, "checked": 9}
    assert room.queue("audit").checked == 9
    so_far = audit_so_far(open_run(run))
    assert so_far["open"] == 11
    assert so_far["checked"] == [str(run / "cases.sqlite")]
    room.undo(None)
    assert len(read_audit(open_run(run)).verdicts) == 8


def test_the_command_sees_the_room_and_the_room_the_command(run, tmp_path):
    room = opened(run)
    nodes = room.queue("audit").nodes
    decide(room, nodes[0], "yes", queue="audit")
    file = tmp_path / "checked.csv"
    file.write_text(f"id,verdict\n{room.plain_id(nodes[1])},no\n")
    audit_command(run, file)
    room.refresh()
    assert [row["status"] for row in room.rows(nodes[:2])] == ["confirmed", "rejected"]
    file.write_text(f"id,verdict\n{room.plain_id(nodes[0])},no\n")
    assert CliRunner().invoke(app, ["audit", str(run), str(file)]).exit_code != 0  # it was recorded as yes
    audit_command(run, file, "--revise")
    room.refresh()
    assert room.rows(nodes[:1])[0]["status"] == "rejected"  # what was said last counts
    decide(room, nodes[0], "yes", queue="audit")
    assert room.rows(nodes[:1])[0]["status"] == "confirmed"


def test_what_was_decided_before_the_first_draw_cannot_be_drawn(run):
    room = opened(run)
    before = room.run.others[:5].tolist()
    for node in before:
        decide(room, node, "yes")
    drawn = room.queue("audit").nodes
    assert len(drawn) == 20
    assert not set(before) & set(drawn)
    again = read_audit(open_run(run))
    assert again.sample().others.tolist() == [0, 1, 2, 3, 4]
    assert len(again.sample().later) == 0
    room.undo(None)  # still no member of the sample, and no verdict either
    again = read_audit(open_run(run))
    assert len(again.sample().others) == 4
    assert len(again.verdicts) == 4
    with recording(open_run(run)) as audit:
        audit.draw(audit.left)
    assert not set(before) & set(audit.drawn.tolist())
    assert all("verdicts" not in event for event in read_events(run))  # they are stored once


def test_a_later_find_of_ones_own_is_no_sample(run):
    room = opened(run)
    drawn = set(room.queue("audit").nodes)
    own = next(node for node in room.run.others.tolist() if node not in drawn)
    decide(room, own, "yes", queue="finds")
    audit = read_audit(open_run(run))
    assert len(audit.sample().later) == 1
    assert len(audit.sample().drawn) == 0


@pytest.mark.parametrize("goal", QUEUES[1:])
def test_queues_keep_decided_nodes(room, goal):
    first = room.queue(goal)
    assert len(first.nodes) == len(set(first.nodes)) == len(first.reasons) <= 50
    assert first.checked == 0
    assert all(first.reasons)
    if first.nodes:
        decide(room, first.nodes[0], "yes", queue=goal)
        again = room.queue(goal)
        assert again.nodes == first.nodes
        assert again.checked == 1


def test_nothing_is_drawn_where_nothing_may_be_written(run):
    room = opened(run, read_only=True)
    assert room.queue("audit").nodes == []
    assert not (run / "audit.jsonl").exists()
    assert not (run / "cases.sqlite").exists()


def test_blind_rows_do_not_sway(room):
    row = room.rows(room.run.others[:1], blind=True)[0]
    assert row["score"] is row["rank"] is row["decided"] is None
    assert row["cells"]
    assert row["id"]


def test_rows_agree_with_the_table_of_scores(room, run):
    import pyarrow.parquet as pq

    table = pq.read_table(run / "scores.parquet").to_pylist()
    rows = room.rows(room.run.order)
    for written, row in zip(table, rows, strict=True):
        assert (row["id"], row["rank"], row["known"]) == (written["id"], written["rank"], written["known"])
        assert (row["hops"], int(row["decided"])) == (written["distance"], written["decision"])
        assert row["score"] == pytest.approx(written["score"], abs=1e-12)
        assert row["cells"] == [written["name"], written["city"]]
    assert np.isclose(room.log_odds[room.run.order], [each["log_odds"] for each in table]).all()
