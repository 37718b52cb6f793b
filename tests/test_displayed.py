"""What results look like at a prompt and in a notebook."""

from dataclasses import replace

import numpy as np
import pytest

from pugnn import Graph, PUNodeClassifier, build_store, check_up, draw_benchmark, evaluate, load_dataset, read_graph
from pugnn.evidence.audit import Audit
from pugnn.explain import explain
from pugnn.store import read_feedback
from report_contents import path_content

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


def test_a_notebook_shows_the_three_answers_of_a_classifier():
    classifier = PUNodeClassifier("centroid", progress=False)
    assert "Not fitted yet." in classifier._repr_html_()
    benchmark = draw_benchmark(load_dataset("cora"), labels=20, seed=0)
    page = classifier.fit_task(benchmark.task)._repr_html_()
    assert "What is known: Half of the 20 known positives, when hidden, rank in the top " in page
    assert "What is measured: Nothing yet." in page
    assert "audit(n=20)" in page
    classifier.estimate_ = replace(classifier.estimate_, signal=False)
    assert "What is known: No signal: " in classifier._repr_html_()
    assert "audit(n=20)" not in classifier._repr_html_()
    classifier.estimate_ = None
    assert "What is known: Nothing." in classifier._repr_html_()


def test_a_notebook_shows_the_three_answers_of_a_run():
    run = path_content([0.9, 0.8, 0.2])
    assert repr(run).endswith(", 2 unlabelled nodes, 1 decided positive)")
    assert [words in run._repr_html_() for words in ("What is known:", "What is measured:", "pugnn audit")] == [
        True
    ] * 3


def test_an_audit_shows_what_it_has_measured():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3])
    audit = Audit(graph, np.arange(4), decided=2, ranks=np.array([0.2, 0.4]), expected=2.0).draw(4)
    assert repr(audit) == "Audit(4 nodes drawn, 0 checked, nothing measured yet)"
    audit.record({0: "yes", 1: "yes", 2: "no", 3: "no"})
    assert "measured on 4 checks, 2 positives (2 to 2) of 4, precision 100 %" in repr(audit)
    assert "measured on 4 checks" in audit.estimate()._repr_html_()
