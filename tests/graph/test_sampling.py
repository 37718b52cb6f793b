import threading

import numpy as np
import pytest

from conftest import random_graph, special_graphs
from pugnn.graph import Graph, sample_neighbours

MASK = 2**64 - 1


def bits(seed: int, counter: int) -> int:
    """SplitMix64, as in pugnn.graph.random."""
    x = (seed + 0x9E3779B97F4A7C15 * (counter + 1)) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def kept(graph: Graph, node: int, fan_out: int, seed: int) -> list[int]:
    """The neighbours that a node keeps: Floyd's sample of positions."""
    degree = len(graph.neighbours(node))
    chosen: set[int] = set(range(degree)) if degree <= fan_out else set()
    if degree > fan_out:
        key = bits(seed, node)
        for t in range(fan_out):
            top = degree - fan_out + t
            drawn = (bits(key, t) * (top + 1)) >> 64
            chosen.add(top if drawn in chosen else drawn)
    return [int(graph.neighbours(node)[position]) for position in sorted(chosen)]


def by_plain_loops(graph: Graph, seeds: list[int], hops: int, fan_out: int, seed: int) -> tuple[list[int], list]:
    """Nodes in the order in which they are found, and the kept neighbours of all but the last ones."""
    nodes = list(dict.fromkeys(seeds))
    rows: list[list[int]] = []
    for _ in range(hops):
        rows += [kept(graph, node, fan_out, seed) for node in nodes[len(rows) :]]
        nodes = list(dict.fromkeys([*nodes, *(each for row in rows for each in row)]))
    return nodes, rows


@pytest.mark.parametrize("name", special_graphs())
@pytest.mark.parametrize(("hops", "fan_out"), [(0, 3), (1, 2), (2, 1), (2, 5), (3, 400)])
def test_against_plain_loops(name, hops, fan_out):
    graph = special_graphs()[name]
    seeds = [graph.num_nodes - 1, 0, 1, 0]
    found = sample_neighbours(graph, np.array(seeds), hops=hops, fan_out=fan_out, seed=11)
    nodes, rows = by_plain_loops(graph, seeds, hops, fan_out, 11)
    assert found.nodes.tolist() == nodes
    assert found.nodes[found.rows].tolist() == seeds
    assert found.inner == len(rows)
    local = [found.nodes[found.indices[a:b]].tolist() for a, b in zip(found.indptr[:-1], found.indptr[1:], strict=True)]
    assert local == rows + [[]] * (len(nodes) - len(rows))
    assert graph.indices[found.places].tolist() == found.nodes[found.indices].tolist()
    assert graph.sources[found.places].tolist() == found.nodes[found.sources].tolist()


def test_every_neighbour_is_kept_equally_often():
    graph = special_graphs()["hub"]
    counts = np.zeros(graph.num_nodes)
    for seed in range(2000):
        counts[sample_neighbours(graph, np.array([0]), hops=1, fan_out=30, seed=seed).nodes[1:]] += 1
    expected = 2000 * 30 / len(graph.neighbours(0))
    found = counts[graph.neighbours(0)]
    assert found.sum() == 2000 * 30
    assert ((found - expected) ** 2 / expected).mean() == pytest.approx(1 - 30 / 298, abs=0.25)


def test_a_node_keeps_its_neighbours_in_any_batch_and_thread():
    graph = random_graph(300, 0.2, seed=5)
    whole = sample_neighbours(graph, np.arange(300), hops=1, fan_out=7, seed=3)
    rows = {node: whole.nodes[whole.indices[7 * node : 7 * node + 7]].tolist() for node in range(300)}
    found = {}

    def work(node: int) -> None:
        found[node] = sample_neighbours(graph, np.array([node, 8]), hops=2, fan_out=7, seed=3)

    threads = [threading.Thread(target=work, args=(node,)) for node in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for part in found.values():
        for at in range(part.inner):
            mine = part.nodes[part.indices[part.indptr[at] : part.indptr[at + 1]]].tolist()
            assert mine == rows[int(part.nodes[at])]


def test_another_seed_keeps_others():
    graph = random_graph(300, 0.2, seed=5)
    one, two = (sample_neighbours(graph, np.arange(9), hops=2, fan_out=7, seed=seed) for seed in (1, 2))
    assert one.nodes.tolist() != two.nodes.tolist()


def test_a_graph_on_disk(tmp_path):
    graph = random_graph(100, 0.2, seed=5)
    for name in ("indptr", "indices"):
        np.save(tmp_path / name, getattr(graph, name))
    mapped = {name: np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("indptr", "indices")}
    again = Graph(mapped["indptr"], mapped["indices"], graph.features, graph.ids)
    one, two = (sample_neighbours(each, np.arange(9), hops=2, fan_out=4, seed=1) for each in (graph, again))
    assert one.indices.tolist() == two.indices.tolist()
    assert one.nodes.tolist() == two.nodes.tolist()
