"""Two processes against one, on the same batches: the same loss, in how much less time?

    python benchmarks/shared_batches.py            # ten minutes on two quiet cores

- `views`: the training of the default method on rows that numpy makes up, a million of 33 numbers, a thousand of them
  labelled; a perceptron and six linear models.
- `nnpu`: a graph convolutional network on batches with sampled neighbours, of a random graph of 200,000 nodes with
  ten neighbours and 32 attributes each, a thousand of them labelled.

Every process has one thread. The runs take turns, so that noise hits all alike; the fastest of each kind counts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import torch

from measuring import machine, sized, table
from pugnn import NNPU, PUNodeClassifier, processes
from pugnn.graph import Graph
from pugnn.losses import Sets, confident_prior_matching
from pugnn.models import Committee
from pugnn.models.views.rows import Rows
from pugnn.training import RowBatches, TrainingSettings, train
from pugnn.training.checkpoint import Log

ROWS, NODES, LABELLED, PRIOR = *sized((1_000_000, 200_000, 1_000), (2_000, 500, 100)), 0.1
#: Unlabelled nodes of a batch.
BATCHES = sized({"views": (1_024, 8_192, 65_536, 262_144), "nnpu": (1_024, 8_192, 65_536)}, {"views": (256,)})


def attributes(nodes: int, columns: int) -> np.ndarray:
    """Those of the first tenth, with the labelled ones, lie apart from the others."""
    rows = np.random.default_rng(0).normal(size=(nodes, columns)).astype(np.float32)
    rows[: int(PRIOR * nodes), :4] += 2
    return rows


def log_of_views(batch: int, steps: int) -> Log:
    rows = torch.nn.functional.normalize(torch.from_numpy(attributes(ROWS, 33)), dim=1)
    graph = Graph.from_edges([0], [1], num_nodes=ROWS)
    loader = RowBatches(graph, Rows.of(rows), Sets(torch.arange(LABELLED), torch.arange(LABELLED, ROWS)), batch)
    seen = torch.ones(LABELLED, 7)[processes.own_share(LABELLED)]
    confidence = 0.0

    def before_epoch(epoch, optimizer):  # type: ignore[no-untyped-def]  # noqa: ARG001
        nonlocal confidence
        confidence = min(1.0, 2 * epoch / steps)

    def objective(output, batch, seed):  # type: ignore[no-untyped-def]  # noqa: ARG001
        return confident_prior_matching(output.embedding, batch.sets, seen, PRIOR, 1.0, confidence)

    def build(*_: object) -> Committee:
        return Committee(33, hidden=64, dropout=0.5, linear_models=6)

    settings = TrainingSettings(backbone="mlp", epochs=steps, weight_decay=1e-5)
    return train(loader, objective, settings, build=build, before_epoch=before_epoch).log


def log_of_nnpu(batch: int, steps: int) -> Log:
    ends = np.random.default_rng(1).integers(0, NODES, (2, 5 * NODES))
    graph = Graph.from_edges(*ends[:, ends[0] != ends[1]], num_nodes=NODES, features=attributes(NODES, 32))
    classifier = PUNodeClassifier(NNPU(prior=PRIOR), batch_size=batch, epochs=steps, progress=False)
    return classifier.fit(graph, np.arange(NODES) < LABELLED).log_


def work(kind: str, batch: int, steps: int) -> None:
    """One of the processes: the terms of the loss at each step, and nodes of batches per second."""
    warnings.simplefilter("ignore")
    with processes.joined():
        log = {"views": log_of_views, "nnpu": log_of_nnpu}[kind](batch, steps)
        seconds = log[-1]["seconds"] - log[1]["seconds"]  # the first steps compile
        terms = [[value for name, value in record.items() if name not in ("epoch", "seconds")] for record in log]
        print(json.dumps({"speed": (steps - 2) * (LABELLED + batch) / seconds, "terms": terms}))


def launched(count: int, kind: str, batch: int, steps: int) -> dict[str, Any]:
    """What the training gives in so many processes."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(count)]
    done = subprocess.run(
        [*launcher, __file__, "--steps", str(steps), "--work", kind, str(batch)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--steps", type=int, default=sized(100, 4))
    parser.add_argument("--rounds", type=int, default=sized(3, 1))
    parser.add_argument("--work", nargs=2, metavar=("KIND", "BATCH"), help="be one of the processes")
    given = parser.parse_args()
    if given.work:
        work(given.work[0], int(given.work[1]), given.steps)
        return
    print(machine())
    lines, counts = [], sized((1, 2), (2,))
    for kind, batch in ((kind, batch) for kind, batches in BATCHES.items() for batch in batches):
        pairs = [[launched(count, kind, batch, given.steps) for count in counts] for _ in range(given.rounds)]
        one, two = (max(pair[i]["speed"] for pair in pairs) for i in (0, -1))
        first, second = (np.array(pairs[0][i]["terms"]) for i in (0, -1))
        cells = [f"{one:,.0f}", f"{two:,.0f}", f"{two / one:.2f}", f"{np.abs(first - second).max():.1e}"]
        lines.append([kind, f"{batch:,}", *cells])
    header = ["training", "batch", "nodes/s, one process", "two", "ratio", "largest difference of a term"]
    print(table(header, lines))


if __name__ == "__main__":
    main()
