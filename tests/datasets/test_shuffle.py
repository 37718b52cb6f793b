import numpy as np
import pytest

from pugnn.datasets.shuffle import Shuffle


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 1000, 1024, 1025])
def test_every_number_comes_once_and_finds_its_way_back(size):
    order = Shuffle(size, seed=3)
    shuffled = order.forwards(np.arange(size))
    assert sorted(shuffled.tolist()) == list(range(size))
    assert order.backwards(shuffled).tolist() == list(range(size))


def test_an_order_is_random_and_depends_on_the_seed():
    numbers = np.arange(10_000)
    one, other = Shuffle(10_000, seed=0).forwards(numbers), Shuffle(10_000, seed=1).forwards(numbers)
    assert abs(np.corrcoef(numbers, one)[0, 1]) < 0.05
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.05
    steps = np.diff(one) % 10_000
    assert len(np.unique(steps)) > 5000  # one multiplication alone would take few different steps


def test_large_numbers_do_not_overflow():
    size = 2**33 + 1
    last = np.array([0, size - 1])
    order = Shuffle(size, seed=0)
    assert order.backwards(order.forwards(last)).tolist() == last.tolist()
