"""Time LSDAN's attention over walks of 1, 2 and 3 steps on Pubmed: our kernel, plain PyTorch and PyG.

    python benchmarks/attention.py

Forward and backward on one thread, interleaved, with 16 values in 4 heads as in the first layer, and 1 value in 1 head
as in the last. The PyG variant is `GATConv` without its linear map, which has the same scores and softmax. Memory is
what a step adds to the memory of the process after building the pairs; freed memory that the process can reuse does not
show.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch_geometric.nn import GATConv

from measuring import interleaved, machine, memory_baseline, memory_peak, peak_memory_of, sized, table, tiny_task
from pugnn.datasets import load_dataset
from pugnn.models import GraphInputs
from pugnn.models.attention import Neighbourhoods, attend_pairs, neighbour_attention

SHAPES = {"16 in 4 heads": (4, 4), "1 in 1 head": (1, 1)}
HOPS = sized(3, 1)
DATA = sized("pubmed", "cora")


def step(form: str, structure: Neighbourhoods, nodes: int, heads: int, size: int) -> Callable[[], None]:
    values = torch.randn(nodes, heads * size, requires_grad=True)
    scores = [torch.randn(nodes, heads, requires_grad=True) for _ in range(2)]
    i, j = structure.pairs
    edges = torch.stack([j, i])
    gat = GATConv(heads * size, size, heads=heads, add_self_loops=False, bias=False)
    gat.lin = nn.Identity()
    forward: dict[str, Callable[[], Tensor]] = {
        "pugnn": lambda: neighbour_attention(values, *scores, structure),
        "plain PyTorch": lambda: attend_pairs(values, *scores, i, j),
        "PyG": lambda: gat(values, edges),
    }
    return lambda: forward[form]().sum().backward()


def memory(form: str, hop: int) -> None:
    structure, nodes = structures()[hop - 1], load_dataset(DATA).graph.num_nodes
    tiny = GraphInputs(tiny_task().graph)
    step(form, tiny.hop_structures(1)[0], tiny.graph.num_nodes, 4, 4)()  # compiling is not what is measured
    run = step(form, structure, nodes, 4, 4)
    before = memory_baseline()
    run()
    print(memory_peak() - before)


def structures() -> list[Neighbourhoods]:
    return GraphInputs(load_dataset(DATA).graph).hop_structures(HOPS)


def main() -> None:
    torch.set_num_threads(1)
    print(machine(), "\n")
    nodes = load_dataset(DATA).graph.num_nodes
    rows = []
    for hop, structure in enumerate(structures(), start=1):
        entries = len(structure.indices)
        for words, (heads, size) in SHAPES.items():
            forms = {form: step(form, structure, nodes, heads, size) for form in ("pugnn", "plain PyTorch", "PyG")}
            seconds = interleaved(forms, sized(5, 1))
            for form, taken in seconds.items():
                extra = f"{peak_memory_of(__file__, form, str(hop)):,.0f}" if heads > 1 else ""
                times = f"{seconds[form] / seconds['pugnn']:.0f} x" if form != "pugnn" else ""
                each = f"{1e9 * taken / entries:.1f}"
                rows.append(
                    [f"{hop} steps, {entries:,} pairs, {words}", form, f"{1e3 * taken:.1f}", each, times, extra]
                )
    print(table(["walks", "form", "ms", "ns per pair", "slower", "extra MB"], rows))


if __name__ == "__main__":
    torch.set_num_threads(1)
    if len(sys.argv) > 1:
        memory(sys.argv[1], int(sys.argv[2]))
    else:
        main()
