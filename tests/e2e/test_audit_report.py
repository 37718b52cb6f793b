"""What an audit measures is in the report of the run, which is otherwise as it was."""

import csv
import json
import re

import numpy as np
import pytest

FIT = [
    "fit",
    "--edges",
    "edges.csv",
    "--nodes",
    "nodes.csv",
    "--positives",
    "positives.csv",
    "--method",
    "nnpu",
    "--epochs",
    "3",
    "--prior",
    "0.3",
]


@pytest.fixture
def run(pugnn_main, here):
    """A run on two halves of a graph, of which the first is positive."""
    rng = np.random.default_rng(3)
    ends = rng.integers(0, 100, (600, 2)) + 100 * rng.integers(0, 2, (600, 1))
    (here / "edges.csv").write_text("\n".join(["source,target", *(f"{a},{b}" for a, b in ends if a != b)]) + "\n")
    nodes = [f"{node},{rng.normal() + (node < 100):.3f}" for node in range(200)]
    (here / "nodes.csv").write_text("\n".join(["id,x", *nodes, "200,1", "200,1"]) + "\n")
    (here / "positives.csv").write_text("\n".join(["id", *map(str, range(0, 100, 5))]) + "\n")
    assert pugnn_main(*FIT, "--out", "mine").code == 0
    return here / "mine"


def words_of(page):
    return " ".join(re.sub(r"<[^>]+>", " ", page.split("<main>")[1].split("<script")[0]).split())


def test_the_report_follows_the_audit(pugnn_main, run):
    before = words_of((run / "report.html").read_text())
    assert "pugnn audit mine" in before
    assert "The curves" in before
    assert pugnn_main("audit", "mine", "-n", "10").code == 0
    assert "pugnn audit mine mine/audit-1.csv" in words_of((run / "report.html").read_text())
    with (run / "audit-1.csv").open() as file:
        rows = list(csv.DictReader(file))
    checked = "".join(f"{row['id']},{'yes' if int(row['id']) < 100 else 'no'}\n" for row in rows)
    (run.parent / "checked.csv").write_text("id,verdict\n" + checked)
    told = pugnn_main("audit", "mine", "checked.csv", "--json")
    assert told.code == 0, told.err
    measured = json.loads(told.out)["measured"]
    after = words_of((run / "report.html").read_text())
    assert "Measured on 10 checks." in after
    assert "pugnn fit --config mine/run.json --checked checked.csv --out mine-2" in after
    high = measured["positives"]["high"]
    assert f"to {high:,.0f}" in after or f"to {round(high, -1):,.0f}" in after
    # Nothing of the training is lost: neither curves and recipe nor repairs.
    parts = [
        words[words.index("Check-up of the data") : words.index("Settings and versions")] for words in (before, after)
    ]
    assert parts[0] == parts[1]
