"""`pugnn history`: rounds, from the command line."""

import json
import shutil

import pytest

from e2e.own_tables import FIT


@pytest.fixture
def rounds(here, pugnn_main):
    """Two rounds, the first one audited."""
    assert pugnn_main(*FIT, "--out", "runs/first").code == 0
    (here / "checked.csv").write_text("id,verdict\nn2,yes\nn3,yes\nn9,no\n")
    assert pugnn_main("audit", "runs/first", "-n", "10").code == 0
    lines = (here / "runs/first/audit-1.csv").read_text().splitlines()
    filled = [line + ("yes" if line.split(",")[1] in {"n2", "n3"} else "no") for line in lines[1:]]
    (here / "all.csv").write_text("\n".join([lines[0], *filled]) + "\n")
    assert pugnn_main("audit", "runs/first", "all.csv").code == 0
    done = pugnn_main("fit", "--config", "runs/first/run.json", "--checked", "checked.csv", "--out", "runs/second")
    assert done.code == 0, done.err
    return here


def shown(pugnn_main, run="runs/second") -> dict:
    done = pugnn_main("history", run, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_rounds_are_shown_the_first_one_first(rounds, pugnn_main):
    first, second = shown(pugnn_main)["rounds"]
    assert [first["run"], second["run"]] == ["runs/first", "runs/second"]
    assert [first[name] for name in ("known", "confirmed", "rejected", "checks")] == [2, 0, 0, 10]
    assert [second[name] for name in ("known", "confirmed", "rejected", "checks")] == [4, 2, 1, 0]
    assert first["positives"] == {"value": 2.0, "low": 2.0, "high": 2.0}
    assert (second["first"], second["decided"], second["positives"]) == (None, None, None)
    assert first["rose"] == []
    done = pugnn_main("history", "runs/second")
    assert "2 rounds, the first one first" in done.out
    assert "not measured" in done.out
    assert "unknown" in done.out
    assert "2 (2 to 2)" in done.out


def test_a_run_without_a_parent_is_one_round(rounds, pugnn_main):
    assert [each["run"] for each in shown(pugnn_main, "runs/first")["rounds"]] == ["runs/first"]


def test_runs_that_were_moved_together_are_found(rounds, pugnn_main):
    (rounds / "runs").rename(rounds / "moved")
    assert [each["run"] for each in shown(pugnn_main, "moved/second")["rounds"]][1] == "moved/second"
    assert len(shown(pugnn_main, "moved/second")["rounds"]) == 2


def test_runs_in_several_folders_are_found_from_anywhere_and_moved_together(rounds, pugnn_main, monkeypatch, tmp_path):
    third = ["fit", "--config", "runs/second/run.json", "--rejected", "wrong.csv", "--out", "runs/later/third"]
    (rounds / "wrong.csv").write_text("id\nn8\n")
    assert pugnn_main(*third).code == 0
    expected = ["runs/first", "runs/second", "runs/later/third"]
    assert [each["run"] for each in shown(pugnn_main, "runs/later/third")["rounds"]] == expected
    (tmp_path / "elsewhere").mkdir()
    (rounds / "runs").rename(tmp_path / "elsewhere" / "runs")
    for here, folder in (("elsewhere", "runs/"), ("elsewhere/runs/later", "../"), (".", "elsewhere/runs/")):
        monkeypatch.chdir(tmp_path / here)
        run = "third" if folder == "../" else f"{folder}later/third"
        found = shown(pugnn_main, run)
        assert [each["run"] for each in found["rounds"]] == [f"{folder}first", f"{folder}second", run]
        assert found["notes"] == []


def test_each_round_has_what_was_checked_for_it(rounds, pugnn_main):
    (rounds / "more.csv").write_text("id,verdict\nn4,yes\nn7,no\nn8,no\n")
    fit = ["fit", "--config", "runs/second/run.json", "--checked", "more.csv", "--out", "runs/third"]
    assert pugnn_main(*fit).code == 0
    found = shown(pugnn_main, "runs/third")["rounds"]
    assert [[each[name] for name in ("known", "confirmed", "rejected")] for each in found] == [
        [2, 0, 0],
        [4, 2, 1],
        [5, 1, 2],
    ]


def test_a_parent_that_is_gone(rounds, pugnn_main):
    shutil.rmtree(rounds / "runs" / "first")
    found = shown(pugnn_main)
    assert len(found["rounds"]) == 1
    words = "the parent of runs/second, runs/first, is not there any more"
    assert found["notes"] == [f"earlier rounds are not shown: {words}"]
    assert words in pugnn_main("history", "runs/second").err


def spoil(file, change) -> None:
    record = json.loads(file.read_text())
    change(record)
    file.write_text(json.dumps(record))


def test_another_run_under_the_same_name(rounds, pugnn_main):
    spoil(rounds / "runs/first/run.json", lambda record: record.update(finished="2020-01-01T00:00:00+00:00"))
    found = shown(pugnn_main)
    assert len(found["rounds"]) == 1
    assert "runs/first is not the run that runs/second went on from" in found["notes"][0]


def test_a_loop(rounds, pugnn_main):
    second = json.loads((rounds / "runs/second/run.json").read_text())
    parent = {"run": "../second", "finished": second["finished"], "measured_prior": None}
    spoil(rounds / "runs/first/run.json", lambda record: record.update(parent=parent))
    found = shown(pugnn_main)
    assert len(found["rounds"]) == 2
    assert "runs/first names runs/second as its parent, which came after it" in found["notes"][0]


@pytest.mark.parametrize("entry", ["parent", "labelled", "changes"])
def test_a_record_that_was_changed(rounds, pugnn_main, entry):
    spoil(rounds / "runs/second/run.json", lambda record: record.update({entry: ["odd"]}))
    done = pugnn_main("history", "runs/second")
    assert "runs/second/run.json was changed after the run" in done.err
    assert "Traceback" not in done.err


def test_what_was_measured_is_unreadable(rounds, pugnn_main):
    (rounds / "runs/first/audit.json").write_text("[]")
    found = shown(pugnn_main)
    assert [each["run"] for each in found["rounds"]] == ["runs/second"]
    assert "runs/first/audit.json was changed" in found["notes"][0]


def test_no_run(here, pugnn_main):
    done = pugnn_main("history", "nothing")
    assert done.code == 2
    assert "nothing is not a run folder" in done.err
