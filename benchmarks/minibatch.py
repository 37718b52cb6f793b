"""Compare mini-batches with the whole graph: results, gradients and speed.

    python benchmarks/minibatch.py results [--draws 10] [--device cpu] [--jobs 2]     # needs PUGNN_DATA
    python benchmarks/minibatch.py gradients [--device cpu]                           # needs PUGNN_DATA
    python benchmarks/minibatch.py speed [--nodes 10000000] [--device cuda]

``results``: macro-F1 on Pubmed and coauthor_phy, label ratio 0.01, the true prior given. Trainings on the whole graph
and in batches have the same draws, seeds and numbers of steps.

``gradients``: of a network that was trained on the whole graph for ten epochs of nnPU, on Pubmed. Batches of growing
size are compared with the whole graph, with at most 10 neighbours and with all of them, as means over --batches of
them. (Where the mean score equals the prior, the gradient of Dist-PU jumps, and there is nothing to agree with.)

``speed``: a random graph with ten neighbours and 32 attributes per node, made in memory. It measures seeds per second
of the sampler alone, on one thread and on all; seeds per second of PU-GNN training in batches; the bytes that its steps
read and write at the least; and their share of the device's copy bandwidth.
"""

from __future__ import annotations

import argparse
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product

import numpy as np
import torch
from joblib import Parallel, delayed

from measuring import machine, sized, table
from pugnn.datasets import load_dataset
from pugnn.errors import PugnnWarning
from pugnn.graph import Graph, sample_neighbours
from pugnn.losses import DistPULoss, NonNegativeLoss, Sets, UnbiasedLoss
from pugnn.methods import NNPU, PUGNN, DistPU, Method
from pugnn.methods.base import of_logits
from pugnn.metrics import macro_f1
from pugnn.models import GraphInputs
from pugnn.task import PUTask, draw_benchmark
from pugnn.training import FullGraph, SampledGraph, TrainingSettings, resolve_device, score, train
from pugnn.training.batches import FAN_OUT, background_threads

WHOLE = 2**40
CASES = [("nnpu", "gcn"), ("dist-pu", "gcn"), ("pu-gnn", "gcn"), ("dist-pu", "sage"), ("dist-pu", "gat")]
CASES = sized(CASES, CASES[2:3])
EPOCHS = sized(TrainingSettings().epochs, 1)
NEIGHBOURS, ATTRIBUTES, HIDDEN = 10, 32, 16


# ---------------------------------------------------------------------- results


def method_of(name: str, prior: float) -> Method:
    return {"nnpu": NNPU(prior=prior), "dist-pu": DistPU(prior=prior), "pu-gnn": PUGNN(prior=prior)}[name]


def macro_f1_of(data: str, name: str, backbone: str, size: int, draw: int, device: str) -> float:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", PugnnWarning)
    drawn = draw_benchmark(load_dataset(data), label_ratio=0.01, seed=draw)
    settings = TrainingSettings(backbone=backbone, batch_size=size, epochs=EPOCHS, seed=draw, device=device)
    task = drawn.task
    method, _ = method_of(name, float(drawn.positive[task.unlabelled].mean())).settle(task, settings)
    scores = score(method.fit(task, settings).model, task.graph).numpy()
    return 100 * macro_f1(drawn.positive[drawn.scored], scores[drawn.scored] >= 0.5)


def results(options: argparse.Namespace) -> None:
    sizes = (WHOLE, *options.sizes)
    work = list(product(options.data, CASES, sizes, range(options.draws)))
    found = Parallel(n_jobs=options.jobs)(
        delayed(macro_f1_of)(data, *case, size, draw, options.device) for data, case, size, draw in work
    )
    scores = np.reshape(found, (-1, len(sizes), options.draws))
    rows = []
    for (data, case), (whole, *batches) in zip(product(options.data, CASES), scores, strict=True):
        row = [" ".join([data, *case]), f"{whole.mean():.1f} ± {whole.std():.1f}"]
        for each in batches:
            row += [f"{each.mean():.1f} ± {each.std():.1f}", f"{(each - whole).mean():+.1f}"]
        rows.append(row)
    header = ["macro-F1", "whole graph", *(words for size in options.sizes for words in (f"{size:,}", "difference"))]
    print("\n" + table(header, rows))


# ---------------------------------------------------------------------- gradients


def gradients(options: argparse.Namespace) -> None:
    drawn = draw_benchmark(load_dataset(sized("pubmed", "cora")), label_ratio=0.01, seed=0)
    task, prior = drawn.task, float(drawn.positive[drawn.task.unlabelled].mean())
    sets, device = Sets.of(task.labelled, task.unlabelled), resolve_device(options.device)
    loader = FullGraph(task.graph, sets, options.device)
    settings = TrainingSettings(epochs=10, device=options.device)
    model = train(loader, of_logits(NonNegativeLoss(prior)), settings).model.eval()

    def gradient(inputs: GraphInputs, sets: Sets, loss) -> torch.Tensor:
        total = sum(loss(model(inputs).logit, sets).values())
        return torch.cat([part.flatten() for part in torch.autograd.grad(total, list(model.parameters()))])

    rows = []
    for name, loss in (
        ("uPU, logistic (linear)", UnbiasedLoss(prior, "logistic")),
        ("Dist-PU", DistPULoss(prior)),
        ("nnPU, logistic", NonNegativeLoss(prior, "logistic")),
    ):
        whole = gradient(loader.batch.inputs, loader.batch.sets, loss)
        for fan_out in (FAN_OUT, 10_000):
            for size in options.sizes:
                batches = SampledGraph(task.graph, sets, size, model, device, fan_out=fan_out)
                drawn_batches = (batches.draw(i) for i in range(options.batches))
                found = [gradient(batch.inputs, batch.sets, loss) for batch in drawn_batches]
                cosine = np.mean([torch.cosine_similarity(each, whole, dim=0).item() for each in found])
                error = np.mean([((each - whole).norm() / whole.norm()).item() for each in found])
                mean = ((sum(found) / len(found) - whole).norm() / whole.norm()).item()
                kept = f"{fan_out}" if fan_out == FAN_OUT else "all"
                rows.append([name, kept, f"{size:,}", f"{cosine:.3f}", f"{100 * error:.1f} %", f"{100 * mean:.1f} %"])
    header = ["loss", "neighbours", "batch", "cosine", "relative error", "error of their mean"]
    print(table(header, rows))


# ---------------------------------------------------------------------- speed


def random_graph(nodes: int) -> Graph:
    """Return a graph of random pairs of nodes."""
    rng = np.random.default_rng(0)
    ends = rng.integers(0, nodes, (2, nodes * NEIGHBOURS // 2), dtype=np.int32)
    features = rng.random((nodes, ATTRIBUTES), dtype=np.float32)
    return Graph.from_edges(*ends, num_nodes=nodes, features=features)


def copy_bandwidth(device: torch.device) -> float:
    """Return bytes per second of a large copy on the device, read and written."""
    a = torch.ones(sized(2**28 if device.type == "cuda" else 2**26, 2**10), device=device)
    b = torch.empty_like(a)
    best = np.inf
    for _ in range(10):
        wait(device)
        started = time.perf_counter()
        b.copy_(a)
        wait(device)
        best = min(best, time.perf_counter() - started)
    return 2 * a.nbytes / best


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def step_bytes(nodes: int, entries: int) -> int:
    """Return the bytes that a step of the network reads and writes at the least.

    These are the features once in each direction, the hidden table six times (product, sum over neighbours, activation,
    and their gradients), and the entries of the adjacency with a row of the table each, in both directions of both
    layers.
    """
    table = 4 * HIDDEN * nodes
    return 2 * 4 * ATTRIBUTES * nodes + 6 * table + 2 * entries * (8 + 4 * HIDDEN) + 2 * entries * (8 + 4)


def speed(options: argparse.Namespace) -> None:
    warnings.simplefilter("ignore", PugnnWarning)
    device = resolve_device(options.device)
    graph = random_graph(options.nodes)
    task = PUTask.from_positives(graph, np.arange(max(1, options.nodes // 1000)))
    print(f"{graph}, {torch.get_num_threads()} threads, {background_threads()} of them prepare batches")
    rows = []
    for size in options.sizes:
        seeds = [np.random.default_rng(i).integers(0, graph.num_nodes, size) for i in range(options.batches)]
        work = partial(sample_neighbours, graph, hops=2, fan_out=FAN_OUT, seed=1)
        found = work(seeds[0])
        for threads in sorted({1, background_threads()}):
            with ThreadPoolExecutor(threads) as pool:
                started = time.perf_counter()
                list(pool.map(work, seeds))
                seconds = (time.perf_counter() - started) / len(seeds)
            rows.append(
                [f"sampler, {threads} threads", f"{size:,}", f"{len(found.nodes):,}", f"{size / seconds:,.0f}", ""]
            )
        bandwidth = copy_bandwidth(device)
        method = PUGNN(near_prior=0.6, far_prior=0.3)
        log = method.fit(task, TrainingSettings(epochs=options.batches + 3, batch_size=size, device=options.device)).log
        seconds = (log[-1]["seconds"] - log[2]["seconds"]) / options.batches
        share = step_bytes(len(found.nodes), len(found.indices)) * 1.75 / seconds / bandwidth  # 0.75 for ends of pairs
        row = [
            "PU-GNN",
            f"{size:,}",
            f"{1.75 * len(found.nodes):,.0f}",
            f"{size / seconds:,.0f}",
            f"{100 * share:.2f} %",
        ]
        rows.append(row)
    print(f"copy bandwidth of {device}: {bandwidth / 1e9:,.0f} GB/s\n")
    print(table(["", "batch", "nodes in a step", "unlabelled nodes per second", "of the bandwidth"], rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("results", "gradients", "speed"))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--draws", type=int, default=sized(10, 1))
    parser.add_argument("--jobs", type=int, default=sized(2, 1))
    parser.add_argument("--data", nargs="+", default=sized(["pubmed", "coauthor_phy"], ["cora"]))
    parser.add_argument("--nodes", type=int, default=sized(10**7, 2000))
    parser.add_argument("--batches", type=int, default=sized(20, 1))
    parser.add_argument("--sizes", type=int, nargs="+", default=sized([1024, 4096, 16384], [256]))
    options = parser.parse_args()
    print(machine(), "\n")
    {"results": results, "gradients": gradients, "speed": speed}[options.what](options)


if __name__ == "__main__":
    main()
