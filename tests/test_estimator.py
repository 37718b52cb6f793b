import json
import pickle
import random
import subprocess
import sys
import warnings

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from sklearn.base import clone

from conftest import random_graph
from pugnn import (
    GRAB,
    LSDAN,
    NNPU,
    PUGNN,
    DegenerateWarning,
    Graph,
    LabelPropagation,
    Naive,
    PugnnError,
    PugnnWarning,
    PUNodeClassifier,
)
from pugnn.methods import Centroid
from pugnn.training import load_sealed, save_sealed
from stopping import Stopped, watched_epochs

NAMES = ("x", "y", "z")
PAPER = PUGNN(near_prior=0.6, far_prior=0.3)
FIT = {"epochs": 20, "learning_rate": 0.1, "dropout": 0.0}


def path_graph(nodes: int = 12, *, seed: int = 0, names=NAMES, features: int = 3) -> Graph:
    """A path with random features: with the first two nodes known, δ = 3 leaves three near and the rest far."""
    x = np.random.default_rng(seed).normal(size=(nodes, features)).astype(np.float32)
    ids = [f"n{i}" for i in range(nodes)]
    return Graph.from_edges(ids[:-1], ids[1:], ids=ids, features=x, feature_names=names)


def classifier(**options) -> PUNodeClassifier:
    return PUNodeClassifier(**{"method": PAPER, "epochs": 4, "hidden": 4, "progress": False, **options})


@pytest.fixture(scope="module")
def graph():
    return path_graph()


@pytest.fixture(scope="module")
def fitted(graph):
    return classifier(**FIT).fit(graph, ["n0", "n1"])


def scores(estimator, graph=None):
    return estimator.predict_proba(graph)[:, 1]


# ---------------------------------------------------------------------- scikit-learn's conventions


def test_parameters_are_stored_as_given():
    method = PUGNN(delta=2)
    given = {
        "method": method,
        "backbone": "no such thing",
        "hidden": -3,
        "dropout": 7,
        "epochs": "many",
        "learning_rate": None,
        "weight_decay": -1,
        "batch_size": 0.5,
        "threshold": [0.5],
        "budget": "all",
        "decide": "perhaps",
        "seed": -1,
        "device": object(),
        "progress": 0,
    }
    estimator = PUNodeClassifier(**given)
    assert estimator.get_params(deep=False) == given
    assert all(getattr(estimator, name) is value for name, value in given.items())


def test_set_params_and_clone(fitted):
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "model_")
    assert copy.set_params(seed=5, hidden=2) is copy
    assert (copy.seed, copy.hidden, fitted.seed, fitted.hidden) == (5, 2, 0, 4)


def test_an_unknown_parameter_names_those_that_exist():
    with pytest.raises(PugnnError, match="PUNodeClassifier has no parameter 'epoch'; it has method, backbone"):
        PUNodeClassifier().set_params(epoch=3)


def test_scikit_learn_takes_it_for_an_estimator(graph):
    sklearn = pytest.importorskip("sklearn")
    estimator = PUNodeClassifier(epochs=3)
    assert sklearn.utils.get_tags(estimator).requires_fit
    assert sklearn.pipeline.make_pipeline(estimator).get_params()["punodeclassifier__epochs"] == 3
    with pytest.raises(sklearn.exceptions.NotFittedError, match="has not been fitted"):
        estimator.predict(graph)


def test_what_was_changed_is_shown():
    assert repr(PUNodeClassifier()) == "PUNodeClassifier()"
    assert repr(PUNodeClassifier("nnpu", seed=3)) == "PUNodeClassifier(method='nnpu', seed=3)"


def test_an_unfitted_copy_has_its_own_network(fitted):
    network = torch.nn.Linear(3, 1)
    copy = PUNodeClassifier(backbone=network).unfitted()
    assert copy.backbone is not network
    assert not hasattr(fitted.unfitted(), "model_")


def test_clone_keeps_a_methods_own_settings(graph):
    copy = clone(PUNodeClassifier(PUGNN(delta=2, near_prior=0.7)))
    assert copy.method == PUGNN(delta=2, near_prior=0.7)


def test_only_the_method_is_positional():
    with pytest.raises(TypeError):
        PUNodeClassifier("pu-gnn", "gcn")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "magic"}, "no method 'magic'; choose one of centroid, dist-pu"),
        ({"backbone": "cnn"}, "no backbone 'cnn'; choose one of appnp, gat, gcn, gcn-linear"),
        ({"threshold": 1.5}, "threshold must be a number from 0 to 1, or 'prior'; got 1.5"),
        ({"threshold": float("nan")}, "threshold must be .* got nan"),
        ({"threshold": "posterior"}, "threshold must be .* got 'posterior'"),
        ({"budget": 0}, "budget must be"),
        ({"budget": 2.5}, "budget must be"),
        ({"budget": 2, "threshold": 0.7}, "budget and threshold both say who is decided positive; leave one out"),
        ({"dropout": 1.0}, r"dropout must lie in \[0, 1\), got 1.0"),
        ({"dropout": -0.1}, "dropout must lie in .* got -0.1"),
        ({"hidden": 0}, "hidden must be a whole number, from 1 to 65,536; got 0"),
        ({"epochs": 0}, "epochs must be a whole number, at least 1; got 0"),
        ({"learning_rate": 0.0}, "learning_rate must be positive, got 0.0"),
        ({"weight_decay": -1.0}, "weight_decay must be a number and not negative, got -1.0"),
        ({"batch_size": "many"}, "batch_size must be a whole number, or 'auto'; got 'many'"),
        ({"batch_size": 0}, "batch_size must be"),
        ({"batch_size": 2.5}, "batch_size must be"),
        ({"seed": -1}, "seed must be a whole number, at least 0; got -1"),
        ({"device": "abacus"}, "no device 'abacus'"),
        ({"method": PUGNN(delta=0)}, "delta must be a whole number, at least 1; got 0"),
        ({"method": PUGNN(near_prior=1.2)}, "near_prior .* got 1.2"),
        ({"method": PUGNN(alpha=-1.0)}, "alpha must be a number and not negative, got -1.0"),
    ],
)
def test_parameters_are_checked_by_fit(graph, options, words):
    estimator = classifier(**options)
    with pytest.raises(PugnnError, match=words):
        estimator.fit(graph, ["n0", "n1"])
    assert not hasattr(estimator, "model_")


def test_fit_returns_the_estimator_and_leaves_its_parameters(graph):
    estimator = classifier(threshold="prior")
    before = estimator.get_params()
    assert estimator.fit(graph, ["n0", "n1"]) is estimator
    assert estimator.get_params() == before


# ---------------------------------------------------------------------- fitting and scoring


def test_what_fit_finds(fitted):
    assert fitted.classes_.tolist() == [0, 1]
    assert fitted.labelled_.tolist() == [0, 1]
    assert [record["epoch"] for record in fitted.log_] == list(range(1, 21))
    for record in fitted.log_:
        terms = [value for name, value in record.items() if name not in ("epoch", "total", "seconds")]
        assert record["total"] == pytest.approx(sum(terms), rel=1e-6)
    assert {"labelled", "near", "far"} <= set(fitted.log_[0])
    assert fitted.log_[-1]["total"] < fitted.log_[0]["total"]
    assert fitted.prior_ == pytest.approx(0.3 * 0.6 + 0.7 * 0.3)  # three of ten unlabelled nodes are near
    assert fitted.threshold_ == 0.5


def test_probabilities_and_decisions(fitted):
    probabilities, decisions = fitted.predict_proba(), fitted.predict()
    assert probabilities.shape == (12, 2)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert ((probabilities > 0) & (probabilities < 1)).all()
    assert decisions.shape == (12,)
    assert decisions.tolist() == [int(score >= 0.5) for score in probabilities[:, 1]]
    assert set(decisions.tolist()) == {0, 1}


@pytest.mark.parametrize(
    "positives", [["n0", "n1"], {"n1", "n0"}, [0, 1], np.arange(12) < 2, [1, 1] + [0] * 10, [1, 1] + [-1] * 10]
)
def test_every_form_of_positives_gives_the_same(graph, fitted, positives):
    assert np.array_equal(scores(classifier(**FIT).fit(graph, positives)), scores(fitted))


def test_ids_play_no_part_in_the_result(graph, fitted):
    renamed = Graph.from_edges(np.arange(11), np.arange(1, 12), features=graph.features)
    assert np.array_equal(scores(classifier(**FIT).fit(renamed, [0, 1])), scores(fitted))


def gcn_by_hand(model, graph) -> np.ndarray:
    """Kipf's two layers, node by node."""
    weights = {name: tensor.double().numpy() for name, tensor in model.state_dict().items()}
    x = np.asarray(graph.features, dtype=float)

    def convolve(values):
        out = np.zeros_like(values)
        for i in range(graph.num_nodes):
            for j in [i, *graph.neighbours(i)]:
                out[i] += values[j] / np.sqrt((len(graph.neighbours(i)) + 1) * (len(graph.neighbours(j)) + 1))
        return out

    hidden = convolve(x @ weights["first_layer.linear.weight"].T) + weights["first_bias"]
    logit = convolve(np.maximum(hidden, 0) @ weights["second_layer.weight"].T) + weights["second_bias"]
    return 1 / (1 + np.exp(-logit[:, 0]))


@pytest.mark.parametrize("other", [path_graph(), path_graph(7, seed=1), path_graph(5, seed=2, names=None)])
def test_scores_of_this_and_of_other_graphs(fitted, other):
    assert np.allclose(scores(fitted, other), gcn_by_hand(fitted.model_, other), atol=1e-5)
    assert fitted.predict(other).tolist() == [int(score >= 0.5) for score in scores(fitted, other)]


def test_the_graph_of_the_training_is_the_default(fitted, graph):
    assert np.array_equal(scores(fitted), scores(fitted, graph))


def test_parameters_may_be_numpy_numbers(graph, tmp_path):
    """As they come from a search over np.arange or np.logspace."""
    grid = {"seed": np.int64(3), "hidden": np.int64(4), "dropout": np.float32(0.5), "threshold": np.float32(0.25)}
    estimator = classifier(**grid).fit(graph, [0, 1], checkpoint=tmp_path / "checkpoint")
    assert np.array_equal(scores(estimator), scores(classifier(seed=3, threshold=0.25).fit(graph, [0, 1])))
    estimator.save(tmp_path / "model.safetensors")
    assert np.array_equal(scores(PUNodeClassifier.load(tmp_path / "model.safetensors"), graph), scores(estimator))


def test_threshold_as_a_number(graph):
    estimator = classifier(**FIT, threshold=0.4).fit(graph, ["n0", "n1"])
    assert estimator.threshold_ == 0.4
    assert estimator.predict().tolist() == [int(score >= 0.4) for score in scores(estimator)]


@pytest.mark.parametrize(("near", "far", "expected"), [(0.6, 0.3, 4), (0.9, 0.8, 8), (0.2, 0.1, 1)])
def test_threshold_that_matches_the_prior(graph, near, far, expected):
    method = PUGNN(near_prior=near, far_prior=far)
    estimator = classifier(method=method, threshold="prior").fit(graph, ["n0", "n1"])
    prior = 0.3 * near + 0.7 * far
    assert estimator.prior_ == pytest.approx(prior)
    assert expected == round(10 * prior)
    assert estimator.predict()[2:].sum() == expected, "decided positives among the ten unlabelled nodes"
    assert estimator.threshold_ == sorted(scores(estimator)[2:])[-expected]


def test_unlabelled_nodes_can_be_named(graph):
    estimator = classifier().fit(graph, ["n0", "n1"], unlabelled=np.array([1, 2, 3, 10, 11]))
    assert estimator.prior_ == pytest.approx((2 * 0.6 + 2 * 0.3) / 4)  # 1 is labelled; 2, 3 near; 10, 11 far
    assert not np.array_equal(scores(estimator), scores(classifier().fit(graph, ["n0", "n1"])))


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("bad", "positives", "words"),
    [
        (np.eye(3), [0], "expected a pugnn.Graph, got ndarray"),
        ({"pays": [("a", "b")]}, [0], "expected a pugnn.Graph, got dict; read tables by name with read_graph"),
        (Graph.from_edges([], [], features=np.zeros((0, 2))), [], "the graph is empty"),
        (Graph.from_edges([], [], features=np.ones((3, 2))), [0], "has no edges"),
        (Graph.from_edges([0], [0], features=np.ones((3, 2))), [0], "has no edges"),
        (Graph.from_edges([0, 1], [1, 2]), [0], "has no features"),
        (path_graph(), [], "no known positives"),
        (path_graph(), ["n0", "who"], "not in the graph: 'who'"),
        (path_graph(), [True] * 12, "all nodes are known positives"),
    ],
)
@pytest.mark.filterwarnings("ignore::pugnn.PugnnWarning")
def test_bad_graphs_and_positives(bad, positives, words):
    with pytest.raises(PugnnError, match=words):
        classifier().fit(bad, positives)


def test_other_features_are_refused(fitted):
    with pytest.raises(PugnnError, match="trained with 3 features, the graph has 2"):
        fitted.predict_proba(path_graph(names=("x", "y"), features=2))
    with pytest.raises(PugnnError, match="other features: it misses 'z' and does not know 'w'"):
        fitted.predict_proba(path_graph(names=("x", "y", "w")))
    with pytest.raises(PugnnError, match="in another order; reorder"):
        fitted.predict(path_graph(names=("y", "x", "z")))


def test_names_are_compared_only_where_both_sides_have_them(graph, fitted):
    assert np.array_equal(scores(fitted, path_graph(names=None)), scores(fitted))
    nameless = classifier(**FIT).fit(path_graph(names=None), [0, 1])
    assert np.array_equal(scores(nameless, graph), scores(fitted))


@pytest.mark.parametrize("call", ["predict", "predict_proba", "decision_function", "save"])
def test_not_fitted(call, graph, tmp_path):
    argument = tmp_path / "model.safetensors" if call == "save" else graph
    with pytest.raises(PugnnError, match=r"has not been fitted; call fit\(graph, positives\) first"):
        getattr(PUNodeClassifier(), call)(argument)
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------------- saved models


@pytest.fixture(scope="module")
def saved(fitted, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model.safetensors"
    fitted.save(path)
    return path


def test_a_loaded_model_is_the_saved_one(fitted, saved, graph):
    loaded = PUNodeClassifier.load(saved)
    assert np.array_equal(scores(loaded, graph), scores(fitted))
    assert np.array_equal(loaded.predict(graph), fitted.predict())
    settings = {"method": PAPER, "backbone": "gcn", "weight_decay": 5e-4}  # as fitted: nothing is left open
    assert loaded.get_params() == {**fitted.get_params(), **settings}
    assert loaded.classes_.tolist() == [0, 1]
    assert (loaded.threshold_, loaded.prior_) == (fitted.threshold_, fitted.prior_)
    with pytest.raises(PugnnError, match="holds no graph"):
        loaded.predict_proba()
    with pytest.raises(PugnnError, match="reorder"):
        loaded.predict(path_graph(names=("y", "x", "z")))


@pytest.mark.parametrize("backbone", ["gcn-linear", "gat", "gin", "sage", "appnp"])
def test_every_backbone_can_be_saved(graph, tmp_path, backbone):
    method = PUGNN(delta=2, near_prior=0.6, far_prior=0.25)
    estimator = classifier(method=method, backbone=backbone, threshold="prior").fit(graph, [0, 1])
    estimator.save(tmp_path / "model.safetensors")
    loaded = PUNodeClassifier.load(tmp_path / "model.safetensors")
    assert loaded.method == method
    assert np.array_equal(scores(loaded, graph), scores(estimator))
    assert loaded.threshold_ == estimator.threshold_


def test_a_loaded_model_can_be_fitted_again(saved, graph, fitted):
    again = PUNodeClassifier.load(saved).fit(graph, ["n0", "n1"])
    assert np.array_equal(scores(again), scores(fitted))


def test_saving_again_gives_the_same_model(fitted, saved, tmp_path):
    fitted.save(tmp_path / "again.safetensors")
    (ours, metadata), (theirs, others) = load_sealed(tmp_path / "again.safetensors"), load_sealed(saved)
    assert metadata == others
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    assert [path.name for path in tmp_path.iterdir()] == ["again.safetensors"]


IN_A_NEW_PROCESS = """
import json, sys
import numpy as np
from pugnn import Graph, PUNodeClassifier
x = np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32)
graph = Graph.from_edges(np.arange(11), np.arange(1, 12), features=x, feature_names=("x", "y", "z"))
print(json.dumps([score.hex() for score in PUNodeClassifier.load(sys.argv[1]).predict_proba(graph)[:, 1]]))
"""


def test_a_new_process_scores_identically(fitted, saved):
    done = subprocess.run(
        [sys.executable, "-c", IN_A_NEW_PROCESS, str(saved)], check=True, capture_output=True, text=True
    )
    assert json.loads(done.stdout) == [float(score).hex() for score in scores(fitted)]


def test_every_changed_byte_is_noticed(tmp_path, graph):
    path = tmp_path / "model.safetensors"
    classifier(hidden=1).fit(graph, [0, 1]).save(path)
    content = path.read_bytes()
    assert 500 < len(content) < 5000
    accepted = []
    for position in range(len(content)):
        changed = bytearray(content)
        changed[position] ^= 1 << position % 8
        path.write_bytes(changed)
        try:
            PUNodeClassifier.load(path)
            accepted.append(position)
        except PugnnError:
            pass
    assert accepted == []
    path.write_bytes(content)
    PUNodeClassifier.load(path)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.9, 1.0])
def test_truncated_and_lengthened_files_are_refused(saved, tmp_path, share):
    content = saved.read_bytes()
    path = tmp_path / "model.safetensors"
    path.write_bytes(content[: round(share * (len(content) - 1))])
    with pytest.raises(PugnnError, match="truncated or changed"):
        PUNodeClassifier.load(path)
    path.write_bytes(content + b"\0")
    with pytest.raises(PugnnError, match="truncated or changed"):
        PUNodeClassifier.load(path)


class Trap:
    """What a hostile pickle would run when it is loaded."""

    def __reduce__(self):
        return (open, ("trapped", "w"))


def test_foreign_files_are_refused(tmp_path, monkeypatch, fitted):
    monkeypatch.chdir(tmp_path)
    save_file(fitted.model_.state_dict(), "other.safetensors")
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(Trap()))
    torch.save(fitted.model_.state_dict(), "model.pt")
    (tmp_path / "model.json").write_text("{}")
    (tmp_path / "folder").mkdir()
    before = sorted(path.name for path in tmp_path.iterdir())
    for name in ("other.safetensors", "model.pickle", "model.pt", "model.json"):
        with pytest.raises(PugnnError, match=f"{name} is not an intact pugnn file"):
            PUNodeClassifier.load(name)
    with pytest.raises(PugnnError, match="cannot read folder: Is a directory"):
        PUNodeClassifier.load("folder")
    with pytest.raises(PugnnError, match="cannot read nowhere: No such file"):
        PUNodeClassifier.load("nowhere")
    assert sorted(path.name for path in tmp_path.iterdir()) == before, "nothing was executed"


def test_a_sealed_file_that_is_no_model_is_refused(tmp_path, graph):
    path = tmp_path / "checkpoint.safetensors"
    classifier(epochs=25).fit(graph, [0, 1], checkpoint=path)
    with pytest.raises(PugnnError, match="not a model of this version of pugnn"):
        PUNodeClassifier.load(path)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["method"], "abc", ""),
        (["method", "name"], ["pu-gnn"], ""),
        (["method", "name"], "magic", "no method 'magic'"),
        (["method", "delta"], "3", "delta must be a whole number; got '3'"),
        (["parameters"], [1], ""),
        (["parameters", "evil"], 1, "evil"),
        (["parameters", "backbone"], "gat", "its weights are called"),
        (["parameters", "hidden"], 10**12, "hidden"),
        (["parameters", "hidden"], 32, "have the shape"),
        (["parameters", "threshold"], [0.5], "threshold"),
        (["num_features"], "abc", "num_features"),
        (["num_features"], -2, "num_features"),
        (["num_features"], 10**15, "feature names|have the shape"),
        (["num_features"], True, "num_features"),
        (["feature_names"], 5, "feature names"),
        (["feature_names"], ["a"], "feature names"),
        (["recipe"], "abc", "recipe"),
        (["threshold"], "abc", "threshold"),
        (["threshold"], None, "threshold"),
        (["threshold"], 7.5, "its threshold is 7.5"),
        (["prior"], float("nan"), "prior"),
    ],
)
def test_a_model_with_metadata_that_is_not_right_is_refused(tmp_path, fitted, path, value, words):
    fitted.save(tmp_path / "model.safetensors")
    tensors, metadata = load_sealed(tmp_path / "model.safetensors")
    inner = metadata
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    save_sealed(tmp_path / "model.safetensors", tensors, metadata)
    with pytest.raises(PugnnError, match=f"model.safetensors cannot be loaded: .*({words})"):
        PUNodeClassifier.load(tmp_path / "model.safetensors")


def test_metadata_that_is_no_table_is_refused(tmp_path, fitted):
    save_sealed(tmp_path / "model.safetensors", fitted.model_.state_dict(), [1])
    with pytest.raises(PugnnError, match="not a pugnn file: its metadata is not a mapping"):
        PUNodeClassifier.load(tmp_path / "model.safetensors")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_model_whose_weights_are_not_finite_is_refused(tmp_path, fitted, value):
    fitted.save(tmp_path / "model.safetensors")
    tensors, metadata = load_sealed(tmp_path / "model.safetensors")
    next(iter(tensors.values())).view(-1)[0] = value
    save_sealed(tmp_path / "model.safetensors", tensors, metadata)
    with pytest.raises(PugnnError, match=r"its weights \S+ contain a non-finite value"):
        PUNodeClassifier.load(tmp_path / "model.safetensors")


# ---------------------------------------------------------------------- seeds


@pytest.mark.parametrize("backbone", ["gcn", "gcn-linear", "gat", "gin", "sage", "appnp"])
def test_the_same_seed_twice_is_the_same_to_the_bit(graph, backbone):
    first, second, other = (scores(classifier(backbone=backbone, seed=seed).fit(graph, [0, 1])) for seed in (3, 3, 4))
    assert first.tobytes() == second.tobytes()
    assert not np.array_equal(first, other)


def test_the_result_does_not_depend_on_global_generators(graph):
    torch.manual_seed(1)
    np.random.seed(1)  # noqa: NPY002
    first = scores(classifier().fit(graph, [0, 1]))
    torch.manual_seed(2)
    np.random.seed(2)  # noqa: NPY002
    assert scores(classifier().fit(graph, [0, 1])).tobytes() == first.tobytes()


def test_global_generators_are_left_as_they_were(graph):
    torch.manual_seed(123)
    before = torch.get_rng_state(), np.random.get_state()[1].tobytes(), random.getstate()  # noqa: NPY002
    classifier().fit(graph, [0, 1]).predict()
    assert torch.equal(torch.get_rng_state(), before[0])
    assert np.random.get_state()[1].tobytes() == before[1]  # noqa: NPY002
    assert random.getstate() == before[2]


# ---------------------------------------------------------------------- checkpoints


@pytest.mark.parametrize("backbone", ["gcn", "gat", "gin"])
def test_stopped_and_resumed_is_the_same_to_the_bit(graph, tmp_path, backbone):
    checkpoint = tmp_path / "checkpoint.safetensors"
    options = {"backbone": backbone, "epochs": 70, "seed": 2}
    whole = classifier(**options).fit(graph, [0, 1])

    with pytest.raises(Stopped), watched_epochs(stop_after=50) as done:
        classifier(**options).fit(graph, [0, 1], checkpoint=checkpoint)
    assert done == list(range(1, 51))
    assert len(load_sealed(checkpoint)[1]["parts"][0]["log"]) == 40
    with pytest.raises(Stopped), watched_epochs(stop_after=21) as done:
        classifier(**options).fit(graph, [0, 1], checkpoint=checkpoint)
    assert done == list(range(41, 62))

    with watched_epochs() as done:
        resumed = classifier(**options).fit(graph, [0, 1], checkpoint=checkpoint)
    assert done == list(range(61, 71))
    assert scores(resumed).tobytes() == scores(whole).tobytes()
    for name, tensor in whole.model_.state_dict().items():
        assert torch.equal(tensor, resumed.model_.state_dict()[name])
    without_time = [[{**record, "seconds": 0} for record in fit.log_] for fit in (whole, resumed)]
    assert without_time[0] == without_time[1]
    assert [list(record) for record in resumed.log_] == [list(record) for record in whole.log_], "in the same order"
    seconds = [record["seconds"] for record in resumed.log_]
    assert seconds == sorted(seconds)


def test_a_checkpoint_changes_nothing_in_the_result(graph, fitted, tmp_path):
    estimator = classifier(epochs=41).fit(graph, [0, 1], checkpoint=str(tmp_path / "state"))
    assert (tmp_path / "state").exists()
    assert scores(estimator).tobytes() == scores(classifier(epochs=41).fit(graph, [0, 1])).tobytes()


@pytest.fixture(scope="module")
def checkpoint(graph, tmp_path_factory):
    path = tmp_path_factory.mktemp("checkpoint") / "checkpoint.safetensors"
    classifier(epochs=25).fit(graph, [0, 1], checkpoint=path)
    return path


@pytest.mark.parametrize(
    "options",
    [
        {"epochs": 26},
        {"hidden": 5},
        {"dropout": 0.4},
        {"learning_rate": 0.02},
        {"weight_decay": 0.0},
        {"seed": 1},
        {"backbone": "sage"},
        {"method": PUGNN(alpha=0.02)},
    ],
)
def test_a_checkpoint_of_other_settings_is_refused(graph, checkpoint, options):
    before = checkpoint.read_bytes()
    with pytest.raises(PugnnError, match="other data or settings"):
        classifier(**{"epochs": 25, **options}).fit(graph, [0, 1], checkpoint=checkpoint)
    assert checkpoint.read_bytes() == before


def with_edge(graph: Graph) -> Graph:
    return Graph.from_edges([*range(11), 0], [*range(1, 12), 11], features=graph.features)


@pytest.mark.parametrize(
    ("change", "positives", "unlabelled"),
    [
        pytest.param(lambda graph: path_graph(seed=1), [0, 1], None, id="other features"),
        pytest.param(with_edge, [0, 1], None, id="another edge"),
        pytest.param(lambda graph: graph, [0, 5], None, id="other positives"),
        pytest.param(lambda graph: graph, [0, 1, 2], None, id="one positive more"),
        pytest.param(lambda graph: graph, [0], None, id="one positive fewer"),
        pytest.param(lambda graph: graph, [0, 1], np.arange(2, 11), id="fewer unlabelled"),
    ],
)
def test_a_checkpoint_of_other_data_is_refused(graph, checkpoint, change, positives, unlabelled):
    with pytest.raises(PugnnError, match="other data or settings"):
        classifier(epochs=25).fit(change(graph), positives, unlabelled=unlabelled, checkpoint=checkpoint)


def test_a_damaged_checkpoint_is_refused(graph, checkpoint, tmp_path):
    damaged = tmp_path / "checkpoint.safetensors"
    damaged.write_bytes(checkpoint.read_bytes()[:-3])
    with pytest.raises(PugnnError, match="truncated or changed"):
        classifier(epochs=25).fit(graph, [0, 1], checkpoint=damaged)


@pytest.mark.parametrize(
    ("unlabelled", "message"),
    [
        (np.ones(12, dtype=bool), "unlabelled must be a list of positions"),
        ([0, 12], "node 12 is not in the graph; positions run from 0 to 11"),
        ([0, 1], "no unlabelled nodes are left"),
        ([0, 1] * 6, r"distinct positions; for a vector or mask .* give np.flatnonzero"),
        (np.ma.array([2, 3], mask=[False, True]), "unlabelled hold masked entries"),
    ],
)
def test_bad_unlabelled_nodes_are_explained(unlabelled, message):
    with pytest.raises(PugnnError, match=message):
        PUNodeClassifier(epochs=1).fit(path_graph(), ["n0", "n1"], unlabelled=unlabelled)


def test_a_saved_model_is_the_fitted_one_whatever_was_set_later(graph, tmp_path):
    estimator = classifier(**FIT).fit(graph, ["n0", "n1"])
    expected = scores(estimator)
    estimator.set_params(hidden=32, threshold=0.9)
    estimator.save(tmp_path / "model")
    loaded = PUNodeClassifier.load(tmp_path / "model")
    assert np.array_equal(loaded.predict_proba(graph)[:, 1], expected)
    assert (loaded.hidden, loaded.threshold_) == (4, 0.5)


def test_a_model_of_another_format_is_refused(fitted, tmp_path, monkeypatch):
    monkeypatch.setattr("pugnn.estimator.FORMAT", 2)
    fitted.save(tmp_path / "model")
    monkeypatch.undo()
    with pytest.raises(PugnnError, match="not a model of this version"):
        PUNodeClassifier.load(tmp_path / "model")


def test_settings_of_a_method_may_be_numpy_numbers(graph, tmp_path):
    estimator = classifier(**{**FIT, "method": PUGNN(delta=np.int64(2), alpha=np.float32(0.5))})
    estimator.fit(graph, ["n0", "n1"]).save(tmp_path / "model")
    assert PUNodeClassifier.load(tmp_path / "model").method == PUGNN(delta=2, alpha=0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epochs": "10"}, "epochs must be a whole number, at least 1; got '10'"),
        ({"epochs": 2.5}, "epochs must be a whole number"),
        ({"hidden": 2.5}, "hidden must be a whole number"),
        ({"hidden": 10**12}, "hidden must be a whole number, from 1 to 65,536; got 1000000000000"),
        ({"hidden": True}, "hidden must be a whole number"),
        ({"epochs": True}, "epochs must be a whole number"),
        ({"dropout": False}, "dropout must be a number, got False"),
        ({"learning_rate": 10**400}, "learning_rate must be a number"),
        ({"threshold": True}, "threshold must be a number from 0 to 1, or 'prior'; got True"),
        ({"backbone": ["gcn"]}, r"backbone must be a name, a factory or a network; got \['gcn'\]"),
        ({"device": 5}, "device must be a name, got 5"),
        ({"seed": None}, "seed must be a whole number, at least 0; got None"),
        ({"dropout": "half"}, "dropout must be a number, got 'half'"),
        ({"learning_rate": np.inf}, "learning_rate must be a number, got inf"),
        ({"method": None}, "method must be a name or a method"),
        ({"method": PUGNN}, "method must be a name or a method"),
        ({"method": PUGNN(alpha=np.inf)}, "alpha must be a number"),
        ({"method": LSDAN(prior=0.1, hops=10**12)}, "hops must be a whole number, from 1 to 100"),
    ],
)
def test_parameters_of_the_wrong_kind_are_explained(graph, options, message):
    with pytest.raises(PugnnError, match=message):
        PUNodeClassifier(**options, progress=False).fit(graph, ["n0", "n1"])


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        (PUGNN, {"delta": "2"}, "delta must be a whole number; got '2'"),
        (PUGNN, {"negatives": 2.5}, "negatives must be a whole number"),
        (PUGNN, {"near_prior": "0.5"}, "near_prior must be a number; got '0.5'"),
        (PUGNN, {"delta": True}, "delta must be a whole number; got True"),
        (NNPU, {"correction": ["clamp"]}, r"correction must be one of .* got \['clamp'\]"),
        (NNPU, {"prior": 0.1, "beta": "0"}, "beta must be a number; got '0'"),
        (Naive, {"balanced": "no"}, "balanced must be True or False; got 'no'"),
        (LabelPropagation, {"prior": 0.1, "restart": "0.1"}, "restart must be a number; got '0.1'"),
        (GRAB, {"homophily": None}, "homophily must be a number; got None"),
        (NNPU, {"correction": "max"}, "correction must be one of ascent, clamp; got 'max'"),
    ],
)
def test_settings_of_the_wrong_kind_are_refused_by_the_method(method, options, message):
    with pytest.raises(PugnnError, match=message):
        method(**options)


def test_only_graphs_can_be_scored(fitted):
    with pytest.raises(PugnnError, match=r"expected a pugnn\.Graph, got ndarray"):
        fitted.predict(np.ones((3, 3)))


def test_training_settings_that_are_left_open_are_the_methods_own(graph):
    from pugnn.methods import GRAB

    estimator = PUNodeClassifier(GRAB(rounds=1), epochs=3, progress=False).fit(graph, [0, 1])
    assert estimator.settings_["parameters"] == {
        "backbone": "gcn-linear",
        "hidden": 16,
        "dropout": 0.0,
        "epochs": 3,
        "learning_rate": 0.001,
        "weight_decay": 0.0,
        "batch_size": "auto",
        "threshold": 0.5,
        "budget": None,
        "decide": False,
        "seed": 0,
        "device": "cpu",
        "progress": False,
    }
    assert estimator.epochs == 3
    assert estimator.backbone is None


# ---------------------------------------------------------------------- results that are of no use


def test_a_collapse_is_one_warning_with_all_reasons():
    pairs = np.array([(one, other) for one in range(12) for other in range(one)])
    alike = Graph.from_edges(*pairs.T, num_nodes=12, features=np.ones((12, 3), dtype=np.float32))
    with pytest.warns(DegenerateWarning) as warned:
        fitted = classifier(method=Naive(), epochs=20).fit(alike, [0, 1])
    assert issubclass(DegenerateWarning, PugnnWarning)
    assert [reason.code for reason in fitted.degenerate_] == ["none-positive", "equal-scores"]
    (only,) = warned
    messages = " ".join(reason.message for reason in fitted.degenerate_)
    assert str(only.message) == f"the result is degenerate. {messages}"
    assert only.filename == __file__
    assert fitted.predict_proba().shape == (12, 2)


def test_what_the_method_knows_comes_first(graph):
    path = path_graph(6)
    with pytest.warns(PugnnWarning, match="leaves none") as warned:
        fitted = classifier(method=PUGNN(delta=9), epochs=1).fit(path, ["n0"])
    assert fitted.degenerate_[0].code == "empty-far-set"
    assert sum(each.category is DegenerateWarning for each in warned) == 1


def test_a_healthy_fit_warns_of_nothing(graph):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = PUNodeClassifier(LabelPropagation(0.3)).fit(graph, ["n0", "n1"])
    assert fitted.degenerate_ == ()
    assert fitted.notes_ == ()


def test_the_threshold_of_the_user_is_no_collapse(graph):
    fitted = PUNodeClassifier(LabelPropagation(0.3), threshold=1.0).fit(graph, ["n0", "n1"])
    assert fitted.predict().sum() == 0
    assert fitted.degenerate_ == ()


def test_log_odds_are_those_of_the_scores_and_cannot_be_changed_from_outside(fitted, graph):
    log_odds = fitted.decision_function()
    np.testing.assert_allclose(1 / (1 + np.exp(-log_odds)), scores(fitted), rtol=1e-12)
    log_odds[:] = 0
    assert not np.array_equal(fitted.decision_function(), log_odds)
    np.testing.assert_array_equal(fitted.decision_function(graph), fitted.decision_function())


def test_log_odds_differ_where_scores_are_rounded_to_one():
    from pugnn.training import scores_of

    assert scores_of(np.array([40.0, 50.0])).tolist() == [1.0, 1.0]
    assert scores_of(np.array([0.0, -np.inf])).tolist() == [0.5, 0.0]


@pytest.mark.parametrize("form", ["ids", "positions", "mask", "vector"])
def test_every_form_of_negatives_gives_the_same(graph, form):
    mask = np.isin(np.arange(12), [8, 9])
    given = {"ids": ["n9", "n8"], "positions": [8, 9], "mask": mask, "vector": mask.astype(int)}[form]
    found = classifier().fit(graph, ["n0", "n1"], negatives=given)
    assert found.negative_.tolist() == [8, 9]
    assert scores(found).tolist() == scores(classifier().fit(graph, ["n0", "n1"], negatives=["n8", "n9"])).tolist()


def test_no_negatives_are_as_none(graph, fitted):
    assert (
        scores(classifier(**FIT).fit(graph, ["n0", "n1"], negatives=[], confirmed=[])).tolist()
        == scores(fitted).tolist()
    )


def test_confirmed_nodes_are_known_positives(graph):
    found = classifier().fit(graph, ["n0", "n1"], confirmed=["n4"])
    assert found.labelled_.tolist() == [0, 1, 4]
    assert scores(found).tolist() == scores(classifier().fit(graph, ["n0", "n1", "n4"])).tolist()


def test_verdicts_are_confirmed_nodes_and_negatives(graph, tmp_path):
    expected = classifier().fit(graph, ["n0", "n1"], confirmed=["n4"], negatives=["n9"])
    (tmp_path / "to_check.csv").write_text("id,score,verdict\nn9,0.9,no\nn4,0.8,yes\nn5,0.7,\n")
    for checked in (str(tmp_path / "to_check.csv"), tmp_path / "to_check.csv", {"n4": True, "n9": False}):
        found = classifier().fit(graph, ["n0", "n1"], checked=checked)
        assert (found.labelled_.tolist(), found.negative_.tolist()) == ([0, 1, 4], [9])
        assert scores(found).tolist() == scores(expected).tolist()
        assert "1 yes, 1 no" in found.notes_[0]
    both = classifier().fit(graph, ["n0", "n1"], checked={"n4": "y"}, negatives=["n9"])
    assert scores(both).tolist() == scores(expected).tolist()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"checked": {"n1": "no"}}, "checked rejects 'n1', which is a known positive of positives or confirmed"),
        ({"checked": {"n5": "no"}, "confirmed": ["n5"]}, "checked rejects 'n5', which is a known positive"),
        ({"checked": {"n5": "yes"}, "negatives": ["n5"]}, "checked confirms 'n5', which is one of the negatives"),
        ({"checked": {"n5": "perhaps"}}, "checked, row 1: the verdict 'perhaps' is neither yes nor no"),
        ({"negatives": ["n1"]}, "cannot be both a known positive and a known negative: 'n1'"),
        ({"confirmed": ["n5"], "negatives": ["n5"]}, "cannot be both a known positive and a known negative: 'n5'"),
        ({"negatives": ["zz"]}, "zz"),
        ({"negatives": [99]}, "negatives: node 99 is not in the graph"),
        ({"negatives": [True]}, "the mask of negatives has 1 entries, but the graph has 12 nodes"),
        ({"negatives": [f"n{i}" for i in range(2, 12)]}, "no unlabelled nodes are left"),
    ],
)
def test_bad_feedback_is_explained(graph, given, words):
    with pytest.raises(PugnnError, match=words):
        classifier().fit(graph, ["n0", "n1"], **given)


# ---------------------------------------------------------------------- what a model remembers


def test_a_loaded_model_remembers_rejected_nodes(graph, tmp_path):
    fitted = classifier(threshold=0.0, **FIT).fit(graph, ["n0", "n1"], negatives=["n8", "n9"])
    fitted.save(tmp_path / "model.safetensors")
    loaded = PUNodeClassifier.load(tmp_path / "model.safetensors")
    assert loaded.known_ == fitted.known_
    np.testing.assert_array_equal(loaded.decision_function(path_graph()), fitted.decision_function())
    np.testing.assert_array_equal(loaded.predict(path_graph()), fitted.predict())
    later = path_graph(14, seed=1)
    for model in (fitted, loaded):
        assert model.predict_proba(later)[8:10, 1].tolist() == [0.0, 0.0]
        assert np.flatnonzero(model.predict(later) == 0).tolist() == [8, 9]


def test_rejected_nodes_without_ids_are_recognised_in_the_same_graph_only(tmp_path):
    def graph(seed):
        x = np.random.default_rng(seed).normal(size=(12, 3))
        return Graph.from_edges(range(11), range(1, 12), features=x)

    classifier().fit(graph(0), [0, 1], negatives=[9]).save(tmp_path / "model.safetensors")
    loaded = PUNodeClassifier.load(tmp_path / "model.safetensors")
    assert loaded.predict_proba(graph(0))[9, 1] == 0.0
    assert loaded.predict_proba(graph(1))[9, 1] > 0.0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("known", {"positives": [1], "confirmed": [], "rejected": [], "graph": None}),
        ("known", {"positives": ["n0"]}),
        ("known", "n0"),
        ("scored", [False, "many", 3]),
        ("scored", 7),
    ],
)
def test_a_model_with_an_odd_memory_is_refused(graph, fitted, tmp_path, name, value):
    fitted.save(tmp_path / "model.safetensors")
    tensors, metadata = load_sealed(tmp_path / "model.safetensors")
    save_sealed(tmp_path / "model.safetensors", tensors, {**metadata, name: value})
    with pytest.raises(PugnnError, match="cannot be loaded"):
        PUNodeClassifier.load(tmp_path / "model.safetensors")


LARGE = random_graph(600, 0.05, seed=4, features=40)


@pytest.mark.parametrize("short_at_first", [True, False])
def test_scores_do_not_depend_on_the_memory_when_a_model_is_loaded(short_at_first, tmp_path, monkeypatch):
    """Short of memory, a network samples neighbours."""
    memory = {True: str(300 * LARGE.num_nodes), False: "1GB"}
    monkeypatch.setenv("PUGNN_MEMORY", memory[short_at_first])
    fitted = PUNodeClassifier("naive", progress=False, epochs=3).fit(LARGE, range(0, 600, 50))
    assert fitted.model_.scored.reduced == short_at_first
    fitted.save(tmp_path / "model.safetensors")
    monkeypatch.setenv("PUGNN_MEMORY", memory[not short_at_first])
    again = PUNodeClassifier.load(tmp_path / "model.safetensors").decision_function(LARGE)
    np.testing.assert_array_equal(again, fitted.decision_function())


def test_a_larger_graph_is_scored_as_memory_allows(tmp_path, monkeypatch):
    fitted = PUNodeClassifier("naive", epochs=3, progress=False).fit(LARGE, range(0, 600, 50))
    larger = random_graph(700, 0.05, seed=4, features=40)
    assert fitted.model_.reduces(LARGE) is False
    assert fitted.model_.reduces(larger) is None
    whole = fitted.decision_function(larger)
    monkeypatch.setenv("PUGNN_MEMORY", "1")
    assert not np.array_equal(fitted.decision_function(larger), whole)


def test_a_model_of_views_of_an_earlier_version_is_refused(tmp_path):
    path = tmp_path / "model.safetensors"
    PUNodeClassifier(epochs=2, progress=False).fit(LARGE, range(0, 600, 50)).save(path)
    tensors, metadata = load_sealed(path)
    tensors["contrast"] = tensors.pop("direction")
    save_sealed(path, tensors, metadata)
    with pytest.raises(PugnnError, match=r"model.safetensors cannot be loaded: .*direction"):
        PUNodeClassifier.load(path)


def labels_at_random(**options) -> PUNodeClassifier:
    """Fifteen nodes of a random graph that have nothing in common."""
    graph = random_graph(300, 0.02, features=5, seed=3)
    return PUNodeClassifier("centroid", progress=False, **options).fit(graph, np.arange(0, 300, 20))


def test_without_a_signal_nobody_is_decided():
    fitted = labels_at_random()
    assert not fitted.estimate_.signal
    assert fitted.estimate_.positives is None
    assert not fitted.predict().any()
    assert fitted.decided_by_ == "none, because no signal was found"
    assert not fitted.degenerate_


def test_without_a_signal_even_a_score_that_is_rounded_to_1_is_not_decided(tmp_path):
    fitted = labels_at_random()
    fitted.model_.constant += 50
    graph = random_graph(300, 0.02, features=5, seed=3)
    assert fitted.predict_proba(graph)[:, 1].max() == 1.0
    assert not fitted.predict(graph).any()
    assert f"{fitted.threshold_:g}" == "1"
    fitted.save(tmp_path / "model.safetensors")
    assert PUNodeClassifier.load(tmp_path / "model.safetensors").threshold_ == fitted.threshold_


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"decide": True}, "the top list with the highest expected F1"),
        ({"threshold": 0.3}, "scores from 0.3, the given threshold"),
        ({"budget": 20}, "the first 20, the given budget"),
        ({"threshold": "prior"}, "the share of positives that the method expects"),
    ],
)
def test_without_a_signal_the_user_may_decide(options, rule):
    fitted = labels_at_random(**options)
    assert not fitted.estimate_.signal
    assert fitted.predict().any()
    assert fitted.decided_by_ == rule


@pytest.mark.parametrize("method", ["centroid", LabelPropagation(0.3)])
def test_a_budget_decides_so_many(method):
    graph = random_graph(300, 0.02, features=5, seed=3)
    fitted = PUNodeClassifier(method, budget=17, progress=False).fit(graph, np.arange(0, 300, 20))
    free = np.setdiff1d(np.arange(300), fitted.labelled_)
    decided = free[fitted.predict()[free] == 1]
    assert len(decided) == 17
    assert set(decided) == set(free[np.argsort(-scores(fitted)[free])][:17])


def test_equal_scores_share_a_budget():
    everywhere = random_graph(30, 1.0, seed=0)
    fitted = PUNodeClassifier(LabelPropagation(0.3), budget=5, progress=False).fit(everywhere, [0, 1])
    assert fitted.predict()[2:].all()
    assert fitted.decided_by_ == "the first 5, the given budget, and 23 more with the same score as the last of them"


def test_a_given_share_is_decided():
    graph = random_graph(300, 0.02, features=5, seed=3)
    fitted = PUNodeClassifier(Centroid(prior=0.2), progress=False).fit(graph, np.arange(0, 300, 20))
    free = np.setdiff1d(np.arange(300), fitted.labelled_)
    assert fitted.predict()[free].sum() == round(0.2 * len(free))
    assert fitted.decided_by_ == "the share of positives that was given"
