"""Views: one linear model of several views of every node. The default method."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Unpack

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import expit
from torch import Tensor, nn

from pugnn.errors import PugnnError, percent
from pugnn.losses import Sets, confident_prior_matching
from pugnn.methods.base import METHODS, FittedMethod, Method
from pugnn.methods.evidence import KnownNodes, advantage
from pugnn.methods.logistic import INVERSE_PENALTY, logistic_regression
from pugnn.metrics.bands import Hidden, no_signal
from pugnn.models import Backbone, GraphInputs, LinearViews, Output, views_of
from pugnn.models.views import SAMPLE, VIEWS, Attributes, NodeViews, forecast_views
from pugnn.priors import Evidence, prior_words, settle_prior
from pugnn.task import PUTask
from pugnn.threads import threads_for
from pugnn.training import (
    Adam,
    Batch,
    FullGraph,
    Plan,
    RunOptions,
    Seed,
    Trained,
    TrainingSettings,
    derive_seed,
    resolve_device,
    train,
)
from pugnn.training.progress import stage_progress
from pugnn.waiting import part

#: Training starts from log-odds of a standard deviation of 1 for so many labels, in proportion, and of 2 at most: a few
#: labels must not decide which of all confident solutions is found.
START_LABELS, MOST_START = 50, 2.0
#: The penalty on weights is this times π over the number of labels, but within bounds; the upper one is a setting.
PENALTY, LEAST_PENALTY = 0.06, 1e-5
#: Where both rankings find hidden positives equally well, training counts half at this prior: with rarer positives,
#: confident scores are confident about the wrong nodes. The prior counts within these bounds; where it is estimated,
#: the upper one is reached with many labels only, and its half with this many.
EVEN_PRIOR, LEAST_HEADSTART, MOST_HEADSTART, MANY = 0.02, -1.0, 2.0, 60
#: Share of the time that the regression takes, roughly.
RANKING = 0.3


@METHODS.register("views")
@dataclass(frozen=True)
class Views(Method):
    r"""One linear model of several views of every node: a regression, trained further where positives are common.

    1. **Views.** Rows of attributes at length 1: smoothed over the wider neighbourhood, the node's own, the mean of its
       neighbours', its own less that mean, and the mean over two hops, side by side (:mod:`pugnn.models.views`): Z.
    2. **Regression.** A strongly penalised logistic regression on Z, known positives against all other nodes
       (:mod:`pugnn.methods.logistic`), C = 1. It is convex and needs no prior.
    3. **Prior.** Known positives are hidden in five turns (:mod:`pugnn.methods.evidence`). π is given, or estimated
       from their ranks.
    4. **Training.** From the regression, scaled to the standard deviation :math:`\min(2, |L| / 50)`, with the share π
       above zero, Adam minimises, with scores :math:`s = \sigma(Z w + b)`,

       .. math:: \max(2\pi, 1) \Big|\operatorname{mean}_L s - 1\Big| + \Big|\operatorname{mean}_U s - \pi\Big|
           + \lambda_t \operatorname{mean}_U H(s) + \tfrac{\rho}{2} \lVert w \rVert^2

       where the entropy's weight :math:`\lambda_t` rises from 0 to 1 over the first half of the epochs, and
       :math:`\rho = 0.06\,\pi / |L|` within bounds: the fewer labels, the stronger.

    5. **Sum.** Both directions, each for scores of standard deviation 1, are added. The share of the trained one is
       :math:`\sigma(2 (z + \log(\pi / 0.02)))`, with z the evidence that it ranks hidden positives higher than the
       regression, and the logarithm between −1 and 2, or :math:`2 |L| / (|L| + 60)` if π is an estimate. Training is
       for common positives, and for a share that is known well, unless hidden positives disagree.

    Known negatives count more than other nodes in the regression, and have a term of their own in training
    (:mod:`pugnn.losses.confident_prior`).

    The setting ``weight_decay`` is the largest penalty.

    Args:
        prior: positive share of the unlabelled nodes; auto estimates it; a range such as 0.02..0.1 bounds the estimate.
    """

    settles_prior: ClassVar[bool] = True

    prior: float | str = "auto"

    @property
    def training(self) -> dict[str, Any]:
        """Settings of the training."""
        return {"backbone": "mlp", "epochs": 60, "learning_rate": 0.06, "weight_decay": 5e-3}

    def build(self, num_features: int, settings: TrainingSettings) -> Backbone:
        """A model that is still empty: its sizes depend on the data."""
        if settings.backbone != "mlp":
            raise PugnnError(f"views is linear in its views and accepts no backbone; got {settings.backbone!r}")
        return LinearViews(num_features)

    def plan(self, task: PUTask, settings: TrainingSettings) -> Plan | None:  # noqa: ARG002
        """What the views of the graph need; all else needs next to nothing."""
        return Plan(None, *forecast_views(task.graph))

    def fit(self, task: PUTask, settings: TrainingSettings, **run: Unpack[RunOptions]) -> FittedMethod:
        """Rank by the regression, settle the prior, train, and add up."""
        self.build(task.graph.num_features, settings)
        resolve_device(settings.device)  # all is computed on the CPU, but a device that is not there is a mistake
        known = KnownNodes.of(task, settings.seed)
        fresh = "" if run.pop("start", None) is None else "views starts from its regression every time"
        with part(0, RANKING), stage_progress("ranking by views of the attributes", show=run.get("progress", False)):
            attributes = Attributes.of(task.graph)
            views = views_of(task.graph, attributes)
            regression = logistic_regression(views, known, INVERSE_PENALTY)
            scores = views @ regression
        ranks, checked = known.hidden_ranks(scores[:, 1:])
        settled = settle_prior(self.prior, Evidence(task, known.folds, ranks, checked))
        prior = settled.value
        with part(RANKING, 1):
            trained = _train(views, regression / known.spreads(scores), known, prior, settings, run)
        assert isinstance(trained.model, _Directions)
        direction = trained.model.weight.detach().numpy()
        after = views @ direction
        lead = 0.0
        if known.turns:
            lead = advantage(known.hidden_ranks(after[:, 1:])[0], ranks, prior)
        count = len(task.labelled)
        most = MOST_HEADSTART * (1.0 if settled.source == "given" else count / (count + MANY))
        headstart = float(np.clip(np.log(prior / EVEN_PRIOR), LEAST_HEADSTART, most))
        trust = float(expit(2 * (lead + headstart)))
        both = (1 - trust) * regression / known.spreads(scores) + trust * direction / known.spreads(after)
        model = LinearViews.ranking(task.graph, attributes, both[:, :, 0], task.unlabelled, prior)
        if known.turns:  # the ranks of the ranking that the bands speak of
            ranks, checked = known.hidden_ranks(views @ both[:, :, 1:].astype(np.float32))
        hidden = Hidden(settled, ranks, checked)
        signal = not no_signal(hidden, len(task.unlabelled))
        notes = (
            _views_note(views, model, task),
            _training_note(trust, lead, known),
            prior_words(settled, len(ranks), signal=signal),
        )
        return FittedMethod(model, trained.log, prior, notes=notes, fresh=fresh, hidden=hidden)


class _Directions(Backbone):
    """Linear models of the same views, trained side by side; their logits are the columns of the embedding."""

    replayable = False
    uses_weights = True

    def __init__(self, views: NodeViews, weight: NDArray[np.floating], bias: NDArray[np.floating]) -> None:
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
    def forward(ctx: Any, weight: Tensor, views: NodeViews) -> Tensor:
        ctx.views = views
        return torch.from_numpy(views @ weight.detach().numpy())

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return torch.from_numpy(ctx.views.transposed(gradient.contiguous().numpy())), None


def _train(
    views: NodeViews,
    start: NDArray[np.floating],
    known: KnownNodes,
    prior: float,
    settings: TrainingSettings,
    run: RunOptions,
) -> Trained:
    """Step 4, from directions whose scores have the standard deviation 1: of the whole, and without each fold."""
    task = known.task
    weight = min(MOST_START, len(task.labelled) / START_LABELS) * start
    logits = (views @ weight.astype(np.float32))[task.unlabelled]
    bias = -np.quantile(logits, 1 - prior, axis=0)
    seen = torch.from_numpy(known.seen(known.folds))
    penalty = min(max(PENALTY * prior / len(task.labelled), LEAST_PENALTY), settings.weight_decay)
    # The terms are means over the models, so that the penalty is one, too.
    settings = replace(settings, weight_decay=penalty / seen.shape[1])
    labelled_weight, confidence = max(2 * prior, 1.0), 0.0

    def before_epoch(epoch: int, optimizer: Adam) -> None:  # noqa: ARG001
        nonlocal confidence
        confidence = min(1.0, 2 * epoch / settings.epochs)

    def objective(output: Output, batch: Batch, seed: Seed) -> dict[str, Tensor]:  # noqa: ARG001
        return confident_prior_matching(output.embedding, batch.sets, seen, prior, labelled_weight, confidence)

    def build(num_features: int, settings: TrainingSettings) -> _Directions:  # noqa: ARG001
        return _Directions(views, weight, bias)

    nodes = [task.labelled, task.unlabelled, task.negative]
    if views.kept:  # means over a sample are as good
        rng = np.random.default_rng(derive_seed(settings.seed))
        nodes[1] = rng.permutation(task.unlabelled)[:SAMPLE]
        views = views.of(np.concatenate(nodes))
        nodes = np.split(np.arange(sum(map(len, nodes))), np.cumsum([len(each) for each in nodes])[:-1])
    loader = FullGraph(task.graph, Sets.of(*nodes))
    with threads_for(logits.size + weight.size):
        return train(loader, objective, settings, build=build, before_epoch=before_epoch, **run)


def _views_note(views: NodeViews, model: LinearViews, task: PUTask) -> str:
    """What each view contributes to the scores: covariances with them, which add up to their variance."""
    parts = views.products(model.direction.numpy()[:, :, None])
    scaled = [(views.scales[name] * each[:, 0])[task.unlabelled] for name, each in zip(views.names, parts, strict=True)]
    total = np.sum(scaled, axis=0, dtype=np.float64)
    apart = total - total.mean()
    variance = float((apart * apart).sum())
    if variance == 0:
        return "All nodes have the same score."
    shares = {name: float((apart * each).sum()) / variance for name, each in zip(VIEWS, scaled, strict=True)}
    words = ", ".join(f"{name} {percent(share) if share > 0 else '0 %'}" for name, share in shares.items())
    return f"What each view of a node's attributes contributes to its score: {words}."


def _training_note(trust: float, lead: float, known: KnownNodes) -> str:
    shares = f"Training for confident scores counts {100 * trust:.0f} %, the plain regression {100 * (1 - trust):.0f} %"
    if not known.turns:
        return f"{shares}; with a single known positive this cannot be checked."
    if abs(lead) < 0.05:
        return f"{shares}: training ranks hidden positives no better or worse."
    return f"{shares}: training ranks hidden positives {'better' if lead > 0 else 'worse'} (evidence {lead:+.1f})."
