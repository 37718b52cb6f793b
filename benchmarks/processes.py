"""Two processes against one, on the same batches: the same loss, in how much less time?

    python benchmarks/processes.py            # three minutes on two cores

The training of the default method on rows that numpy makes up: a million rows of 33 numbers, a thousand of them
labelled; a perceptron and six linear models, as `views` has them. Every process has one thread. The runs take turns, so
that noise hits all alike; the fastest of each kind counts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time

import numpy as np
import torch

from measuring import machine, table
from pugnn import processes
from pugnn.graph import Graph
from pugnn.losses import Sets, confident_prior_matching
from pugnn.models import Committee
from pugnn.models.views.rows import Rows
from pugnn.training import RowBatches, TrainingSettings, train

WIDTH, LABELLED, MODELS, PRIOR = 33, 1_000, 6, 0.1


def made_up(nodes: int) -> Rows:
    """Rows of length 1; the first tenth, with the labelled ones, lies apart from the others."""
    rows = np.random.default_rng(0).normal(size=(nodes, WIDTH)).astype(np.float32)
    rows[: int(PRIOR * nodes), :4] += 2
    return Rows.of(torch.nn.functional.normalize(torch.from_numpy(rows), dim=1))


def train_once(nodes: int, batch: int, steps: int) -> dict[str, object]:
    """Train for some steps; every term of the loss at each, and the seconds that they took."""
    rows = made_up(nodes)
    graph = Graph.from_edges([0], [1], num_nodes=nodes)
    loader = RowBatches(graph, rows, Sets(torch.arange(LABELLED), torch.arange(LABELLED, nodes)), batch)
    seen = torch.ones(LABELLED, MODELS + 1)[processes.own_share(LABELLED)]
    confidence, started = 0.0, 0.0

    def before_epoch(epoch, optimizer):  # type: ignore[no-untyped-def]  # noqa: ARG001
        nonlocal confidence, started
        confidence = min(1.0, 2 * epoch / steps)
        if epoch == 1:  # the first step compiles
            started = time.perf_counter()

    def objective(output, batch, seed):  # type: ignore[no-untyped-def]  # noqa: ARG001
        return confident_prior_matching(output.embedding, batch.sets, seen, PRIOR, 1.0, confidence)

    def build(*_: object) -> Committee:
        return Committee(WIDTH, hidden=64, dropout=0.5, linear_models=MODELS)

    settings = TrainingSettings(backbone="mlp", epochs=steps, weight_decay=1e-5)
    log = train(loader, objective, settings, build=build, before_epoch=before_epoch).log
    seconds = time.perf_counter() - started
    terms = [{name: value for name, value in record.items() if name not in ("epoch", "seconds")} for record in log]
    return {"rows per second": (steps - 1) * (LABELLED + batch) / seconds, "terms": terms}


def launched(count: int, arguments: list[str]) -> dict[str, object]:
    """What the training gives in so many processes."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(count)]
    done = subprocess.run(
        [*launcher, __file__, "--worker", *arguments],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def difference(one: dict[str, object], two: dict[str, object]) -> float:
    """The largest one between two curves of any term."""
    curves = [np.array([list(terms.values()) for terms in run["terms"]]) for run in (one, two)]  # type: ignore[attr-defined]
    return float(np.abs(curves[0] - curves[1]).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--batches", default="1024,8192,65536,262144")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--worker", action="store_true", help="one of the processes")
    given = parser.parse_args()
    if given.worker:
        with processes.joined():
            print(json.dumps(train_once(given.nodes, int(given.batches), given.steps)))
        return
    print(machine())
    lines = []
    for batch in given.batches.split(","):
        arguments = ["--nodes", str(given.nodes), "--steps", str(given.steps), "--batches", batch]
        runs = [(launched(1, arguments), launched(2, arguments)) for _ in range(given.rounds)]
        one, two = (max(run[i]["rows per second"] for run in runs) for i in (0, 1))
        cells = [f"{one:,.0f}", f"{two:,.0f}", f"{two / one:.2f}", f"{difference(*runs[0]):.1e}"]
        lines.append([f"{int(batch):,}", *cells])
    print(table(["batch", "rows/s, one", "two", "ratio", "largest difference of a term"], lines))


if __name__ == "__main__":
    main()
