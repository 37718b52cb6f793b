import pytest
import torch

from pugnn.models.dropout import dropout


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_share_and_scale(p):
    torch.manual_seed(0)
    x = torch.full((400, 500), 3.0)
    found = dropout(x, p, training=True)
    kept = found != 0
    assert torch.allclose(found[kept], torch.tensor(3.0 / (1 - p)))
    assert kept.float().mean().item() == pytest.approx(1 - p, abs=4 * (p * (1 - p) / x.numel()) ** 0.5)
    rows, columns = kept.float().mean(1), kept.float().mean(0)  # no row or column stands out
    assert rows.std().item() == pytest.approx((p * (1 - p) / 500) ** 0.5, rel=0.2)
    assert columns.std().item() == pytest.approx((p * (1 - p) / 400) ** 0.5, rel=0.2)


def test_torchs_seed_decides():
    x = torch.ones(50, 4)

    def draw(seed):
        torch.manual_seed(seed)
        return dropout(x, 0.5, training=True), dropout(x, 0.5, training=True)

    (one, next_one), (again, _), (other, _) = draw(1), draw(1), draw(2)
    assert torch.equal(one, again)
    assert not torch.equal(one, next_one)
    assert not torch.equal(one, other)


def test_gradient_passes_where_the_value_did():
    x = torch.ones(20, 3, requires_grad=True)
    found = dropout(x, 0.5, training=True)
    found.sum().backward()
    assert torch.equal(x.grad, found.detach())


def test_nothing_happens_outside_training():
    x = torch.ones(3)
    assert dropout(x, 0.5, training=False) is x
    assert dropout(x, 0.0, training=True) is x
