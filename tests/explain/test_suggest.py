import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from planted import evidence
from pugnn import Graph, LabelPropagation, PugnnError, PUNodeClassifier, PUTask
from pugnn.explain.suggest import GOALS, MAX_COMPARED, node_rows
from pugnn.explain.suggest import suggest as suggest_from

#: Kinds of nodes as directions, with an element that all of them share.
KINDS = np.array([[1.0, 0, 0, 1], [0, 1.0, 0, 1], [0, 0, 1.0, 1]], dtype=np.float32)


def task_of_kinds(kinds, *, known=(0,), edges=((0, 1),)):
    """Nodes of the given kinds, with the rows of their kinds."""
    source, target = np.array(edges).T
    graph = Graph.from_edges(source, target, num_nodes=len(kinds))
    return PUTask.from_positives(graph, np.array(known)), KINDS[list(kinds)]


def suggest(task, scores, rows, **options):
    centred = rows - rows.mean(axis=0)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    centred = np.divide(centred, length, out=np.zeros_like(centred), where=length > 0)
    return suggest_from(task, scores, centred, **options)


def chosen(task, scores, rows, **options):
    options = {"prior": 0.5, "threshold": 0.5, "count": 2, **options}
    return [each.position for each in suggest(task, np.asarray(scores, dtype=float), rows, **options)]


def test_sure_finds_are_the_top_of_the_list_without_twins():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(9, 4)).astype(np.float32)
    task, _ = task_of_kinds([0] * 9)
    scores = np.linspace(0.99, 0.11, 9)
    different = np.vstack([rows[0], np.eye(4, dtype=np.float32), -np.eye(4, dtype=np.float32)])
    assert chosen(task, scores, different, goal="precision", count=4) == [1, 2, 3, 4]
    twins = different.copy()
    twins[2] = twins[1]
    assert chosen(task, scores, twins, goal="precision", count=3) == [1, 3, 4]


def test_learning_takes_the_nodes_that_stand_for_most_of_the_others():
    # Known: kind 0. Five unlabelled nodes of kind 1, three of kind 2, two of kind 0.
    task, rows = task_of_kinds([0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2])
    scores = np.linspace(0.99, 0.01, 11)
    found = suggest(task, scores, rows, goal="learning", prior=0.3, threshold=0.5, count=2)
    assert [each.position for each in found] == [3, 8]
    assert "about 5 nodes resemble it more than any known one" in found[0].reason
    assert "about 3 nodes" in found[1].reason
    assert [(each.rank, each.score) for each in found] == [(3, scores[3]), (8, scores[8])]  # the known one has none


def test_gains_are_those_of_a_plain_loop():
    rng = np.random.default_rng(1)
    count, nodes, known = 4, 40, [0, 1, 2]
    rows = rng.normal(size=(nodes, 5)).astype(np.float32)
    scores = rng.random(nodes)
    task, _ = task_of_kinds([0] * nodes, known=known, edges=[(0, 1)])
    centred = rows - rows.mean(axis=0)
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    taken = list(known)
    for _ in range(count):

        def covered(extra, taken=taken):
            return sum(max(0.0, *(float(centred[i] @ centred[j]) for i in [*taken, extra])) for j in range(3, nodes))

        taken.append(max((node for node in range(3, nodes) if node not in taken), key=covered))
    assert chosen(task, scores, rows, goal="learning", prior=0.6, count=count) == taken[3:]


def test_learning_leaves_out_what_a_known_negative_tells():
    task, rows = task_of_kinds([0, 1, 1, 1, 1, 1, 2, 2])
    scores = np.linspace(0.9, 0.1, 8)
    assert chosen(task, scores, rows, goal="learning", count=1) == [1]
    rejected = replace(task, negative=np.array([1]), unlabelled=np.arange(2, 8))
    assert chosen(rejected, scores, rows, goal="learning", count=1) == [6]


def test_discovery_is_likely_and_not_next_to_a_known_positive():
    kinds = [0, 1, 1, 1, 2, 2, 0, 0, 0, 0, 0, *[1] * 25]
    task, rows = task_of_kinds(kinds, edges=[(0, 1), (1, 2), (0, 3)])
    scores = np.linspace(0.99, 0.1, 36)
    found = suggest(task, scores, rows, goal="discovery", prior=10 / 35, threshold=0.5, count=2)
    assert {each.position for each in found} <= {2, 4, 5}, "among the best, and neither 1 nor 3, nor like 0"
    assert {kinds[each.position] for each in found} == {1, 2}, "one of each kind"
    reasons = {each.position: each.reason for each in found}
    assert reasons[4].startswith("no path joins it to a known positive")


def test_reasons_tell_of_neighbours_and_distance():
    edges = [(0, 2), (1, 2), (2, 3), (3, 4), (0, 5)]
    task, rows = task_of_kinds([0, 0, 1, 2, 1, 2, 1], known=[0, 1], edges=edges)
    found = suggest(task, np.linspace(0.9, 0.3, 7), rows, goal="precision", prior=0.5, threshold=0.5, count=5)
    reasons = {each.position: each.reason for each in found}
    assert reasons == {
        2: "2 of its 3 neighbours are known positives",
        3: "2 hops from the nearest known positive",
        4: "3 hops from the nearest known positive",
        5: "its only neighbour is a known positive",
        6: "no path joins it to a known positive",
    }


def test_reasons_name_the_known_positive_that_a_sure_find_resembles():
    task, rows = task_of_kinds([0, 1, 1, 0, 2], known=[0, 1])
    found = suggest(task, np.linspace(0.9, 0.3, 5), rows, goal="precision", prior=0.5, threshold=0.5, count=3)
    assert [each.reason.rpartition("; ")[2] for each in found] == [
        "most like the known 1",
        "most like the known 0",
        "no path joins it to a known positive",
    ]


@pytest.mark.parametrize(
    ("score", "words"), [(0.52, "at the border, score 0.52"), (0.9, "decided positive"), (0.1, "not decided positive")]
)
def test_reasons_tell_on_which_side_a_node_is(score, words):
    task, rows = task_of_kinds([0, 1])
    (only,) = suggest(task, np.array([0.9, score]), rows, goal="learning", prior=0.5, threshold=0.5, count=1)
    assert only.reason == f"{words}; unlike any labelled node"


def test_log_odds_order_what_scores_do_not():
    task, _ = task_of_kinds([0] * 4)
    rows = np.eye(4, dtype=np.float32)
    found = suggest(
        task,
        np.ones(4),
        rows,
        goal="precision",
        prior=0.5,
        threshold=0.5,
        count=3,
        log_odds=np.array([50.0, 40.0, 60.0, 55.0]),
    )
    assert [(each.position, each.rank) for each in found] == [(2, 1), (3, 2), (1, 3)]


@pytest.mark.parametrize("goal", GOALS)
def test_equal_rows_and_no_expected_positives_still_give_suggestions(goal):
    task, _ = task_of_kinds([0] * 6)
    scores = np.full(6, 0.2)
    expected = [2, 3, 4, 5] if goal == "discovery" else [1, 2, 3, 4, 5]  # 1 touches a known positive
    assert chosen(task, scores, np.zeros((6, 3), np.float32), goal=goal, prior=0.0, count=5) == expected


def test_there_may_be_no_likely_positives_of_other_kinds():
    twins, rows = task_of_kinds([0, 0, 0, 1, 1, 1])
    assert chosen(twins, [0.9, 0.8, 0.7, 0.3, 0.2, 0.1], rows, goal="discovery", prior=0.4, count=1) == [3]
    everywhere = task_of_kinds([0, 1, 2, 1], edges=[(0, 1), (0, 2), (0, 3)])[0]
    found = suggest(
        everywhere,
        np.full(4, 0.9),
        KINDS[[0, 1, 2, 1]],
        goal="discovery",
        prior=0.5,
        threshold=0.5,
        count=3,
    )
    assert found == [], "all of them touch a known positive"


def test_a_node_that_stands_for_itself_is_not_said_to_be_unlike_what_is_known():
    task, _ = task_of_kinds([0] * 3)
    rows = np.array([[1.0, 0], [1, 0.5], [-3, -1]], dtype=np.float32)
    found = suggest(task, np.array([0.9, 0.8, 0.1]), rows, goal="learning", prior=0.5, threshold=0.5, count=2)
    assert {each.position: each.reason for each in found} == {
        1: "decided positive; it represents no other node",
        2: "not decided positive; unlike any labelled node",
    }


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", ["views", "centroid"])
def test_lists_of_one_run_do_not_contradict_each_other_and_headings_are_true(method, seed):
    task = evidence(0.2, known=15, nodes=1000, apart=2.0, seed=seed).task
    training = {"epochs": 5} if method == "views" else {}
    classifier = PUNodeClassifier(method, progress=False, **training).fit_task(task)
    rows, log_odds = node_rows(classifier.model_, task.graph), classifier.decision_function()
    scores, prior = classifier.predict_proba()[:, 1], classifier.prior_
    options = {"prior": prior, "threshold": classifier.threshold_, "log_odds": log_odds}
    highest = (rows @ rows[task.labelled].T).max(axis=1)
    best = task.unlabelled[np.argsort(-log_odds[task.unlabelled], kind="stable")]
    typical = np.median(highest[best[: round(prior * len(best))]])
    for counts in ((5, 5), (40, 10), (10, 40)):
        sure, other = (
            suggest_from(task, scores, rows, goal=goal, count=count, **options)
            for goal, count in zip(("precision", "discovery"), counts, strict=True)
        )
        assert len(other) >= 5
        for each in other:
            assert not np.isin(task.graph.neighbours(each.position), task.labelled).any(), "touches no known positive"
            assert highest[each.position] <= max(0, typical + 1e-5), "resembles one less than is typical, or not at all"
        alike = {each.position for each in sure if "most like the known" in each.reason}
        assert alike
        assert alike.isdisjoint(each.position for each in other)
        assert all(highest[node] >= typical - 1e-5 for node in alike)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"count": 0}, "count must be a whole number, at least 1; got 0"),
        ({"count": 3}, "cannot suggest 3 nodes: there are only 2 that are neither known positives nor known negatives"),
        ({"goal": "money"}, "goal must be one of precision, discovery, learning; got 'money'"),
    ],
)
def test_bad_input(options, words):
    task, rows = task_of_kinds([0, 1, 2])
    with pytest.raises(PugnnError, match=words):
        chosen(task, [0.9, 0.8, 0.7], rows, **{"goal": "learning", **options})


def test_of_a_large_graph_a_sample_is_compared():
    """All pairs would take minutes, and gigabytes."""
    nodes, rng = 20_000, np.random.default_rng(0)
    rows = rng.normal(size=(nodes, 5)).astype(np.float32)
    task, _ = task_of_kinds([0] * nodes, known=range(20))
    options = {"goal": "learning", "prior": 0.3, "threshold": 0.5, "count": 20}
    scores = rng.random(nodes)
    tracemalloc.start()
    found = suggest(task, scores, rows, **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len({each.position for each in found}) == 20
    assert peak < 4 * 4 * (2 * MAX_COMPARED) ** 2
    with pytest.raises(PugnnError, match=f"from 1 to {MAX_COMPARED:,}"):
        suggest(task, scores, rows, **{**options, "count": MAX_COMPARED + 1})


@pytest.mark.parametrize("method", ["views", LabelPropagation(prior=0.5)])
def test_every_method_has_rows(method):
    rng = np.random.default_rng(0)
    features = np.repeat(np.eye(2, 5, dtype=np.float32), 6, axis=0) + 0.1 * rng.random((12, 5), dtype=np.float32)
    source = np.array([0, 1, 2, 3, 4, 6, 7, 8, 9, 10])
    graph = Graph.from_edges(source, source + 1, num_nodes=12, features=features)
    training = {} if isinstance(method, LabelPropagation) else {"epochs": 2}
    classifier = PUNodeClassifier(method, progress=False, **training).fit(graph, [0, 1])
    rows = node_rows(classifier.model_, graph)[:]
    assert len(rows) == 12
    alike = rows @ rows.T
    assert alike[2, 3] > alike[2, 9]
