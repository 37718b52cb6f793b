import itertools

import numpy as np
import pytest

from pugnn.evidence.stretches import hidden_counts, plan_stretches, share_out


def plan(size=10_000, checks=20, decided=400, about="both", ranks=(0.001, 0.004, 0.01, 0.03, 0.2), expected=300.0):
    return plan_stretches(size, checks, decided=decided, ranks=np.array(ranks), expected=expected, about=about)


@pytest.mark.parametrize("about", ["precision", "count", "both"])
@pytest.mark.parametrize(("size", "checks"), [(10_000, 20), (10_000, 3), (37, 20), (5, 5), (1, 1), (120, 120)])
def test_all_checks_are_shared_out(about, size, checks):
    edges, quotas = plan(size, checks, decided=min(400, size // 2), about=about)
    assert edges[0] == 0
    assert edges[-1] == size
    assert (np.diff(edges) > 0).all()
    assert quotas.sum() == checks
    assert (quotas <= np.diff(edges)).all()


def test_what_is_asked_decides_where_to_look():
    top = {}
    for about in ("precision", "both", "count"):
        edges, quotas = plan(about=about, checks=60, decided=100)
        top[about] = int(quotas[edges[1:] <= 100].sum())
    assert top["precision"] == 60
    assert top["count"] < top["both"] < top["precision"]


def test_decisions_end_a_stretch():
    edges, _ = plan(checks=60)
    assert 400 in edges
    assert 100 in edges
    assert 300 not in edges, "it is too near to 400"


def test_quotas_by_plain_loops():
    """Neyman's rule on two stretches that are not merged."""
    ranks, expected, size, decided = np.array([0.05, 0.1, 0.2, 0.9]), 60.0, 140, 0
    edges, quotas = plan_stretches(size, 40, decided=decided, ranks=ranks, expected=expected, about="count")
    fine = [0, 10, 30, 100, 140]
    shape = [0.5 + 0.5 * sum(a <= int(rank * size) < b for rank in ranks) for a, b in itertools.pairwise(fine)]
    worth = []
    for (a, b), part in zip(itertools.pairwise(fine), shape, strict=True):
        spread = 0.0
        for level in (1.0, 0.25, 0.06):
            precision = min(level * expected * part / sum(shape) / (b - a), 0.98)
            spread += (precision * (1 - precision)) ** 0.5
        worth.append((b - a) * spread)
    wanted = [40 * each / sum(worth) for each in worth]
    for first, last, quota in zip(edges, edges[1:], quotas, strict=False):
        inside = sum(each for each, end in zip(wanted, fine[1:], strict=True) if first < end <= last)
        assert abs(inside - quota) < 1


def test_hidden_counts_by_plain_loops():
    edges, ranks = np.array([0, 10, 30, 100]), np.array([0.0, 0.05, 0.1, 0.29, 0.3, 1.0])
    counts = [
        sum(a <= min(int(rank * 100 + 1e-9), 99) < b for rank in ranks) for a, b in [(0, 10), (10, 30), (30, 100)]
    ]
    assert hidden_counts(ranks, edges).tolist() == counts


def test_share_out_respects_sizes():
    found = share_out(np.array([5.5, 0.2, 4.3]), np.array([2, 10, 10]), 10)
    assert found.sum() == 10
    assert found[0] == 2
