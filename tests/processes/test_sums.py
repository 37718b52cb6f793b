"""Two processes compute what one does."""

import json

import numpy as np
import pytest

from processes import together
from processes.workers import ended, start
from pugnn.training import Checkpoint, load_sealed


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    return together.findings(tmp_path_factory.mktemp("one"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("two")


@pytest.fixture(scope="module")
def two(folder):
    first, other = ended(start(together.__file__, str(folder), folder=folder))
    assert [first[0], other[0]] == [0, 0], first[2] + other[2]
    assert first[1] == "only the first one speaks\n"
    assert other[1:] == ("", "")
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in (0, 1)]


def test_shares_are_contiguous_and_cover_everything(one, two):
    assert one["share"] == [0, 7]
    assert [found["share"] for found in two] == [[0, 3], [3, 7]]


def test_a_mean_is_that_of_all_processes(one, two):
    assert one["mean"] == 4.0
    assert [found["mean"] for found in two] == [4.0, 4.0]


def test_a_weighted_mean_by_plain_arithmetic(one, two):
    for found in (one, *two):
        assert found["weighted"] == pytest.approx([(1 * 1 + 2 * 4) / 3, 7.0])


def test_each_process_has_the_gradient_of_its_own_values(one, two):
    expected = [2 * 4 / 7] * 7  # of the squared mean
    assert one["gradient"] == pytest.approx(expected)
    assert two[0]["gradient"] + two[1]["gradient"] == pytest.approx(expected)


def test_gradients_are_added_up(one, two):
    assert one["summed"] == [1.0, 1.0]
    assert one["unused"] is None
    assert [(found["summed"], found["unused"]) for found in two] == [([3.0, 3.0], [0.0] * 3)] * 2


def test_the_first_process_is_copied(one, two):
    for found in (one, *two):
        assert found["copied"] == [0.0]
        assert found["bytes"] == ["b'from 0'", "b''", "None"]


def test_processes_share_each_set_of_the_same_batch(one, two):
    for name in ("labelled", "negative", "unlabelled"):
        assert two[0]["rows"][name] + two[1]["rows"][name] == one["rows"][name]
        assert abs(len(two[0]["rows"][name]) - len(two[1]["rows"][name])) <= 1
    assert {found["negative_weight"] for found in (one, *two)} == {0.5 * 5 / 7}


def test_one_and_two_processes_train_alike(one, two):
    assert len(one["trained"][0]) == 30
    assert two[0]["trained"] == two[1]["trained"]
    assert_alike(two[0]["trained"], one["trained"])


def assert_alike(training, other):
    (terms, weights), (other_terms, other_weights) = training, other
    assert np.abs(np.array(terms) - np.array(other_terms)).max() < 1e-5
    for ours, theirs in zip(weights, other_weights, strict=True):
        assert np.array(ours) == pytest.approx(np.array(theirs), abs=1e-4)


def test_a_stopped_training_goes_on_bit_for_bit(one, two):
    for found in (one, *two):
        assert found["stopped"]
        assert found["resumed"] == found["trained"]


def test_one_process_goes_on_where_two_were_stopped(one, two, folder):
    assert len(load_sealed(folder / "stopped")[1]["parts"][0]["log"]) == 16
    assert_alike(together.trained(Checkpoint(folder / "stopped", "mine", every=100)), one["trained"])


def test_a_whole_graph_is_not_shared(one, two):
    assert one["full graph"] == ""
    for found in two:
        assert (
            "the whole graph gains nothing from several processes. Give --batch-size and a --method"
            in found["full graph"]
        )


def test_processes_with_other_data_are_told_apart(two):
    assert two[1]["other data"] == (
        "process 1 has different data or settings from the first one. Give all of them the same files and options."
    )


def test_batches_with_sampled_neighbours_have_the_same_losses(one, two):
    for backbone, terms in one["sampled"].items():
        for found in two:
            np.testing.assert_allclose(found["sampled"][backbone], terms, rtol=1e-4, atol=1e-5)


def test_relations_and_kinds_have_the_same_losses(one, two):
    assert len(one["relations"]) == 12
    for found in two:
        np.testing.assert_allclose(found["relations"], one["relations"], rtol=1e-4, atol=1e-5)
