"""A command parses the tables, smooths the graph and sorts the nodes once; commands on a run parse nothing."""

import numpy as np
import pytest

from e2e.own_tables import NODES, TABLES, table
from pugnn.graph.smoothing import Smoother
from pugnn.store.assembly import assemble as assembling

DATA = [*TABLES, "--positives", "positives.csv"]
FIT = ["fit", *DATA, "--out", "run"]
SPACE = ["--method", "smoothed-logistic", "--over", "inverse_penalty=0.1..10", "--trials", "20"]
SWEEP = ["sweep", *DATA, *SPACE, "--jobs", "1", "--out", "sweep"]
ON_RUN = (["evaluate", "run"], ["suggest", "run"], ["explain", "run", "--top", "3"])
WIDTH = 3 + 1  # all attributes, and a column of ones


@pytest.mark.parametrize("command", [FIT, SWEEP, *ON_RUN], ids=lambda command: command[0])
def test_each_step_is_done_once(here, pugnn_main, monkeypatch, command):
    if command in ON_RUN:
        assert pugnn_main(*FIT).code == 0
    parsed, smoothed, ordered = [], [], []
    parse, smooth, argsort = assembling._assemble, Smoother.smooth, np.argsort
    monkeypatch.setattr(assembling, "_assemble", lambda *given: parsed.append(given) or parse(*given))
    monkeypatch.setattr(Smoother, "smooth", lambda self, x: smoothed.append(x.shape[1]) or smooth(self, x))
    monkeypatch.setattr(np, "argsort", lambda x, **how: ordered.append(np.array(x)) or argsort(x, **how))
    done = pugnn_main(*command)
    assert done.code == 0, done.err
    assert len(parsed) == (command not in ON_RUN)
    assert smoothed.count(WIDTH) == (command[0] != "explain")  # which smooths its few nodes instead
    assert len(smoothed) == len(set(smoothed))
    if command[0] != "sweep":
        ranking = [NODES.index(row["id"]) for row in table(here / "run" / "scores.csv")]
        sorted_by = [values for values in ordered if values.shape == (len(NODES),)]
        times = sum(argsort(values, kind="stable").tolist() == ranking for values in sorted_by)
        assert times == 1
