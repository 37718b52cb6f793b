import pytest
import torch

from pugnn.models.dropout import dropout, mask_of_rows


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


def drawn(seed, draw):
    torch.manual_seed(seed)
    return draw()


def test_rows_keep_their_masks_in_whichever_batch_they_are():
    x = torch.rand(40, 5)
    whole = drawn(3, lambda: dropout(x, 0.5, training=True))
    places = torch.tensor([7, 0, 39, 12])
    assert torch.equal(drawn(3, lambda: dropout(x[places], 0.5, True, places)), whole[places])
    assert torch.equal(drawn(3, lambda: dropout(x, 0.5, True, torch.arange(40))), whole)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_the_masks_of_other_devices_are_those_of_the_cpu(p):
    x, places = torch.ones(300, 7), torch.arange(10**11, 10**11 + 300)
    expected = drawn(4, lambda: dropout(x, p, True, places))
    assert torch.equal(drawn(4, lambda: mask_of_rows(x, places, p)), expected)
