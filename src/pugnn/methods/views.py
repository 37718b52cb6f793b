"""Views: several views of every node, weighed by hidden positives. The default method."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Unpack

import numpy as np
import torch
from scipy.special import expit
from torch import Tensor

from pugnn import processes
from pugnn.errors import PugnnError
from pugnn.losses import Sets, confident_prior_matching
from pugnn.methods.base import METHODS, FittedMethod, Method, join_logs
from pugnn.methods.evidence import RESERVE, SHARPNESS, KnownPositives, Weighing, advantage, weigh_views
from pugnn.metrics.bands import Hidden
from pugnn.models import Backbone, Blend, Committee, Output, RowInputs, inputs_on
from pugnn.models.views import VIEWS, forecast_views
from pugnn.models.views.rows import KeptTables, Rows
from pugnn.priors import prior_words, settle_prior
from pugnn.task import PUTask
from pugnn.training import (
    Adam,
    Batch,
    Plan,
    RowBatches,
    RunOptions,
    Seed,
    Trained,
    TrainingSettings,
    derive_seed,
    resolve_device,
    train,
)
from pugnn.training.checkpoint import Log, Weights
from pugnn.training.progress import stage_progress
from pugnn.waiting import part

#: Share of the linear model among the trained scores.
BY_LINEAR = 0.25
#: The penalty on weights is this times π over the number of labels, but within bounds; the upper one is a setting.
PENALTY, LEAST_PENALTY = 0.06, 1e-5
#: Share of the time that the comparison of views takes, roughly.
COMPARING = 0.2
#: Unlabelled nodes in a batch.
BATCH = 1024

#: Unlabelled nodes that are enough to tell their median score.
ENOUGH = 1 << 16

#: Parts that an ablation can leave out.
Part = Literal[
    "nothing",
    "weighing",
    "graph",
    "contrast",
    "training",
    "linear",
    "perceptron",
    "entropy",
    "ramp",
    "penalty",
    "least-weight",
]


@METHODS.register("views")
@dataclass(frozen=True)
class Views(Method):
    r"""Several views of every node, weighed by how well they rank known positives that are hidden in turn.

    1. **Views.** Rows of attributes at length 1: smoothed over the wider neighbourhood, the node's own, and the mean
       of its neighbours' (:mod:`pugnn.models.views`).
    2. **Contrast.** In a view with rows :math:`v_i`, mean :math:`\mu` over all nodes and :math:`\mu_L` over the known
       positives, node i scores :math:`\langle v_i, \mu_L - \mu \rangle`. It has no parameters and needs no prior.
    3. **Weights.** Known positives are hidden in five turns and ranked by the contrast
       (:mod:`pugnn.methods.evidence`). With :math:`z_v` the evidence that view v ranks them higher than the smoothed
       view, :math:`w_v \propto e^{2 (z_v - 1)}`, and 1 for the smoothed view; weights below 0.1 are dropped. The views
       :math:`\sqrt{w_v}\,V_v` side by side are the rows Z, again of length 1.
    4. **Prior.** :math:`\pi` is given, or estimated from the ranks of hidden positives on Z.
    5. **Training.** A linear model and a perceptron on Z minimise, with scores :math:`s = \sigma(g)`,

       .. math:: \max(2\pi, 1) \Big|\operatorname{mean}_L s - 1\Big| + \Big|\operatorname{mean}_U s - \pi\Big|
           + \lambda_t \operatorname{mean}_U H(s) + \tfrac{\rho}{2} \lVert W \rVert^2

       where the entropy's weight :math:`\lambda_t` rises from 0 to 1 over the first half of the epochs, and
       :math:`\rho = 0.06\,\pi / |L|` within bounds: the fewer labels, the stronger.

    6. **Blend.** The standardised scores of contrast, linear model and perceptron are added. The share of the two
       trained ones, a quarter of it the linear model's, is :math:`\sigma(2 (z + 1))`, with z the evidence that the
       linear model ranks hidden positives higher than the contrast. The share π of the unlabelled nodes that score
       highest is decided positive.

    If a training does not place the known positives above the unlabelled nodes, it starts again with another seed and
    a tenth of the penalty; if that fails, too, the contrast alone decides.

    Known negatives move :math:`\mu` towards their mean (:meth:`pugnn.methods.evidence.KnownPositives.contrasts`) and
    have a term of their own in training (:mod:`pugnn.losses.confident_prior`).

    The setting ``weight_decay`` is the largest penalty.

    Args:
        prior: positive share of the unlabelled nodes; auto estimates it; a range such as 0.02..0.1 bounds the estimate.
        leave_out: a part of the method to do without, to see what it does: the ``weighing`` of views (the smoothed one
            alone), the ``graph`` (own attributes alone), the ``contrast``, the ``training``, the ``linear`` model, the
            ``perceptron``, the ``entropy``, its ``ramp`` (full weight from the first epoch), the ``penalty`` by number
            of labels (0.0005 instead), or the ``least-weight`` of the labelled term (2π instead of max(2π, 1)).
    """

    settles_prior: ClassVar[bool] = True

    prior: float | str = "auto"
    leave_out: Part = "nothing"

    @property
    def training(self) -> dict[str, Any]:
        """Settings of the trained scores."""
        return {"backbone": "mlp", "hidden": 64, "epochs": 300, "weight_decay": 5e-3}

    def build(self, num_features: int, settings: TrainingSettings) -> Backbone:
        """A model that is still empty: its sizes depend on the data."""
        if settings.backbone != "mlp":
            raise PugnnError(f"views trains an mlp and accepts no other backbone; got {settings.backbone!r}")
        return Blend(num_features)

    def plan(self, task: PUTask, settings: TrainingSettings) -> Plan | None:
        """What the views of the graph need; training on their rows needs next to nothing."""
        if resolve_device(settings.device).type != "cpu":
            return None
        return Plan(None, *forecast_views(task.graph))

    def fit(self, task: PUTask, settings: TrainingSettings, **run: Unpack[RunOptions]) -> FittedMethod:
        """Weigh the views, train on them, and blend."""
        model = self.build(task.graph.num_features, settings)
        assert isinstance(model, Blend)
        device = resolve_device(settings.device)
        inputs, known = inputs_on(task.graph, device), KnownPositives.of(task, device, settings.seed)
        with part(0, COMPARING), stage_progress("comparing views of the attributes", show=run.get("progress", False)):
            only = {"graph": "own", "weighing": VIEWS[0]}.get(self.leave_out)
            checkpoint = run.get("checkpoint")
            keep = None if checkpoint is None else KeptTables(checkpoint.beside, checkpoint.identity)
            weighing = weigh_views(inputs, known, only=only, keep=keep)
        model.fill(
            **weighing.attributes.tensors(),
            view_weights=weighing.weights,
            contrast=weighing.contrast,
        )
        rows, ranks = weighing.rows, weighing.ranks
        evidence = weighing.evidence(task, known)
        settled = settle_prior(self.prior, evidence)
        prior = settled.value
        start = run.pop("start", None)
        fresh = "" if start is None else _why_fresh(start, model, settings)
        with part(COMPARING, 1):
            trained, failures = self._train(task, rows, known, prior, settings, run, None if fresh else start)
        committee = trained.model
        assert isinstance(committee, Committee)
        with torch.no_grad():
            lead, linear = None, rows @ committee.linear.weight[1:].t()
            if known.turns:
                lead = advantage(known.hidden_ranks(linear), ranks)
            trust = 0.0 if failures > 1 else float(expit(SHARPNESS * ((lead or 0.0) + RESERVE)))
            trust = {"contrast": 1.0, "training": 0.0}.get(self.leave_out, trust)
            by_linear = {"linear": 0.0, "perceptron": 1.0}.get(self.leave_out, BY_LINEAR)
            model.fill(
                linear=committee.linear.weight[0],
                hidden=committee.hidden.weight.t(),
                hidden_bias=committee.hidden.bias,
                head=committee.head.weight[0],
                shares=torch.tensor([1 - trust, by_linear * trust, (1 - by_linear) * trust], dtype=torch.float64),
            )
            model.to(device).cut_at(rows, known.unlabelled, prior)
            model.keep(inputs, rows)
            blended = ranks
            if known.turns:
                contrast, linear = (known.standardised(scores) for scores in (weighing.hidden_scores, linear))
                blended = known.hidden_ranks((1 - trust) * contrast + trust * linear)
        notes = (_weighing_note(weighing, known), prior_words(settled, len(ranks)), _blend_note(trust, lead, failures))
        hidden = Hidden(settled, blended, evidence.checked)
        return FittedMethod(model.eval(), trained.log, prior, notes=notes, fresh=fresh, hidden=hidden)

    def _train(
        self,
        task: PUTask,
        rows: Rows,
        known: KnownPositives,
        prior: float,
        settings: TrainingSettings,
        run: RunOptions,
        start: Weights | None = None,
    ) -> tuple[Trained, int]:
        """Step 5; again with another seed and a tenth of the penalty if it fails. Also how often it failed."""
        seen = known.memberships()
        seen = torch.cat([seen[:, :1], seen], dim=1)  # the perceptron sees all labels, as the first linear model does
        penalty = min(max(PENALTY * prior / len(task.labelled), LEAST_PENALTY), settings.weight_decay)
        if self.leave_out == "penalty":
            penalty = 5e-4
        labelled_weight = 2 * prior if self.leave_out == "least-weight" else max(2 * prior, 1.0)
        size = BATCH if settings.batch_size == "auto" else int(settings.batch_size)
        loader = RowBatches(task.graph, rows, Sets(known.labelled, known.unlabelled, known.negative), size)
        own = seen[processes.own_share(len(seen))]  # of the known positives that the loader gives this process
        confidence = 0.0
        logs: list[Log] = []

        def before_epoch(epoch: int, optimizer: Adam) -> None:  # noqa: ARG001
            nonlocal confidence
            ramp = min(1.0, 2 * epoch / settings.epochs)
            confidence = {"entropy": 0.0, "ramp": 1.0}.get(self.leave_out, ramp)

        def objective(output: Output, batch: Batch, seed: Seed) -> dict[str, Tensor]:  # noqa: ARG001
            return confident_prior_matching(output.embedding, batch.sets, own, prior, labelled_weight, confidence)

        def build(num_features: int, settings: TrainingSettings) -> Committee:  # noqa: ARG001
            width, models = rows.shape[1], seen.shape[1] - 1
            committee = Committee(width, hidden=settings.hidden, dropout=settings.dropout, linear_models=models)
            if start is not None and not logs:  # what has failed once starts afresh
                committee.start_from(start)
            return committee

        for attempt in range(2):
            # The terms are means over the models, so that the penalty is one, too.
            attempted = replace(
                settings,
                seed=derive_seed(settings.seed, attempt),
                weight_decay=0.1**attempt * penalty / seen.shape[1],
            )
            trained = train(loader, objective, attempted, build=build, before_epoch=before_epoch, part=attempt, **run)
            logs.append(trained.log)
            if _places_known_first(trained.model, rows, known):
                return Trained(trained.model, join_logs(logs)), attempt
        return Trained(trained.model, join_logs(logs)), 2


def _why_fresh(start: Weights, model: Blend, settings: TrainingSettings) -> str:
    """Why the training cannot go on from an earlier blend; empty if it can."""
    if not torch.equal(start["view_weights"].cpu() > 0, model.view_weights.cpu() > 0):
        return "other views of the attributes count now"
    if start["hidden"].shape != (len(model.contrast), settings.hidden):
        return "the earlier perceptron has other sizes"
    return ""


@torch.no_grad()
def _places_known_first(model: Backbone, rows: Rows, known: KnownPositives) -> bool:
    """Whether perceptron and linear model both place the median known positive above the median unlabelled node."""
    sample = known.unlabelled[:: -(-len(known.unlabelled) // ENOUGH)]
    known_scores, free_scores = (
        model(RowInputs(rows[nodes])).embedding[:, :2].median(dim=0).values for nodes in (known.labelled, sample)
    )
    return bool((known_scores > free_scores).all())


def _weighing_note(weighing: Weighing, known: KnownPositives) -> str:
    weights = zip(VIEWS, weighing.weights.tolist(), strict=True)
    shares = ", ".join(f"{name} {100 * weight:.0f} %" for name, weight in weights)
    shares += " (the smoothed one has the node's own attributes in it, too)"
    if not known.turns:
        return f"With a single known positive no view of a node's attributes can be checked; they count {shares}."
    if not len(weighing.ranks):
        return f"All known positives were found by a ranking, so that no view can be checked; they count {shares}."
    medians = ", ".join(f"{100 * np.median(ranks):.1f} % ({name})" for name, ranks in weighing.ranks_of_views.items())
    return (
        f"Views of a node's attributes count as follows: {shares}. The median known positive, when hidden, ranks in "
        f"the top {medians} of the unlabelled nodes."
    )


def _blend_note(trust: float, lead: float | None, failures: int) -> str:
    if failures > 1 and trust == 0:
        return "Training failed twice to place the known positives first, so the plain contrast alone decides."
    again = "Training failed to place the known positives first and started again. " if failures else ""
    shares = f"{again}Trained scores count {100 * trust:.0f} %, the plain contrast {100 * (1 - trust):.0f} %"
    if lead is None:
        return f"{shares}; with a single known positive this cannot be checked."
    compared = (
        "no better or worse" if abs(lead) < 0.05 else f"{'better' if lead > 0 else 'worse'} (evidence {lead:+.1f})"
    )
    return f"{shares}: training ranks hidden positives {compared}."
