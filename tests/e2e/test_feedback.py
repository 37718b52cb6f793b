"""Checked nodes, from the command line: `--confirmed`, `--rejected`, and going on from an earlier run."""

import csv
import json

import pytest

from e2e.own_tables import FIT, assert_refused, scores, snapshot, table

FIRST = [*FIT, "--out", "first"]
GO_ON = ["fit", "--config", "first/run.json", "--confirmed", "right.csv", "--rejected", "wrong.csv"]


def record(folder) -> dict:
    return json.loads((folder / "run.json").read_text())


@pytest.fixture
def checked(here, pugnn_main):
    """A run, and two lists of checked nodes."""
    assert pugnn_main(*FIRST).code == 0
    (here / "right.csv").write_text("id\nn2\n")
    (here / "wrong.csv").write_text("id\nn9\nn10\n")
    return here


def test_a_run_with_feedback_goes_on_from_the_last_and_says_what_changed(checked, pugnn_main):
    done = pugnn_main(*GO_ON, "--out", "second")
    assert done.code == 0, done.err
    assert "3 positives and 2 negatives among 12 nodes" in done.out
    assert "Since first" in done.out
    assert "1 confirmed, 2 rejected" in done.out
    assert "views starts from its regression every time" in done.out
    rows = {row["id"]: row for row in table(checked / "second" / "scores.csv")}
    assert {node for node, row in rows.items() if row["known"] == "1"} == {"n0", "n1", "n2"}
    for node in ("n9", "n10"):
        assert (rows[node]["known"], float(rows[node]["score"]), rows[node]["decision"]) == ("-1", 0.0, "0")
    found = record(checked / "second")
    assert (found["labelled"], found["negative"], found["unlabelled"]) == (3, 2, 7)
    assert found["changes"]["before"] == "first"
    assert not found["changes"]["warm"]
    assert {each["id"] for each in found["changes"]["rose"]}.isdisjoint({"n0", "n1", "n2", "n9", "n10"})


def test_such_a_run_repeats_bit_for_bit_and_the_first_does_as_well(checked, pugnn_main):
    assert pugnn_main(*GO_ON, "--out", "second").code == 0
    assert pugnn_main("fit", "--config", "second/run.json", "--out", "again").code == 0
    assert scores(checked / "again" / "scores.csv") == scores(checked / "second" / "scores.csv")
    assert record(checked / "again")["options"] == record(checked / "second")["options"]
    assert pugnn_main("fit", "--config", "first/run.json", "--out", "first-again").code == 0
    assert scores(checked / "first-again" / "scores.csv") == scores(checked / "first" / "scores.csv")
    assert record(checked / "first-again")["changes"] is None


def test_rounds_add_up(checked, pugnn_main):
    assert pugnn_main(*GO_ON, "--out", "second").code == 0
    (checked / "more.csv").write_text("id\nn3\n")
    done = pugnn_main("fit", "--config", "second/run.json", "--confirmed", "more.csv", "--out", "third")
    assert done.code == 0, done.err
    found = record(checked / "third")
    assert found["options"]["confirmed"] == ["right.csv", "more.csv"]
    assert found["options"]["rejected"] == ["wrong.csv"]
    assert found["options"]["start"] == "second"
    assert (found["labelled"], found["negative"]) == (4, 2)
    assert (found["changes"]["confirmed"], found["changes"]["rejected"]) == (1, 0), "since the second"


def test_without_the_earlier_model_it_starts_afresh_and_says_so(checked, pugnn_main):
    (checked / "first" / "model.safetensors").unlink()
    done = pugnn_main(*GO_ON, "--out", "second")
    assert done.code == 0
    assert "note: the training starts afresh, without the model of the earlier run" in done.err
    assert "started from scratch" in done.out
    assert not record(checked / "second")["changes"]["warm"]


def test_another_method_starts_afresh_and_says_so(checked, pugnn_main):
    tables = ["--edges", "edges.csv", "--nodes", "nodes.csv", "--positives", "positives.csv", "--start", "first"]
    done = pugnn_main("fit", *tables, "--method", "naive", "--rejected", "wrong.csv", "--epochs", 3, "--out", "second")
    assert done.code == 0, done.err
    assert "Nothing of the earlier model is taken over: the earlier model was made by views, not by naive" in done.out


def test_no_feedback_yet_is_a_note(checked, pugnn_main):
    (checked / "right.csv").write_text("id\n")
    (checked / "wrong.csv").write_text("")
    done = pugnn_main(*GO_ON, "--out", "second")
    assert done.code == 0, done.err
    assert "note: right.csv: has no confirmed nodes yet" in done.err
    assert "note: wrong.csv: has no rejected nodes yet" in done.err


def test_a_named_data_set(here, pugnn_main):
    fit = ["fit", "--dataset", "cora", "--labels", 10, "--method", "centroid"]
    assert pugnn_main(*fit, "--out", "first").code == 0
    found = [row["id"] for row in table(here / "first" / "scores.csv") if row["known"] == "0"][:4]
    (here / "right.csv").write_text("\n".join(["id", *found[:2]]) + "\n")
    (here / "wrong.csv").write_text("\n".join(["id", *found[2:]]) + "\n")
    done = pugnn_main(*fit, "--confirmed", "right.csv", "--rejected", "wrong.csv", "--out", "second")
    assert done.code == 0, done.err
    first, second = record(here / "first"), record(here / "second")
    assert second["labelled"] == 12
    assert second["negative"] == 2
    assert second["changes"] is None  # there is no earlier run
    assert first["metrics"]["test_nodes"] - second["metrics"]["test_nodes"] <= 4  # checked nodes are no test nodes


@pytest.mark.parametrize(
    ("right", "wrong", "more", "fragments"),
    [
        ("n3", "n3", [], ["wrong.csv rejects 'n3'", "right.csv confirms it"]),
        ("n3", "n0", [], ["wrong.csv rejects 'n0'", "known positive of positives.csv"]),
        ("n3", "zz", [], ["wrong.csv, row 2", "'zz' is not a node of the graph"]),
        ("zz", "n3", [], ["right.csv, row 2", "'zz' is not a node of the graph"]),
        ("n3\nn4", "n5", ["--prior", "0.1"], ["2 nodes of --confirmed", "0.1", "about 1 of the 10 nodes", "--prior"]),
    ],
)
def test_bad_feedback_is_refused(checked, pugnn_main, right, wrong, more, fragments):
    (checked / "right.csv").write_text(f"id\n{right}\n")
    (checked / "wrong.csv").write_text(f"id\n{wrong}\n")
    before = snapshot(checked)
    assert_refused(pugnn_main(*GO_ON, *more, "--out", "second"), fragments)
    assert snapshot(checked) == before


def test_all_nodes_are_known(checked, pugnn_main):
    (checked / "wrong.csv").write_text("\n".join(["id", *(f"n{i}" for i in range(3, 12))]) + "\n")
    assert_refused(pugnn_main(*GO_ON, "--out", "second"), ["nothing left to find"])


def test_check_reads_the_config_of_a_run_with_feedback(checked, pugnn_main):
    assert pugnn_main(*GO_ON, "--out", "second").code == 0
    one, two = (pugnn_main("check", "--config", f"{run}/run.json", "--json") for run in ("first", "second"))
    assert (one.code, two.code) == (0, 0)
    assert json.loads(one.out) == json.loads(two.out)


# ---------------------------------------------------------------------- the table of suggestions, filled in


def fill_in(path, verdicts: dict[str, str], separator: str = ",") -> None:
    rows = table(path)
    lines = [list(rows[0]), *([*list(row.values())[:-1], verdicts.get(row["id"], "")] for row in rows)]
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file, delimiter=separator).writerows(lines)


@pytest.mark.parametrize("separator", [",", ";"])
def test_the_table_of_suggestions_goes_back_in(checked, pugnn_main, separator):
    done = pugnn_main("suggest", "first", "-n", 10, "--out", "to_check.csv")
    assert done.code == 0, done.err
    assert "pugnn fit --config first/run.json --checked to_check.csv" in done.out
    fill_in(checked / "to_check.csv", {"n2": "Yes", "n9": "no", "n10": "0"}, separator)
    done = pugnn_main("fit", "--config", "first/run.json", "--checked", "to_check.csv", "--out", "second")
    assert done.code == 0, done.err
    assert "note: to_check.csv: verdicts: 1 yes, 2 no, 7 not given yet" in done.err
    assert "1 confirmed, 2 rejected" in done.out
    assert "views starts from its regression every time" in done.out
    assert pugnn_main(*GO_ON, "--out", "lists").code == 0
    assert scores(checked / "second" / "scores.csv") == scores(checked / "lists" / "scores.csv")
    assert pugnn_main("fit", "--config", "second/run.json", "--out", "again").code == 0
    assert scores(checked / "second" / "scores.csv") == scores(checked / "again" / "scores.csv")


def test_rounds_of_verdicts_and_lists_add_up(checked, pugnn_main):
    assert pugnn_main(*GO_ON, "--out", "second").code == 0
    (checked / "one.csv").write_text("id,verdict\nn3,yes\nn4,no\n")
    assert pugnn_main("fit", "--config", "second/run.json", "--checked", "one.csv", "--out", "third").code == 0
    (checked / "two.csv").write_text("id,verdict\nn5,yes\n")
    go_on = ["fit", "--config", "third/run.json", "--checked", "two.csv", "--start", "second"]
    assert pugnn_main(*go_on, "--out", "fourth").code == 0
    found = record(checked / "fourth")
    assert found["options"]["checked"] == ["one.csv", "two.csv"]
    assert found["options"]["start"] == "second"
    assert (found["labelled"], found["negative"]) == (5, 3)


def test_verdicts_that_are_not_given_yet_are_a_note(checked, pugnn_main):
    (checked / "to_check.csv").write_text("id,rank,score,reason,verdict\nn3,1,0.9,near,\n")
    done = pugnn_main("fit", "--config", "first/run.json", "--checked", "to_check.csv", "--out", "second")
    assert done.code == 0, done.err
    assert "note: to_check.csv: has no verdicts yet" in done.err


@pytest.mark.parametrize(
    ("rows", "more", "fragments"),
    [
        ("n3,perhaps", [], ["to_check.csv, row 2: the verdict 'perhaps' is neither yes nor no"]),
        ("n3,yes\nn3,no", [], ["to_check.csv, row 3 rejects 'n3', but to_check.csv, row 2 confirms it"]),
        ("n2,no", ["--confirmed", "right.csv"], ["to_check.csv rejects 'n2', but right.csv confirms it"]),
        ("n9,yes", ["--rejected", "wrong.csv"], ["wrong.csv rejects 'n9', but to_check.csv confirms it"]),
        ("n0,no", [], ["to_check.csv rejects 'n0', which is a known positive of positives.csv"]),
        ("n3,yes\nn4,yes", ["--prior", "0.1"], ["2 nodes of --checked are more than the prior allows"]),
    ],
)
def test_bad_verdicts_are_refused(checked, pugnn_main, rows, more, fragments):
    (checked / "to_check.csv").write_text(f"id,verdict\n{rows}\n")
    before = snapshot(checked)
    go_on = ["fit", "--config", "first/run.json", "--checked", "to_check.csv", *more, "--out", "second"]
    assert_refused(pugnn_main(*go_on), fragments)
    assert snapshot(checked) == before


def test_a_column_of_verdicts_is_never_said_not_to_be_there(checked, pugnn_main):
    (checked / "to_check.csv").write_text("id,verdict\nn3,yes\nn4,no\n")
    go_on = ["fit", "--config", "first/run.json", "--confirmed", "to_check.csv", "--out", "second"]
    assert_refused(pugnn_main(*go_on), ["'verdict' may say", "give the table as --checked FILE"])
    refused = pugnn_main(*go_on, "--label", "verdict")
    assert_refused(refused, ["--label names the column 'verdict' of known or true positives", "--checked"])
    assert "there is no column 'verdict'" not in refused.err


@pytest.fixture
def audited(here, pugnn_main):
    """A run, and an audit of it: eight of its ten unlabelled nodes are checked, three of them positive."""
    assert pugnn_main(*FIRST).code == 0
    drawn = pugnn_main("audit", "first", "-n", 8)
    assert drawn.code == 0, drawn.err
    lines = (here / "first" / "audit-1.csv").read_text().splitlines()
    filled = [line + ("yes" if line.split(",")[1] in {"n2", "n3", "n4", "n5"} else "no") for line in lines[1:]]
    (here / "first" / "audit-1.csv").write_text("\n".join([lines[0], *filled]) + "\n")
    assert pugnn_main("audit", "first", "first/audit-1.csv").code == 0
    return here


AUDITED = ["fit", "--config", "first/run.json", "--checked", "first/audit-1.csv"]


def test_an_audit_measures_the_prior_of_the_next_round(audited, pugnn_main):
    done = pugnn_main(*AUDITED, "--out", "second")
    assert done.code == 0, done.err
    found = record(audited / "second")
    measured = json.loads((audited / "first" / "audit.json").read_text())["measured"]["positives"]
    ends = [max((measured[name] - found["labelled"] + 2) / 2, 0.25) for name in ("low", "high")]
    assert found["options"]["prior"] == "..".join(f"{min(end, 0.93):.4g}" for end in ends)
    assert f"the prior {found['options']['prior']} was measured on 8 checks of first" in done.err
    first = record(audited / "first")["finished"]
    assert found["parent"] == {"run": "../first", "finished": first, "measured_prior": found["options"]["prior"]}
    assert pugnn_main("fit", "--config", "second/run.json", "--out", "again").code == 0
    assert scores(audited / "again" / "scores.csv") == scores(audited / "second" / "scores.csv")
    assert record(audited / "again")["parent"] == found["parent"]


def test_what_was_measured_holds_for_the_rounds_after(audited, pugnn_main):
    assert pugnn_main(*AUDITED, "--out", "second").code == 0
    drawn = {row["id"] for row in table(audited / "first" / "audit-1.csv")}
    left = sorted({f"n{at}" for at in range(2, 12)} - drawn)[0]
    (audited / "wrong.csv").write_text(f"id\n{left}\n")
    done = pugnn_main("fit", "--config", "second/run.json", "--rejected", "wrong.csv", "--out", "third")
    assert done.code == 0, done.err
    assert "was measured in a round before second" in done.err
    assert record(audited / "third")["parent"]["measured_prior"] == record(audited / "third")["options"]["prior"]


def test_verdicts_that_no_file_brings_are_told_with_the_command_that_takes_them(audited, pugnn_main):
    command = "pugnn fit --config first/run.json --checked first/audit-1.csv"
    words = (
        f"note: 8 verdicts in first/audit.jsonl left out, since no given file has them. To learn from them: {command}\n"
    )
    again = pugnn_main("fit", "--config", "first/run.json", "--out", "again")
    assert again.code == 0, again.err
    assert words in again.err
    assert scores(audited / "again" / "scores.csv") == scores(audited / "first" / "scores.csv"), "it repeats the run"
    done = pugnn_main(*command.split()[1:], "--out", "second")
    assert done.code == 0, done.err
    assert "left out" not in done.err
    assert record(audited / "second")["negative"] + record(audited / "second")["labelled"] == 10


@pytest.mark.parametrize("prior", [[], ["--prior", "0.6"]])
def test_verdicts_that_other_files_lack_are_told_as_well(audited, pugnn_main, prior):
    rows = table(audited / "first" / "audit-1.csv")[:3]
    (audited / "some.csv").write_text("\n".join(["id,verdict", *(f"{row['id']},{row['verdict']}" for row in rows)]))
    done = pugnn_main("fit", "--config", "first/run.json", "--checked", "some.csv", *prior, "--out", "second")
    assert done.code == 0, done.err
    assert "5 verdicts in first/audit.jsonl left out" in done.err
    assert "pugnn fit --config first/run.json --checked some.csv --checked first/audit-1.csv\n" in done.err
    (audited / "first" / "audit-1.csv").unlink()
    done = pugnn_main("fit", "--config", "first/run.json", "--out", "again")
    assert "(after 'first/audit-1.csv' is back, or its verdicts are in another file)" in done.err


def test_a_log_that_was_changed_is_told(audited, pugnn_main):
    with (audited / "first" / "audit.jsonl").open("a") as log:
        log.write("{}\n")
    done = pugnn_main("fit", "--config", "first/run.json", "--out", "again")
    assert done.code == 0, done.err
    assert done.err.count("the audit of first is not used: first/audit.jsonl: line 3 was changed or cut off") == 1


def test_a_prior_that_the_user_gives_wins(audited, pugnn_main):
    done = pugnn_main(*AUDITED, "--prior", "0.4", "--out", "second")
    assert done.code == 0, done.err
    assert "was measured" not in done.err
    assert record(audited / "second")["options"]["prior"] == 0.4
    assert record(audited / "second")["parent"]["measured_prior"] is None
