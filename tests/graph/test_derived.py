import numpy as np

from conftest import random_graph
from pugnn.graph.derived import derived, forget_derived


def test_what_follows_from_a_graph_is_made_once():
    graph, made = random_graph(5, 0.5, 0), []

    def ask(key=None, most=1):
        return derived(graph, "thing", lambda: made.append(key) or np.zeros(3), key, most=most)

    assert ask() is ask()
    assert made == [None]
    assert derived(graph, "another", list) == []
    forget_derived()
    ask()
    assert made == [None, None]


def test_so_many_of_a_kind_are_kept_the_last_ones_made():
    graph, made = random_graph(5, 0.5, 0), []
    for key in "abaacabc":
        derived(graph, "thing", lambda key=key: made.append(key), key, most=2)
    assert "".join(made) == "abcabc"


def test_only_the_last_graph_counts():
    made = []
    one, two = random_graph(5, 0.5, 0), random_graph(5, 0.5, 0)
    for graph in (one, one, two, one):
        derived(graph, "thing", lambda graph=graph: made.append(graph))
    assert made == [one, two, one]
