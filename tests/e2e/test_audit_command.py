"""`pugnn audit`: draw nodes, record verdicts, measure how good the list is."""

import csv
import json
import re
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

from e2e.own_tables import table
from pugnn import PUNodeClassifier, draw_benchmark, load_dataset
from pugnn.cli import app


@pytest.fixture(scope="module")
def cora_run(tmp_path_factory):
    """A run on Cora with 30 known positives."""
    folder = tmp_path_factory.mktemp("cora") / "mine"
    fit = ["fit", "--dataset", "cora", "--labels", "30", "--method", "centroid", "--out", str(folder)]
    assert CliRunner().invoke(app, fit).exit_code == 0
    return folder


@pytest.fixture(scope="module")
def positive():
    data = load_dataset("cora")
    return {str(name) for name in data.graph.ids[data.positive].tolist()}


@pytest.fixture
def cora(cora_run, here):
    return shutil.copytree(cora_run, here / "cora")


@pytest.fixture
def run(run_folder, here):
    """A copy of the run on the path of twelve nodes, two of them known."""
    return shutil.copytree(run_folder, here / "mine")


def fill(file, positive, count=None, **how):
    """Fill in verdicts as a person would, and save the table."""
    rows = table(file)
    for row in rows[:count]:
        row["verdict"] = "yes" if row["id"] in positive else "no"
    write(file, rows, **how)


def write(file, rows, **how):
    with file.open("w", newline="", encoding="utf-8") as content:
        writer = csv.DictWriter(content, rows[0], **how)
        writer.writeheader()
        writer.writerows(rows)


def draws(run):
    return [json.loads(line) for line in (run / "audit.jsonl").read_text().splitlines()]


def test_draw_fill_in_record_and_measure(pugnn_main, cora, positive):
    drawn = pugnn_main("audit", cora)
    assert drawn.code == 0, drawn.err
    file = cora / "audit-1.csv"
    assert f"20 nodes to check, in random order: {file}" in drawn.out
    assert f"  pugnn audit {cora} {file}\n" in drawn.out
    rows = table(file)
    assert list(rows[0]) == ["audit", "id", "why", "link", "verdict"]
    assert all(row["why"] and row["link"] and not row["verdict"] for row in rows)

    status = pugnn_main("audit", cora)
    assert status.code == 0, status.err
    assert "audit-1.csv: 0 of 20 checked" in status.out
    assert not (cora / "audit-2.csv").exists(), "more are drawn with -n alone"

    fill(file, positive, 12)
    part = pugnn_main("audit", cora, file)
    assert part.code == 0, part.err
    assert "12 new verdicts recorded." in part.err
    assert "audit-1.csv: 12 of 20 checked" in part.out
    assert "Measured on 12 checks" in part.out
    assert f"pugnn audit {cora} {file}" in part.out

    fill(file, positive)
    whole = pugnn_main("audit", cora, file)
    assert whole.code == 0, whole.err
    assert "8 new verdicts recorded." in whole.err
    for words in ("Measured on 20 checks", "precision of the first 100", "positives among 2,678 unlabelled", "recall"):
        assert words in whole.out
    assert "20 more checks: ±" in whole.out
    assert whole.out.count("\n  pugnn ") == 1, "one next command"
    assert pugnn_main("audit", cora).out == whole.out, "the same without recording anything"
    assert "0 new verdicts recorded." in pugnn_main("audit", cora, file).err

    probabilities = np.array([float(row["probability"]) for row in table(cora / "probabilities.csv")])
    checked = {row["id"] for row in rows}
    unchecked = np.array([row["id"] not in checked for row in table(cora / "probabilities.csv")])
    assert len(probabilities) == 2678
    assert (np.diff(probabilities[unchecked]) <= 1e-12).all()


def test_a_second_draw_and_what_it_is_about(pugnn_main, cora, positive):
    assert pugnn_main("audit", cora, "-n", 10, "--about", "precision", "--seed", 3).code == 0
    assert pugnn_main("audit", cora, "-n", 10, "--about", "count").code == 0
    first, second = draws(cora)
    assert (first["about"], first["seed"], second["about"]) == ("precision", 3, "count")
    names = [{name for name, *_ in event["nodes"]} for event in (first, second)]
    assert names[0].isdisjoint(names[1])
    for file in ("audit-1.csv", "audit-2.csv"):
        fill(cora / file, positive)
    done = json.loads(pugnn_main("audit", cora, cora / "audit-1.csv", cora / "audit-2.csv", "--json").out)
    assert done["measured"]["checks"] == 20
    assert done["unfinished"] == []


def test_the_same_numbers_in_python(pugnn_main, cora, positive):
    assert pugnn_main("audit", cora, "-n", 30, "--about", "count", "--seed", 5).code == 0
    fill(cora / "audit-1.csv", positive)
    found = json.loads(pugnn_main("audit", cora, cora / "audit-1.csv", "--json").out)["measured"]
    task = draw_benchmark(load_dataset("cora"), labels=30, seed=0).task
    audit = PUNodeClassifier("centroid").fit_task(task).audit(30, about="count", seed=5)
    names = audit.graph.ids[audit.drawn].tolist()
    assert [str(name) for name in names] == [row["id"] for row in table(cora / "audit-1.csv")]
    audit.record(names, [str(name) in positive for name in names])
    assert json.loads(json.dumps(audit.estimate().to_plain())) == found


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--budget", 200], "a budget of 200: the first 200 nodes. Precision: "),
        (["--precision", 0.5], "a precision of 0.5: the first "),
        (["--recall", 0.9], "a recall of 0.9: the first "),
        (["--cost-miss", 50, "--cost-check", 1], ". Cost: "),
    ],
)
def test_lists_for_a_purpose(pugnn_main, cora, positive, arguments, words):
    assert pugnn_main("audit", cora).code == 0
    fill(cora / "audit-1.csv", positive)
    done = pugnn_main("audit", cora, cora / "audit-1.csv", *arguments)
    assert done.code == 0, done.err
    assert words in done.out
    choice = json.loads(pugnn_main("audit", cora, *arguments, "--json").out)["choice"]
    decided = [row["decision"] for row in table(cora / "probabilities.csv")]
    assert decided == ["1"] * choice["taken"] + ["0"] * (len(decided) - choice["taken"])
    for name in ("precision", "recall", "found", "missed"):
        assert choice[name]["low"] <= choice[name]["value"] <= choice[name]["high"]
    assert choice["missed"]["low"] < choice["missed"]["high"] or choice["taken"] == len(decided)


def test_a_list_stays_and_follows_what_is_recorded_later(pugnn_main, cora, positive):
    assert pugnn_main("audit", cora).code == 0
    fill(cora / "audit-1.csv", positive, 12)
    assert pugnn_main("audit", cora, cora / "audit-1.csv", "--recall", 0.9).code == 0
    first = json.loads((cora / "audit.json").read_text())["choice"]
    assert pugnn_main("audit", cora, "-n", 10).code == 0, "a draw leaves it as it is"
    fill(cora / "audit-1.csv", positive)
    done = pugnn_main("audit", cora, cora / "audit-1.csv")
    assert done.code == 0, done.err
    choice = json.loads((cora / "audit.json").read_text())["choice"]
    assert choice != first, "by the verdicts of now"
    assert f"For a recall of 0.9: the first {choice['taken']:,} nodes. Precision: " in done.out
    assert choice == json.loads(pugnn_main("audit", cora, "--recall", 0.9, "--json").out)["choice"]
    assert [row["decision"] for row in table(cora / "probabilities.csv")].count("1") == choice["taken"]
    sentence = next(line for line in done.out.splitlines() if line.startswith("For a recall"))
    assert sentence in (cora / "report.html").read_text()
    assert pugnn_main("audit", cora, "--budget", 30).code == 0
    assert "For a budget of 30" in pugnn_main("audit", cora).out, "another one replaces it"


def test_a_list_that_is_hardly_known_is_called_unknown(pugnn_main, cora, positive):
    assert pugnn_main("audit", cora, "-n", 4).code == 0
    fill(cora / "audit-1.csv", positive)
    done = pugnn_main("audit", cora, cora / "audit-1.csv", "--budget", 1000)
    assert "Precision: unknown, " in done.out
    assert "Positives missed: unknown, " in done.out


def test_all_of_the_first(pugnn_main, cora, positive):
    assert pugnn_main("audit", cora, "--all-of", 50).code == 0
    rows, ranked = table(cora / "audit-1.csv"), table(cora / "scores.csv")
    best = [row["id"] for row in ranked if row["known"] == "0"][:50]
    assert {row["id"] for row in rows} == set(best)
    fill(cora / "audit-1.csv", positive)
    done = pugnn_main("audit", cora, cora / "audit-1.csv", "--json")
    top = next(each for each in json.loads(done.out)["measured"]["first"] if each["taken"] == 50)
    share = len(positive & set(best)) / 50
    assert top["precision"] == {"value": share, "low": share, "high": share}


def test_the_file_of_suggest(pugnn_main, cora, positive, here):
    assert pugnn_main("suggest", cora, "-n", 15, "--out", "check.csv").code == 0
    fill(here / "check.csv", positive)
    done = pugnn_main("audit", cora, "check.csv")
    assert done.code == 0, done.err
    assert "Known from 15 nodes of your own choice" in done.out
    assert "no drawn node is checked yet" in done.out
    assert pugnn_main("audit", cora).code == 0
    assert (cora / "audit-1.csv").exists(), "a draw is still to come"
    assert {row["id"] for row in table(cora / "audit-1.csv")}.isdisjoint(row["id"] for row in table(here / "check.csv"))


@pytest.mark.parametrize("how", [{"delimiter": ";"}, {"lineterminator": "\r\n"}, {"quoting": csv.QUOTE_ALL}])
def test_a_file_that_a_spreadsheet_has_saved(pugnn_main, run, how):
    assert pugnn_main("audit", run, "-n", 6).code == 0
    rows = table(run / "audit-1.csv")
    answers = {row["id"]: "yes" if row["id"] in ("n2", "n3") else "no" for row in rows}
    rows = [{"note": "seen", **row, "verdict": answers[row["id"]].upper()} for row in reversed(rows)]
    write(run / "audit-1.csv", rows, **how)
    done = pugnn_main("audit", run, run / "audit-1.csv")
    assert done.code == 0, done.err
    recorded = {name: "yes" if positive else "no" for name, _, positive in draws(run)[-1]["verdicts"]}
    assert recorded == answers


def test_why_is_in_cells_of_the_table(pugnn_main, here):
    places, rows = ["Bern", "Genf", "Chur"], table(here / "nodes.csv")
    rows = [{**row, "city": places[at % 3], "y": row["y"] if at % 4 else ""} for at, row in enumerate(rows)]
    write(here / "nodes.csv", rows)
    tables = ["--edges", "edges.csv", "--nodes", "nodes.csv", "--positives", "positives.csv"]
    assert pugnn_main("fit", *tables, "--column", "city=category", "--out", "mine").code == 0
    assert pugnn_main("audit", "mine").code == 0
    for row in table(here / "mine" / "audit-1.csv"):
        mine = next(each for each in rows if each["id"] == row["id"])
        said = re.findall(r"(city|[xyz])( = (\S+?)| missing)(?=[,.] |\.$)", row["why"])
        assert said, row["why"]
        for name, missing, value in said:
            if missing == " missing":
                assert mine[name] == ""
            else:
                assert (
                    value == mine[name]
                    if name == "city"
                    else float(value) == pytest.approx(float(mine[name]), rel=1e-4)
                )
        assert row["why"].endswith("Linked to 1 known positive.") == (row["id"] == "n2")


def test_everything_checked_is_known(pugnn_main, run):
    assert pugnn_main("audit", run).code == 0
    assert len(table(run / "audit-1.csv")) == 10, "all there are"
    fill(run / "audit-1.csv", {"n2", "n3"})
    found = json.loads(pugnn_main("audit", run, run / "audit-1.csv", "--json").out)["measured"]
    assert found["positives"] == {"value": 2, "low": 2, "high": 2}
    told = pugnn_main("audit", run).out
    assert f"pugnn fit --config {run}/run.json --checked" in told, "nothing is left to check"
    assert told.rstrip().endswith(f" --out {run}-2")


@pytest.mark.parametrize("everybody", [set(), {f"n{i}" for i in range(12)}])
def test_nobody_or_everybody_positive(pugnn_main, run, everybody):
    assert pugnn_main("audit", run, "-n", 4).code == 0
    fill(run / "audit-1.csv", everybody)
    done = pugnn_main("audit", run, run / "audit-1.csv", "--recall", 0.9)
    assert done.code == 0, done.err
    assert f"{4 if everybody else 0} of them positive" in done.out


def test_a_file_that_is_gone_is_written_again(pugnn_main, run):
    assert pugnn_main("audit", run, "-n", 4, "--out", "check.csv").code == 0
    before = table(run.parent / "check.csv")
    fill(run.parent / "check.csv", {"n2"}, 1)
    assert pugnn_main("audit", run, "check.csv").code == 0
    (run.parent / "check.csv").unlink()
    again = pugnn_main("audit", run)
    assert again.code == 0, again.err
    assert "check.csv: 1 of 4 checked" in again.out
    rows = table(run.parent / "check.csv")
    assert [row["verdict"] for row in rows][1:] == ["", "", ""], "what was recorded is filled in"
    assert [row["id"] for row in rows] == [row["id"] for row in before]


def test_as_json(pugnn_main, run):
    drawn = json.loads(pugnn_main("audit", run, "-n", 3, "--json").out)
    assert drawn["file"] == str(run / "audit-1.csv")
    assert len(drawn["nodes"]) == 3
    status = json.loads(pugnn_main("audit", run, "--json").out)
    assert status == {
        "measured": None,
        "choice": None,
        "unfinished": [{"file": str(run / "audit-1.csv"), "drawn": 3, "checked": 0}],
    }
