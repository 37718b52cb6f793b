import numpy as np
import pytest
import scipy.sparse as sp
import torch

from conftest import random_graph, whole
from pugnn.graph import Graph
from pugnn.losses import DistPULoss, Sets
from pugnn.models import GraphInputs
from pugnn.task import PUTask
from pugnn.training import Batch, Checkpoint, FullGraph, TrainingSettings, score, train

GRAPH = random_graph(60, 0.1, seed=3, features=4)
TASK = PUTask.from_positives(GRAPH, np.arange(6))


class NodeBatches:
    """So many random nodes, as a network without edges can read them."""

    replayable = False
    threads = 0

    def __init__(self, task: PUTask, size: int) -> None:
        self.task, self.size = task, size
        self.graph, self.device = task.graph, torch.device("cpu")

    def draw(self, seed):
        nodes = np.random.default_rng(seed).permutation(self.graph.num_nodes)[: self.size]
        rows = Graph.from_edges([], [], num_nodes=len(nodes), features=sp.csr_array(self.graph.features)[nodes])
        labelled = np.isin(nodes, self.task.labelled)
        sets = (torch.from_numpy(np.flatnonzero(mask)) for mask in (labelled, ~labelled))
        return Batch(GraphInputs(rows), Sets(*sets))


def objective(output, batch, seed):
    return DistPULoss(0.3)(output.logit, batch.sets)


def test_batches_run_through_the_same_loop():
    settings = TrainingSettings(backbone="mlp", epochs=160, dropout=0.0)
    trained = train(NodeBatches(TASK, 16), objective, settings)
    assert [record["epoch"] for record in trained.log] == list(range(1, 161))
    first, last = ([record["total"] for record in trained.log[part]] for part in (slice(4), slice(-4, None)))
    assert sum(last) < 0.7 * sum(first), "means are those of each batch alone"
    again = train(NodeBatches(TASK, 16), objective, settings)
    assert torch.equal(score(trained.model, GRAPH), score(again.model, GRAPH))


def test_one_batch_of_all_nodes_is_the_whole_graph():
    settings = TrainingSettings(backbone="mlp", epochs=5, dropout=0.0)
    one = train(NodeBatches(TASK, 60), objective, settings)
    full = train(FullGraph.of(TASK, "cpu"), objective, settings)
    assert score(one.model, GRAPH).numpy() == pytest.approx(score(full.model, GRAPH).numpy(), abs=1e-5)
    assert [r["total"] for r in one.log] == pytest.approx([r["total"] for r in full.log], rel=1e-4)


def test_batches_find_the_scores_of_the_full_batch():
    settings = TrainingSettings(backbone="mlp", epochs=1200, dropout=0.0)
    batches = score(train(NodeBatches(TASK, 15), objective, settings).model, GRAPH).numpy()
    settings = TrainingSettings(backbone="mlp", epochs=300, dropout=0.0)
    full = score(train(FullGraph.of(TASK, "cpu"), objective, settings).model, GRAPH).numpy()
    assert np.corrcoef(batches, full)[0, 1] > 0.9


def test_every_step_has_a_seed_of_its_own():
    seeds = []

    def seen(output, batch, seed):
        seeds.append(seed)
        return objective(output, batch, seed)

    train(NodeBatches(TASK, 16), seen, TrainingSettings(backbone="mlp", epochs=12))
    assert len(seeds) == len(set(seeds)) == 12


def test_a_stopped_training_in_batches_continues_as_if_nothing_had_happened(tmp_path):
    settings = TrainingSettings(backbone="mlp", epochs=9)
    uninterrupted = train(NodeBatches(TASK, 16), objective, settings)
    calls = []

    def stops(output, batch, seed):
        calls.append(seed)
        if len(calls) > 6:
            raise KeyboardInterrupt
        return objective(output, batch, seed)

    with pytest.raises(KeyboardInterrupt):
        train(NodeBatches(TASK, 16), stops, settings, checkpoint=Checkpoint(tmp_path / "s", "mine", every=2))
    resumed = train(NodeBatches(TASK, 16), objective, settings, checkpoint=Checkpoint(tmp_path / "s", "mine", every=2))
    assert torch.equal(score(resumed.model, GRAPH), score(uninterrupted.model, GRAPH))


def test_the_full_graph_is_the_same_batch_in_every_epoch():
    loader = whole(GRAPH)
    assert loader.draw(0) is loader.draw(1)


def test_means_over_a_set_count_the_nodes_of_the_batch():
    sets, none = Sets.of(np.arange(2), np.arange(2, 5)), torch.zeros(0, requires_grad=True)
    values = torch.tensor([1.0, 3.0], requires_grad=True)
    mean = sets.mean(values)
    mean.backward()
    assert (mean.item(), values.grad.tolist()) == (2.0, [0.5, 0.5])
    assert sets.mean(values, torch.tensor([3.0, 1.0])).item() == 1.5
    assert sets.mean(none).item() == 0.0, "without any node"


def test_the_full_graph_has_the_known_negatives_of_its_task():
    task = PUTask.from_positives(GRAPH, np.array([0, 1]), np.array([5]))
    sets = FullGraph.of(task, "cpu").batch.sets
    assert sets.negative.tolist() == [5]
    assert 5 not in sets.unlabelled.tolist()
