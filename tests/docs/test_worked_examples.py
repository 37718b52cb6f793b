"""The numbers of docs/mathematics.md, computed by the package."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch

from pugnn.graph import Graph, propagate_beliefs
from pugnn.losses import (
    DistanceAwareLoss,
    DistPULoss,
    NonNegativeLoss,
    Sets,
    SoftLabelLoss,
    UnbiasedLoss,
    UnlabelledAsNegativeLoss,
    mean_entropy,
    split_near_far,
)
from pugnn.losses.upu import SURROGATES
from pugnn.methods import GRAB, LabelPropagation
from pugnn.methods.dist_pu import ENTROPY
from pugnn.models import Propagation, inputs_on
from pugnn.models.attention import hop_graphs
from pugnn.models.lsdan import long_attention
from pugnn.regularisers import StructuralRegulariser
from pugnn.task import PUTask
from pugnn.training import TrainingSettings, score
from pugnn_paper.variants import LossVariant, RegulariserVariant

PAGE = Path(__file__).parents[2] / "docs" / "mathematics.md"
NODES = list("abcdef")
GRAPH = Graph.from_edges(list("abcd"), list("bcde"), ids=NODES)
TASK = PUTask.from_positives(GRAPH, np.array([0, 1]))
SETS = Sets.of(TASK.labelled, TASK.unlabelled)
SCORES = torch.tensor([0.9, 0.8, 0.7, 0.4, 0.2, 0.1], dtype=torch.float64)
LOGITS = torch.logit(SCORES)


def section(title: str) -> str:
    """The text under a heading, up to the next one."""
    parts = re.split(r"^##+ (.*)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return parts[parts.index(title) + 1]


def assert_says(title: str, values: Iterable[float | torch.Tensor]) -> None:
    """The section shows every value with four digits."""
    text = section(title).replace("−", "-")
    for value in values:
        shown = f"{float(value):.4f}".replace("-0.0000", "0.0000")
        assert re.search(rf"(?<![\d.]){re.escape(shown)}(?!\d)", text), f"{title}: {shown} is not in the text"


def terms_and_total(terms: dict[str, torch.Tensor]) -> list[torch.Tensor]:
    return [*terms.values(), sum(terms.values(), torch.zeros(()))]


def test_the_margins_losses() -> None:
    c = LOGITS[2]
    assert_says("Losses of a margin", [loss(g) for loss in SURROGATES.values() for g in (c, -c)])


def test_naive() -> None:
    plain = UnlabelledAsNegativeLoss()(LOGITS, SETS)
    sums = [6 * term for term in plain.values()]
    balanced = sum(UnlabelledAsNegativeLoss(balanced=True)(LOGITS, SETS).values())
    assert_says("Naive: unlabelled as negative", [*sums, sum(plain.values()), balanced])


def test_upu() -> None:
    logistic = UnbiasedLoss(0.3, "logistic")(LOGITS, SETS)
    values = [*terms_and_total(UnbiasedLoss(0.3)(LOGITS, SETS)), logistic["negative"], sum(logistic.values())]
    assert_says("uPU: the unbiased risk", values)


def test_nnpu() -> None:
    below = UnbiasedLoss(0.5)(LOGITS, SETS)
    values = [sum(NonNegativeLoss(0.3)(LOGITS, SETS).values()), *terms_and_total(below)]
    assert_says("nnPU: the same with a floor", [*values, sum(NonNegativeLoss(0.5)(LOGITS, SETS).values())])


def test_dist_pu_is_upu_with_absolute_values() -> None:
    terms = DistPULoss(0.3)(LOGITS, SETS)
    assert_says("Dist-PU", terms_and_total(terms))
    torch.testing.assert_close(sum(terms.values()), sum(UnbiasedLoss(0.3)(LOGITS, SETS).values()))


def test_the_full_dist_pu() -> None:
    entropies = [mean_entropy(LOGITS[node : node + 1]) for node in range(2, 6)]
    entropy = mean_entropy(LOGITS[2:])
    first = sum(DistPULoss(0.3)(LOGITS, SETS).values()) / 0.6 + ENTROPY * entropy
    assert_says("The full method", [*entropies, entropy, first, 0.6 * 1 + 0.4 * SCORES[2]])


def test_the_distance_aware_loss() -> None:
    sets = split_near_far(TASK, delta=2)
    by_size = LossVariant(set_weights="size", labelled_weight="prior")
    values = [*terms_and_total(DistanceAwareLoss()(LOGITS, sets)), *terms_and_total(by_size(LOGITS, sets))]
    assert_says("PU-GNN: the distance-aware loss", values)


def test_the_structural_regulariser() -> None:
    z = torch.tensor([[1.0, 1], [1, 0], [1, -1], [0, -1], [-1, 0], [-1, 1]])
    by_reduction = [
        terms_and_total(RegulariserVariant(2, reduction)(z, GRAPH, seed=None)) for reduction in ("sum", "pair-mean")
    ]
    edge_mean = sum(StructuralRegulariser(2)(z, GRAPH, seed=None).values())
    assert_says("PU-GNN: the structural regulariser", [*by_reduction[0], *by_reduction[1], edge_mean])


def test_grab() -> None:
    prior, potentials = GRAB().expect(TASK, SCORES.numpy())
    assert (prior, potentials.tolist()) == (0.25, [1, 1, 0.75, 0.25, 0.25, 0.25])
    beliefs = propagate_beliefs(GRAPH, potentials)
    loss = SoftLabelLoss(torch.from_numpy(beliefs))(LOGITS, SETS)
    assert beliefs[:2].tolist() == [1, 1]
    assert_says("GRAB: beliefs and soft labels", [*beliefs[2:], *terms_and_total(loss)])


def test_lsdan() -> None:
    joined = [[NODES[j] for j in members[starts[2] : starts[3]]] for starts, members in hop_graphs(GRAPH, 3)]
    assert joined == [["b", "c", "d"], ["a", "c", "e"], ["b", "c", "d"]]
    answers = [torch.tensor([[1.0, *own]]) for own in ((1.0, 0, 0), (0, 0.5, 0), (0, 0, 0.0))]
    query = torch.tensor([[0.0, 1, 1, 1]])  # answered with 1, 0.5 and 0
    average = long_attention(answers, query)[0]
    assert_says("LSDAN: attention over walks", [average[1], average[2] / 0.5, 1 - average[1] - average[2] / 0.5])


def test_label_propagation() -> None:
    model = LabelPropagation(prior=0.5).fit(TASK, TrainingSettings()).model
    assert isinstance(model, Propagation)
    reached = model.spread(inputs_on(GRAPH, torch.device("cpu")))
    assert reached[5] == 0
    assert_says("Label propagation", [*reached[:5], *score(model, GRAPH)[2:]])
