from dataclasses import replace

import numpy as np
import pytest
import torch

from conftest import random_graph, untrained
from pugnn.losses import DistPULoss, NonNegativeLoss, Sets, UnbiasedLoss, UnlabelledAsNegativeLoss
from pugnn.models import GraphInputs
from pugnn.regularisers import StructuralRegulariser
from pugnn.task import PUTask
from pugnn.training import FullGraph, SampledGraph, TrainingSettings, score, train
from pugnn.training.scoring import sampled_logits
from pugnn_paper.variants import PUGNNVariant

CPU = torch.device("cpu")
GRAPH = random_graph(400, 0.02, seed=3, features=5)
TASK = PUTask.from_positives(GRAPH, np.arange(0, 400, 50), np.arange(1, 400, 80))
SETS = Sets.of(TASK.labelled, TASK.unlabelled, TASK.negative)
MODEL = untrained(GRAPH)


def loader(size: int, sets: Sets = SETS, **options) -> SampledGraph:
    return SampledGraph(GRAPH, sets, size, MODEL, CPU, **options)


def one(size: int, seed: int, sets: Sets = SETS, **options):
    return loader(size, sets, **options).draw(seed)


def nodes(batch, name: str) -> list[int]:
    return batch.inputs.nodes[getattr(batch.sets, name)].tolist()


def test_a_batch_has_all_known_nodes_and_a_sample_of_the_others():
    batch = one(40, seed=1)
    assert nodes(batch, "labelled") == TASK.labelled.tolist()
    assert nodes(batch, "negative") == TASK.negative.tolist()
    drawn = nodes(batch, "unlabelled")
    assert len(set(drawn)) == 40
    assert set(drawn) <= set(TASK.unlabelled.tolist())
    assert batch.sets.size("unlabelled") == len(TASK.unlabelled)


def test_large_sets_of_known_nodes_are_sampled():
    sets = Sets.of(np.arange(100), np.arange(100, 400))
    batch = one(40, 1, sets)
    assert len(set(nodes(batch, "labelled"))) == 10
    assert len(set(nodes(batch, "unlabelled"))) == 40
    assert batch.sets.size("labelled") == 100


def test_near_and_far_nodes_have_their_shares():
    near, far = torch.arange(10, 210), torch.arange(210, 400)
    batch = one(39, 1, Sets.split(torch.arange(10), near, far))
    assert len(nodes(batch, "near")) + len(nodes(batch, "far")) == 39
    assert set(nodes(batch, "near")) <= set(near.tolist())
    assert nodes(batch, "unlabelled") == nodes(batch, "near") + nodes(batch, "far")
    counts = [len(nodes(one(39, seed, Sets.split(torch.arange(10), near, far)), "near")) for seed in range(100)]
    assert np.mean(counts) == pytest.approx(20, abs=1)


def test_a_small_set_has_room_for_a_good_mean():
    few, many = torch.arange(10, 40), torch.arange(40, 400)
    batch = one(40, 1, Sets.split(torch.arange(10), few, many))
    assert len(set(nodes(batch, "near"))) == 10, "a quarter, not 30 / 390"
    assert set(nodes(batch, "far")) < set(nodes(batch, "unlabelled"))
    assert len(set(nodes(batch, "unlabelled"))) == 40, "those that were added do not count"
    assert batch.sets.size("near") == 30


def test_the_same_seed_gives_the_same_batch_and_another_one_another():
    first, again, other = (nodes(one(40, seed), "unlabelled") for seed in (1, 1, 2))
    assert first == again
    assert first != other


def gradient(logit: torch.Tensor, embedding: torch.Tensor, sets: Sets, loss) -> torch.Tensor:
    total = sum(loss(logit, sets).values())
    return torch.cat([g.flatten() for g in torch.autograd.grad(total, list(MODEL.parameters()))])


def whole(loss) -> torch.Tensor:
    return gradient(*MODEL(GraphInputs(GRAPH))[::-1], SETS, loss)


def of_batch(size: int, seed: int, loss) -> torch.Tensor:
    batch = one(size, seed, fan_out=100)
    return gradient(*MODEL(batch.inputs)[::-1], batch.sets, loss)


def error(size: int, draws: int, loss) -> float:
    """Of the mean gradient over some batches, with all neighbours."""
    mean = sum(of_batch(size, seed, loss) for seed in range(draws)) / draws
    return float((mean - whole(loss)).norm() / whole(loss).norm())


@pytest.mark.parametrize(
    "loss", [UnbiasedLoss(0.4), UnlabelledAsNegativeLoss(), UnlabelledAsNegativeLoss(balanced=True)]
)
def test_the_mean_gradient_of_a_linear_loss_is_that_on_the_whole_graph(loss):
    """Its error falls like one over the root of the number of batches, as that of an unbiased estimate."""
    assert error(20, 400, loss) < 0.5 * error(20, 20, loss)


FEW_NEAR = replace(Sets.split(SETS.labelled, SETS.unlabelled[:20], SETS.unlabelled[20:]), negative=SETS.negative)
LOGITS = MODEL(GraphInputs(GRAPH)).logit.detach()
LOGITS = LOGITS + 2.0 * torch.isin(torch.arange(400), FEW_NEAR.near)  # so that near and far nodes differ


@pytest.fixture(scope="module", params=[SETS, FEW_NEAR], ids=["unlabelled", "near and far"])
def sets_and_batches(request):
    made = SampledGraph(GRAPH, request.param, 30, untrained(GRAPH, "mlp"), CPU)
    return request.param, [made.draw(seed) for seed in range(1500)]


def assert_equal_on_average(found: list[float], expected: float) -> None:
    deviation = np.std(found) / np.sqrt(len(found))
    assert np.mean(found) == pytest.approx(expected, abs=4 * deviation + 1e-5)


@pytest.mark.parametrize(
    "loss",
    [
        UnbiasedLoss(0.4),
        UnbiasedLoss(0.4, "logistic"),
        UnlabelledAsNegativeLoss(),
        UnlabelledAsNegativeLoss(balanced=True),
    ],
)
def test_linear_losses_of_batches_are_that_of_the_whole_graph_on_average(sets_and_batches, loss):
    sets, batches = sets_and_batches
    expected = sum(loss(LOGITS, sets).values()).item()
    found = [sum(loss(LOGITS[batch.inputs.nodes], batch.sets).values()).item() for batch in batches]
    assert_equal_on_average(found, expected)


def test_means_over_sets_in_batches_are_those_of_the_whole_graph_on_average(sets_and_batches):
    sets, batches = sets_and_batches
    names = ["labelled", "negative", "unlabelled"] + ["near", "far"] * (sets.near is not None)
    for name in names:
        found = [LOGITS[batch.inputs.nodes][getattr(batch.sets, name)].mean().item() for batch in batches]
        assert_equal_on_average(found, LOGITS[getattr(sets, name)].mean().item())


@pytest.mark.parametrize("supervision", ["distance-aware", "cross-entropy"])
def test_losses_of_pu_gnn_in_batches_are_near_those_on_the_whole_graph(supervision):
    """Without dropout and steps, so that every epoch has the same network."""
    method = PUGNNVariant(delta=1, near_prior=0.6, far_prior=0.1, alpha=0, supervision=supervision)
    settings = TrainingSettings(backbone="mlp", epochs=300, dropout=0.0, learning_rate=1e-12)
    batches, whole = (method.fit(TASK, replace(settings, batch_size=size)).log for size in (60, "auto"))
    assert np.mean([record["total"] for record in batches]) == pytest.approx(whole[0]["total"], rel=0.02)


def test_a_batch_of_one_node_has_one_of_every_set():
    batch = one(1, 0, FEW_NEAR)
    counts = {name: len(getattr(batch.sets, name)) for name in ("labelled", "negative", "near", "far", "unlabelled")}
    assert counts == dict.fromkeys(counts, 1)


@pytest.mark.parametrize("loss", [DistPULoss(0.2), NonNegativeLoss(0.4)])
def test_gradients_of_other_losses_agree_the_better_the_larger_the_batch(loss):
    small, large = (
        np.mean([float((of_batch(size, seed, loss) - whole(loss)).norm()) for seed in range(40)]) for size in (16, 256)
    )
    assert large < 0.4 * small


def test_a_batch_of_all_nodes_has_the_gradient_of_the_whole_graph():
    assert torch.allclose(of_batch(387, 0, DistPULoss(0.2)), whole(DistPULoss(0.2)), atol=1e-5)


def test_the_ends_of_pairs_are_in_the_batch():
    batch = one(40, seed=1, with_pairs=True)
    assert len(batch.pairs.source) == 10
    for i, j in zip(batch.pairs.source.tolist(), batch.pairs.target.tolist(), strict=True):
        assert batch.inputs.nodes[j] in GRAPH.neighbours(batch.inputs.nodes[i])


def test_the_regulariser_over_batches_is_that_of_the_whole_graph_on_average():
    regulariser = StructuralRegulariser(5)
    expected = regulariser(MODEL(GraphInputs(GRAPH)).embedding, GRAPH, seed=None)
    found = dict.fromkeys(expected, 0.0)
    for seed in range(200):
        batch = one(40, seed, with_pairs=True, fan_out=100)
        terms = regulariser.over_pairs(MODEL(batch.inputs).embedding, batch.pairs, batch.sets.mean)
        found = {name: found[name] + term.item() / 200 for name, term in terms.items()}
    assert found == pytest.approx({name: term.item() for name, term in expected.items()}, rel=0.03)


def objective(output, batch, seed):
    return DistPULoss(0.3)(output.logit, batch.sets)


def test_training_in_batches_is_reproducible_and_near_that_on_the_whole_graph():
    settings = TrainingSettings(epochs=150)
    one, two = (train(loader(128), objective, settings) for _ in range(2))
    assert torch.equal(score(one.model, GRAPH), score(two.model, GRAPH))
    full = train(FullGraph(GRAPH, SETS), objective, settings)
    assert np.corrcoef(score(one.model, GRAPH), score(full.model, GRAPH))[0, 1] > 0.8


@pytest.mark.parametrize("backbone", ["gcn", "sage"])
def test_sampled_logits_with_few_neighbours_are_those_of_the_whole_graph(backbone):
    sparse = random_graph(300, 0.008, seed=1)  # no node has more than ten neighbours
    assert sparse.degrees.max() <= 10
    model = untrained(sparse, backbone).eval()
    with torch.no_grad():
        found, expected = sampled_logits(model, sparse, CPU), model(GraphInputs(sparse)).logit
    assert torch.allclose(found, expected, atol=1e-5)
