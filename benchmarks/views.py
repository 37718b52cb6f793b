"""Measure what a fit of the default method costs, beside ten lines of scikit-learn, and beside an earlier checkout.

    python benchmarks/views.py                        # Pubmed needs PUGNN_DATA; five minutes on two cores
    python benchmarks/views.py --before CHECKOUT      # also the default method of another checkout

A fit is everything from the graph to the scores of all nodes: views, hidden positives and training. Each runs in its
own process, on one thread, after a fit of a small graph that loads libraries and compiles kernels. Seconds are CPU
seconds, the median of three; memory is the peak of the whole process, graph and libraries included. There are 30 known
positives. The wide graph has 18,000 nodes, 82,000 edges and 6,800 words, some sixty per node. The long ones have ten
random edges per node and 32 dense attributes. scikit-learn does ten steps of smoothing with scipy, scales rows to
length 1, and fits a logistic regression with C = 1.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from measuring import machine, sized, table
from pugnn import Graph, PUNodeClassifier
from pugnn.datasets import load_dataset
from pugnn.errors import PugnnError, PugnnWarning
from pugnn.task import PUTask, draw_labels

GRAPHS = sized(("cora", "pubmed", "wide", "10000", "100000", "1000000"), ("cora", "400"))
WIDE_NODES, WIDE_EDGES, WORDS, WORDS_PER_NODE, TOPICS = 18_000, 82_000, 6_800, 60, 15
EDGES_PER_NODE, ATTRIBUTES, KNOWN = 10, 32, 30
EPOCHS = sized(None, 2)
ROUNDS = sized(3, 1)
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def wide_graph() -> Graph:
    """Return a graph of equal topics: half of a node's words, and four fifths of its edges, are of its topic."""
    rng = np.random.default_rng(0)
    topic = np.arange(WIDE_NODES) % TOPICS
    words = rng.integers(0, WORDS, (WIDE_NODES, WORDS_PER_NODE))
    own = rng.random(words.shape) < 0.5
    words = np.where(own, words // TOPICS * TOPICS % WORDS + topic[:, None], words) % WORDS
    rows = np.repeat(np.arange(WIDE_NODES), WORDS_PER_NODE)
    x = sp.csr_array((np.ones(words.size, np.float32), (rows, words.ravel())), shape=(WIDE_NODES, WORDS))
    source, target = rng.integers(0, WIDE_NODES, (2, WIDE_EDGES))
    inside = rng.random(WIDE_EDGES) < 0.8
    target = np.where(inside, target // TOPICS * TOPICS + topic[source], target) % WIDE_NODES
    kept = source != target
    return Graph.from_edges(source[kept], target[kept], num_nodes=WIDE_NODES, features=x)


def random_graph(nodes: int) -> Graph:
    rng = np.random.default_rng(0)
    ends = rng.integers(0, nodes, (2, EDGES_PER_NODE * nodes))
    features = rng.normal(size=(nodes, ATTRIBUTES)).astype(np.float32)
    return Graph.from_edges(*ends[:, ends[0] != ends[1]], num_nodes=nodes, features=features)


def task_of(name: str) -> PUTask:
    if name == "wide":
        return PUTask.from_positives(wide_graph(), TOPICS * np.arange(KNOWN))
    if name.isdecimal():
        return PUTask.from_positives(random_graph(int(name)), np.arange(KNOWN))
    return draw_labels(load_dataset(name), labels=KNOWN, seed=0).task


def with_views(task: PUTask) -> None:
    PUNodeClassifier(epochs=EPOCHS, progress=False).fit_task(task)


def with_scikit_learn(task: PUTask) -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import normalize

    adjacency = sp.csr_array(task.graph.to_scipy().astype(np.float32) + sp.eye_array(task.graph.num_nodes))
    scale = sp.diags_array((1 / np.sqrt(adjacency.sum(axis=1))).astype(np.float32))
    smoothing = sp.csr_array(scale @ adjacency @ scale, dtype=np.float32)
    x = task.graph.features
    own = normalize(x.toarray() if sp.issparse(x) else x)
    rows = own
    for _ in range(10):
        rows = np.float32(0.85) * (smoothing @ rows) + np.float32(0.15) * own
    known = np.isin(np.arange(len(rows)), task.labelled)
    rows = normalize(rows)
    LogisticRegression(C=1.0, max_iter=1000).fit(rows, known).decision_function(rows)


FITS = {"views": with_views, "scikit-learn": with_scikit_learn}


def measure(method: str, name: str) -> None:
    """Print seconds and peak memory in GB."""
    warnings.simplefilter("ignore", PugnnWarning)
    FITS[method](PUTask.from_positives(random_graph(300), np.arange(KNOWN)))
    task = task_of(name)
    seconds = []
    for _ in range(ROUNDS if name in ("cora", "pubmed") else 1):
        task = PUTask.from_positives(replace(task.graph), task.labelled)  # whose views are not known yet
        started = time.process_time()
        FITS[method](task)
        seconds.append(time.process_time() - started)
    print(np.median(seconds), 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e9)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--before", type=Path, help="the root of another checkout")
    before = options.parse_args().before
    print(machine())
    sources = {"views": None, "scikit-learn": None} | ({} if before is None else {"views, before": before})
    rows = []
    for name in GRAPHS:
        try:
            task = task_of(name)
        except PugnnError:
            continue  # not in PUGNN_DATA, and not to be had
        graph, row = task.graph, []
        for label, source in sources.items():
            path = {} if source is None else {"PYTHONPATH": str((source / "src").resolve())}
            command = [sys.executable, __file__, label.split(",")[0], name]
            done = subprocess.run(
                command, capture_output=True, text=True, check=True, env={**os.environ, **ONE_THREAD, **path}
            )
            seconds, memory = map(float, done.stdout.split()[-2:])
            row += [f"{seconds:.1f} s, {memory:.2f} GB"]
        sizes = [f"{count:,}" for count in (graph.num_nodes, graph.num_edges, graph.num_features)]
        rows.append([name if not name.isdecimal() else "long", *sizes, *row])
        print(*rows[-1], sep="; ", file=sys.stderr, flush=True)
    print(table(["graph", "nodes", "edges", "attributes", *sources], rows))


if __name__ == "__main__":
    measure(*sys.argv[1:]) if len(sys.argv) == 3 and sys.argv[1] in FITS else main()
