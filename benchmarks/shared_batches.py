"""Compare two processes with one on the same batches: they must have the same loss, but how much faster are they?

    python benchmarks/shared_batches.py            # ten minutes on two quiet cores

nnPU trains a graph convolutional network on batches with sampled neighbours. The random graph has 200,000 nodes with
ten neighbours and 32 attributes each; a thousand of them are labelled.

Every process has one thread. The runs take turns, so that noise hits all alike, and the fastest of each kind counts.
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

from measuring import machine, sized, table
from pugnn import NNPU, PUNodeClassifier, processes
from pugnn.graph import Graph
from pugnn.training.checkpoint import Log

NODES, LABELLED, PRIOR = *sized((200_000, 1_000), (500, 100)), 0.1
#: Unlabelled nodes of a batch.
BATCHES = sized((1_024, 8_192, 65_536), (256,))


def attributes(nodes: int, columns: int) -> np.ndarray:
    """Return attributes in which the first tenth, with the labelled nodes, lies apart from the others."""
    rows = np.random.default_rng(0).normal(size=(nodes, columns)).astype(np.float32)
    rows[: int(PRIOR * nodes), :4] += 2
    return rows


def log_of_nnpu(batch: int, steps: int) -> Log:
    ends = np.random.default_rng(1).integers(0, NODES, (2, 5 * NODES))
    graph = Graph.from_edges(*ends[:, ends[0] != ends[1]], num_nodes=NODES, features=attributes(NODES, 32))
    classifier = PUNodeClassifier(NNPU(prior=PRIOR), batch_size=batch, epochs=steps, progress=False)
    return classifier.fit(graph, np.arange(NODES) < LABELLED).log_


def work(batch: int, steps: int) -> None:
    """Be one of the processes: print the terms of the loss at each step, and nodes of batches per second."""
    warnings.simplefilter("ignore")
    with processes.joined():
        log = log_of_nnpu(batch, steps)
        seconds = log[-1]["seconds"] - log[1]["seconds"]  # the first steps compile
        terms = [[value for name, value in record.items() if name not in ("epoch", "seconds")] for record in log]
        print(json.dumps({"speed": (steps - 2) * (LABELLED + batch) / seconds, "terms": terms}))


def launched(count: int, batch: int, steps: int) -> dict[str, Any]:
    """Return what the training gives in this many processes."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(count)]
    done = subprocess.run(
        [*launcher, __file__, "--steps", str(steps), "--work", str(batch)],
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
    parser.add_argument("--work", type=int, metavar="BATCH", help="be one of the processes")
    given = parser.parse_args()
    if given.work:
        work(given.work, given.steps)
        return
    print(machine())
    lines, counts = [], sized((1, 2), (2,))
    for batch in BATCHES:
        pairs = [[launched(count, batch, given.steps) for count in counts] for _ in range(given.rounds)]
        one, two = (max(pair[i]["speed"] for pair in pairs) for i in (0, -1))
        first, second = (np.array(pairs[0][i]["terms"]) for i in (0, -1))
        cells = [f"{one:,.0f}", f"{two:,.0f}", f"{two / one:.2f}", f"{np.abs(first - second).max():.1e}"]
        lines.append([f"{batch:,}", *cells])
    header = ["batch", "nodes/s, one process", "two", "ratio", "largest difference of a term"]
    print(table(header, lines))


if __name__ == "__main__":
    main()
