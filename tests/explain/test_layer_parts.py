import numpy as np
import pandas as pd
import pytest

from dense_views import attribute_rows, matrices, near
from pugnn import PUNodeClassifier, read_graph
from pugnn.explain import explain
from pugnn.explain.attribute_columns import PLACE
from pugnn.explain.exact_parts import view_parts
from pugnn.explain.layer_parts import layer_parts
from pugnn.graph.layers import layers_of
from pugnn.views import VIEWS
from small_relations import shop

NONE = np.zeros(0, np.int64)
KNOWN = np.arange(6)
NODES = np.array([2, 9, 17])  # the first is known


@pytest.fixture(scope="module", params=[0, 3], ids=["no attributes", "attributes"])
def case(request):
    graph = shop(users=20, items=6, features=request.param)
    classifier = PUNodeClassifier(epochs=5, progress=False).fit(graph, KNOWN)
    return graph, classifier, classifier.model_for(graph)


def parts_of(case):
    graph, _, model = case
    return list(zip(NODES.tolist(), layer_parts(model, graph, NODES), strict=True))


def test_parts_add_up_to_the_log_odds(case):
    graph, classifier, _ = case
    expected = classifier.decision_function()
    for node, parts in parts_of(case):
        assert len(parts.by_node) == graph.num_nodes
        assert parts.total == pytest.approx(expected[node], abs=1e-3)
        place = parts.around[-2]
        assert parts.base + parts.by_node.sum() + place == pytest.approx(parts.total, abs=1e-6)
        assert parts.base + parts.own.sum() + parts.around.sum() == pytest.approx(parts.total, abs=1e-6)


def test_relations_add_up_to_the_total_less_the_base(case):
    graph, _, model = case
    for node, parts in parts_of(case):
        assert list(parts.relations) == list(layers_of(graph))
        assert sum(parts.relations.values()) == pytest.approx(parts.total - parts.base, abs=1e-6)
        for name, contribution in parts.relations.items():
            alone = [
                next(view_parts(part, layer, np.array([node])))
                for part, layer in model.on_layers(graph)
                if part.name == name
            ]
            assert contribution == pytest.approx(sum(each.total - each.base for each in alone), abs=1e-6)


def test_columns_are_attributes_then_the_place_then_closeness(case):
    graph, _, model = case
    width = graph.num_features and graph.num_features + 1  # numbers have a column of ones beside them
    for node, parts in parts_of(case):
        assert parts.place
        assert parts.closeness
        assert len(parts.own) == len(parts.around) == width + 2
        own, around = np.zeros(width + 2), np.zeros(width + 2)
        for part, layer in model.on_layers(graph):
            each = next(view_parts(part, layer, np.array([node])))
            for found, values in ((own, each.own.copy()), (around, each.around.copy())):
                if each.closeness:
                    found[width + 1] += values[-1]
                    values = values[:-1]
                if part.structural:  # one part, which is not told apart
                    around[width] += sum(values)
                else:
                    for column, value in enumerate(values):
                        found[column] += value
        assert parts.own == pytest.approx(own, abs=1e-9)
        assert parts.around == pytest.approx(around, abs=1e-9)


def test_both_roles_of_a_node_are_one_node_of_the_graph(case):
    graph, _, model = case
    n = graph.num_nodes
    other_role = 0.0
    for node, parts in parts_of(case):
        expected = np.zeros(n)
        for part, layer in model.on_layers(graph):
            by_node = next(view_parts(part, layer, np.array([node]), of_place=bool(part.structural))).by_node
            assert len(by_node) == (2 * n if part.name.startswith("pays") else n)
            for at, contribution in enumerate(by_node):
                expected[at % n] += contribution
            other_role += np.abs(by_node[n:]).sum()
        assert parts.by_node == pytest.approx(expected, abs=1e-9)
    assert other_role > 0 or not graph.num_features  # the place in a layer is a node's own


def without_by_matrices(model, graph, node, gone, columns, *, place=False, closeness=False) -> float:
    """The log-odds if some nodes, in all roles, and columns were average, from matrices."""
    total, n = float(model.constant), graph.num_nodes
    for part, layer in model.on_layers(graph):
        known = part.known_in(layer)
        roles = np.concatenate([gone + role * n for role in range(layer.num_nodes // n)]).astype(np.int64)
        counted = np.array([each for each in known if each == node or not (closeness or each in roles)], np.int64)
        total += float(part.by_closeness) * near(layer, known, counted)[node]
        rows = attribute_rows(layer, part.attributes).astype(np.float64)
        mean = rows.mean(axis=0)
        if not part.structural:  # a place is no attribute
            rows[roles] = mean
        for column in range(rows.shape[1]) if part.structural and place else [] if part.structural else columns:
            rows[:, column] = mean[column]
        of_views = matrices(layer)
        for view, (each, direction) in enumerate(zip(VIEWS.values(), part.direction.double().numpy(), strict=True)):
            row = of_views[view][node] @ rows
            length = np.linalg.norm(row)
            total += each.weight * float(row @ direction) / length if length > 1e-5 else 0.0
    return total


def test_without_some_nodes_and_columns_the_log_odds_are_computed_anew(case):
    graph, _, model = case
    width = graph.num_features and graph.num_features + 1
    place, closeness = width, width + 1
    for node, parts in parts_of(case):
        gone = np.union1d(np.argsort(-np.abs(parts.by_node))[:3], [1])  # node 1 is known
        assert parts.without(NONE, NONE) == pytest.approx(parts.total, abs=1e-3)
        assert parts.without(gone, NONE) == pytest.approx(without_by_matrices(model, graph, node, gone, []), abs=5e-3)
        for columns, also in (([place], {"place": True}), ([closeness], {"closeness": True})):
            expected = without_by_matrices(model, graph, node, NONE, [], **also)
            assert parts.without(NONE, np.array(columns)) == pytest.approx(expected, abs=5e-3)
        if width:
            expected = without_by_matrices(model, graph, node, gone, [0, 2], place=True)
            assert parts.without(gone, np.array([0, 2, place])) == pytest.approx(expected, abs=5e-3)


def test_an_explanation_says_what_each_relation_contributes(case):
    graph, classifier, _ = case
    for each in explain(classifier, graph, NODES):
        assert list(each.relations) == list(layers_of(graph))
        assert each.base + sum(each.relations.values()) == pytest.approx(each.total, abs=1e-6)
        assert each.base + each.own + each.around + each.place == pytest.approx(each.total, abs=1e-6)


def test_where_a_node_and_its_neighbours_are_does_not_become_huge_parts_that_cancel():
    chains = pd.DataFrame({"source": range(400), "target": range(1, 401)})
    chains = chains[chains.target % 8 > 0]  # whose nodes are nearly in the same place
    rng = np.random.default_rng(0)
    random = pd.DataFrame(rng.integers(400, size=(1200, 2)), columns=["source", "target"])
    data = read_graph({"shares": chains, "pays": random}, positives=list(range(0, 200, 3)))
    classifier = PUNodeClassifier(progress=False).fit(data)
    for each in explain(classifier, data, np.arange(0, 400, 7)):
        assert each.base + each.own + each.around + each.place == pytest.approx(each.total, abs=1e-6)
        assert max(abs(each.own), abs(each.around), abs(each.place)) < 30
        assert all(abs(part.contribution) < 30 for part in each.nodes)
        assert not each.place or f"by its {PLACE}" in " ".join(each.sentences)
