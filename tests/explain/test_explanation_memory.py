import tracemalloc

import numpy as np
import pytest

from conftest import random_graph
from pugnn import PUNodeClassifier, PUTask
from pugnn.explain import explain
from pugnn.explain.parts import explanation_memory
from pugnn.graph.smoothing import LANES
from pugnn.views import VIEWS, View
from small_relations import shop

GRAPH = random_graph(3000, 0.003, seed=0, features=20)
TASK = PUTask.from_positives(GRAPH, np.arange(10))


@pytest.mark.parametrize("method", ["views", "label-propagation", "naive"])
def test_explanations_take_no_more_than_their_forecast(method):
    fitted = PUNodeClassifier(method, progress=False).fit_task(TASK)
    log_odds = fitted.decision_function()
    tracemalloc.start()
    try:
        explain(fitted, TASK, np.arange(20, 40), log_odds=log_odds)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= explanation_memory(fitted.model_, GRAPH, 20)


def test_the_forecast_counts_a_new_view(monkeypatch):
    graph = shop(users=20, items=6, features=3)
    fitted = PUNodeClassifier(epochs=5, progress=False).fit(graph, np.arange(6))
    layered = fitted.model_for(graph)
    layers = [(part, layer) for part, layer in layered.on_layers(graph)]
    before = [explanation_memory(*each, LANES) for each in [*layers, (layered, graph)]]
    monkeypatch.setitem(VIEWS, "beyond", View(0.3, {3: 1}))
    after = [explanation_memory(*each, LANES) for each in [*layers, (layered, graph)]]
    weights = [4 * LANES * layer.num_nodes for _, layer in layers]
    together = 8 * LANES * graph.num_nodes * len(layers) + sum(weights)
    assert np.subtract(after, before).tolist() == [*weights, together]


@pytest.mark.parametrize("method", ["centroid", "label-propagation", "naive"])
def test_the_forecast_of_a_small_graph_is_small(method):
    graph = random_graph(30, 0.2, seed=0, features=4)
    fitted = PUNodeClassifier(method, progress=False).fit(graph, [0, 1])
    assert explanation_memory(fitted.model_, graph, 20) < 2**27
    larger = [explanation_memory(fitted.model_, each, 20) for each in (graph, GRAPH)]
    assert larger[0] < larger[1]
