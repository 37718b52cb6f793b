import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from conftest import random_graph, terms_of, trained_plainly, untrained
from pugnn import PUNodeClassifier
from pugnn.errors import PugnnError
from pugnn.losses import DistPULoss, Sets, mean_entropy
from pugnn.methods import DistPU
from pugnn.methods import dist_pu as module
from pugnn.models import BACKBONES, GraphInputs, Output
from pugnn.task import PUTask
from pugnn.training import Trained, TrainingSettings, derive_seed, score

GRAPH = random_graph(40, 0.08, seed=6, features=5)
TASK = PUTask.from_positives(GRAPH, np.array([0, 1, 2]))
SETS = Sets.of(TASK.labelled, TASK.unlabelled)
SETTINGS = TrainingSettings(epochs=20, dropout=0.0)
FULL = TrainingSettings(backbone="gcn-linear", epochs=10, dropout=0.0)


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def entropy(score: float) -> float:
    return -(score * math.log(score) + (1 - score) * math.log(1 - score))


# ---------------------------------------------------------------------- the formula alone


def test_defaults():
    assert DistPU(0.3) == DistPU(prior=0.3, variant="formula")
    assert DistPU(0.3).training == {}
    assert DistPU(0.3, "full").training == {"backbone": "gcn-linear"}
    assert DistPU(0.3).fit(TASK, SETTINGS).prior == 0.3


def test_first_epoch_is_the_loss_at_the_first_weights():
    expected = DistPULoss(0.3)(untrained(GRAPH)(GraphInputs(GRAPH)).logit, SETS)
    found = terms_of(DistPU(0.3).fit(TASK, SETTINGS).log[0])
    assert found == pytest.approx({name: term.item() for name, term in expected.items()}, rel=1e-6)


def test_equals_plain_training():
    def loss(logits):
        scores = 1 / (1 + torch.exp(-logits))
        return 0.6 * (1 - scores[:3].mean()) + (scores[3:].sum() / 37 - 0.3).abs()

    found = score(DistPU(0.3).fit(TASK, SETTINGS).model, GRAPH).numpy()
    assert found == pytest.approx(trained_plainly(GRAPH, loss, epochs=20), abs=1e-4)


# ---------------------------------------------------------------------- the full method


@pytest.fixture
def stages(monkeypatch):
    """What the method hands to the training in each of its two stages; nothing is trained."""
    seen = []

    def train(loader, objective, settings, **options):
        model = options["build"](loader.graph.num_features, settings).eval()

        def terms(output, seed, epoch=0):
            return objective(output, replace(loader.batch, epoch=epoch), seed)

        seen.append(SimpleNamespace(objective=terms, settings=settings, model=model, **options))
        log = [{"epoch": 1, **dict.fromkeys(terms(model(loader.batch.inputs), 0), 0.0), "total": 0.0, "seconds": 1}]
        return Trained(model, log)

    monkeypatch.setattr(module, "train", train)
    DistPU(0.3, "full").fit(TASK, FULL)
    return seen


def rates(stage) -> list[float]:
    """The learning rate of every epoch."""
    return [stage.rate(epoch) for epoch in range(10)]


def test_there_are_two_stages_with_the_settings_of_the_authors(stages):
    first, second = stages
    assert (first.part, second.part) == (0, 1)
    assert first.settings == FULL
    # 5e-4 to 5e-5, 5e-3 to 1e-3, as many epochs again.
    assert second.settings.learning_rate == pytest.approx(0.1 * FULL.learning_rate)
    assert second.settings.weight_decay == pytest.approx(0.2 * FULL.weight_decay)
    assert second.settings.epochs == FULL.epochs
    assert second.settings.seed not in (first.settings.seed, derive_seed(first.settings.seed))


def test_learning_rates_follow_a_cosine(stages):
    first, second = stages
    assert rates(first) == pytest.approx([0.01 * (1 + math.cos(math.pi * t / 10)) / 2 for t in range(10)])
    assert rates(second) == pytest.approx([0.001 * (0.7 + 0.15 * (1 + math.cos(math.pi * t / 10))) for t in range(10)])
    assert rates(second)[0] == pytest.approx(0.001)


def test_learning_rates_equal_those_of_torch(stages):
    for stage, lowest in zip(stages, (0.0, 0.7 * 0.001), strict=True):
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=stage.settings.learning_rate)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10, eta_min=lowest)
        expected = []
        for _ in range(10):
            expected.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            schedule.step()
        assert rates(stage) == pytest.approx(expected)


def some_output(model, scale: float = 1.0) -> Output:
    generator = torch.Generator().manual_seed(3)
    return Output(torch.randn(40, 16, generator=generator), scale * torch.randn(40, generator=generator))


def test_the_first_stage_is_the_scaled_loss_and_a_little_entropy(stages):
    output = some_output(stages[0].model)
    scores = [sigmoid(x) for x in output.logit.tolist()]
    expected = {
        "labelled": abs(sum(scores[:3]) / 3 - 1),
        "unlabelled": abs(sum(scores[3:]) / 37 - 0.3) / 0.6,
        "entropy": 0.002 * sum(entropy(s) for s in scores[3:]) / 37,
    }
    found = stages[0].objective(output, 0)
    assert {name: term.item() for name, term in found.items()} == pytest.approx(expected, rel=1e-5)


def test_entropy_gains_weight_in_the_second_stage(stages):
    second, output = stages[1], some_output(stages[1].model)
    whole = mean_entropy(output.logit[3:]).item()
    found = [second.objective(output, 0, epoch)["entropy"].item() / whole for epoch in range(10)]
    assert found == pytest.approx([0.004 * (1 - math.cos(math.pi * t / 20)) for t in range(10)], abs=1e-8)


@pytest.mark.parametrize("seed", [0, 5])
def test_mixtures_shall_score_like_the_mixture_of_scores(stages, seed):
    """By plain loops; how far and with whom a node is mixed is drawn in this order."""
    second, output = stages[1], some_output(stages[1].model)
    draw = np.random.default_rng(seed)
    partners, share = draw.permutation(40), draw.beta(6, 6)
    score_of = [1.0 if node < 3 else sigmoid(output.logit[node].item()) for node in range(40)]  # labelled: 1
    weight, bias = second.model.head.weight[0].tolist(), second.model.head.bias.item()
    loss = uncertainty = 0.0
    for node, partner in enumerate(partners):
        z = share * output.embedding[node] + (1 - share) * output.embedding[partner]
        mixed = sigmoid(bias + sum(w * max(0.0, x) for w, x in zip(weight, z.tolist(), strict=True)))
        target = share * score_of[node] + (1 - share) * score_of[partner]
        loss -= (target * math.log(mixed) + (1 - target) * math.log(1 - mixed)) / 40
        uncertainty += entropy(mixed) / 40
    found = second.objective(output, seed)
    assert found["mixup"].item() == pytest.approx(5 * loss, rel=1e-4)
    assert found["mixed_entropy"].item() == pytest.approx(0.04 * uncertainty, rel=1e-4)
    assert set(found) == {"labelled", "unlabelled", "entropy", "mixed_entropy", "mixup"}


def test_no_gradient_flows_through_the_target_of_a_mixture(stages):
    output = some_output(stages[1].model)
    output.logit.requires_grad_()
    terms = stages[1].objective(output, 0)
    assert torch.autograd.grad(terms["mixup"], output.logit, allow_unused=True)[0] is None


def test_logits_are_limited_in_entropy_and_mixture(stages):
    far = Output(1e4 * torch.ones(40, 16), 50 * torch.ones(40))
    ten = entropy(sigmoid(10.0))
    assert stages[0].objective(far, 0)["entropy"].item() == pytest.approx(0.002 * ten, rel=1e-3)
    terms = stages[1].objective(far, 0)
    assert terms["mixed_entropy"].item() == pytest.approx(0.04 * ten, rel=1e-3)
    assert terms["mixup"].item() <= 5 * 10.001


def test_the_second_stage_starts_where_the_first_one_ended_and_leaves_it_alone(monkeypatch):
    trained, starts = [], []
    whole_train = module.train

    def train(loader, objective, settings, *, build, **options):
        def watched(*arguments):
            model = build(*arguments)
            starts.append({name: tensor.clone() for name, tensor in model.state_dict().items()})
            return model

        trained.append(whole_train(loader, objective, settings, build=watched, **options))
        if len(trained) == 1:
            starts.append({name: tensor.clone() for name, tensor in trained[0].model.state_dict().items()})
        return trained[-1]

    monkeypatch.setattr(module, "train", train)
    fitted = DistPU(0.3, "full").fit(TASK, FULL)
    _, end_of_first, start_of_second = starts
    first, second = (each.model.state_dict() for each in trained)
    assert fitted.model is trained[1].model
    for name, weights in end_of_first.items():
        assert torch.equal(weights, start_of_second[name])
        assert torch.equal(weights, first[name]), "unchanged by the second stage"
        assert not torch.equal(weights, second[name])
    # The log of the second stage begins with the loss of the first one's weights.
    output = trained[0].model(GraphInputs(GRAPH))
    terms = {name: term.item() / 0.6 for name, term in DistPULoss(0.3)(output.logit, SETS).items()}
    assert {name: fitted.log[10][name] for name in terms} == pytest.approx(terms, rel=1e-5)
    assert fitted.log[10]["entropy"] == 0.0


def test_the_log_runs_through_both_stages():
    log = DistPU(0.3, "full").fit(TASK, FULL).log
    assert [record["epoch"] for record in log] == list(range(1, 21))
    assert all(list(record) == list(log[0]) for record in log)
    assert [record["mixup"] > 0 for record in log] == [False] * 10 + [True] * 10
    seconds = [record["seconds"] for record in log]
    assert seconds == sorted(seconds)
    for record in log:
        assert record["total"] == pytest.approx(sum(terms_of(record).values()), rel=1e-5)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_only_backbones_with_a_nodewise_head_can_be_mixed(backbone):
    estimator = PUNodeClassifier(DistPU(0.3, "full"), backbone=backbone, epochs=2, progress=False)
    if backbone in ("gcn-linear", "appnp", "mlp"):
        assert len(estimator.fit(GRAPH, [0, 1, 2]).log_) == 4
    else:
        words = f"mixes embeddings, but {backbone} needs the neighbours after them. Use gcn-linear, appnp or mlp"
        with pytest.raises(PugnnError, match=words):
            estimator.fit(GRAPH, [0, 1, 2])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": 0.0}, "prior is a share of the unlabelled nodes and must lie between 0 and 1; got 0.0"),
        ({"prior": 1.0, "variant": "full"}, "prior is a share .* got 1.0"),
        ({"variant": "half"}, "variant must be one of formula, full; got 'half'"),
    ],
)
def test_bad_options_are_explained(options, message):
    with pytest.raises(PugnnError, match=message):
        DistPU(**{"prior": 0.3, **options}).fit(TASK, SETTINGS)
