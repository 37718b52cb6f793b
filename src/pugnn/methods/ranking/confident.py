"""Training of linear models of views for confident scores whose mean is the prior, from their plain ranking."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pugnn.evidence.hidden_positives import FoldedTask
from pugnn.losses import Sets, confident_prior_matching
from pugnn.methods.ranking.plain import Ranking
from pugnn.models import Backbone, Output
from pugnn.threads import threads_for
from pugnn.training import Batch, RunOptions, Seed, TrainingSettings, derive_seed, require_one_process, train
from pugnn.training.checkpoint import Log
from pugnn.views import TRAINING_SAMPLE, AnyViewMatrix

#: Training starts from log-odds whose standard deviation is 1 for this many labels, in proportion to their number, and
#: at most 2: a few labels must not decide which of all confident solutions is found.
START_LABELS, MAX_START = 50, 2.0
#: The penalty on weights is this times π over the number of labels, and at least the second; a setting is its maximum.
PENALTY, MIN_PENALTY = 0.06, 1e-5


def train_confident(
    views: AnyViewMatrix,
    ranking: Ranking,
    folded: FoldedTask,
    prior: float,
    settings: TrainingSettings,
    run: RunOptions,
) -> tuple[NDArray[np.float32], Log]:
    """Step 4 of :class:`pugnn.methods.Views` for all models of a folded task side by side.

    Returns:
        Directions in the views, shape ``(views, F, k)``, and the log.
    """
    task = folded.task
    logits = views @ ranking.direction
    scale = np.float32(min(MAX_START, len(task.labelled) / START_LABELS)) / folded.spreads(logits)
    weight = scale * ranking.direction
    bias = -np.quantile(scale * logits[task.unlabelled], 1 - prior, axis=0)
    seen = torch.from_numpy(folded.seen)
    penalty = min(max(PENALTY * prior / len(task.labelled), MIN_PENALTY), settings.weight_decay)
    # The terms of the loss are means over the models, so the penalty is one, too.
    settings = replace(settings, weight_decay=penalty / seen.shape[1])
    labelled_weight = max(2 * prior, 1.0)

    def objective(output: Output, batch: Batch, seed: Seed) -> dict[str, Tensor]:  # noqa: ARG001
        confidence = min(1.0, 2 * batch.epoch / settings.epochs)
        return confident_prior_matching(output.embedding, batch.sets, seen, prior, labelled_weight, confidence)

    rows, sets = _training_rows(views, folded, settings.seed)
    model = _Directions(weight, bias)
    with threads_for(logits.size + weight.size):
        trained = train(_AllRows(rows, sets), objective, settings, build=lambda *_: model, **run)
    assert isinstance(trained.model, _Directions)
    return trained.model.weight.detach().numpy(), trained.log


def _training_rows(views: AnyViewMatrix, folded: FoldedTask, seed: int) -> tuple[AnyViewMatrix, Sets]:
    """The rows to train on, and the sets of nodes as positions among them.

    Where rows are kept, a sample stands for the unlabelled nodes: means over it are as good.
    """
    task = folded.task
    if not views.kept:
        return views, Sets.of(task.labelled, task.unlabelled, task.negative)
    sample = np.random.default_rng(derive_seed(seed)).permutation(task.unlabelled)[:TRAINING_SAMPLE]
    nodes = [task.labelled, sample, task.negative]
    positions = np.split(np.arange(sum(map(len, nodes))), np.cumsum([len(part) for part in nodes])[:-1])
    return views.subset(np.concatenate(nodes)), Sets.of(*positions)


class _AllRows:
    """A loader whose batch of every epoch is all rows of a view matrix."""

    replayable = False
    threads = 0
    device = torch.device("cpu")

    def __init__(self, views: AnyViewMatrix, sets: Sets) -> None:
        require_one_process()
        self.graph = views.graph
        self.batch = Batch(views, sets)

    def draw(self, seed: int) -> Batch:  # noqa: ARG002 (nothing is random here)
        """All rows."""
        return self.batch


class _Directions(Backbone):
    """Linear models of the same views side by side: the embedding has the logits of each as a column."""

    replayable = False
    uses_weights = True

    def __init__(self, weight: NDArray[np.floating], bias: NDArray[np.floating]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.from_numpy(weight.astype(np.float32)))
        self.bias = nn.Parameter(torch.from_numpy(bias.astype(np.float32)))

    @property
    def first_layer(self) -> nn.Module:  # type: ignore[override]
        """All weights decay."""
        return self

    def forward(self, inputs: AnyViewMatrix) -> Output:  # type: ignore[override]
        """Score every row of the views."""
        logits: Tensor = _Product.apply(self.weight, inputs) + self.bias  # type: ignore[no-untyped-call]
        return Output(logits, logits[:, 0])


class _Product(torch.autograd.Function):
    """The product of views with directions."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, views: AnyViewMatrix) -> Tensor:
        ctx.views = views
        return torch.from_numpy(views @ weight.detach().numpy())

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return torch.from_numpy(ctx.views.transposed(gradient.contiguous().numpy())), None
