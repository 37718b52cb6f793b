import sys

import pytest
import torch

from conftest import random_graph, whole
from pugnn.errors import PugnnError, WriteError
from pugnn.training import Checkpoint, TrainingSettings, load_sealed, save_sealed, train

GRAPH = random_graph(20, 0.2, seed=0, features=4)
SETTINGS = TrainingSettings(epochs=7)


def objective(output, batch, seed):
    return {"pull": (output.logit - 1).square().mean()}


def never(output, batch, seed):
    raise AssertionError("a finished part was trained again")


def stopping_after(epochs):
    calls = []

    def stops(output, batch, seed):
        calls.append(seed)
        if len(calls) > epochs:
            raise KeyboardInterrupt
        return objective(output, batch, seed)

    return stops


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state"


def opened(path) -> Checkpoint:
    """As another process would open it."""
    return Checkpoint(path, "mine", every=2)


def parts(path) -> list[tuple[bool, int]]:
    return [(part["finished"], len(part["log"])) for part in load_sealed(path)[1]["parts"]]


def equal(one, two) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))


def without_time(log):
    return [{**record, "seconds": 0} for record in log]


def test_a_training_of_one_part_is_saved_now_and_then_but_not_at_its_end(path):
    train(whole(GRAPH), objective, SETTINGS, checkpoint=opened(path))
    assert parts(path) == [(False, 6)]


def test_a_finished_part_is_not_trained_again(path):
    first = train(whole(GRAPH), objective, SETTINGS, checkpoint=opened(path), part=0)
    assert parts(path) == [(True, 7)]
    again = train(whole(GRAPH), never, SETTINGS, checkpoint=opened(path), part=0)
    assert equal(first.model, again.model)
    assert again.log == first.log
    assert not again.model.training


def test_a_later_part_is_kept_when_a_finished_one_is_passed_over(path):
    later = TrainingSettings(epochs=7, seed=1)
    uninterrupted = train(whole(GRAPH), objective, later)
    train(whole(GRAPH), objective, SETTINGS, checkpoint=opened(path), part=0)
    with pytest.raises(KeyboardInterrupt):
        train(whole(GRAPH), stopping_after(5), later, checkpoint=opened(path), part=1)
    assert parts(path) == [(True, 7), (False, 4)]

    checkpoint = opened(path)
    train(whole(GRAPH), never, SETTINGS, checkpoint=checkpoint, part=0)
    assert parts(path) == [(True, 7), (False, 4)]
    resumed = train(whole(GRAPH), objective, later, checkpoint=checkpoint, part=1)
    assert parts(path) == [(True, 7), (True, 7)]
    assert equal(resumed.model, uninterrupted.model)
    assert without_time(resumed.log) == without_time(uninterrupted.log)


def test_parts_in_one_process_and_in_several_are_the_same(path, tmp_path):
    for checkpoints in ([opened(path)] * 3, [opened(tmp_path / "other") for _ in range(3)]):
        for number, checkpoint in enumerate(checkpoints):
            train(whole(GRAPH), objective, TrainingSettings(epochs=5, seed=number), checkpoint=checkpoint, part=number)
    (ours, one), (theirs, two) = load_sealed(path), load_sealed(tmp_path / "other")
    assert [without_time(part["log"]) for part in one["parts"]] == [without_time(part["log"]) for part in two["parts"]]
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


def test_a_finished_part_keeps_its_weights_when_the_network_is_trained_further(path):
    checkpoint = opened(path)
    model = train(whole(GRAPH), objective, SETTINGS, checkpoint=checkpoint, part=0).model
    before = [parameter.detach().clone() for parameter in model.parameters()]
    train(whole(GRAPH), objective, SETTINGS, build=lambda *_: model, checkpoint=checkpoint, part=1)
    restored = train(whole(GRAPH), never, SETTINGS, checkpoint=opened(path), part=0).model
    assert all(torch.equal(a, b) for a, b in zip(before, restored.parameters(), strict=True))


def test_a_checkpoint_of_something_else_is_refused_in_every_part(path):
    train(whole(GRAPH), objective, SETTINGS, checkpoint=opened(path), part=0)
    for part in (0, 1):
        with pytest.raises(PugnnError, match="belongs to a run with other data or settings"):
            train(whole(GRAPH), never, SETTINGS, checkpoint=Checkpoint(path, "other"), part=part)


@pytest.mark.parametrize("parts", [5, [{}], [1], [{"log": []}]])
def test_a_checkpoint_with_parts_of_the_wrong_kind_is_refused(path, parts):
    save_sealed(path, {}, {"identity": opened(path).identity, "parts": parts})
    with pytest.raises(PugnnError, match=r"is not a checkpoint: .* Remove it to start again"):
        opened(path).load(0)


def test_a_long_epoch_is_saved_at_its_end(path):
    train(whole(GRAPH), objective, SETTINGS, checkpoint=Checkpoint(path, "mine", every=100, seconds=0.0))
    assert parts(path) == [(False, 6)]
    assert not Checkpoint(path, "mine", every=100, seconds=1000.0).due(99)
    assert Checkpoint(path, "mine", every=100, seconds=1000.0).due(100)


@pytest.mark.skipif(sys.platform == "win32", reason="files have no limits there")
def test_a_full_disk_leaves_the_checkpoint_before(path):
    import resource

    uninterrupted = train(whole(GRAPH), objective, SETTINGS)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    calls = []

    def fills_the_disk(output, batch, seed):
        calls.append(seed)
        if len(calls) == 5:
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
        return objective(output, batch, seed)

    try:
        with pytest.raises(WriteError, match=r"cannot write .*state: File too large. Nothing was changed there"):
            train(whole(GRAPH), fills_the_disk, SETTINGS, checkpoint=opened(path))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert parts(path) == [(False, 4)]
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    resumed = train(whole(GRAPH), objective, SETTINGS, checkpoint=opened(path))
    assert equal(resumed.model, uninterrupted.model)
