import numpy as np
import pytest
import torch

from conftest import random_graph, untrained
from pugnn import PUNodeClassifier
from pugnn.errors import PugnnError
from pugnn.methods import GRAB, LSDAN, NNPU, PUGNN, DistPU
from pugnn.models import GraphInputs
from pugnn.task import PUTask
from pugnn.training import (
    Checkpoint,
    FullGraph,
    SampledGraph,
    TrainingSettings,
    log_odds,
    plan_as_before,
    plan_training,
)
from pugnn.training.planning import forecast_batches, forecast_scoring, forecast_whole

GRAPH = random_graph(2000, 0.004, seed=3, features=5)
TASK = PUTask.from_positives(GRAPH, np.arange(0, 2000, 100))
MODEL = untrained(GRAPH)


def plan(**settings):
    return plan_training(GRAPH, len(TASK.unlabelled), TrainingSettings(**settings), MODEL)


def test_a_graph_that_fits_is_one_batch():
    found = plan()
    assert found.batch_size is None
    assert found.memory.startswith("Training on the whole graph takes about")
    assert found.notes == ()


def test_a_graph_that_does_not_fit_is_trained_in_the_largest_batches_that_do(monkeypatch):
    sizes = {size: forecast_batches(GRAPH, MODEL, size, with_pairs=False).total for size in (256, 512)}
    monkeypatch.setenv("PUGNN_MEMORY", str(sizes[512] - 1))
    found = plan_training(GRAPH, 10**6, TrainingSettings(), MODEL)
    assert found.batch_size == (256 if forecast_whole(GRAPH, MODEL, with_pairs=False).total >= sizes[512] else None)
    monkeypatch.setenv("PUGNN_MEMORY", "1")
    found = plan()
    assert found.batch_size == 256, "the smallest, where nothing fits"
    assert "Training in batches of 256 unlabelled nodes takes about" in found.memory
    assert found.notes[-1] == "Scores, too, were computed from random neighbours."


def test_a_batch_size_is_taken_as_given():
    assert plan(batch_size=100).batch_size == 100
    assert plan(batch_size="100").batch_size == 100
    assert plan(batch_size=len(TASK.unlabelled)).batch_size is None


@pytest.mark.parametrize(
    ("method", "backbone", "message"),
    [
        (GRAB(), None, "grab spreads beliefs over the whole graph; use nnpu or dist-pu"),
        (DistPU(prior=0.3, variant="full"), None, "use variant='formula'"),
        (LSDAN(prior=0.3), None, "the backbone lsdan needs the whole graph; use gcn, gcn-linear, sage, gat or gin"),
        (NNPU(prior=0.3), "appnp", "the backbone appnp needs the whole graph; use gcn, gcn-linear, sage, gat or gin"),
    ],
)
def test_what_needs_the_whole_graph_says_so(method, backbone, message, monkeypatch):
    with pytest.raises(PugnnError, match=message):
        PUNodeClassifier(method, backbone=backbone, batch_size=64).fit_task(TASK)
    monkeypatch.setenv("PUGNN_MEMORY", "1kB")
    with pytest.raises(PugnnError, match=r"takes about .* of memory, and 1.0 kB are available, but .*"):
        PUNodeClassifier(method, backbone=backbone).fit_task(TASK)


def test_a_method_without_a_training_takes_no_batch_size():
    with pytest.raises(PugnnError, match="trains no network, so batch_size has no effect"):
        PUNodeClassifier("label-propagation", batch_size=64).check_parameters()


PAPER = {"delta": 1, "near_prior": 0.6, "far_prior": 0.3}


@pytest.mark.parametrize("method", [NNPU(prior=0.3), DistPU(prior=0.3), PUGNN(**PAPER), PUGNN(**PAPER, alpha=0.0)])
def test_methods_train_in_batches(method):
    found = PUNodeClassifier(method, batch_size=200, epochs=4).fit_task(TASK)
    assert found.notes_ == (
        "Every step took 200 random unlabelled nodes, and at most 10 random neighbours of each node.",
    )
    assert len(found.log_) == 4
    assert np.isfinite(found.decision_function()).all()


def test_loaders():
    sets = FullGraph.of(TASK, "cpu").batch.sets
    assert isinstance(plan().loader(GRAPH, sets, TrainingSettings()), FullGraph)
    assert isinstance(plan(batch_size=64).loader(GRAPH, sets, TrainingSettings()), SampledGraph)


def test_scores_from_sampled_neighbours_where_the_whole_graph_does_not_fit(monkeypatch):
    whole = MODEL.eval()(GraphInputs(GRAPH)).logit.double()
    assert torch.equal(log_odds(MODEL, GRAPH), whole)
    monkeypatch.setenv("PUGNN_MEMORY", str(forecast_scoring(GRAPH, MODEL).total - 1))
    one, two = log_odds(MODEL, GRAPH), log_odds(MODEL, GRAPH)
    assert torch.equal(one, two)
    few = torch.from_numpy(np.flatnonzero(GRAPH.degrees == 0))
    assert torch.allclose(one[few], whole[few], atol=1e-5)
    assert np.corrcoef(one, whole.detach())[0, 1] > 0.9


@pytest.mark.parametrize("method", [NNPU(prior=0.1), PUGNN(near_prior=0.3, far_prior=0.1)])
def test_a_training_that_continues_keeps_its_batch_size_whatever_the_memory_is_now(method, monkeypatch, tmp_path):
    whole = method.fit(TASK, TrainingSettings(epochs=25)).log
    stopped = Checkpoint(tmp_path / "state", "same", every=5)
    method.fit(TASK, TrainingSettings(epochs=6), checkpoint=stopped)  # its last saved state is that of epoch 5
    monkeypatch.setenv("PUGNN_MEMORY", "1")
    found = method.fit(TASK, TrainingSettings(epochs=25), checkpoint=Checkpoint(tmp_path / "state", "same"))
    assert [record["total"] for record in found.log] == [record["total"] for record in whole]
    assert found.notes == ()
    assert plan_as_before(plan_with, TrainingSettings(), Checkpoint(tmp_path / "new", "same")).batch_size == 256


def plan_with(settings):
    return plan_training(GRAPH, len(TASK.unlabelled), settings, MODEL)
