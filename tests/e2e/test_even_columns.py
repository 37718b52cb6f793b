"""Columns that are standardised to mean 0 and spread 1 exactly: the command line and Python agree on them."""

import numpy as np
import pytest

from e2e.own_tables import table
from pugnn import PUNodeClassifier, read_graph

COUNT = 30
STEPS = np.arange(COUNT)
COLUMNS = {
    "even steps": STEPS[:, None],
    "balanced signs": np.where(STEPS % 2, 1, -1)[:, None],
    "steps and signs": np.column_stack([3 * STEPS + 7, np.where(STEPS < 15, 1, -1)]),
    "constant": np.column_stack([STEPS, np.full(COUNT, 5)]),
    "one of three": np.eye(3, dtype=int)[STEPS % 3],
    "standardised": np.column_stack([(STEPS - 14.5) / STEPS.std(), np.where(STEPS % 2, 1.0, -1.0)]),
}


@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)
def test_the_command_line_and_python_agree(here, pugnn_main, columns):
    edges = [f"{node},{node + 1}" for node in range(COUNT - 1)]
    rows = [f"{node},{','.join(map(repr, row))}" for node, row in enumerate(columns.tolist())]
    header = ",".join(["id", *(f"x{at}" for at in range(columns.shape[1]))])
    (here / "edges.csv").write_text("\n".join(["source,target", *edges]) + "\n")
    (here / "nodes.csv").write_text("\n".join([header, *rows]) + "\n")
    (here / "positives.csv").write_text("id\n0\n1\n")
    tables = ["--edges", "edges.csv", "--nodes", "nodes.csv", "--positives", "positives.csv"]
    done = pugnn_main("fit", *tables, "--epochs", "3", "--out", "mine")
    assert done.code == 0, done.err
    found = {row["id"]: float(row["score"]) for row in table(here / "mine" / "scores.csv")}
    graph = read_graph("edges.csv", "nodes.csv").graph
    scores = PUNodeClassifier(epochs=3, progress=False).fit(graph, ["0", "1"]).predict_proba()[:, 1]
    assert found == pytest.approx(dict(zip(graph.ids.tolist(), scores.tolist(), strict=True)), abs=1e-6)
    assert len(np.unique(scores.round(9))) > 5
    assert pugnn_main("predict", "mine", "--edges", "edges.csv", "--nodes", "nodes.csv", "--out", "p.csv").code == 0
    again = {row["id"]: float(row["score"]) for row in table(here / "p.csv")}
    assert again == pytest.approx(found, abs=1e-6)
