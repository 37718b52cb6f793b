"""Views: one linear model of several views of every node, and of its closeness to the known. The default method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Unpack

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import expit
from torch import Tensor, nn

from pugnn.errors import percent
from pugnn.evidence.bands import HiddenRanks, no_signal
from pugnn.evidence.hidden_positives import FoldedTask, advantage
from pugnn.losses import Sets, confident_prior_matching
from pugnn.methods.base import METHODS, FittedMethod, Method
from pugnn.methods.layered import fit_layers
from pugnn.methods.ranking.logistic import Ranking, default_view_matrix, rank_task
from pugnn.models import Backbone, GraphInputs, Output
from pugnn.priors import Prior, prior_words, settle_prior
from pugnn.task import PUTask
from pugnn.threads import threads_for
from pugnn.training import (
    Batch,
    FullGraph,
    Plan,
    RunOptions,
    Seed,
    TrainingSettings,
    derive_seed,
    resolve_device,
    train,
)
from pugnn.training.checkpoint import Log, Weights
from pugnn.training.progress import stage_progress
from pugnn.views import (
    TRAINING_SAMPLE,
    AnyViewMatrix,
    Attributes,
    LayeredModel,
    LayerModel,
    LinearModel,
    ViewMatrix,
    forecast_views,
)
from pugnn.waiting import part

#: Training starts from log-odds of a standard deviation of 1 for so many labels, in proportion, and of 2 at most: a few
#: labels must not decide which of all confident solutions is found.
START_LABELS, MAX_START = 50, 2.0
#: The penalty on weights is this times π over the number of labels, but within bounds; the upper one is a setting.
PENALTY, MIN_PENALTY = 0.06, 1e-5
#: Where hidden positives say nothing, training counts as much as the ranking before it at this prior: with rarer
#: positives, confident scores are confident about the wrong nodes.
EVEN_PRIOR = 0.05
#: So many labels make an estimated prior worth half a given one, where it speaks for training.
MANY = 60
#: Share of the time that the regression takes, roughly.
RANKING = 0.3


@METHODS.register("views")
@dataclass(frozen=True)
class Views(Method):
    r"""One linear model of several views of every node: a regression, trained further where positives are common.

    1. **Views.** Rows of attributes at length 1: smoothed over the wider neighbourhood, the node's own, the mean of its
       neighbours', its own less that mean, and the mean over two hops, side by side (:mod:`pugnn.views`): Z.
    2. **Ranking.** A strongly penalised logistic regression on Z, known positives against all other nodes, C = 1: it is
       convex and needs no prior. Beside it, as far as that finds hidden positives, closeness to the known positives by
       links alone (:mod:`pugnn.methods.ranking.logistic`).
    3. **Prior.** Known positives are hidden in five turns (:mod:`pugnn.evidence.hidden_positives`). π is given, or
       estimated from their ranks.
    4. **Training.** From the regression, scaled to the standard deviation :math:`\min(2, |L| / 50)`, with the share π
       above zero, Adam minimises, with scores :math:`s = \sigma(Z w + b)`,

       .. math:: \max(2\pi, 1) \Big|\operatorname{mean}_L s - 1\Big| + \Big|\operatorname{mean}_U s - \pi\Big|
           + \lambda_t \operatorname{mean}_U H(s) + \tfrac{\rho}{2} \lVert w \rVert^2

       where the entropy's weight :math:`\lambda_t` rises from 0 to 1 over the first half of the epochs, and
       :math:`\rho = 0.06\,\pi / |L|` within bounds: the fewer labels, the stronger.

    5. **Sum.** Both, each with scores of standard deviation 1, are added. Training has the share
       :math:`\sigma(2 (z + \log(\pi / 0.05)))`, with z the evidence that it ranks hidden positives higher. If π is an
       estimate, a logarithm above 0 counts :math:`|L| / (|L| + 60)` times. Training is for common positives, and for a
       share that is known well, unless hidden positives disagree.

    Known negatives count more than other nodes in the regression; in training they add
    :math:`|\operatorname{mean}_N s|` with the weight of :meth:`pugnn.losses.Sets.known_negatives`.

    The setting ``weight_decay`` is the largest penalty.

    Args:
        prior: positive share of the unlabelled nodes: a number, auto, a range like 0.02..0.1, or an estimator's name.
    """

    settles_prior: ClassVar[bool] = True
    reads_relations: ClassVar[bool] = True
    unused: ClassVar[tuple[str, ...]] = ("backbone", "hidden", "dropout", "batch_size")
    fresh: ClassVar[str] = "views starts from its regression every time"

    prior: float | str = "auto"

    @property
    def training(self) -> dict[str, Any]:
        """Settings of the training."""
        return {"backbone": "mlp", "epochs": 60, "learning_rate": 0.06, "weight_decay": 5e-3}

    def build(self, num_features: int, settings: TrainingSettings) -> Backbone:  # noqa: ARG002
        """A model that is still empty: its sizes depend on the data."""
        return LinearModel(num_features)

    def rebuild(self, num_features: int, settings: TrainingSettings, weights: Weights) -> Backbone:
        """The model that saved weights are of: of one graph, or of layers."""
        parts = {name.split(".")[1] for name in weights if name.startswith("parts.")}
        return LayeredModel([LayerModel(num_features) for _ in parts]) if parts else self.build(num_features, settings)

    def plan(self, task: PUTask, settings: TrainingSettings) -> Plan | None:  # noqa: ARG002
        """What the views of the graph need; all else needs next to nothing."""
        return Plan(None, *forecast_views(task.graph))

    def fit(self, task: PUTask, settings: TrainingSettings, **run: Unpack[RunOptions]) -> FittedMethod:
        """Rank by the regression, settle the prior, train, and add up."""
        resolve_device(settings.device)  # all is computed on the CPU, but a device that is not there is a mistake
        if task.graph.relations:
            return fit_layers(self, task, settings, run)
        known = FoldedTask.of(task, settings.seed)
        fitted = self.fit_views(lambda: (default_view_matrix(task.graph), rank_task(known)), known, settings, run)
        attributes, prior = Attributes.of(task.graph), fitted.settled.value
        model = LinearModel.ranking(task, attributes, fitted.direction, prior, fitted.by_closeness)
        # The bands speak of this ranking, and so must the ranks.
        hidden = HiddenRanks(fitted.settled, known.rank_without_folds(fitted.scores).ranks)
        signal = not no_signal(hidden, len(task.unlabelled))
        notes = (
            _views_note(default_view_matrix(task.graph), model, task),
            fitted.note,
            prior_words(fitted.settled, len(hidden.ranks), signal=signal),
        )
        return FittedMethod(model, fitted.log, prior, notes=notes, hidden=hidden)

    def fit_views(
        self,
        make: Callable[[], tuple[AnyViewMatrix, Ranking]],
        known: FoldedTask,
        settings: TrainingSettings,
        run: RunOptions,
    ) -> FittedViews:
        """Steps 2 to 5 on views, which ``make`` makes and ranks by."""
        task = known.task
        with part(0, RANKING), stage_progress("ranking by views of the attributes", show=run.get("progress", False)):
            views, ranking = make()
        settled = settle_prior(self.prior, ranking.hidden)
        prior = settled.value
        with part(RANKING, 1):
            trained, log = _train(views, ranking, known, prior, settings, run)
        # Columns of scores and directions: 0 with all known positives, k + 1 without fold k.
        after = views @ trained
        spreads = known.spreads(after)
        after /= spreads
        evidence = advantage(known.rank_without_folds(after).ranks, ranking.hidden.ranks, prior)
        share = _training_share(evidence, settled, len(task.labelled))
        direction = (1 - share) * ranking.direction[:, :, 0] + share / spreads[0] * trained[:, :, 0]
        by_closeness = (1 - share) * float(ranking.by_closeness[0])
        scores = (1 - share) * ranking.scores + share * after
        return FittedViews(direction, by_closeness, scores, settled, log, _training_note(share, evidence, known))


@dataclass(frozen=True, eq=False)
class FittedViews:
    """A linear model of views after steps 2 to 5.

    Args:
        direction: in the views, shape ``(views, F)``.
        by_closeness: the weight of closeness.
        scores: of all nodes, column 0 with all known positives and column k + 1 without fold k.
        settled: the prior.
        log: of the training.
        note: what training contributes.
    """

    direction: NDArray[np.float32]
    by_closeness: float
    scores: NDArray[np.float32]
    settled: Prior
    log: Log
    note: str


class _Directions(Backbone):
    """Linear models of the same views, trained side by side; their logits are the columns of the embedding."""

    replayable = False
    uses_weights = True

    def __init__(self, views: AnyViewMatrix, weight: NDArray[np.floating], bias: NDArray[np.floating]) -> None:
        super().__init__()
        self._views = views
        self.weight = nn.Parameter(torch.from_numpy(weight.astype(np.float32)))
        self.bias = nn.Parameter(torch.from_numpy(bias.astype(np.float32)))

    @property
    def first_layer(self) -> nn.Module:  # type: ignore[override]
        """All weights decay."""
        return self

    def forward(self, inputs: GraphInputs) -> Output:  # noqa: ARG002 (the views are made already)
        """Score every node."""
        logits: Tensor = _Product.apply(self.weight, self._views) + self.bias  # type: ignore[no-untyped-call]
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


def _train(
    views: AnyViewMatrix, ranking: Ranking, known: FoldedTask, prior: float, settings: TrainingSettings, run: RunOptions
) -> tuple[NDArray[np.float32], Log]:
    """Step 4: directions, column 0 with all known positives and column k + 1 without fold k, and the log."""
    task = known.task
    logits = views @ ranking.direction
    scale = np.float32(min(MAX_START, len(task.labelled) / START_LABELS)) / known.spreads(logits)
    weight = scale * ranking.direction
    bias = -np.quantile(scale * logits[task.unlabelled], 1 - prior, axis=0)
    seen = torch.from_numpy(known.seen)
    penalty = min(max(PENALTY * prior / len(task.labelled), MIN_PENALTY), settings.weight_decay)
    # The terms are means over the models, so the penalty is one, too.
    settings = replace(settings, weight_decay=penalty / seen.shape[1])
    labelled_weight = max(2 * prior, 1.0)

    nodes = [task.labelled, task.unlabelled, task.negative]
    if views.kept:  # means over a sample are as good
        rng = np.random.default_rng(derive_seed(settings.seed))
        nodes[1] = rng.permutation(task.unlabelled)[:TRAINING_SAMPLE]
        views = views.subset(np.concatenate(nodes))
        nodes = np.split(np.arange(sum(map(len, nodes))), np.cumsum([len(each) for each in nodes])[:-1])

    def objective(output: Output, batch: Batch, seed: Seed) -> dict[str, Tensor]:  # noqa: ARG001
        confidence = min(1.0, 2 * batch.epoch / settings.epochs)
        # The embedding holds logits: a column for all known positives, and one without each fold.
        return confident_prior_matching(output.embedding, batch.sets, seen, prior, labelled_weight, confidence)

    def build(num_features: int, settings: TrainingSettings) -> _Directions:  # noqa: ARG001
        return _Directions(views, weight, bias)

    loader = FullGraph(task.graph, Sets.of(*nodes))
    with threads_for(logits.size + weight.size):
        trained = train(loader, objective, settings, build=build, **run)
    assert isinstance(trained.model, _Directions)
    return trained.model.weight.detach().numpy(), trained.log


def _training_share(evidence: float, settled: Prior, labels: int) -> float:
    """The share of training in the sum of step 5."""
    commonness = np.log(settled.value / EVEN_PRIOR)
    if settled.source != "given" and commonness > 0:
        commonness *= labels / (labels + MANY)
    return float(expit(2 * (evidence + commonness)))


def _views_note(views: ViewMatrix, model: LinearModel, task: PUTask) -> str:
    """What each view contributes to the scores: covariances with them, which add up to their variance."""
    products = views.products(model.direction.numpy()[:, :, None])
    parts = {name: views.scales[name] * each[:, 0] for name, each in zip(views.names, products, strict=True)}
    parts["closeness to known positives"] = model.scores(task.graph) - np.sum(list(parts.values()), axis=0)
    total = np.sum([each[task.unlabelled] for each in parts.values()], axis=0, dtype=np.float64)
    apart = total - total.mean()
    variance = float((apart * apart).sum())
    if variance == 0:
        return "All nodes have the same score."
    shares = {name: float((apart * each[task.unlabelled]).sum()) / variance for name, each in parts.items()}
    words = ", ".join(f"{name} {percent(share) if share > 0 else '0 %'}" for name, share in shares.items())
    return f"What each view of a node contributes to its score: {words}."


def _training_note(share: float, evidence: float, known: FoldedTask) -> str:
    shares = f"Training for confident scores counts {100 * share:.0f} %, the plain ranking {100 * (1 - share):.0f} %"
    if not known.turns:
        return f"{shares}; with a single known positive this cannot be checked."
    if abs(evidence) < 0.05:
        return f"{shares}: training ranks hidden positives no better or worse."
    return (
        f"{shares}: training ranks hidden positives {'better' if evidence > 0 else 'worse'} (evidence {evidence:+.1f})."
    )
