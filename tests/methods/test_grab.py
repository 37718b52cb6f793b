import copy
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from conftest import random_graph, terms_of, untrained
from pugnn.errors import PugnnError
from pugnn.graph import Graph, propagate_beliefs
from pugnn.losses import Sets, SoftLabelLoss
from pugnn.methods import GRAB
from pugnn.methods import grab as module
from pugnn.models import GraphInputs, Output
from pugnn.task import PUTask
from pugnn.training import Trained, TrainingSettings, derive_seed, score
from pugnn_paper.variants import GRABVariant

GRAPH = random_graph(40, 0.08, seed=6, features=5)
TASK = PUTask.from_positives(GRAPH, np.array([0, 1, 2]))
SETTINGS = TrainingSettings(**{**GRAB().training, "epochs": 30})


def test_defaults_are_the_authors():
    assert GRAB() == GRAB(rounds=10, homophily=0.9)
    assert GRAB().training == {
        "backbone": "gcn-linear",
        "dropout": 0.0,
        "epochs": 1000,
        "learning_rate": 0.001,
        "weight_decay": 0.0,
    }
    assert module.PATIENCE == 5


@pytest.mark.parametrize(
    ("potentials", "expected"),
    [
        ("decided", [1.0, 1.0, 0.25, 0.75, 0.25, 0.25]),
        ("uniform", [1.0, 1.0, 0.25, 0.25, 0.25, 0.25]),
    ],
)
def test_expectations_by_hand(potentials, expected):
    task = PUTask.from_positives(Graph.from_edges(range(5), range(1, 6)), np.array([0, 1]))
    scores = np.array([0.9, 0.1, 0.2, 0.5, 0.0, 0.49])  # of the four unlabelled nodes one is decided positive
    prior, found = GRABVariant(potentials=potentials).expect(task, scores)
    assert prior == 0.25
    assert found.tolist() == expected


def test_the_prior_is_counted_on_the_unlabelled_nodes_of_the_task():
    task = PUTask(Graph.from_edges(range(5), range(1, 6)), np.array([0]), np.array([2, 3]))
    prior, potentials = GRAB().expect(task, np.array([0.1, 0.9, 0.9, 0.1, 0.1, 0.9]))
    assert prior == 0.5
    assert potentials.tolist() == [1.0, 0.5, 0.5, 0.5, 0.5, 0.5]
    assert GRAB().expect(task, np.zeros(6))[1].tolist() == [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]


def test_the_first_round_takes_unlabelled_nodes_as_negative():
    logits = untrained(GRAPH, "gcn-linear")(GraphInputs(GRAPH)).logit
    expected = SoftLabelLoss(torch.zeros(40))(logits, Sets.of(TASK.labelled, TASK.unlabelled))
    found = terms_of(GRAB(rounds=0).fit(TASK, SETTINGS).log[0])
    assert found == pytest.approx({name: term.item() for name, term in expected.items()}, rel=1e-6)


# ---------------------------------------------------------------------- rounds, with a training that only pretends

LOGITS = torch.linspace(-2, 2, 40)


class Rounds:
    """Stands in for training and scoring: round k has the losses and scores that it is told."""

    def __init__(self, losses, scores):
        self.losses, self.scores, self.seen = losses, scores, []

    def train(self, loader, objective, settings, **options):
        number = len(self.seen)
        terms = objective(Output(LOGITS[:, None], LOGITS), loader.batch, 0)
        self.seen.append(SimpleNamespace(settings=settings, terms=terms, **options))
        log = [
            {"epoch": i + 1, "labelled": 0.0, "unlabelled": loss, "total": loss, "seconds": 1.0 + i}
            for i, loss in enumerate(self.losses[number])
        ]
        return Trained(f"model {number}", log)

    def score(self, model, graph):
        return torch.from_numpy(self.scores[int(model.split()[1])])


def share_positive(count: int) -> np.ndarray:
    """Scores that decide the first unlabelled nodes positive."""
    return np.where(np.arange(40) < 3 + count, 0.8, 0.2)


def pretend(monkeypatch, losses, counts):
    rounds = Rounds(losses, [share_positive(count) for count in counts])
    monkeypatch.setattr(module, "train", rounds.train)
    monkeypatch.setattr(module, "score", rounds.score)
    return rounds


def test_it_ends_when_the_lowest_loss_rises_and_returns_the_round_before(monkeypatch):
    rounds = pretend(monkeypatch, [[1.0, 0.9], [0.8, 0.85], [0.7], [0.9, 0.75]], [4, 6, 9, 20])
    fitted = GRAB().fit(TASK, SETTINGS)
    assert len(rounds.seen) == 4
    assert fitted.model == "model 2"
    assert fitted.prior == 9 / 37
    assert [record["total"] for record in fitted.log] == [1.0, 0.9, 0.8, 0.85, 0.7, 0.9, 0.75]
    assert [record["epoch"] for record in fitted.log] == list(range(1, 8))
    assert [record["seconds"] for record in fitted.log] == [1, 2, 3, 4, 5, 6, 7]


def test_it_goes_on_while_the_lowest_loss_is_the_same(monkeypatch):
    pretend(monkeypatch, [[1.0, 0.5], [0.5, 0.9], [0.51]], [1, 2, 3])
    assert GRAB().fit(TASK, SETTINGS).model == "model 1"


def test_it_ends_after_the_most_rounds(monkeypatch):
    rounds = pretend(monkeypatch, [[0.9], [0.8], [0.7], [0.6]], [1, 2, 3, 4])
    fitted = GRAB(rounds=3).fit(TASK, SETTINGS)
    assert (len(rounds.seen), fitted.model, fitted.prior) == (4, "model 3", 4 / 37)
    rounds = pretend(monkeypatch, [[0.9]], [1])
    assert GRAB(rounds=0).fit(TASK, SETTINGS).model == "model 0"


@pytest.mark.parametrize("potentials", ["decided", "uniform"])
@pytest.mark.parametrize("homophily", [0.9, 0.7])
def test_each_round_learns_from_the_beliefs_that_follow_from_the_last(monkeypatch, potentials, homophily):
    counts = [4, 10, 2]
    rounds = pretend(monkeypatch, [[0.9], [0.8], [0.7]], counts)
    GRABVariant(rounds=2, homophily=homophily, potentials=potentials).fit(TASK, SETTINGS)
    for number in (1, 2):
        before = share_positive(counts[number - 1])
        prior = counts[number - 1] / 37
        node_potentials = [
            1.0 if node < 3 else 1 - prior if potentials == "decided" and before[node] >= 0.5 else prior
            for node in range(40)
        ]
        beliefs = propagate_beliefs(GRAPH, np.array(node_potentials), homophily=homophily)
        expected = 0.0
        for node in range(3, 40):
            positive = 1 / (1 + np.exp(LOGITS[node].item()))  # sigmoid loss of a positive
            expected += (beliefs[node] * positive + (1 - beliefs[node]) * (1 - positive)) / 37
        assert rounds.seen[number].terms["unlabelled"].item() == pytest.approx(expected, rel=1e-5)


def test_each_round_has_its_part_its_seed_and_the_patience(monkeypatch):
    rounds = pretend(monkeypatch, [[0.9], [0.8], [0.7]], [4, 10, 2])
    GRAB(rounds=2).fit(TASK, SETTINGS)
    assert [seen.part for seen in rounds.seen] == [0, 1, 2]
    assert [seen.patience for seen in rounds.seen] == [5, 5, 5]
    assert len({seen.settings.seed for seen in rounds.seen}) == 3
    assert rounds.seen[0].settings == SETTINGS


# ---------------------------------------------------------------------- rounds in earnest


def test_each_round_has_a_new_network(monkeypatch):
    starts, ends = [], []
    whole_train = module.train

    def train(loader, objective, settings, *, build, **options):
        def watched(*arguments):
            model = build(*arguments)
            starts.append(model.first_layer.linear.weight.detach().clone())
            return model

        trained = whole_train(loader, objective, settings, build=watched, **options)
        ends.append(trained.model.first_layer.linear.weight.detach().clone())
        return trained

    monkeypatch.setattr(module, "train", train)
    GRAB(rounds=2).fit(TASK, SETTINGS)
    assert len(starts) >= 2
    for number in range(1, len(starts)):
        assert not torch.equal(starts[number], starts[number - 1])
        assert not torch.equal(starts[number], ends[number - 1])


def plain_round(beliefs: np.ndarray, seed: int, epochs: int, rate: float) -> tuple[np.ndarray, float, int]:
    """Scores of the lowest loss, that loss, and the number of epochs."""
    model, inputs, b = untrained(GRAPH, "gcn-linear", seed=seed), GraphInputs(GRAPH), torch.from_numpy(beliefs).float()
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    lowest, best, waited, done = float("inf"), None, 0, 0
    while done < epochs and waited < 5:
        weights = copy.deepcopy(model.state_dict())
        optimizer.zero_grad()
        s = torch.sigmoid(model(inputs).logit)
        loss = (1 - s[:3]).mean() + (b * (1 - s) + (1 - b) * s)[3:].mean()
        loss.backward()
        optimizer.step()
        done, waited = done + 1, waited + 1
        if loss.item() < lowest:
            lowest, best, waited = loss.item(), weights, 0
    model.load_state_dict(best)
    return torch.sigmoid(model(inputs).logit.double()).detach().numpy(), lowest, done


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.2])  # rounds end by the epochs or by the patience
def test_equals_the_algorithm_in_plain_steps(rate):
    settings = TrainingSettings(**{**GRAB().training, "epochs": 40, "learning_rate": rate})
    fitted = GRAB(rounds=3).fit(TASK, settings)
    scores, lowest, epochs = plain_round(np.zeros(40), 0, 40, rate)
    for number in (1, 2, 3):
        decided = scores >= 0.5
        prior = decided[3:].mean()
        potentials = np.where(decided, 1 - prior, prior)
        potentials[:3] = 1
        beliefs = propagate_beliefs(GRAPH, potentials)
        new, new_lowest, done = plain_round(beliefs, derive_seed(0, number), 40, rate)
        epochs += done
        if new_lowest > lowest:
            break
        scores, lowest = new, new_lowest
    assert number > 1, "beliefs were used"
    assert len(fitted.log) == epochs
    assert score(fitted.model, GRAPH).numpy() == pytest.approx(scores, abs=1e-4)
    assert fitted.prior == (scores >= 0.5)[3:].mean()


def test_a_round_without_progress_ends_after_the_patience():
    """With so large a rate the loss jumps about; no round may go on for more than five epochs without a new low."""
    settings = TrainingSettings(**{**GRAB().training, "epochs": 200, "learning_rate": 1.0})
    totals = [record["total"] for record in GRAB(rounds=0).fit(TASK, settings).log]
    assert len(totals) < 200
    assert totals.index(min(totals)) == len(totals) - 1 - 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rounds": -1}, "rounds must be a whole number, at least 0; got -1"),
        ({"rounds": 1.5}, "rounds must be a whole number; got 1.5"),
        ({"homophily": 1.0}, "homophily must lie between 0 and 1, got 1.0"),
    ],
)
def test_bad_options_are_explained_before_any_training(options, message, monkeypatch):
    rounds = pretend(monkeypatch, [], [])
    with pytest.raises(PugnnError, match=message):
        GRAB(**options).fit(TASK, SETTINGS)
    assert rounds.seen == []


def test_known_negatives_are_surely_not_positive():
    task = PUTask.from_positives(TASK.graph, TASK.labelled, np.array([30]))
    _, potentials = GRAB().expect(task, np.full(40, 0.9))
    assert potentials[30] == 0.0
    beliefs = propagate_beliefs(task.graph, potentials)
    assert beliefs[30] == 0.0
    assert (beliefs[task.labelled] == 1.0).all()
    assert np.isfinite(beliefs).all()
