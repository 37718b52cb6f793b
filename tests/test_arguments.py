"""Public functions, called with what they cannot take: a message, and nothing is accepted in silence."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from pugnn import (
    Dataset,
    Graph,
    PUBenchmark,
    PUNodeClassifier,
    PUTask,
    build_store,
    check_up,
    cross_validate,
    draw_benchmark,
    evaluate,
    load_dataset,
    make_method,
    open_store,
    read_graph,
)
from pugnn.datasets.planted import Planted
from pugnn.errors import PugnnError
from pugnn.evidence import HiddenRanks, Prior, RankModel, estimate
from pugnn.explain import explain
from pugnn.explain.suggest import node_rows, suggest
from pugnn.graph import (
    edge_homophily,
    graph_statistics,
    hop_distances,
    propagate_beliefs,
    sample_neighbours,
    sample_non_neighbours,
)
from pugnn.metrics import accuracy, average_precision, f1, macro_f1, precision_at, roc_auc
from pugnn.priors import prior_bounds
from pugnn.store import read_manifest, read_store
from pugnn.task import draw_labels, resolve_nodes, resolve_positives
from pugnn_paper.protocols import draw_share

N = 30
RNG = np.random.default_rng(0)
GRAPH = Graph.from_edges(RNG.integers(0, N, 90), RNG.integers(0, N, 90), num_nodes=N, features=RNG.normal(size=(N, 3)))
NAMED = Graph.from_edges(["a", "b"], ["b", "c"], ids=["a", "b", "c"])
TASK = PUTask.from_positives(GRAPH, np.array([0, 1, 2]))
FITTED = PUNodeClassifier("centroid", progress=False).fit(GRAPH, [0, 1, 2])
EDGES, NODES = [("a", "b"), ("b", "c")], {"id": ["a", "b", "c"], "v": [1, 2, 3]}
TRUTH, SCORES = np.array([True, False, True]), np.array([0.9, 0.1, 0.8])
MASK, EVERY = np.zeros(N, np.bool_), np.arange(N)
MODEL = RankModel.of(np.array([0.1, 0.2]), 100)
CLASSES = {"labels": np.zeros(N, int), "class_names": ("0",), "positive_classes": frozenset([0]), "missing": MASK}
DATASET = Dataset(name="mine", graph=GRAPH, train_size=10, **CLASSES)


def fit(**given):
    return PUNodeClassifier("centroid", progress=False).fit(**given)


def train(**settings):
    return PUNodeClassifier(**{"method": "nnpu", "epochs": 1, "progress": False, **settings}).fit(GRAPH, [0, 1, 2])


#: Wrong for any argument: what is it, and how many?
NEVER = [object(), -1, float("nan"), [[1], [1, 2]], np.eye(2), {"a": 1}, b"x"]
NO_NODES = [*NEVER, [1.5], [-1], [10**9], ["x"], np.array([True]), "x"]
NO_NUMBER = [*NEVER, None, "x", True, [], float("inf")]
NO_WHOLE = [*NO_NUMBER, 2.5]
NO_TABLE = [*NEVER, 3, 2.5, True, "", "\0", "missing.csv", PUNodeClassifier]
NO_EDGES = [None, *(each for each in NO_TABLE if not isinstance(each, np.ndarray))]
NO_NAME = [*NEVER, 3, True]
NO_GRAPH = [*NEVER, None, 3, "x", [], PUNodeClassifier(), TASK]
NO_TASK = [*NEVER, None, 3, "x", [], GRAPH, PUTask.from_positives(GRAPH, [])]
UNFITTED = [*NEVER, None, "x", PUNodeClassifier(), PUNodeClassifier, GRAPH]
NO_PATH = [*NEVER, None, 3, "", "a\0b"]

#: A function, good arguments, and for some of them what they cannot be.
CASES = [
    (fit, {"graph": GRAPH, "positives": [0, 1]}, {"graph": NO_GRAPH, "positives": [*NO_NODES, None, []]}),
    (fit, {"graph": GRAPH, "positives": [0], "confirmed": [5]}, {"confirmed": NO_NODES}),
    (fit, {"graph": GRAPH, "positives": [0], "negatives": [5]}, {"negatives": NO_NODES}),
    (fit, {"graph": GRAPH, "positives": [0], "unlabelled": [5]}, {"unlabelled": [*NO_NODES, []]}),
    (
        fit,
        {"graph": GRAPH, "positives": [0], "start": None},
        {"start": [each for each in UNFITTED if each is not None]},
    ),
    (fit, {"graph": GRAPH, "positives": [0], "checkpoint": None}, {"checkpoint": [-1, "", "\0", []]}),
    (FITTED.fit_task, {"task": TASK}, {"task": [*NO_TASK, PUTask.from_positives(GRAPH, EVERY)]}),
    (FITTED.predict, {"graph": GRAPH}, {"graph": [each for each in NO_GRAPH if each is not None]}),
    (FITTED.save, {"path": None}, {"path": NO_PATH}),
    (PUNodeClassifier.load, {"path": None}, {"path": [*NO_PATH, "missing", "/"]}),
    (train, {"method": "nnpu"}, {"method": [*NO_NAME, None, "", "no such method"]}),
    (train, {"hidden": 4}, {"hidden": [each for each in NO_WHOLE if each is not None]}),
    (train, {"seed": 0}, {"seed": NO_WHOLE}),
    (train, {"threshold": 0.5}, {"threshold": [*NO_NUMBER, 2]}),
    (train, {"weight_decay": 0.1}, {"weight_decay": [*(each for each in NO_NUMBER if each is not None), 10**30]}),
    (evaluate, {"estimator": FITTED, "task": TASK}, {"estimator": UNFITTED, "task": NO_TASK}),
    (
        cross_validate,
        {"methods": ["centroid"], "graph": GRAPH, "positives": [0, 1], "progress": False},
        {"methods": [3, None, "centroid", [], [3], ["x"]], "graph": NO_GRAPH, "positives": [None, [], [1.5]]},
    ),
    (check_up, {"task": TASK, "seed": 0}, {"task": NO_TASK, "seed": NO_WHOLE}),
    (load_dataset, {"name": "cora"}, {"name": [*NO_NAME, None, "", "../cora", "x"]}),
    (
        load_dataset,
        {"name": "cora", "positive_classes": [0]},
        {"positive_classes": [3, "0", [], [True], [1.0], [99], [[]]]},
    ),
    (make_method, {"name": "pu-gnn", "delta": 2}, {"name": [*NO_NAME, None, "x"], "delta": NO_WHOLE[2:]}),
    (
        draw_benchmark,
        {"dataset": DATASET, "labels": 2, "label_ratio_of": "all_nodes", "unlabelled": "all", "seed": 0},
        {"dataset": NO_GRAPH, "labels": NO_WHOLE, "label_ratio_of": NO_NAME, "unlabelled": NO_NAME, "seed": NO_WHOLE},
    ),
    (draw_benchmark, {"dataset": DATASET, "label_ratio": 0.05, "seed": 0}, {"label_ratio": NO_NUMBER}),
    (draw_share, {"dataset": DATASET, "share": 0.1, "seed": 0}, {"dataset": NO_GRAPH, "share": NO_NUMBER}),
    (draw_labels, {"dataset": DATASET, "labels": 2, "seed": 0}, {"labels": NO_WHOLE, "seed": NO_WHOLE}),
    (read_graph, {"edges": EDGES}, {"edges": [*NO_EDGES, "x", []]}),
    (read_graph, {"edges": EDGES, "nodes": NODES}, {"nodes": NO_TABLE}),
    (read_graph, {"edges": EDGES, "positives": ["a"]}, {"positives": [*NO_TABLE, [], [3], [None]]}),
    (read_graph, {"edges": EDGES, "nodes": ["a", "b", "c"], "attributes": sp.eye_array(3)}, {"attributes": NO_TABLE}),
    (
        read_graph,
        {"edges": EDGES, "nodes": NODES, "show": ["v"], "kinds": {}, "recipe": None, "on_phase": None},
        {"show": [[3], 3, "v", None, ["x"]], "kinds": [3, "x", [], {"v": 3}, {3: "text"}, {"v": "x"}]}
        | {"recipe": [3, "x", [], {}], "on_phase": [3, "x"]},
    ),
    *((read_graph, {"edges": EDGES, name: None}, {name: NO_NAME}) for name in ("source", "target", "id", "weight")),
    (open_store, {"path": None}, {"path": [*NO_PATH, "missing"], "verified": [3, None, "x", np.eye(2)]}),
    (read_store, {"path": None}, {"path": [*NO_PATH, "missing"]}),
    (read_manifest, {"folder": None}, {"folder": [*NO_PATH, "missing"]}),
    (
        Graph.from_edges,
        {
            "source": [0, 1],
            "target": [1, 2],
            "weights": [1, 2],
            "features": np.eye(3),
            "feature_names": ["a", "b", "c"],
        },
        dict.fromkeys(("source", "target", "weights", "features", "feature_names"), NEVER)
        | {"num_nodes": NO_WHOLE[1:3], "feature_names": [3, "abc", [1, 2, 3]]},
    ),
    (
        Graph.from_edges,
        {"source": ["a"], "target": ["b"], "ids": ["a", "b"]},
        {"ids": [*NEVER[:4], "ab", 3, [None, "a"]]},
    ),
    (Graph.from_scipy, {"adjacency": np.eye(3)}, {"adjacency": [*NO_TABLE[:4], None, 3, [], "x", np.eye(2) * 1j]}),
    (Graph.from_scipy, {"adjacency": np.eye(3), "weighted": False}, {"weighted": [None, 3, "x", np.eye(2)]}),
    (Graph.from_networkx, {"graph": nx.path_graph(3), "weight": None}, {"graph": NO_GRAPH, "weight": [*NO_NAME, "w"]}),
    (Graph.from_pyg, {"data": GRAPH.to_pyg()}, {"data": NO_GRAPH}),
    (GRAPH.neighbours, {"node": 0}, {"node": [*NO_WHOLE, N]}),
    (NAMED.find, {"ids": ["a"]}, {"ids": ["a", 3, None, {"a": 1}, np.eye(2), [[1]]]}),
    (NAMED.positions, {"ids": ["a"]}, {"ids": ["a", 3, None, ["x"], [None]]}),
    (
        hop_distances,
        {"graph": GRAPH, "sources": [0], "cap": 3},
        {"graph": NO_GRAPH, "sources": NO_NODES, "cap": NO_WHOLE[:6]},
    ),
    (
        sample_neighbours,
        {"graph": GRAPH, "seeds": [0], "hops": 1, "fan_out": 2, "seed": 0},
        {"graph": NO_GRAPH, "seeds": NO_NODES, "hops": NO_WHOLE, "fan_out": NO_WHOLE, "seed": NO_WHOLE},
    ),
    (
        sample_non_neighbours,
        {"graph": GRAPH, "anchors": [0], "draws": 1, "seed": 0},
        {"anchors": NO_NODES, "draws": NO_WHOLE},
    ),
    (graph_statistics, {"graph": GRAPH}, {"graph": NO_GRAPH}),
    (edge_homophily, {"graph": GRAPH, "labels": MASK}, {"graph": NO_GRAPH, "labels": [None, 3, [1], np.zeros(3)]}),
    (
        propagate_beliefs,
        {"graph": GRAPH, "potentials": np.full(N, 0.5)},
        {"graph": NO_GRAPH, "potentials": [*NEVER, SCORES]},
    ),
    (
        PUTask,
        {"graph": GRAPH, "labelled": [0], "unlabelled": [1]},
        {"graph": NO_GRAPH, "labelled": NO_NODES, "unlabelled": NO_NODES},
    ),
    (PUTask.from_positives, {"graph": GRAPH, "labelled": [0]}, {"graph": NO_GRAPH, "labelled": [*NO_NODES, ~MASK]}),
    (
        PUBenchmark,
        {"task": TASK, "positive": MASK, "train": [], "test": EVERY, "scored": EVERY},
        {"task": NO_TASK[:-1], "positive": [None, 3, [True], EVERY], "train": NO_NODES},
    ),
    (resolve_positives, {"graph": GRAPH, "positives": [1]}, {"graph": NO_GRAPH, "positives": [*NO_NODES, None, []]}),
    (resolve_nodes, {"graph": GRAPH, "nodes": [1], "what": "nodes"}, {"graph": NO_GRAPH, "nodes": NO_NODES}),
    *(
        (
            measure,
            {"truth": TRUTH, "decided": TRUTH},
            {name: [*NEVER, None, [1, 0], ["x"] * 3, [2, 0, 1]] for name in ("truth", "decided")},
        )
        for measure in (f1, macro_f1, accuracy)
    ),
    *(
        (
            measure,
            {"truth": TRUTH, "scores": SCORES},
            {"truth": [*NEVER, None, [1, 0]], "scores": [*NEVER, None, [1, 0], [1, 0, np.nan]]},
        )
        for measure in (roc_auc, average_precision)
    ),
    (precision_at, {"count": 2, "truth": TRUTH, "scores": SCORES}, {"count": [*NO_WHOLE, 0]}),
    (
        estimate,
        {"hidden": HiddenRanks(Prior.given(0.2), SCORES), "unlabelled": 9, "decided": 3},
        {"hidden": NO_TASK, "unlabelled": NO_WHOLE, "decided": [*NO_WHOLE, 10]},
    ),
    (
        HiddenRanks,
        {"prior": Prior.given(0.2), "ranks": SCORES},
        {"prior": NO_NUMBER, "ranks": [*NEVER, [2.0], ["x"], [np.nan]]},
    ),
    (
        RankModel.of,
        {"ranks": SCORES, "unlabelled": 100, "bounds": (0.1, 0.2)},
        {"ranks": [*NEVER, [2.0]], "unlabelled": NO_WHOLE, "bounds": [*NEVER, (0.5, 0.1), (0.0, 0.1)]},
    ),
    (MODEL.precision, {"share": 0.1}, {"share": [*NO_NUMBER, 0, 2]}),
    (prior_bounds, {"prior": 0.1}, {"prior": [*NO_NUMBER, "0.5..0.1", 0, 1]}),
    (
        explain,
        {"estimator": FITTED, "task": TASK, "nodes": [1], "log_odds": None, "shown": None},
        {"estimator": UNFITTED, "task": NO_GRAPH[:-1], "nodes": [*NO_NODES, MASK, 3.5], "shown": [3, "x", {"v": ["a"]}]}
        | {"log_odds": [3, "x", SCORES, np.full(N, np.nan)]},
    ),
    (
        suggest,
        {"task": TASK, "scores": FITTED.predict_proba()[:, 1], "rows": node_rows(FITTED.model_, GRAPH)}
        | {"goal": "precision", "prior": 0.1, "threshold": 0.5, "count": 2, "seed": 0},
        {"task": NO_TASK, "scores": [*NEVER, None], "rows": [*NEVER, None], "goal": NO_NAME, "prior": NO_NUMBER}
        | {"threshold": NO_NUMBER, "count": NO_WHOLE, "seed": NO_WHOLE},
    ),
    (Planted, {"nodes": 1000, "mean_degree": 5.0}, {"nodes": NO_WHOLE, "mean_degree": NO_NUMBER}),
]


ARGUMENTS = [(function, good, name, wrong[name]) for function, good, wrong in CASES for name in wrong]


@pytest.mark.parametrize(
    ("function", "good", "name", "values"),
    ARGUMENTS,
    ids=[f"{getattr(function, '__qualname__', 'it')}-{name}" for function, _, name, _ in ARGUMENTS],
)
def test_a_bad_argument_gives_a_message(function, good, name, values):
    for bad in values:
        try:
            function(**{**good, name: bad})
        except PugnnError as error:
            assert 10 < len(str(error)) < 400, error  # noqa: PT017 (many of them)
        else:
            pytest.fail(f"{name}={bad!r} was taken")


@pytest.mark.parametrize("case", range(len(CASES)))
def test_good_arguments_are_taken(case):
    function, good, _ = CASES[case]
    if not {"path", "folder"} & set(good):  # for which there is nothing good at hand
        function(**good)


def test_a_store_is_built_of_edges_in_a_new_folder(tmp_path):
    for number, edges in enumerate([*NO_EDGES, "x", []]):
        with pytest.raises(PugnnError):
            build_store(tmp_path / str(number), edges)
    for path in NO_PATH:
        with pytest.raises(PugnnError):
            build_store(path, EDGES)
    assert not any(tmp_path.iterdir())
