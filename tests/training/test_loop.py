import time

import numpy as np
import pytest
import torch

from conftest import random_graph, whole
from pugnn.errors import PugnnError, PugnnWarning
from pugnn.graph import Graph
from pugnn.training import Checkpoint, TrainingSettings, derive_seed, score, train
from standard_error import replaced_stderr


@pytest.fixture
def graph():
    return random_graph(20, 0.2, seed=0, features=4)


def objective(output, batch, seed):
    return {"pull": (output.logit - 1).square().mean(), "small": 0.01 * output.embedding.square().mean()}


def test_log_holds_every_term_and_their_sum(graph):
    log = train(whole(graph), objective, TrainingSettings(epochs=7)).log
    assert [record["epoch"] for record in log] == list(range(1, 8))
    for record in log:
        assert list(record) == ["epoch", "pull", "small", "total", "seconds"]
        assert record["total"] == pytest.approx(record["pull"] + record["small"], rel=1e-6)
    assert [r["seconds"] for r in log] == sorted(r["seconds"] for r in log)


def test_training_minimises(graph):
    log = train(whole(graph), objective, TrainingSettings(epochs=100, dropout=0.0)).log
    assert log[-1]["total"] < 0.2 * log[0]["total"]


def test_weight_decay_is_on_the_first_layer_alone(graph):
    def nothing(output, batch, seed):
        return {"zero": 0.0 * output.logit.sum()}

    settings = TrainingSettings(epochs=1, weight_decay=1.0, dropout=0.0)
    before = train(whole(graph), nothing, TrainingSettings(epochs=1, weight_decay=0.0, dropout=0.0)).model.state_dict()
    after = train(whole(graph), nothing, settings).model.state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed == {"first_layer.linear.weight"}


def test_same_seed_same_weights_other_seed_other_weights(graph):
    def weights(seed):
        return train(whole(graph), objective, TrainingSettings(epochs=5, seed=seed)).model.state_dict()

    one, again, other = weights(1), weights(1), weights(2)
    assert all(torch.equal(one[name], again[name]) for name in one)
    assert not all(torch.equal(one[name], other[name]) for name in one)


def test_the_users_generator_is_left_as_it_was(graph):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    train(whole(graph), objective, TrainingSettings(epochs=3))
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("backbone", ["gcn", "gat"])
def test_a_stopped_training_goes_on_as_if_nothing_had_been(graph, tmp_path, backbone):
    settings = TrainingSettings(epochs=13, backbone=backbone)
    uninterrupted = train(whole(graph), objective, settings)
    checkpoint = Checkpoint(tmp_path / "state", "mine", every=5)

    calls = []

    def stops(output, batch, seed):
        calls.append(seed)
        if len(calls) == 12:
            raise KeyboardInterrupt
        return objective(output, batch, seed)

    with pytest.raises(KeyboardInterrupt):
        train(whole(graph), stops, settings, checkpoint=checkpoint)
    resumed = train(whole(graph), objective, settings, checkpoint=checkpoint)
    assert all(
        torch.equal(a, b) for a, b in zip(uninterrupted.model.parameters(), resumed.model.parameters(), strict=True)
    )
    for mine, theirs in zip(uninterrupted.log, resumed.log, strict=True):
        assert {**mine, "seconds": 0} == {**theirs, "seconds": 0}


def test_a_checkpoint_of_something_else_is_refused(graph, tmp_path):
    settings = TrainingSettings(epochs=2)
    train(whole(graph), objective, settings, checkpoint=Checkpoint(tmp_path / "state", "mine", every=1))
    with pytest.raises(PugnnError, match="belongs to a run with other data or settings"):
        train(whole(graph), objective, settings, checkpoint=Checkpoint(tmp_path / "state", "other", every=1))


def test_a_loss_that_is_not_finite_stops_with_advice(graph):
    with pytest.raises(PugnnError, match=r"the loss became nan in epoch 1\. Lower the learning rate"):
        train(
            whole(graph),
            lambda output, batch, seed: {"bad": output.logit.sum() * float("nan")},
            TrainingSettings(epochs=2),
        )


def test_scores_that_are_no_numbers_are_an_error(graph):
    """The last step may spoil the weights after its loss was computed."""
    trained = train(whole(graph), objective, TrainingSettings(epochs=1))
    for parameter in trained.model.parameters():
        torch.nn.init.constant_(parameter, float("nan"))
    with pytest.raises(PugnnError, match=r"the scores of 20 of 20 nodes are nan\. Lower the learning rate"):
        score(trained.model, graph)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epochs": 0}, "epochs must be a whole number, at least 1; got 0"),
        ({"learning_rate": 0.0}, "learning_rate must be positive"),
        ({"weight_decay": -1.0}, "weight_decay must be a number and not negative"),
        ({"seed": -1}, "seed must be a whole number, at least 0; got -1"),
    ],
)
def test_bad_settings_are_explained(arguments, message):
    with pytest.raises(PugnnError, match=message):
        TrainingSettings(**arguments)


@pytest.mark.parametrize(("backbone", "used"), [("gcn", True), ("appnp", True), ("gin", False), ("sage", False)])
def test_weights_that_play_no_part_are_mentioned(backbone, used):
    graph = Graph.from_edges([0, 1], [1, 2], features=np.eye(3), weights=[1.0, 5.0])
    settings = TrainingSettings(epochs=1, backbone=backbone)
    if used:
        train(whole(graph), objective, settings)
    else:
        with pytest.warns(PugnnWarning, match=f"backbone {backbone} does not use them. Take gcn"):
            train(whole(graph), objective, settings)


def test_unknown_devices_are_explained(graph):
    with pytest.raises(PugnnError, match="no device 'gpu'"):
        whole(graph, "gpu")
    if not torch.cuda.is_available():
        with pytest.raises(PugnnError, match="torch sees no CUDA device"):
            whole(graph, "cuda")


def test_scores_are_probabilities_without_dropout(graph):
    model = train(whole(graph), objective, TrainingSettings(epochs=2)).model
    scores = score(model, graph)
    assert scores.dtype == torch.float64
    assert torch.equal(scores, score(model, graph))
    assert ((scores > 0) & (scores < 1)).all()


def test_derived_seeds_differ_by_every_number_of_the_path():
    seeds = {derive_seed(s, *path) for s in range(5) for path in [(), (0,), (1,), (0, 1), (1, 1), (1, 0)]}
    assert len(seeds) == 30
    assert all(0 <= s < 2**63 for s in seeds)


def test_sparse_and_dense_features_train_alike(graph):
    import scipy.sparse as sp

    source = np.repeat(np.arange(20), graph.degrees)
    sparse = Graph.from_edges(source, graph.indices, features=sp.csr_array(graph.features))
    settings = TrainingSettings(epochs=20, dropout=0.0)
    one, two = train(whole(graph), objective, settings), train(whole(sparse), objective, settings)
    assert torch.allclose(score(one.model, graph), score(two.model, sparse), atol=1e-5)


def test_the_rate_and_the_objective_know_the_epoch(graph):
    seen = []

    def watched(output, batch, seed):
        seen.append(batch.epoch)
        return objective(output, batch, seed)

    settings = TrainingSettings(epochs=6, dropout=0.0)
    trained = train(whole(graph), watched, settings, rate=lambda epoch: 0.01 if epoch < 3 else 0.0)
    assert seen == [0, 1, 2, 3, 4, 5]
    totals = [record["total"] for record in trained.log]
    assert totals[3] == totals[4] == totals[5] < totals[2], "the rate was zero from epoch 3 on"
    three = train(whole(graph), objective, TrainingSettings(epochs=3, dropout=0.0)).model
    assert all(torch.equal(a, b) for a, b in zip(trained.model.parameters(), three.parameters(), strict=True))


def test_epochs_go_on_counting_in_a_resumed_training(graph, tmp_path):
    seen = []

    def rate(epoch):
        return 0.01 / (1 + epoch)

    def watched(output, batch, seed):
        seen.append(batch.epoch)
        return {name: term / (1 + batch.epoch) for name, term in objective(output, batch, seed).items()}

    def stops(output, batch, seed):
        if batch.epoch == 5:
            raise KeyboardInterrupt
        return watched(output, batch, seed)

    settings, state = TrainingSettings(epochs=8), tmp_path / "s"
    uninterrupted = train(whole(graph), watched, settings, rate=rate)
    with pytest.raises(KeyboardInterrupt):
        train(whole(graph), stops, settings, rate=rate, checkpoint=Checkpoint(state, "mine", every=4))
    seen.clear()
    resumed = train(whole(graph), watched, settings, rate=rate, checkpoint=Checkpoint(state, "mine", every=4))
    assert seen == [4, 5, 6, 7]
    assert all(
        torch.equal(a, b) for a, b in zip(uninterrupted.model.parameters(), resumed.model.parameters(), strict=True)
    )


def test_a_network_can_be_given_instead_of_made(graph):
    settings = TrainingSettings(epochs=2, dropout=0.0)
    model = train(whole(graph), objective, settings).model
    further = train(whole(graph), objective, settings, build=lambda *_: model)
    assert further.model is model
    assert further.log[0]["total"] < train(whole(graph), objective, settings).log[1]["total"]


@pytest.mark.parametrize("progress", [True, False])
def test_progress_is_shown_on_request(graph, progress, monkeypatch):
    stream = replaced_stderr(monkeypatch)

    def slow(output, batch, seed):
        if progress:
            stream.wait_for("training: first of 2 epochs")
        else:
            time.sleep(0.2)
        return objective(output, batch, seed)

    train(whole(graph), slow, TrainingSettings(epochs=2), progress=progress)
    assert ("training" in stream.getvalue()) == progress
