import hashlib
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from conftest import random_graph
from pugnn.graph import Graph
from pugnn.graph.digests import array_header, digest_of_texts, update

GRAPH = random_graph(40, 0.1, seed=0, features=3)
NAMED = replace(
    GRAPH, ids=np.array([f"n{i}" for i in range(40)], dtype=object), weights=np.ones(len(GRAPH.indices), np.float32)
)


def changed(**parts) -> set[str]:
    """The parts whose digest is another one after a change."""
    other = replace(NAMED, **parts)
    return {name for name, digest in other.digests.items() if NAMED.digests[name] != digest}


def test_each_part_has_its_own_digest():
    weights = NAMED.weights.copy()
    weights[0] = 2
    assert changed() == set()
    assert changed(weights=weights) == {"edge weights"}
    assert changed(weights=None) == {"edge weights"}
    assert changed(features=np.roll(NAMED.features, 1, axis=0)) == {"attributes"}
    assert changed(features=sp.csr_array(NAMED.features)) == {"attributes"}
    assert changed(ids=np.roll(NAMED.ids, 1)) == {"ids or order of nodes"}
    assert changed(ids=np.arange(40)) == {"ids or order of nodes"}
    other = random_graph(40, 0.1, seed=1)
    assert "edges" in changed(indptr=other.indptr, indices=other.indices, weights=None)


def test_how_an_array_lies_in_memory_does_not_matter():
    turned = np.asfortranarray(NAMED.features)
    assert not turned.flags.c_contiguous
    assert changed(features=turned) == set()
    for array in (np.zeros((5, 0), np.float32), np.zeros(0), np.arange(20.0).reshape(4, 5)[:, ::2]):
        hashed = hashlib.sha256()
        update(hashed, array)
        assert hashed.hexdigest() == hashlib.sha256(array.tobytes()).hexdigest()


def test_it_is_that_of_numpys_own_file(tmp_path):
    np.save(tmp_path / "x.npy", np.asarray(GRAPH.features))
    content = (tmp_path / "x.npy").read_bytes()
    assert content.startswith(array_header(GRAPH.features.dtype, GRAPH.features.shape))
    assert GRAPH.digests["attributes"] == digest_of_texts([hashlib.sha256(content).hexdigest()])


@pytest.mark.parametrize("ids", [None, "text"])
def test_a_graph_is_hashed_once_and_not_copied(ids):
    n = 200_000
    node_ids = None if ids is None else [f"node {i}" for i in range(n)]
    ends = np.arange(n - 1)
    graph = Graph.from_edges(ends, ends + 1, features=np.ones((n, 32), np.float32))
    graph = graph if node_ids is None else replace(graph, ids=np.array(node_ids, dtype=object))
    tracemalloc.start()
    first = graph.digests
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < graph.features.nbytes / 2
    assert graph.digests is first
