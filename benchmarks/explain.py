"""Measure what explanations cost, how exactly they add up, and whether they predict what happens.

    python benchmarks/explain.py        # Pubmed needs PUGNN_DATA; three minutes on two cores

The best 100 finds are explained, as for `pugnn explain --top 100`. Then, for 50 random nodes, the link to the direct
neighbour that speaks for or against the node most is cut, and the graph is scored again: do the log-odds move in the
direction of the contribution?

Networks are explained by integrated gradients: seconds for 20 finds, and what the sums miss.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from measuring import machine, sized, table
from pugnn import NNPU, Graph, PUNodeClassifier
from pugnn.datasets import load_dataset
from pugnn.errors import PugnnError
from pugnn.explain import explain, explain_best
from pugnn.models import BACKBONES
from pugnn.task import draw_benchmark

FINDS, CUTS, LABELS = *sized((100, 50), (2, 2)), 30
BY_GRADIENTS, EPOCHS = sized((20, 50), (1, 2))


def without_link(graph: Graph, one: int, other: int) -> Graph:
    ends = graph.sources, graph.indices
    link = ((ends[0] == one) & (ends[1] == other)) | ((ends[0] == other) & (ends[1] == one))
    cut = Graph.from_edges(ends[0][~link], ends[1][~link], num_nodes=graph.num_nodes)
    return replace(cut, features=graph.features, ids=graph.ids)


def measure(name: str) -> list[str]:
    task = draw_benchmark(load_dataset(name), labels=LABELS, seed=0).task
    classifier = PUNodeClassifier(progress=False, epochs=sized(None, 2)).fit_task(task)
    before = classifier.decision_function()
    explain_best(classifier, task, before, {}, 1)  # compiles kernels
    seconds = []
    for _ in range(sized(3, 1)):
        started = time.process_time()
        found = explain_best(classifier, task, before, {}, FINDS)
        seconds.append(time.process_time() - started)
    position = {node_id: at for at, node_id in enumerate(task.graph.ids.tolist())}
    missing = max(abs(each.base + each.own + each.around - before[position[each.id]]) for each in found)
    said, happened = [], []
    for node in np.random.default_rng(0).permutation(task.unlabelled).tolist():
        (each,) = explain(classifier, task, [node], log_odds=before)
        linked = [part for part in each.nodes if part.hops == 1]
        if linked and len(said) < CUTS:
            said.append(linked[0].contribution)
            cut = without_link(task.graph, node, position[linked[0].id])
            happened.append(before[node] - classifier.decision_function(cut)[node])
        elif len(said) == CUTS:
            break
    same = np.mean(np.sign(said) == np.sign(happened))
    correlation = np.corrcoef(said, happened)[0, 1]
    return [name, f"{np.median(seconds):.2f}", f"{missing:.0e}", f"{100 * same:.0f} %", f"{correlation:.2f}"]


def measure_network(backbone: str) -> list[str]:
    task = draw_benchmark(load_dataset("cora"), labels=LABELS, seed=0).task
    classifier = PUNodeClassifier(NNPU(prior=0.3), backbone=backbone, epochs=EPOCHS, progress=False).fit_task(task)
    started = time.process_time()
    found = explain_best(classifier, task, classifier.decision_function(), {}, BY_GRADIENTS)
    seconds = time.perf_counter() - started
    rest, moved = (max(map(abs, each)) for each in zip(*((f.rest, f.total - f.base) for f in found), strict=True))
    return [backbone, f"{seconds:.1f}", f"{rest:.0e}", f"{moved:.2f}"]


def main() -> None:
    print(machine())
    head = ["network", f"seconds for {BY_GRADIENTS} finds", "largest rest", "largest sum"]
    print(table(head, [measure_network(name) for name in sized(list(BACKBONES), ["gcn"])]))
    rows = []
    for name in sized(("cora", "pubmed"), ("cora",)):
        try:
            rows.append(measure(name))
        except PugnnError:
            continue  # not in PUGNN_DATA, and not to be had
    head = ["data set", f"CPU seconds for {FINDS} finds", "largest error of a sum", "same direction", "correlation"]
    print(table(head, rows))


if __name__ == "__main__":
    main()
