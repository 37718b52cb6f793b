import math

import numpy as np
import pytest
import torch

from conftest import random_graph
from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.losses import Sets, split_near_far
from pugnn.methods import GRAB, METHODS, PUGNN
from pugnn.models import GraphInputs, make_backbone
from pugnn.regularisers import structural_sums
from pugnn.task import PUTask
from pugnn.training import TrainingSettings, derive_seed
from pugnn_paper.variants import GRABVariant, LossVariant, PUGNNVariant, RegulariserVariant, method_class

LOGITS = torch.tensor([2.0, -1.0, 0.3, 0.7, -2.0, 1.5, 0.1])


def sets(labelled, near, far) -> Sets:
    return Sets.split(*(torch.tensor(nodes, dtype=torch.long) for nodes in (labelled, near, far)))


SETS = sets([0, 5], [1, 2], [3, 4, 6])


def mean_score(nodes: list[int]) -> float:
    return sum(1 / (1 + math.exp(-LOGITS[node].item())) for node in nodes) / len(nodes)


def by_plain_loops(near_prior, far_prior, set_weights="equal", labelled_weight="sum") -> dict[str, float]:
    n_near, n_far = 2, 3
    share = n_near / (n_near + n_far)
    weight = 2 * (near_prior + far_prior)
    if labelled_weight == "prior":
        weight = 2 * (n_near * near_prior + n_far * far_prior) / (n_near + n_far)
    near_weight, far_weight = (share, 1 - share) if set_weights == "size" else (1, 1)
    return {
        "labelled": weight * abs(mean_score([0, 5]) - 1),
        "near": near_weight * abs(mean_score([1, 2]) - near_prior),
        "far": far_weight * abs(mean_score([3, 4, 6]) - far_prior),
    }


@pytest.mark.parametrize("priors", [(0.6, 0.3), (0.3, 0.1), (0.9, 0.8)])
@pytest.mark.parametrize("set_weights", ["equal", "size"])
@pytest.mark.parametrize("labelled_weight", ["sum", "prior"])
def test_weights_of_the_loss_by_plain_loops(priors, set_weights, labelled_weight):
    loss = LossVariant(*priors, set_weights=set_weights, labelled_weight=labelled_weight)
    found = {name: value.item() for name, value in loss(LOGITS, SETS).items()}
    assert found == pytest.approx(by_plain_loops(*priors, set_weights, labelled_weight), rel=1e-5)


def test_gradient_by_finite_differences():
    loss = LossVariant(set_weights="size", labelled_weight="prior")
    assert torch.autograd.gradcheck(lambda g: sum(loss(g, SETS).values()), LOGITS.double().requires_grad_())


@pytest.mark.parametrize(("near", "far", "prior"), [([1, 2], [], 0.6), ([], [3, 4], 0.3)])
def test_with_an_empty_set_the_loss_becomes_dist_pu(near, far, prior):
    dist_pu = LossVariant(empty_set="dist-pu")(LOGITS, sets([0, 5], near, far))
    assert dist_pu["labelled"].item() == pytest.approx(2 * prior * (1 - mean_score([0, 5])), rel=1e-5)
    assert dist_pu["near" if near else "far"].item() == pytest.approx(abs(mean_score(near or far) - prior), rel=1e-5)


@pytest.mark.parametrize("reduction", ["sum", "edge-mean", "pair-mean"])
def test_reductions(reduction):
    graph = random_graph(15, 0.3, seed=1)
    z = torch.randn(15, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    a, b = (each.item() for each in structural_sums(z, graph, 6, seed=2))
    m = 2 * graph.num_edges
    expected = {"sum": (a, b), "edge-mean": (a / m, b / m), "pair-mean": (a / m, b / (6 * m))}[reduction]
    terms = RegulariserVariant(6, reduction)(z, graph, seed=2)
    assert (terms["edges"].item(), terms["non_edges"].item()) == pytest.approx(expected, rel=1e-12)


def test_the_exact_expectation_draws_nothing():
    graph = random_graph(15, 0.3, seed=1)
    regulariser, z = RegulariserVariant(negatives=6, expectation="exact"), torch.randn(15, 5)
    one, two = (regulariser(z, graph, seed=seed) for seed in (1, 2))
    assert one["non_edges"] == two["non_edges"]


# ---------------------------------------------------------------------- PU-GNN


def pu_gnn(**options):
    """With the paper's priors, unless others are given."""
    return PUGNNVariant(**{"near_prior": 0.6, "far_prior": 0.3, **options})


@pytest.fixture
def task() -> PUTask:
    graph = random_graph(40, 0.08, seed=6, features=5)
    return PUTask.from_positives(graph, np.array([0, 1]))


SETTINGS = TrainingSettings(epochs=3, dropout=0.0)


def first_epoch(task: PUTask, method: PUGNN) -> dict[str, float]:
    record = method.fit(task, TrainingSettings(epochs=1, dropout=0.0)).log[0]
    return {name: value for name, value in record.items() if name not in ("epoch", "seconds", "total")}


def expected_terms(task: PUTask, method: PUGNN, represent, **switches) -> dict[str, float]:
    """The objective at the initial weights, put together from its parts."""
    with torch.random.fork_rng():
        torch.manual_seed(derive_seed(0))
        model = make_backbone("gcn", 5, hidden=16, dropout=0.0)
    output = model(GraphInputs(task.graph))
    terms = LossVariant(**switches)(output.logit, split_near_far(task, method.delta))
    parts = RegulariserVariant(method.negatives, method.reduction)(
        represent(output), task.graph, seed=derive_seed(0, 0, 1)
    )
    terms |= {name: method.alpha * part for name, part in parts.items()}
    return {name: value.item() for name, value in terms.items()}


@pytest.mark.parametrize(
    ("representation", "represent"),
    [
        ("hidden", lambda output: output.embedding),
        ("activated", lambda output: output.embedding.relu()),
        ("logit", lambda output: output.logit[:, None]),
    ],
)
@pytest.mark.parametrize("reduction", ["sum", "edge-mean", "pair-mean"])
def test_objective_is_loss_plus_alpha_times_regulariser(task, representation, represent, reduction):
    method = pu_gnn(delta=1, alpha=0.3, negatives=4, representation=representation, reduction=reduction)
    assert first_epoch(task, method) == pytest.approx(expected_terms(task, method, represent), rel=1e-6)


@pytest.mark.parametrize(
    "switches",
    [
        {"near_prior": 0.7, "far_prior": 0.2},
        {"set_weights": "size"},
        {"labelled_weight": "prior"},
        {"empty_set": "dist-pu"},
    ],
)
@pytest.mark.parametrize("delta", [1, 40])
@pytest.mark.filterwarnings("ignore::pugnn.PugnnWarning")
def test_switches_of_the_loss_reach_it(switches, delta):
    graph = Graph.from_edges(range(39), range(1, 40), features=np.random.default_rng(0).normal(size=(40, 5)))
    task = PUTask.from_positives(graph, np.array([0, 1]))  # on a path δ = 40 leaves the far set empty
    method = pu_gnn(delta=delta, negatives=4, **switches)
    expected = expected_terms(task, method, lambda output: output.embedding, **switches)
    assert first_epoch(task, method) == pytest.approx(expected, rel=1e-6)
    assert ("far" in expected) == (delta == 1)


def test_cross_entropy_takes_the_place_of_the_pu_loss(task):
    terms = first_epoch(task, pu_gnn(delta=1, supervision="cross-entropy"))
    assert set(terms) == {"labelled", "unlabelled", "edges", "non_edges"}


@pytest.mark.filterwarnings("ignore:delta=")
def test_an_empty_set_that_is_not_dropped_is_no_sign_of_collapse():
    ends = np.arange(5)
    path = PUTask.from_positives(Graph.from_edges(ends, ends + 1, features=np.eye(6)), np.array([0]))

    def codes(**options):
        return [reason.code for reason in pu_gnn(delta=5, negatives=2, **options).fit(path, SETTINGS).degenerate]

    assert codes() == ["empty-far-set"]
    assert codes(empty_set="dist-pu") == []
    assert codes(supervision="cross-entropy") == [], "the sets are not used"


def test_the_exact_expectation_needs_the_whole_graph(task):
    with pytest.raises(PugnnError, match="compares all pairs of nodes; use expectation='sampled'"):
        pu_gnn(delta=1, expectation="exact").fit(task, TrainingSettings(epochs=1, batch_size=5))


def test_without_switches_a_variant_is_the_method_itself(task):
    assert first_epoch(task, pu_gnn(delta=1)) == first_epoch(task, PUGNN(1, 0.6, 0.3))
    scores = np.linspace(0, 1, 40)
    assert GRABVariant().expect(task, scores)[1].tolist() == GRAB().expect(task, scores)[1].tolist()


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        (PUGNNVariant, {"set_weights": "sizes"}, "set_weights must be one of equal, size; got 'sizes'"),
        (PUGNNVariant, {"labelled_weight": ""}, "labelled_weight must be one of sum, prior"),
        (PUGNNVariant, {"empty_set": "ignore"}, "empty_set must be one of drop, dist-pu"),
        (PUGNNVariant, {"reduction": "mean"}, "reduction must be one of sum, edge-mean, pair-mean"),
        (PUGNNVariant, {"representation": "z"}, "representation must be one of hidden, activated, logit; got 'z'"),
        (PUGNNVariant, {"supervision": "none"}, "supervision must be one of distance-aware, cross-entropy"),
        (GRABVariant, {"potentials": "none"}, "potentials must be one of decided, uniform; got 'none'"),
    ],
)
def test_bad_switches_are_explained(method, options, message):
    with pytest.raises(PugnnError, match=message):
        method(**options)


def test_other_methods_have_no_variants():
    assert method_class("pu-gnn") is PUGNNVariant
    assert method_class("grab") is GRABVariant
    assert method_class("nnpu") is METHODS["nnpu"]
