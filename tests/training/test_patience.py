import pytest
import torch

from conftest import random_graph, untrained, whole
from pugnn.training import Checkpoint, TrainingSettings, train

GRAPH = random_graph(20, 0.2, seed=0, features=4)


def told(losses):
    """An objective whose value is told for every epoch; its gradient moves the weights all the same."""
    epoch = iter(losses)

    def objective(output, batch, seed):
        mean = output.logit.mean()
        return {"told": torch.tensor(next(epoch)) + (mean - mean.detach())}

    return objective


def weights(model) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def same(one, two) -> bool:
    return all(torch.equal(one[name], two[name]) for name in one)


def weights_after(epochs: int) -> dict[str, torch.Tensor]:
    """The weights after some epochs without any patience."""
    if epochs == 0:
        return weights(untrained(GRAPH))
    return weights(train(whole(GRAPH), told([0.0] * epochs), TrainingSettings(epochs=epochs, dropout=0.0)).model)


@pytest.mark.parametrize(
    ("losses", "patience", "stop"),
    [
        ([5.0, 4.0, 4.0, 3.0, 3.5, 3.0, 6.0, 1.0], 3, 7),  # the same loss again is no new lowest
        ([5.0, 6.0, 7.0, 1.0], 1, 2),
        ([5.0, 6.0, 4.0, 6.0, 3.0, 6.0, 6.0, 1.0], 2, 7),
        ([5.0, 4.0, 3.0, 2.0], 1, 4),
    ],
)
def test_it_stops_in_the_epoch_found_by_hand(losses, patience, stop):
    settings = TrainingSettings(epochs=len(losses), dropout=0.0)
    trained = train(whole(GRAPH), told(losses), settings, patience=patience)
    assert [record["total"] for record in trained.log] == losses[:stop]
    lowest = losses[:stop].index(min(losses[:stop]))
    assert same(weights(trained.model), weights_after(lowest))


def test_without_patience_the_last_weights_are_kept():
    trained = train(whole(GRAPH), told([1.0, 2.0, 3.0]), TrainingSettings(epochs=3, dropout=0.0))
    assert len(trained.log) == 3
    assert same(weights(trained.model), weights_after(3))


def test_the_model_has_the_lowest_loss_of_the_log():
    def pull(output, batch, seed):
        return {"pull": (output.logit - 1).square().mean()}

    settings = TrainingSettings(epochs=60, dropout=0.0, learning_rate=0.3)
    trained = train(whole(GRAPH), pull, settings, patience=5)
    totals = [record["total"] for record in trained.log]
    assert totals[-1] > min(totals)
    again = train(whole(GRAPH), pull, TrainingSettings(epochs=1, dropout=0.0), build=lambda *_: trained.model)
    assert again.log[0]["total"] == pytest.approx(min(totals), rel=1e-6)


@pytest.mark.parametrize("stopped_in", [5, 6, 9])
def test_a_resumed_training_waits_no_longer_than_a_whole_one(tmp_path, stopped_in):
    """The lowest loss is in epoch 3, before the state is saved after epochs 4 and 8."""
    losses = [5.0, 4.0, 1.0, 2.0, 3.0, 2.0, 2.0, 2.0, 2.0, 0.5]
    settings = TrainingSettings(epochs=10, dropout=0.0)
    uninterrupted = train(whole(GRAPH), told(losses), settings, patience=6)
    assert len(uninterrupted.log) == 9

    def checkpoint():
        return Checkpoint(tmp_path / "state", "mine", every=4)

    with pytest.raises(StopIteration):
        train(whole(GRAPH), told(losses[: stopped_in - 1]), settings, patience=6, checkpoint=checkpoint())
    saved = 4 * ((stopped_in - 1) // 4)
    resumed = train(whole(GRAPH), told(losses[saved:]), settings, patience=6, checkpoint=checkpoint())
    assert [record["total"] for record in resumed.log] == losses[:9]
    assert same(weights(resumed.model), weights(uninterrupted.model))
    assert same(weights(resumed.model), weights_after(2))
