"""What results look like at a prompt and in a notebook."""

import numpy as np
import pytest

from pugnn import Graph, PUNodeClassifier, build_store, check_up, draw_benchmark, evaluate, load_dataset, read_graph
from pugnn.explain import explain
from pugnn.store import read_feedback

HOSTILE = "<b>\x1b[31mx"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    words = {f"w{at}": (np.arange(400) % (at + 2) == 0).astype(int) for at in range(300)}
    nodes = {"id": [f"{HOSTILE}{n}" for n in range(400)], **words}
    edges = [(nodes["id"][n], nodes["id"][(7 * n + 1) % 400]) for n in range(400)]
    data = read_graph(edges, nodes, positives=nodes["id"][:40], truth=nodes["id"][:80])
    classifier = PUNodeClassifier("centroid", progress=False).fit(data)
    benchmark = draw_benchmark(load_dataset("cora"), labels=20, seed=0)
    folder = tmp_path_factory.mktemp("displayed")
    (folder / "confirmed.csv").write_text("id\n" + nodes["id"][90] + "\n")
    found = [data, data.graph, data.task, data.recipe, classifier.estimate_, evaluate(classifier, data)]
    found += [benchmark, load_dataset("cora"), check_up(data), explain(classifier, data, [50])[0]]
    found.append(build_store(folder / "store", edges, nodes))
    found.append(read_feedback(data.graph, data.task.labelled, "it", confirmed=[str(folder / "confirmed.csv")]))
    return found


def test_every_result_is_one_short_line(results):
    for result in results:
        assert len(repr(result)) < 200, repr(result)
        assert repr(result).isprintable()
        assert repr(result).startswith(f"{type(result).__name__}(")


def test_every_result_is_a_small_table_in_a_notebook(results):
    for result in results:
        page = result._repr_html_()
        assert page.startswith("<table>")
        assert len(page) < 1000
        assert "<b>" not in page
        assert "\x1b" not in page


def test_what_is_said_of_tables(results):
    data = results[0]
    size = f"{data.graph.num_edges:,} edges, {data.graph.num_features:,} features"
    assert repr(data) == f"TableGraph(400 nodes, {size}, 40 known positives, 80 true positives, 0 notes)"
    assert repr(data.task) == f"PUTask(400 nodes, {size}, 40 known positives, 360 unlabelled)"
    assert repr(Graph.from_edges([0], [1])) == "Graph(2 nodes, 1 edges, 0 features)"


def test_the_classifier_shows_itself_as_in_scikit_learn():
    assert repr(PUNodeClassifier(epochs=3)) == "PUNodeClassifier(epochs=3)"
