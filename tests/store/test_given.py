"""A graph in every form that users hold, given to the classifier itself."""

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from pugnn import Graph, PUNodeClassifier, check_up, cross_validate, evaluate, read_graph
from pugnn.errors import PugnnError
from pugnn.explain import explain

RNG = np.random.default_rng(0)
PAIRS = [(f"n{a}", f"n{b}") for a, b in RNG.integers(0, 30, (90, 2)) if a != b]
PAIRS = sorted(set(map(tuple, map(sorted, PAIRS))))
FRAME = pd.DataFrame(PAIRS, columns=["source", "target"])
KNOWN = ["n1", "n2", "n5", "n9"]


def networkx_graph() -> nx.Graph:
    graph = nx.Graph(PAIRS)
    for at, node in enumerate(sorted(graph)):
        graph.nodes[node].update(age=at % 7, city=["Ulm", "Bern", "Wien"][at % 3], vector=[at % 2, at % 5])
    for at, (u, v) in enumerate(graph.edges):
        graph.edges[u, v]["weight"] = 1 + at % 3
    return graph


def fitted(graph, positives=KNOWN, method="centroid"):
    return PUNodeClassifier(method, progress=False).fit(graph, positives)


def adjacency() -> sp.csr_array:
    return Graph.from_edges(*FRAME.to_numpy().T, ids=sorted(set(FRAME.to_numpy().ravel()))).to_scipy()


def test_a_networkx_graph_brings_attributes_weights_and_names():
    graph, data = networkx_graph(), read_graph(networkx_graph())
    classifier = fitted(graph)
    assert classifier.recipe_ == data.recipe.to_plain()
    assert {column["name"] for column in classifier.recipe_["columns"]} == {"age", "city", "vector"}
    expected = fitted(data.graph)
    assert data.graph.weights is not None
    assert classifier.predict_proba().tolist() == expected.predict_proba().tolist()
    assert data.graph.ids[classifier.labelled_].tolist() == sorted(KNOWN, key=list(graph).index)


def test_a_later_graph_gets_the_features_of_the_training():
    graph = networkx_graph()
    classifier = fitted(graph)
    assert classifier.predict_proba(graph).tolist() == classifier.predict_proba().tolist()
    later = graph.copy()
    later.remove_nodes_from(["n3", "n4"])
    for node in later:
        later.nodes[node]["age"] += 100  # a recipe that was learned again would not notice
    scored = classifier.decision_function(later)
    by_hand = classifier.decision_function(read_graph(later, recipe=classifier.recipe_).graph)
    assert scored.tolist() == by_hand.tolist()
    assert len(classifier.predict(later)) == len(later)


@pytest.mark.parametrize(
    "form", [lambda f: f, pl.from_pandas, pa.Table.from_pandas, lambda f: pl.from_pandas(f).lazy()]
)
def test_data_frames_of_edges(form):
    expected = fitted(read_graph(FRAME).graph, method="views")
    classifier = fitted(form(FRAME), method="views")
    assert classifier.predict_proba().tolist() == expected.predict_proba().tolist()
    assert classifier.predict_proba(form(FRAME)).tolist() == expected.predict_proba().tolist()


def test_matrices_and_tensors():
    matrix = adjacency()
    plain = fitted(Graph.from_scipy(matrix), [1, 2, 3], "label-propagation")
    assert fitted(matrix, [1, 2, 3], "label-propagation").predict_proba().tolist() == plain.predict_proba().tolist()
    heavy = matrix.copy()
    heavy.data = 1 + np.arange(len(heavy.data)) % 3
    heavy = heavy + heavy.T
    weighted = fitted(Graph.from_scipy(heavy, weighted=True), [1, 2, 3], "label-propagation")
    assert fitted(heavy, [1, 2, 3], "label-propagation").predict_proba().tolist() == weighted.predict_proba().tolist()
    features = np.eye(matrix.shape[0])
    data = Graph.from_scipy(matrix, features=features).to_pyg()
    expected = fitted(Graph.from_scipy(matrix, features=features), [1, 2, 3]).predict_proba()
    assert np.allclose(fitted(data, [1, 2, 3]).predict_proba(data), expected)


def test_what_read_graph_returns_is_a_graph_and_a_task():
    data = read_graph(networkx_graph(), positives=KNOWN)
    classifier = fitted(data, None)
    assert classifier.labelled_.tolist() == data.task.labelled.tolist()
    assert classifier.predict(data).tolist() == classifier.predict(data.graph).tolist()
    assert check_up(data).to_plain() == check_up(data.task).to_plain()
    assert evaluate(classifier, data).to_plain() == evaluate(classifier, data.task).to_plain()
    assert explain(classifier, data, [0])[0].nearest is not None
    assert explain(classifier, networkx_graph(), [0])[0].total == explain(classifier, data, [0])[0].total
    assert cross_validate(["centroid"], networkx_graph(), KNOWN, progress=False).keys() == {"centroid"}
    with pytest.raises(PugnnError, match="there are no known positives"):
        fitted(read_graph(networkx_graph()), None)


def test_notes_on_how_a_graph_was_read_are_those_of_the_classifier():
    graph = networkx_graph()
    graph.add_edge("n1", "n1")
    nx.set_node_attributes(graph, "same", "constant")
    notes = " ".join(fitted(graph).notes_)
    assert "1 self loop dropped" in notes
    assert "'constant' is not used" in notes


def test_from_networkx_loses_nothing_in_silence():
    graph = networkx_graph()
    with pytest.raises(PugnnError, match=r"would be lost: 'age', 'city', 'vector'. read_graph\(graph\).graph makes"):
        Graph.from_networkx(graph)
    built = Graph.from_networkx(graph, features=())
    assert (built.num_features, built.weights is None) == (0, False)
    assert Graph.from_networkx(graph, features="vector").num_features == 2
    assert Graph.from_networkx(nx.path_graph(3), weight=None).weights is None
