"""A search for good settings of a method, judged by known positives that are hidden in turn; never by the truth.

The trials, finished or not, are Optuna's, in a journal that any number of processes may share.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pugnn import __version__
from pugnn.errors import PugnnError, require_whole
from pugnn.estimator import PUNodeClassifier
from pugnn.evaluation import cross_fit
from pugnn.files import regular
from pugnn.methods import METHODS, make_method
from pugnn.sweep.executors import Executor, run_all
from pugnn.sweep.space import Space, optuna
from pugnn.task import PUTask
from pugnn.training import derive_seed
from pugnn.waiting import part, status_line

JOURNAL = "trials.journal"
#: Rank of a trial that could not be trained, for the search: as if all unlabelled nodes were above the hidden ones.
FAILED = 1.0


@dataclass(frozen=True)
class Judgement:
    """How far down hidden positives rank, by share of the unlabelled nodes above them; or why they have no rank."""

    ranks: list[float] | None
    failed: str | None
    seconds: float

    @property
    def mean_rank(self) -> float | None:
        """The mean of the ranks; the lower, the better."""
        return None if self.ranks is None else float(np.mean(self.ranks))


@dataclass(frozen=True)
class Trial(Judgement):
    """A finished trial."""

    number: int
    settings: Mapping[str, Any]

    def gain(self, defaults: Trial) -> tuple[float, float] | None:
        """By how much it lowers the mean rank of the defaults, and its standard error; ``None`` if either failed.

        Both have ranked the same hidden positives, and differences of pairs vary much less than ranks.
        """
        if self.ranks is None or defaults.ranks is None:
            return None
        lower = np.subtract(defaults.ranks, self.ranks)
        return float(lower.mean()), float(lower.std(ddof=1) / math.sqrt(len(lower)))


@dataclass(frozen=True)
class Sweep:
    """What all trials share; ``data`` is the digest of graph and known positives."""

    method: str
    space: Space
    data: str
    seed: int = 0

    def __post_init__(self) -> None:
        # Each end and each choice is tried with the given settings: mistakes are reported before any training.
        given = {name: each.choices[0] for name, each in self.space.items() if each.single()}
        for name, each in self.space.items():
            for value in getattr(each, "choices", None) or (each.low, each.high):
                try:
                    self.estimator({**given, name: value}).check_parameters()
                except PugnnError as error:
                    raise PugnnError(f"--over: {error}") from None

    @cached_property
    def name(self) -> str:
        """The same for the same sweep, whatever the number of its trials."""
        space = {name: optuna().distributions.distribution_to_json(each) for name, each in self.space.items()}
        parts = json.dumps([self.method, space, self.data, self.seed, __version__], sort_keys=True)
        return hashlib.sha256(parts.encode()).hexdigest()[:24]

    def estimator(self, settings: Mapping[str, Any]) -> PUNodeClassifier:
        """An estimator with these settings of the method and of its training; others have their defaults."""
        training = dict(settings)
        own = {field.name: training.pop(field.name) for field in fields(METHODS[self.method]) if field.name in training}
        return PUNodeClassifier(make_method(self.method, **own), **training, seed=self.seed, progress=False)

    def study(self, folder: Path) -> Any:
        """Optuna's record of the trials so far, in a folder."""
        storages, path = optuna().storages, folder / JOURNAL
        with _working(path):
            folder.mkdir(parents=True, exist_ok=True)
            regular(path).touch()
            content = path.read_bytes()
            if not content.endswith(b"\n"):  # a full disk has cut it short, and Optuna would append to half a line
                os.truncate(path, content.rfind(b"\n") + 1)
            storage = storages.JournalStorage(storages.journal.JournalFileBackend(str(path)))
            return optuna().create_study(study_name=self.name, storage=storage, load_if_exists=True)

    def ask(self, study: Any, place: int) -> tuple[Any, PUNodeClassifier]:
        """A new trial of Optuna's, and its estimator; the first one has the defaults.

        They depend on the seed, the trial's place in the sweep and the finished trials alone, so a sweep of one
        job can be stopped and continued with the same result.
        """
        seed = derive_seed(self.seed, place) % 2**32
        study.sampler = optuna().samplers.TPESampler(seed=seed, multivariate=False, constant_liar=False)
        given = {name: each for name, each in self.space.items() if each.single()}
        trial = study.ask({**given, **self.space} if place else given)
        return trial, self.estimator(trial.params)


def run_sweep(
    sweep: Sweep, work: Callable[[PUNodeClassifier], Judgement], folder: Path, executor: Executor, *, trials: int
) -> list[Trial]:
    """Do trials until so many are finished, and return all of them, best first.

    ``work`` judges an estimator: :func:`judge`, with the task. Other processes may fill the journal in ``folder`` at
    the same time.
    """
    require_whole("trials", trials, 1)
    study = sweep.study(folder)
    running: dict[int, Any] = {}  # Optuna's trials by the identity of their estimators

    def new() -> Iterator[PUNodeClassifier]:
        while (place := len(finished(study)) + len(running)) < trials:
            with _working(folder / JOURNAL):
                trial, estimator = sweep.ask(study, place)
            running[id(estimator)] = trial
            yield estimator

    if (first := len(finished(study))) < trials:
        with executor, part(0, 1), status_line() as line:
            line.say(f"{first:,} of {trials:,} trials")
            results = run_all(executor, work, new())
            while (done := len(finished(study))) < trials:
                line.update(f"{done:,} of {trials:,} trials")
                with part((done - first) / (trials - first), (done + 1 - first) / (trials - first)):
                    estimator, found = next(results)
                if isinstance(found, str):
                    raise PugnnError(found)
                trial = running.pop(id(estimator))
                with _working(folder / JOURNAL):
                    trial.set_user_attr("judgement", asdict(found))
                    study.tell(trial, FAILED if found.mean_rank is None else found.mean_rank)
    listed = sorted(finished(study), key=lambda each: math.inf if each.mean_rank is None else each.mean_rank)
    if listed[0].failed is not None:
        raise PugnnError(f"all {trials:,} trials failed; the first one: {listed[0].failed}")
    return listed


def finished(study: Any) -> list[Trial]:
    """The finished trials, in their order."""
    done = study.get_trials(deepcopy=False, states=[optuna().trial.TrialState.COMPLETE])
    return [Trial(**each.user_attrs["judgement"], number=at, settings=each.params) for at, each in enumerate(done)]


def judge(estimator: PUNodeClassifier, task: PUTask) -> Judgement:
    """Hide the known positives in turn, train without them, and see how far down they rank.

    Settings that cannot be trained with are a result as well, and are recorded.
    """
    torch.set_num_threads(1)
    started = time.perf_counter()
    ranks, failed = None, None
    try:
        method, training = estimator.check_parameters()
        # The folds go by the same prior: it is estimated once, from all known positives.
        estimator.set_params(method=method.settle(task, training)[0])
        ranks = cross_fit(estimator, task).ranks.tolist()
    except PugnnError as error:
        failed = str(error)
    return Judgement(ranks, failed, round(time.perf_counter() - started, 3))


@contextmanager
def _working(journal: Path) -> Iterator[None]:
    """Say what is wrong with a journal that cannot be written or understood."""
    try:
        yield
    except OSError as error:
        words = "All finished trials are kept; once that is fixed, the same command continues from there."
        raise PugnnError(f"cannot write to {journal}: {error.strerror}. {words}") from None
    except (ValueError, KeyError, TypeError):
        raise PugnnError(f"{journal} is damaged; choose another --out, or remove it to begin again") from None
