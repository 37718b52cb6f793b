import numpy as np

from pugnn import read_graph
from pugnn.explain.attribute_columns import ORDINARY, PLACE, Columns
from pugnn.graph import Graph

NODES = {
    "id": ["a", "b", "c", "d", "e", "f"],
    "city": ["Bern", "Bern", "Bern", "Genf", "Genf", "Genf"],
    "age": [34, 51.5, None, 20, 40, 61],
    "since": ["2020-01-31", "2021-05-01", "2019-12-24", "2020-02-01", "2020-02-02", "2020-02-03"],
    "vip": ["yes", "no", "no", "yes", "no", "no"],
    "place": [[1.0, 2.0], [2.0, 0.5], [0.0, 1.0], [3.0, 1.0], [2.0, 2.0], [1.0, 1.0]],
}
EDGES = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "f"), ("f", "a")]


def test_attributes_have_the_names_and_values_of_the_table():
    graph = read_graph(EDGES, NODES).graph
    columns = Columns(graph, graph.num_features + 1)
    values = {name: [columns.value(at, node) for node in range(6)] for at, name in enumerate(columns.names)}
    assert values == {
        "city = Bern": ["yes", "yes", "yes", "no", "no", "no"],
        "city = Genf": ["no", "no", "no", "yes", "yes", "yes"],
        "age": ["34", "51.5", "41.3", "20", "40", "61"],  # the mean, and the next one says that it is missing
        "age missing": ["no", "no", "yes", "no", "no", "no"],
        "since": NODES["since"],
        "vip": NODES["vip"],
        "place": [""] * 6,
        ORDINARY: [""] * 6,
    }


def test_cells_are_those_of_the_table():
    graph = read_graph(EDGES, NODES).graph
    columns = Columns(graph, graph.num_features + 1)
    cells = {name: [columns.cell(at, node) for node in (0, 2, 3)] for at, name in enumerate(columns.names)}
    age = ["age = 34", "age missing", "age = 20"]
    assert cells == {
        "city = Bern": ["city = Bern", "city = Bern", "city = Genf"],
        "city = Genf": ["city = Bern", "city = Bern", "city = Genf"],
        "age": age,
        "age missing": age,
        "since": [f"since = {NODES['since'][node]}" for node in (0, 2, 3)],
        "vip": [f"vip = {NODES['vip'][node]}" for node in (0, 2, 3)],
        "place": ["place"] * 3,
        ORDINARY: [ORDINARY] * 3,
    }


def test_columns_of_a_vector_are_added_up():
    graph = read_graph(EDGES, NODES).graph
    columns = Columns(graph, graph.num_features)
    numbers = np.arange(graph.num_features, dtype=float)
    at = columns.names.index("place")
    first = graph.feature_names.index("place[0]")
    assert columns.total(numbers)[at] == 2 * first + 1
    assert columns.of_attributes(np.array([at, 0])).tolist() == [first, first + 1, 0]


def test_counts_are_present_or_absent_and_nodes_may_have_no_row():
    counts = {
        "id": ["a", "b", "c", "d", "e"],
        **{f"w{at}": [int(at % 5 == row) for row in range(5)] for at in range(25)},
    }
    graph = read_graph(EDGES, counts).graph
    columns = Columns(graph, graph.num_features)
    assert columns.value(columns.names.index("w3"), 3) == "present"
    assert columns.value(columns.names.index("w3"), 2) == "absent"
    assert columns.value(columns.names.index("no row in the node table"), 5) == "yes"
    assert [columns.cell(columns.names.index("w3"), node) for node in (3, 5)] == [
        "w3 = present",
        "no row in the node table",
    ]


def test_features_without_a_table_have_their_own_names_or_numbers():
    x = np.array([[0.5, 2.0], [1.0, 0.0]])
    named = Graph.from_edges([0], [1], features=x, feature_names=["size", "weight"])
    assert Columns(named, 2).names == ["size", "weight"]
    plain = Columns(Graph.from_edges([0], [1], features=x), 2)
    assert (plain.names, plain.value(0, 0)) == (["feature 0", "feature 1"], "0.5")


def test_structure_is_one_attribute():
    for graph in (Graph.from_edges([0], [1]), read_graph(EDGES).graph):
        columns = Columns(graph, 33)
        assert (columns.names, columns.value(0, 0)) == ([PLACE], "")
        assert columns.total(np.ones(33)).tolist() == [33]


def test_a_model_may_read_no_attributes():
    columns = Columns(Graph.from_edges([0], [1]), 0)
    assert (columns.names, columns.total(np.zeros(0)).tolist()) == ([], [])
