"""Tables with many columns, and attributes without their zeros, through the command line."""

import json

import numpy as np
import scipy.sparse as sp

from e2e.own_tables import FIT, NODES, assert_refused, scores, table

CHECK = ["check", "--edges", "edges.csv", "--nodes", "nodes.csv", "--positives", "positives.csv"]
COUNTS = np.where(np.random.default_rng(1).random((12, 40)) < 0.1, 2, 0)
COUNTS[np.arange(40) % 12, np.arange(40)] = 1  # no word is nobody's


def write_words(folder):
    rows = [[node, *counts] for node, counts in zip(NODES, COUNTS.tolist(), strict=True)]
    header = ["id", *(f"w_{at}" for at in range(40))]
    (folder / "nodes.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in [header, *rows]))
    node, word = COUNTS.nonzero()
    lines = [f"{NODES[i]},w_{j},{COUNTS[i, j]}\n" for i, j in zip(node, word, strict=True)]
    (folder / "words.csv").write_text("id,word,count\n" + "".join(lines))
    sp.save_npz(folder / "words.npz", sp.csr_array(COUNTS))
    (folder / "ids.csv").write_text("id\n" + "\n".join(NODES) + "\n")


def test_a_line_for_all_counts_and_a_line_for_each(here, pugnn_main):
    write_words(here)
    brief, full = pugnn_main(*CHECK).out, pugnn_main(*CHECK, "--verbose").out
    assert "40 columns   counts         40   " in brief
    assert "w_7" not in brief
    assert all(f" w_{at} " in full for at in range(40))
    record = json.loads(pugnn_main(*CHECK, "--json").out)["recipe"]
    assert [line["column"] for line in record] == [f"w_{at}" for at in range(40)]


def test_the_verdict_comes_first(here, pugnn_main):
    out = pugnn_main(*CHECK).out
    assert (
        out.index("Advice: what the default method will do here")
        < out.index("Graph")
        < out.index("How attributes become features")
    )


def test_the_report_of_many_columns_is_short(here, pugnn_main):
    write_words(here)
    assert pugnn_main(*FIT, "--out", "run").code == 0
    page = (here / "run" / "report.html").read_text()
    assert "<b>40 columns</b>" in page
    assert "<b>w_" not in page, "one line for all of them"


def test_all_forms_of_the_same_counts_give_the_same_scores(here, pugnn_main):
    write_words(here)
    fit = ["fit", "--edges", "edges.csv", "--positives", "positives.csv", "--epochs", "3"]
    assert pugnn_main(*fit, "--nodes", "nodes.csv", "--column", "w_*=counts", "--out", "wide").code == 0
    assert pugnn_main(*fit, "--nodes", "ids.csv", "--attributes", "words.npz", "--out", "matrix").code == 0
    assert scores(here / "wide" / "scores.csv") == scores(here / "matrix" / "scores.csv")
    assert pugnn_main(*fit, "--nodes", "ids.csv", "--attributes", "words.csv", "--out", "long").code == 0
    # In a long table words come in the order of their first row, so features and weights stand in another order.
    again = ["predict", "long", "--edges", "edges.csv", "--nodes", "ids.csv", "--attributes", "words.csv"]
    assert pugnn_main(*again, "--out", "again.csv").code == 0
    assert scores(here / "again.csv") == scores(here / "long" / "scores.csv")
    assert pugnn_main("fit", "--config", "long/run.json", "--out", "repeated").code == 0
    assert scores(here / "repeated" / "scores.csv") == scores(here / "long" / "scores.csv")


def test_labels_in_the_list_of_positives(here, pugnn_main):
    (here / "positives.csv").write_text("id,checked\nn0,1\nn1,1\nn5,0\n")
    assert_refused(pugnn_main(*FIT, "--out", "run"), ["positives.csv: 'checked' may say", "--label COLUMN"])
    result = pugnn_main(*FIT, "--label", "checked", "--out", "run")
    assert "note: positives.csv: column 'checked' says which rows are positives: 2 of 3 rows" in result.err
    assert {row["id"] for row in table(here / "run" / "scores.csv") if row["known"] == "1"} == {"n0", "n1"}
    again = ["predict", "run", "--edges", "edges.csv", "--nodes", "nodes.csv", "--positives", "positives.csv"]
    assert pugnn_main(*again, "--out", "again.csv").code == 0  # the run knows the column
    assert scores(here / "again.csv") == scores(here / "run" / "scores.csv")
