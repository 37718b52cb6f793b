import numpy as np
import pytest

from pugnn.methods.ranking.lbfgs import minimise

RNG = np.random.default_rng(0)


def test_problems_side_by_side_do_not_disturb_each_other():
    matrices = [RNG.normal(size=(8, 8)) for _ in range(3)]
    squares = np.stack([m @ m.T + 0.1 * np.eye(8) for m in matrices])
    towards = RNG.normal(size=(3, 8))

    def losses(point):
        product = np.einsum("kij,jk->ik", squares, point)
        return 0.5 * (point * product).sum(axis=0) - (towards.T * point).sum(axis=0), product - towards.T

    found = minimise(losses, np.zeros((8, 3)))
    for k in range(3):
        exact = np.linalg.solve(squares[k], towards[k])
        lowest = 0.5 * exact @ squares[k] @ exact - towards[k] @ exact
        assert losses(found)[0][k] == pytest.approx(lowest, rel=1e-3)


def test_a_long_step_is_halved():
    steep = np.array([[1e4]])
    found = minimise(lambda x: ((steep * x**4).sum(axis=0), 4 * steep * x**3), np.array([[3.0]]))
    assert abs(float(found[0, 0])) < 0.2


def test_a_problem_whose_loss_is_rounded_ends_while_others_go_on():
    rng, calls = np.random.default_rng(0), 0
    centre, scale = rng.normal(size=(12, 2)), np.stack([np.ones(12), np.geomspace(1, 1e4, 12)], axis=1)

    def losses(x):
        nonlocal calls
        calls += 1
        off = x - centre
        value = 1e-9 + 0.5 * (scale * off**2).sum(axis=0)
        # The first is rounded so coarsely that no step lowers it for sure once it is near the minimum.
        return value + np.array([1e-3 * calls, 0]), scale * off

    found = minimise(losses, np.zeros((12, 2)))
    assert calls < 200, "not twenty for every step of the other"
    assert found == pytest.approx(centre, abs=0.05)
