import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data

from pugnn.errors import PugnnError
from pugnn.graph import Cleaning, Graph


def dense(graph: Graph) -> list[list[float]]:
    return graph.to_scipy().toarray().tolist()


PATH = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
MASKED = np.ma.array([1, 2], mask=[False, True])
EDGES = torch.tensor([[0, 1], [1, 2]])


def test_edges_become_a_symmetric_sorted_csr():
    graph = Graph.from_edges([2, 0], [1, 1])
    assert graph.indptr.tolist() == [0, 1, 3, 4]
    assert graph.indices.tolist() == [1, 0, 2, 1]
    assert dense(graph) == PATH
    assert graph.degrees.tolist() == [1, 2, 1]
    assert graph.neighbours(1).tolist() == [0, 2]
    assert (graph.num_nodes, graph.num_edges, graph.num_features) == (3, 2, 0)
    assert repr(graph) == "Graph(3 nodes, 2 edges, 0 features)"


def test_cleaning_is_counted():
    #          keep   keep   repeat other way  loop
    graph = Graph.from_edges([0, 1, 0, 2, 2], [1, 2, 1, 1, 2])
    assert dense(graph) == PATH
    assert graph.cleaning == Cleaning(rows=5, self_loops=1, duplicates=1, two_way=1)
    assert graph.cleaning.edges == graph.num_edges == 2
    assert str(graph.cleaning) == (
        "5 edges given, 2 kept: 1 self loops dropped, 1 duplicates merged, 1 two-way pairs merged (direction dropped)"
    )


def test_weights_of_merged_edges_are_added():
    graph = Graph.from_edges([0, 0, 1, 1], [1, 1, 0, 2], weights=[1.0, 2.0, 4.0, 0.5])
    assert dense(graph) == [[0, 7, 0], [7, 0, 0.5], [0, 0.5, 0]]


def test_ids_of_any_type_are_kept():
    ids = ["a", 7, ("t", 1), 2.5]
    graph = Graph.from_edges(["a", 7], [("t", 1), 2.5], ids=ids)
    assert graph.ids.tolist() == ids
    assert graph.positions([2.5, "a"]).tolist() == [3, 0]
    assert graph.neighbours(0).tolist() == [2]
    assert graph.neighbours(1).tolist() == [3]


def test_integer_ids_are_ids_not_positions():
    graph = Graph.from_edges([10, 20], [20, 30], ids=np.array([30, 20, 10]))
    assert graph.neighbours(1).tolist() == [0, 2]
    assert graph.positions(np.array([10])).tolist() == [2]


def test_unknown_ids_are_named():
    graph = Graph.from_edges(["a"], ["b"], ids=["a", "b"])
    with pytest.raises(PugnnError, match=r"1 of 2 ids are not in the graph: 'z'\. The graph's ids look like 'a', 'b'"):
        graph.positions(["a", "z"])
    with pytest.raises(PugnnError, match=r"these cannot be node ids: 'a', \{'b'\} \(unhashable"):
        graph.positions(["a", {"b"}])


def test_isolated_nodes_at_the_end_are_kept():
    assert Graph.from_edges([0], [1], num_nodes=4).degrees.tolist() == [1, 1, 0, 0]
    assert Graph.from_edges([0], [1], features=np.ones((4, 2))).num_nodes == 4


def test_an_empty_graph_can_exist():
    graph = Graph.from_edges([], [], num_nodes=0)
    assert (graph.num_nodes, graph.num_edges) == (0, 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source": [0], "target": [3], "num_nodes": 3}, "edge ends: node 3 is not in the graph"),
        ({"source": [0], "target": [-1]}, "edge ends: node -1 is not in the graph"),
        ({"source": [0.5], "target": [1.0]}, "edge ends must be a list of positions, .* are ids, pass"),
        ({"source": [0, 1], "target": [1]}, "2 edge sources but 1 edge targets"),
        ({"source": ["a"], "target": ["z"], "ids": ["a", "b"]}, "1 edge ends are not among the node ids: 'z'"),
        ({"source": ["a"], "target": ["b"], "ids": ["a", "b", "a"]}, "appear more than once: 'a'"),
        ({"source": [0], "target": [1], "ids": np.zeros((2, 2))}, "one-dimensional"),
        ({"source": [0], "target": [1], "features": np.ones((3, 2)), "num_nodes": 2}, r"features have shape \(3, 2\)"),
        ({"source": [0], "target": [1], "features": [[1.0], [np.nan]]}, "nan at node 1, column 0"),
        ({"source": [0], "target": [1], "features": sp.csr_array([[0.0, np.inf], [1, 0]])}, "inf at node 0, column 1"),
        ({"source": [0], "target": [1], "features": [["x"], ["y"]]}, "features must be real numbers; got text"),
        ({"source": [0], "target": [1], "features": np.ones((2, 2)), "feature_names": ["a"]}, "1 feature names for 2"),
        ({"source": [0], "target": [1], "weights": [-1.0]}, "edge 0 has weight -1"),
        ({"source": [0, 1], "target": [1, 2], "weights": [1.0, np.nan]}, "edge 1 has weight nan"),
        ({"source": [0], "target": [1], "weights": [1.0, 2.0]}, r"expected \(1,\)"),
        ({"source": [0], "target": [1], "weights": [1 + 1j]}, "weights must be real numbers; got complex"),
        ({"source": [0], "target": [1], "weights": ["1"]}, "weights must be real numbers; got text"),
        ({"source": [0], "target": [1], "weights": [[1], [2, 3]]}, "edge weights must be a list or an array"),
        (
            {"source": [0], "target": [1], "features": np.array([[1j], [2]])},
            "features must be real numbers; got complex",
        ),
        ({"source": [0], "target": [1], "features": sp.csr_array([[1j], [2]])}, "real numbers; got complex"),
        # masked, which numpy would take as given
        ({"source": MASKED, "target": [1, 2]}, "edge ends hold masked entries"),
        ({"source": [1, 2], "target": MASKED, "ids": [0, 1, 2]}, "edge ends hold masked entries"),
        ({"source": [0], "target": [1], "ids": MASKED}, "ids hold masked entries"),
        ({"source": [0, 1], "target": [1, 2], "weights": MASKED}, "edge weights hold masked entries"),
        ({"source": [0], "target": [1], "features": MASKED}, "features hold masked entries"),
        ({"source": [0], "target": [1], "features": [MASKED, MASKED]}, "features hold masked entries"),
        # ids
        ({"source": [[1]], "target": [[2]], "ids": [[1], [2]]}, r"\[1\] cannot be a node id"),
        ({"source": [[1]], "target": [[2]], "ids": [1, 2]}, "edge ends must be node ids"),
        ({"source": [1.0], "target": [2.0], "ids": [1.0, 2.0, np.nan]}, "a node id is missing: nan"),
        ({"source": [1.0], "target": [2.0], "ids": np.array([1.0, 2.0, np.nan])}, "a node id is missing: nan"),
        ({"source": ["a"], "target": ["b"], "ids": ["a", "b", None]}, "a node id is missing: None"),
        ({"source": [0], "target": [1], "ids": [0, 1], "num_nodes": 3}, "2 ids were given for num_nodes=3"),
        # sizes
        ({"source": [0], "target": [1], "num_nodes": 10**12}, "1,000,000,000,000 nodes are more than 32-bit"),
        ({"source": [0], "target": [10**12]}, "node 1000000000000 is not in the graph; .* pass `ids`"),
        ({"source": [0], "target": np.array([2**63], dtype=np.uint64)}, "node 9223372036854775808 is not in the graph"),
        ({"source": [0], "target": [1], "num_nodes": -1}, "num_nodes must be a whole number, at least 0; got -1"),
        ({"source": [0], "target": [1], "num_nodes": 2.5}, "num_nodes must be a whole number"),
        ({"source": [0], "target": [1], "num_nodes": True}, "num_nodes must be a whole number"),
    ],
)
def test_bad_input_is_explained(arguments, message):
    with pytest.raises(PugnnError, match=message):
        Graph.from_edges(**arguments)


def test_ids_are_kept_exactly():
    for ids in ([2**63 + 1, -1, 5], ["a\0", "a", "b"], [2**80, 1, 2], [True, "x", 2.5]):
        graph = Graph.from_edges(ids[:-1], ids[1:], ids=ids)
        assert [(type(i), i) for i in graph.ids.tolist()] == [(type(i), i) for i in ids]
        assert dense(graph) == PATH


def test_an_array_with_an_empty_mask_is_like_any_other():
    ends = np.ma.array([0, 1]), np.ma.array([1, 2], mask=[False, False])
    assert dense(Graph.from_edges(*ends)) == PATH


def test_a_graph_cannot_be_changed():
    graph = Graph.from_edges([0], [1], features=np.ones((2, 1)), weights=[1.0])
    for array in (graph.indptr, graph.indices, graph.features, graph.ids, graph.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError):
        graph.indices = np.zeros(2)


def test_a_graph_keeps_its_own_copy_of_the_features():
    for x in (np.ones((2, 1), dtype=np.float32), sp.csr_array(np.ones((2, 1), dtype=np.float32))):
        graph = Graph.from_edges([0], [1], features=x)
        (x.data if sp.issparse(x) else x)[:] = 7
        assert graph.features.sum() == 2
    with pytest.raises(ValueError, match="read-only"):
        graph.features.data[0] = 0


def test_sources_belong_to_indices():
    graph = Graph.from_edges([2, 0], [1, 1])
    assert list(zip(graph.sources.tolist(), graph.indices.tolist(), strict=True)) == [(0, 1), (1, 0), (1, 2), (2, 1)]


def test_one_feature_may_be_a_plain_list():
    assert Graph.from_edges([0], [1], features=[1.0, 2.0]).features.tolist() == [[1.0], [2.0]]


# ------------------------------------------------------------------ scipy


def test_a_symmetric_matrix_gives_each_edge_once():
    matrix = sp.csr_array(np.array([[0, 2, 0], [2, 0, 3], [0, 3, 0]], dtype=float))
    graph = Graph.from_scipy(matrix, weighted=True)
    assert dense(graph) == matrix.toarray().tolist()
    assert graph.cleaning == Cleaning(rows=2)
    assert Graph.from_scipy(matrix).weights is None


def test_an_asymmetric_matrix_loses_its_direction():
    matrix = sp.csr_array(np.array([[5, 2, 0], [1, 0, 3], [0, 0, 0]], dtype=float))
    graph = Graph.from_scipy(matrix, ids=["a", "b", "c"], weighted=True)
    assert dense(graph) == [[0, 3, 0], [3, 0, 3], [0, 3, 0]]
    assert graph.cleaning == Cleaning(rows=4, self_loops=1, two_way=1)
    assert graph.ids.tolist() == ["a", "b", "c"]


def test_a_matrix_must_be_square_and_ids_must_fit():
    with pytest.raises(PugnnError, match="square"):
        Graph.from_scipy(sp.csr_array((2, 3)))
    with pytest.raises(PugnnError, match="square"):
        Graph.from_scipy(sp.coo_array([1, 2, 3]))
    with pytest.raises(PugnnError, match="1,000,000,000,000 nodes are more than"):
        Graph.from_scipy(sp.coo_array(([1], ([0], [1])), shape=(10**12, 10**12)))
    with pytest.raises(PugnnError, match="adjacency matrix hold masked entries"):
        Graph.from_scipy(np.ma.array([[0, 1], [1, 0]], mask=[[0, 1], [0, 0]]))
    with pytest.raises(PugnnError, match="1 ids were given for 2 nodes"):
        Graph.from_scipy(sp.csr_array((2, 2)), ids=["a"])


# ------------------------------------------------------------------ NetworkX


def test_networkx_in():
    source = nx.DiGraph([("a", "b"), ("b", "a"), ("b", "c"), ("c", "c")])
    nx.set_node_attributes(source, {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [2.0, 2.0]}, "x")
    graph = Graph.from_networkx(source, features="x")
    assert graph.ids.tolist() == ["a", "b", "c"]
    assert dense(graph) == PATH
    assert graph.features.tolist() == [[1, 0], [0, 1], [2, 2]]
    assert graph.cleaning == Cleaning(rows=4, self_loops=1, two_way=1)


def test_networkx_multigraph_weights_are_added_and_default_to_one():
    source = nx.MultiGraph()
    source.add_edge("a", "b", w=2.0)
    source.add_edge("a", "b", w=3.0)
    source.add_edge("b", "c")
    graph = Graph.from_networkx(source, weight="w")
    assert dense(graph) == [[0, 5, 0], [5, 0, 1], [0, 1, 0]]


def test_networkx_missing_attribute_is_named():
    source = nx.path_graph(3)
    source.nodes[0]["x"] = 1.0
    with pytest.raises(PugnnError, match="2 nodes have no attribute 'x': 1, 2"):
        Graph.from_networkx(source, features="x")


def test_networkx_vectors_of_two_lengths():
    source = nx.path_graph(2)
    nx.set_node_attributes(source, {0: [1.0], 1: [1.0, 2.0]}, "x")
    with pytest.raises(PugnnError, match=r"'x' has vectors of several shapes: \(1,\), \(2,\)"):
        Graph.from_networkx(source, features="x")


def test_networkx_weights_that_are_none():
    with pytest.raises(PugnnError, match="no edge has an attribute 'wieght'"):
        Graph.from_networkx(nx.Graph([("a", "b", {"weight": 2})]), weight="wieght")
    for bad in (None, "2"):
        with pytest.raises(PugnnError, match=f"from 'a' to 'b' has the weight {bad!r}, which is not a number"):
            Graph.from_networkx(nx.Graph([("a", "b", {"w": bad})]), weight="w")


def test_networkx_without_edges():
    assert Graph.from_networkx(nx.empty_graph(3)).num_edges == 0


# ------------------------------------------------------------------ PyG


def test_pyg_there_and_back():
    x = torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])
    data = Data(x=x, edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]))
    graph = Graph.from_pyg(data, ids=["a", "b", "c"])
    assert dense(graph) == PATH
    assert graph.ids.tolist() == ["a", "b", "c"]
    back = graph.to_pyg()
    assert torch.equal(back.x, x)
    assert back.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert "edge_weight" not in back


def test_pyg_sparse_features_and_weights_survive():
    x = sp.csr_array(np.array([[1, 0], [0, 0], [0, 4]], dtype=np.float32))
    graph = Graph.from_edges([0, 1], [1, 2], features=x, weights=[2.0, 0.5])
    data = graph.to_pyg()
    assert data.x.layout == torch.sparse_csr
    again = Graph.from_pyg(data)
    assert sp.issparse(again.features)
    assert again.features.toarray().tolist() == x.toarray().tolist()
    assert dense(again) == dense(graph)


def test_pyg_directed_edges_without_features():
    data = Data(edge_index=torch.tensor([[0, 0], [1, 2]]), num_nodes=4)
    graph = Graph.from_pyg(data)
    assert (graph.num_nodes, graph.num_edges, graph.num_features) == (4, 2, 0)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"edge_index": torch.tensor([[0, 1], [1, 7]])}, "edge_index: node 7 is not in the graph"),
        ({}, "has no edges"),
        ({"edge_index": EDGES[0]}, "has no edges"),
        ({"edge_index": EDGES.float()}, "edge_index must be a list of positions"),
        ({"edge_index": EDGES, "edge_weight": torch.ones(2, 1)}, r"edge weights have shape \(2, 1\)"),
        ({"edge_index": EDGES, "edge_weight": torch.tensor([0.0, 1.0])}, "edge 0 has weight 0"),
    ],
)
def test_pyg_data_that_is_not_right(parts, message):
    with pytest.raises(PugnnError, match=message):
        Graph.from_pyg(Data(x=torch.ones(3, 2), **parts))


@pytest.mark.parametrize("x", [torch.ones(3, 2, requires_grad=True), torch.ones(3, 2, dtype=torch.bfloat16)])
def test_pyg_features_that_numpy_does_not_take_as_they_are(x):
    assert Graph.from_pyg(Data(x=x, edge_index=EDGES)).features.tolist() == [[1, 1]] * 3
