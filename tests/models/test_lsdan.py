import numpy as np
import pytest
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor

from conftest import random_graph
from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.models import LSDAN, GraphInputs


def dense_masks(graph: Graph, hops: int) -> Tensor:
    adjacency = torch.from_numpy(graph.to_scipy().toarray()).double()
    powers = [torch.linalg.matrix_power(adjacency, k) for k in range(1, hops + 1)]
    return torch.stack([(power != 0) | torch.eye(graph.num_nodes, dtype=torch.bool) for power in powers])


def dense_layer(x: Tensor, both: Tensor, attention, masks: Tensor, activation) -> Tensor:
    """One long-short layer with a mask over all pairs; ``both`` holds W₁ above W₂."""
    w1, w2 = both.double().chunk(2)
    heads, size = attention.source.shape
    h = torch.einsum("nf,hdf->nhd", x, w1.view(heads, size, -1))
    s = torch.einsum("nhd,hd->nh", h, attention.source.double())
    t = torch.einsum("nhd,hd->nh", h, attention.target.double())
    scores = F.leaky_relu(s[:, None, :] + t[None, :, :], 0.2)
    scores = torch.where(masks[:, :, :, None], scores, -torch.inf)
    short = activation(torch.einsum("kijh,jhd->kihd", scores.softmax(dim=2), h).flatten(2))
    answers = torch.einsum("kid,df,if->ki", short, w2, x)
    return torch.einsum("ki,kid->id", answers.softmax(dim=0), short)


def dense_network(model: LSDAN, graph: Graph) -> tuple[Tensor, Tensor]:
    masks = dense_masks(graph, model.hops)
    x = torch.from_numpy(np.array(graph.features)).double()
    z = dense_layer(x, model.first_layer.linear.weight, model.first_attention, masks, F.elu)
    return z, dense_layer(z, model.second_layer.weight, model.second_attention, masks, lambda h: h).squeeze(1)


@pytest.mark.parametrize(("hidden", "heads"), [(16, 4), (8, 2), (3, 1)])
@pytest.mark.parametrize("hops", [1, 2, 4])
@pytest.mark.parametrize("sparse", [False, True])
def test_equals_dense_network(hidden, heads, hops, sparse):
    graph = random_graph(40, 0.06, seed=hops, features=5)  # has isolated nodes
    torch.manual_seed(0)
    model = LSDAN(5, hidden=hidden, heads=heads, hops=hops, dropout=0.5).eval()
    read = graph
    if sparse:
        read = Graph.from_edges(graph.sources, graph.indices, features=sp.csr_array(graph.features))
    found = model(GraphInputs(read))
    z, logit = dense_network(model, graph)
    assert torch.allclose(found.embedding.double(), z, atol=1e-5)
    assert torch.allclose(found.logit.double(), logit, atol=1e-5)

    weights = torch.randn(40)
    parameters = list(model.parameters())
    gradients = torch.autograd.grad((found.logit * weights).sum() + found.embedding.square().sum(), parameters)
    expected = torch.autograd.grad((logit * weights).sum() + z.square().sum(), parameters)
    for gradient, right in zip(gradients, expected, strict=True):
        assert torch.allclose(gradient, right, atol=1e-4 * max(1.0, float(right.abs().max())))


def two_groups() -> tuple[Graph, Tensor]:
    """Two groups of nodes with few edges between; features say little."""
    rng = np.random.default_rng(0)
    label = np.arange(80) % 2
    probability = np.where(label[:, None] == label, 0.12, 0.01)
    source, target = np.nonzero(np.triu(rng.random((80, 80)) < probability, 1))
    x = rng.normal(size=(80, 8)) + 0.6 * label[:, None] * (np.arange(8) < 4)
    return Graph.from_edges(source, target, num_nodes=80, features=x.astype(np.float32)), torch.from_numpy(label)


def train(graph: Graph, label: Tensor) -> tuple[LSDAN, list[float]]:
    torch.manual_seed(0)
    model, inputs = LSDAN(graph.num_features), GraphInputs(graph)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = F.binary_cross_entropy_with_logits(model(inputs).logit[:30], label[:30].float())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model.eval(), losses


def test_learns_and_repeats_to_the_last_bit():
    graph, label = two_groups()
    (model, losses), (again, same) = train(graph, label), train(graph, label)
    right = (model(GraphInputs(graph)).logit[30:] > 0) == label[30:]
    assert right.float().mean() > 0.85
    assert losses == same
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))


def test_structures_are_made_once_for_each_number_of_hops():
    inputs = GraphInputs(random_graph(20, 0.2, seed=0))
    assert inputs.hop_structures(2) is inputs.hop_structures(2)
    assert [len(inputs.hop_structures(k)) for k in (1, 2, 3)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hidden": 6}, "hidden=6 must be a multiple of the number of attention heads, 4"),
        ({"hops": 0}, "hops must be a whole number, from 1 to 100; got 0"),
    ],
)
def test_bad_settings_are_explained(options, message):
    with pytest.raises(PugnnError, match=message):
        LSDAN(4, **options)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_an_epoch_can_be_recorded_and_replayed():
    graph = random_graph(40, 0.1, seed=0)
    torch.manual_seed(0)
    model = LSDAN(3, dropout=0.0)
    expected = torch.autograd.grad(model(GraphInputs(graph)).logit.square().sum(), list(model.parameters()))
    model, inputs = model.cuda(), GraphInputs(graph, "cuda")

    def step() -> None:
        model.zero_grad(set_to_none=False)
        model(inputs).logit.square().sum().backward()

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        step()
    torch.cuda.current_stream().wait_stream(side)
    recording = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recording):
        step()
    recording.replay()
    assert model.replayable
    for parameter, right in zip(model.parameters(), expected, strict=True):
        assert torch.allclose(parameter.grad.cpu(), right, atol=1e-4)
