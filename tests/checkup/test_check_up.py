import json
import tracemalloc
from dataclasses import replace
from datetime import date
from typing import get_args

import numpy as np
import pytest

from checkup.planted import planted, with_hubs
from conftest import special_graphs
from pugnn.checkup import check_up
from pugnn.checkup.findings import advise
from pugnn.checkup.homophily import Verdict
from pugnn.checkup.sizes import degree_summary
from pugnn.datasets import load_dataset
from pugnn.graph import Graph
from pugnn.store import read_graph
from pugnn.task import PUTask, draw_benchmark


def level_of(found, topic):
    return [finding.level for finding in found.findings if finding.topic == topic]


@pytest.mark.parametrize("name", list(special_graphs()))
def test_odd_graphs_are_looked_at_without_complaint(name):
    graph = special_graphs()[name]
    for count in {1, graph.num_nodes // 3, graph.num_nodes - 1} - {0}:
        found = check_up(PUTask.from_positives(graph, np.arange(count)))
        json.dumps(found.to_plain(), allow_nan=False)
        assert {finding.topic for finding in found.findings} >= {"homophily", "rings", "sampling"}


def test_every_warning_has_a_remedy():
    graph = Graph.from_edges([0, 1], [1, 2], num_nodes=40)
    for labelled in ([0], list(range(20)), list(range(3, 30))):
        for finding in check_up(PUTask.from_positives(graph, np.array(labelled))).findings:
            assert finding.remedy or finding.level != "warning"
            assert finding.title
            assert finding.text.endswith((".", ")"))


def test_the_same_seed_gives_the_same_check_up():
    task = draw_benchmark(load_dataset("cora"), labels=27, seed=3).task
    assert check_up(task, seed=1) == check_up(task, seed=1)
    assert check_up(task, seed=1).homophily.lift != check_up(task, seed=2).homophily.lift


def test_plain_form_keeps_ids_as_text_where_json_has_no_such_type():
    graph = replace(Graph.from_edges([0], [1]), ids=np.array([date(2024, 1, 1), date(2024, 1, 2)]))
    plain = check_up(PUTask.from_positives(graph, np.array([0]))).to_plain()
    assert plain["degrees"]["hubs"][0]["id"] == "2024-01-01"
    assert plain["reach"] == {
        "labelled": 1,
        "unlabelled": 1,
        "isolated_labelled": 0,
        "components_with_labelled": 1,
        "unreachable": 0,
    }


def test_degrees_by_hand():
    star = Graph.from_edges(np.zeros(4, dtype=int), np.arange(1, 5))
    found = degree_summary(star)
    assert dict(found.quantiles)[0.5] == 1
    assert dict(found.quantiles)[1.0] == 4
    assert [(hub.id, hub.degree) for hub in found.hubs] == [(0, 4), (1, 1), (2, 1), (3, 1), (4, 1)]
    assert found.top_share == 0.5


def test_unreachable_and_isolated_nodes_are_told():
    graph = Graph.from_edges([0, 2], [1, 3], num_nodes=6)
    found = check_up(PUTask.from_positives(graph, np.array([0, 5])))
    assert (found.reach.isolated_labelled, found.reach.unreachable) == (1, 3)
    titles = " ".join(finding.title for finding in found.findings)
    assert "1 of 2 known positives have no links" in titles
    assert "3 unlabelled nodes (75 %) cannot be reached" in titles


def test_advice_follows_homophily():
    together = check_up(PUTask.from_positives(planted(0.06, 0.006), np.arange(0, 200, 5)))
    assert "Since positives cluster, links should help" in together.advice[1]
    assert level_of(together, "homophily") == ["good"]
    apart = check_up(PUTask.from_positives(planted(0.02, 0.2), np.arange(0, 200, 4)))
    assert "a node's own view may count more" in apart.advice[1]
    assert level_of(apart, "homophily") == ["note"], "the default method copes with it"


@pytest.mark.parametrize("verdict", get_args(Verdict))
def test_advice_has_words_for_every_verdict(verdict):
    found = check_up(PUTask.from_positives(planted(0.06, 0.006), np.arange(0, 200, 5)))
    assert len(advise(40, replace(found.homophily, verdict=verdict), attributes=True)[1]) > 100


def test_advice_follows_the_number_of_known_positives():
    graph = planted(0.06, 0.006)
    one, few = (check_up(PUTask.from_positives(graph, np.arange(count))).advice for count in (1, 2))
    assert "the ranking cannot be tested" in one[1]
    assert "The share of positives cannot be estimated either" in one[2]
    assert "With 2 of them, the evidence is thin" in few[1]
    assert "The share of positives is estimated, roughly" in few[2]


def test_advice_follows_the_attributes(tmp_path):
    known = np.arange(0, 200, 5)
    assert "views of their attributes" in check_up(PUTask.from_positives(planted(0.06, 0.006), known)).advice[0]
    assert (
        "for lack of attributes" in check_up(PUTask.from_positives(planted(0.06, 0.006, features=0), known)).advice[0]
    )
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\nc,d\n")
    bare = read_graph(str(tmp_path / "edges.csv"), positives=["a", "b"])
    assert bare.graph.num_features > 0
    assert "for lack of attributes" in check_up(bare.task).advice[0]


def test_bias_is_told_with_its_consequence():
    graph = with_hubs()
    rng = np.random.default_rng(0)
    drawn = rng.choice(300, 40, replace=False, p=graph.degrees[:300] / graph.degrees[:300].sum())
    told = [
        finding for finding in check_up(PUTask.from_positives(graph, drawn)).findings if finding.topic == "sampling"
    ]
    assert told[0].title == "Known positives have unusually many links"
    few = PUTask.from_positives(graph, drawn[:9])
    assert (
        check_up(few.with_feedback(drawn[9:], drawn[:0])).sampling.verdict == "too few"
    )  # confirmed ones are no sample
    assert "favour nodes with many links" in told[0].text
    assert "few links" in told[0].remedy


def test_chance_is_told_in_shuffles():
    found = check_up(PUTask.from_positives(planted(0.06, 0.006), np.arange(0, 200, 5)))
    told = next(finding.text for finding in found.findings if finding.topic == "homophily")
    assert found.homophily.p_value == pytest.approx(0.00125)
    assert "chance alone gives that in 1 of 1,000 shuffles" in told


def test_the_caveat_says_why_known_positives_may_not_be_typical():
    close = check_up(PUTask.from_positives(planted(0.06, 0.006), np.arange(0, 200, 5)))
    assert close.sampling.verdict == "close"
    assert close.caveat.startswith("The known positives may not be typical of all: known positives ")
    assert replace(close, sampling=replace(close.sampling, verdict="random")).caveat is None
    few = check_up(PUTask.from_positives(planted(0.06, 0.006), np.arange(2)))
    assert few.sampling.verdict == "too few"
    assert ": too few known positives to tell how they were picked. If they are not" in few.caveat
    graph = with_hubs()
    rng = np.random.default_rng(0)
    drawn = rng.choice(300, 40, replace=False, p=graph.degrees[:300] / graph.degrees[:300].sum())
    biased = check_up(PUTask.from_positives(graph, np.sort(drawn)))
    assert biased.sampling.verdict == "not random"
    title = next(each.title for each in biased.findings if each.topic == "sampling" and each.level == "warning")
    assert title[1:] in biased.caveat
    assert biased.caveat.endswith("there are more positives than estimated, and fewer of them are found.")


def test_nothing_of_the_size_of_all_links_is_made():
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(*rng.integers(0, 4000, (2, 2_000_000)), num_nodes=4000, features=rng.random((4000, 3)))
    task = PUTask.from_positives(graph, np.arange(0, 4000, 400))
    tracemalloc.start()
    try:
        check_up(task)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < graph.indices.nbytes / 2
    assert held < 50 * graph.num_nodes
