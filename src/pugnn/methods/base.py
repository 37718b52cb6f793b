"""The interface of all methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self, Unpack, get_args, get_origin, get_type_hints

import torch
from torch import Tensor

from pugnn.errors import PugnnError, require_choice, require_type
from pugnn.evidence.degenerate import Reason
from pugnn.evidence.hidden_positives import RankedPositives
from pugnn.evidence.signal import HiddenRanks, has_signal
from pugnn.losses import Sets
from pugnn.methods.ranking.plain import estimate_prior
from pugnn.models import Backbone
from pugnn.priors import Prior, prior_bounds, prior_words
from pugnn.registry import DEFAULT_METHOD as DEFAULT_METHOD
from pugnn.registry import Registry
from pugnn.task import PUTask
from pugnn.training import Plan, RunOptions, TrainingSettings, make_network, plan_as_before, plan_training, train
from pugnn.training.checkpoint import Log, Weights
from pugnn.training.steps import Objective


@dataclass(frozen=True)
class FittedMethod:
    """The result of a method.

    Args:
        model: the trained network.
        log: every term of the loss at every epoch.
        prior: positive share of the unlabelled nodes that the method used or found.
        notes: sentences about what the method decided, shown on the terminal, in ``run.json`` and in the report.
        degenerate: signs of a collapse that only the method can see; the estimator finds those in scores and loss.
        hidden: ranks of known positives that the method hid in turn; ``None`` if it hid none.
    """

    model: Backbone
    log: Log
    prior: float
    notes: tuple[str, ...] = ()
    degenerate: tuple[Reason, ...] = ()
    hidden: HiddenRanks | None = None

    @classmethod
    def of_ranking(
        cls,
        model: Backbone,
        hidden: RankedPositives,
        prior: Prior,
        *,
        notes: tuple[str, ...] = (),
        log: Log | None = None,
    ) -> Self:
        """The result of a method that has hidden known positives itself, with a note about its prior."""
        ranks = HiddenRanks(prior, hidden.ranks)
        words = prior_words(prior, len(hidden.ranks), signal=has_signal(ranks, hidden.unlabelled))
        return cls(model, log or [], prior.value, (*notes, words), hidden=ranks)


@dataclass(frozen=True)
class Method(ABC):
    """A procedure that turns a task into scores: a dataclass whose fields are its settings.

    Its docstring begins with a line about the method and describes each field under ``Args:``: the command line shows
    them as its help.
    """

    #: The name under which it is registered, or else that of its class.
    name: ClassVar[str]
    #: Whether it trains a network.
    trains: ClassVar[bool] = True
    #: Settings of the training that it does not use.
    unused: ClassVar[tuple[str, ...]] = ()
    #: Why it never goes on from the weights of an earlier model; empty if it can.
    fresh: ClassVar[str] = ""
    #: Whether it tells the relations of a graph apart; all others get their weighted sum.
    reads_relations: ClassVar[bool] = False
    #: Whether its fit settles a prior that is not given as a number; :meth:`settle` does so for all others.
    settles_prior: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        cls.name = cls.__qualname__

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for field in fields(self):
            _require_kind(field.name, getattr(self, field.name), hints[field.name])
        if hints.get("prior") == float | str:
            prior_bounds(self.prior)  # type: ignore[attr-defined]

    def check(self) -> None:  # noqa: B027 (many have no bounds)
        """Raise an error if a setting is out of bounds; types and choices are checked already."""

    @property
    def known_prior(self) -> float:
        """The prior as a number, which it is once it is settled."""
        low, high = prior_bounds(getattr(self, "prior", None))
        if low != high:
            raise PugnnError(f"{self.name} needs the prior as a number; PUNodeClassifier estimates it first")
        return low

    def settle(self, task: PUTask, settings: TrainingSettings, *, progress: bool = False) -> tuple[Self, Prior | None]:
        """The same method with a number as its prior, and how that was settled; ``None`` if it has no prior."""
        wanted = getattr(self, "prior", None)
        if wanted is None or self.settles_prior:
            return self, None
        low, high = prior_bounds(wanted)
        if low == high:
            return self, Prior.given(low)
        settled = estimate_prior(wanted, task, settings, progress=progress)
        return replace(self, prior=settled.value), settled  # type: ignore[call-arg]

    @property
    def training(self) -> dict[str, Any]:
        """Training settings of the method's authors, where they differ from the general defaults."""
        return {}

    def build(self, num_features: int, settings: TrainingSettings) -> Backbone:
        """The network that the method trains, with new weights."""
        return make_network(num_features, settings)

    def rebuild(self, num_features: int, settings: TrainingSettings, weights: Weights) -> Backbone:  # noqa: ARG002
        """The network that saved weights are of, with new ones."""
        return self.build(num_features, settings)

    def plan(self, task: PUTask, settings: TrainingSettings) -> Plan | None:  # noqa: ARG002
        """Whether a network will be trained on the whole graph or in batches; ``None`` if it reads no graph."""
        return None

    def blueprint(self, num_features: int, settings: TrainingSettings, weights: Weights | None = None) -> Backbone:
        """The network without memory for its weights; that of saved ones, if they are given."""
        with torch.device("meta"):
            return self.rebuild(num_features, settings, weights or {})

    @abstractmethod
    def fit(self, task: PUTask, settings: TrainingSettings, **run: Unpack[RunOptions]) -> FittedMethod:
        """Train on a task."""


#: Every method by its name on the command line.
METHODS: Registry[type[Method]] = Registry("method", "pugnn.methods", "pugnn.methods", Method)


def make_method(name: str, **options: Any) -> Method:
    """Build a method by name, with its own defaults for the options that are not given."""
    require_type("method", name, str, "the name of a method")
    method = METHODS[name]
    known = {field.name: field for field in fields(method)}
    unknown = [option for option in options if option not in known]
    if unknown:
        raise PugnnError(f"{name} has no option {unknown[0]!r}; it has {', '.join(known) or 'none'}")
    if isinstance(options.get("prior"), str):
        low, high = prior_bounds(options["prior"])
        if low == high:
            options["prior"] = low  # a number from a command line
    return method(**options)


#: From the logits and the sets of a batch to the named terms of a loss.
Loss = Callable[[Tensor, Sets], dict[str, Tensor]]


def of_logits(loss: Loss) -> Objective:
    """The objective that consists of a loss of the logits alone."""
    return lambda output, batch, _seed: loss(output.logit, batch.sets)


@dataclass(frozen=True)
class LossMethod(Method):
    """A method that is defined by its loss of the logits alone."""

    @abstractmethod
    def loss(self) -> Loss:
        """The loss that the network is trained on."""

    def check(self) -> None:
        """The loss has the bounds, whatever the prior will be."""
        estimated = isinstance(getattr(self, "prior", None), str)
        (replace(self, prior=0.5) if estimated else self).loss()  # type: ignore[call-arg]

    def plan(self, task: PUTask, settings: TrainingSettings) -> Plan:
        """Whether the network will be trained on the whole graph or in batches."""
        model = self.blueprint(task.graph.num_features, settings)
        return plan_training(task.graph, len(task.unlabelled), settings, model)

    def fit(self, task: PUTask, settings: TrainingSettings, **run: Unpack[RunOptions]) -> FittedMethod:
        """Train on a task."""
        plan = plan_as_before(partial(self.plan, task), settings, run.get("checkpoint"))
        loader = plan.loader(task.graph, Sets.of(task.labelled, task.unlabelled, task.negative), settings)
        trained = train(loader, of_logits(self.loss()), settings, build=self.build, **run)
        prior = 0.0 if getattr(self, "prior", None) is None else self.known_prior
        return FittedMethod(trained.model, trained.log, prior, notes=plan.notes)


def _require_kind(name: str, value: object, hint: Any) -> None:
    parts = get_args(hint)
    if value is None and type(None) in parts:
        return
    if get_origin(hint) is Literal:
        require_choice(name, value, parts)
    elif hint == float | str:
        pass  # a prior, which says itself what it may be
    elif int in (hint, *parts) or float in (hint, *parts):
        number = Integral if int in (hint, *parts) else Real
        too_long = isinstance(value, int) and abs(value) >= 2**63  # for torch
        if isinstance(value, bool) or not isinstance(value, number) or too_long:
            raise PugnnError(f"{name} must be {'a whole number' if number is Integral else 'a number'}; got {value!r}")
    elif hint in (bool, str) and not isinstance(value, hint):
        raise PugnnError(f"{name} must be {'True or False' if hint is bool else 'text'}; got {value!r}")


def join_logs(logs: list[Log]) -> Log:
    """Join the logs of several trainings: epochs and seconds continue, terms that a training lacks are 0."""
    names = list(dict.fromkeys(name for log in logs for name in log[0]))
    names = [*(name for name in names if name not in ("total", "seconds")), "total", "seconds"]
    joined: Log = []
    for log in logs:
        seconds = joined[-1]["seconds"] if joined else 0.0
        for record in log:
            whole = {name: record.get(name, 0.0) for name in names}
            joined.append({**whole, "epoch": len(joined) + 1, "seconds": seconds + record["seconds"]})
    return joined
