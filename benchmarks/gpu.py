"""Time the structural regulariser on a CUDA device: the fused kernels against eager PyTorch on the same card.

    PYTHONPATH=src python benchmarks/gpu.py [pubmed.npz]

Graphs of 10 and 100 times Pubmed's size have its degrees, joined at random. Without the file, a random graph of
Pubmed's size replaces it. At its smallest size, the script runs on the CPU.
"""

from __future__ import annotations

import sys

import numpy as np
import torch

from implementations import DRAWS, PlainTorch, WithPugnn
from measuring import interleaved, machine, sized, table
from pugnn.graph import Graph
from pugnn.methods import PUGNN
from pugnn.regularisers import structural_sums
from pugnn.regularisers.structural import expectation_weights
from pugnn.task import PUTask
from pugnn.training import TrainingSettings, loop, steps

DEVICE = sized("cuda", "cpu")
NODES, EDGES = sized((19_717, 44_324), (200, 400))
EPOCHS = sized(100, 10)


def pubmed_times(times: int) -> Graph:
    rng = np.random.default_rng(0)
    if len(sys.argv) > 1:
        file = np.load(sys.argv[1])
        source, target, nodes = *file["edge_index"], int(file["num_nodes"])
    else:
        nodes = NODES
        source, target = rng.integers(0, nodes, (2, EDGES))
    if times > 1:
        degrees = np.tile(np.bincount(np.concatenate([source, target]), minlength=nodes), times)
        ends = rng.permutation(np.repeat(np.arange(nodes * times), degrees))
        source, target, nodes = ends[0::2], ends[1::2], nodes * times
    features = rng.random((nodes, 16), dtype=np.float32)
    return Graph.from_edges(source, target, num_nodes=nodes, features=features)


def milliseconds(run) -> float:
    if DEVICE == "cpu":
        return 1000 * interleaved({"": run}, 1)[""]
    import triton

    return triton.testing.do_bench(run, warmup=100, rep=500, return_mode="median")


def peak_mib(run) -> float:
    if DEVICE == "cpu":
        run()
        return float("nan")
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    run()
    torch.cuda.synchronize()
    return (torch.cuda.max_memory_allocated() - before) / 2**20


def copy_bandwidth() -> float:
    """Return GB/s of a large device-to-device copy, bytes read and written."""
    a = torch.empty(sized(2**28, 2**10), device=DEVICE)
    b = torch.empty_like(a)
    return 2 * a.nbytes / milliseconds(lambda: b.copy_(a)) / 1e6


def backward(function, z: torch.Tensor) -> None:
    leaf = z.detach().requires_grad_()
    function(leaf).backward()


def sampled(bandwidth: float) -> None:
    rows = []
    for times in sized((1, 10, 100), (1, 2)):
        graph = pubmed_times(times)
        task = PUTask.from_positives(graph, np.arange(graph.num_nodes // 100))
        z = 0.3 * torch.randn(graph.num_nodes, 16, device=DEVICE)
        pairs = len(graph.indices) * DRAWS
        found = {}
        for name, build in (("eager PyTorch", PlainTorch), ("pugnn", WithPugnn)):
            model = build(task, DEVICE)
            for what, run in (
                ("regulariser", lambda model=model, z=z: backward(model.regulariser, z)),
                ("whole step", model.step),
            ):
                try:
                    found[name, what] = milliseconds(run), peak_mib(run)
                except torch.OutOfMemoryError:
                    found[name, what] = None, torch.cuda.max_memory_allocated() / 2**20
                torch.cuda.empty_cache()
            del model
        for (name, what), (ms, mib) in found.items():
            plain, ours = found["eager PyTorch", what][0], found["pugnn", what][0]
            # Per pair the row of the drawn node is read, and its gradient read and written: 3 x 64 bytes.
            share = f"{100 * pairs * 192 / ms / 1e6 / bandwidth:.0f} %" if name == "pugnn" and ms else ""
            rows.append(
                [
                    f"{times} x, {what}, {name}",
                    f"{graph.num_nodes:,}",
                    f"{pairs:,}",
                    "out of memory" if ms is None else f"{ms:.2f}",
                    f"{mib:,.0f}",
                    f"{plain / ours:.0f}" if plain and name == "pugnn" else "",
                    share,
                ]
            )
            print(*rows[-1], file=sys.stderr, flush=True)
    print("\n" + table(["Pubmed's size", "nodes", "pairs", "ms", "peak MiB", "times faster", "of bandwidth"], rows))


def replayed() -> None:
    """Time epochs of a whole training, launched one operation at a time and replayed as a CUDA graph."""
    rows = []
    for times in sized((1, 10), (1, 2)):
        graph = pubmed_times(times)
        task = PUTask.from_positives(graph, np.arange(graph.num_nodes // 100))
        for name, kind in (("launched", steps.Step), ("replayed", steps.ReplayedStep)):
            loop.ReplayedStep = kind
            method = PUGNN(near_prior=0.6, far_prior=0.3)
            log = method.fit(task, TrainingSettings(epochs=EPOCHS, device=DEVICE)).log
            epochs = np.diff([record["seconds"] for record in log[EPOCHS // 10 :]])
            rows.append([f"{times} x, {name}", f"{1e3 * np.median(epochs):.2f}", f"{log[-1]['total']:.4f}"])
    print("\n" + table(["whole training", "ms per epoch", f"loss after {EPOCHS}"], rows))


def exact() -> None:
    nodes, edges = sized((100_000, 400_000), (1_000, 4_000))
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(*rng.integers(0, nodes, (2, edges)), num_nodes=nodes)
    z = 0.3 * torch.randn(nodes, 16, device=DEVICE)

    def run(leaf: torch.Tensor) -> torch.Tensor:
        return structural_sums(leaf, graph, DRAWS, seed=None)[1]

    def gradient() -> torch.Tensor:
        leaf = z.clone().requires_grad_()
        (found,) = torch.autograd.grad(run(leaf), leaf)
        return found

    ms = milliseconds(lambda: backward(run, z))
    one, two = gradient(), gradient()
    rows = torch.randperm(nodes, device=DEVICE)[:512]
    weight = torch.from_numpy(expectation_weights(graph, DRAWS)).to(DEVICE)
    similarity = torch.sigmoid(z[rows].double() @ z.double().T)
    slopes = (weight[rows, None] + weight) * 2 * similarity.square() * (1 - similarity)
    for at, node in enumerate(rows.tolist()):
        slopes[at, [node, *graph.neighbours(node).tolist()]] = 0
    expected = slopes @ z.double()
    error = ((one[rows] - expected).norm() / expected.norm()).item()
    sampled_gradient = torch.autograd.grad(
        structural_sums(leaf := z.clone().requires_grad_(), graph, DRAWS, seed=1)[1], leaf
    )[0]
    noise = ((sampled_gradient - one).norm() / one.norm()).item()
    mib = peak_mib(lambda: backward(run, z))
    tera = nodes**2 * 64 / ms / 1e9
    print(
        f"\nexact expectation, {graph}: {ms:.1f} ms forward and backward, {mib:.0f} MiB, "
        f"{tera:.0f} TFLOP/s in its two products (64 flops per pair); gradients of 512 rows against double precision: "
        f"relative error {error:.1e}; twice the same bits: {torch.equal(one, two)}. "
        f"One sampled gradient (K = {DRAWS}) differs from it by {100 * noise:.0f} %."
    )


if __name__ == "__main__":
    if not torch.cuda.is_available() and DEVICE == "cuda":
        sys.exit("This needs a CUDA device.")
    bandwidth = copy_bandwidth()
    print(machine(), f"- copy bandwidth {bandwidth:,.0f} GB/s, K = {DRAWS}, d = 16\n", flush=True)
    exact()
    sampled(bandwidth)
    replayed()
