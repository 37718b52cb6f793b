"""A search for good settings of a method, judged by known positives that are hidden in turn; never by the truth."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import numpy as np
import torch

from pugnn import __version__
from pugnn.errors import PugnnError, require_whole
from pugnn.estimator import PUNodeClassifier
from pugnn.evaluation import cross_fit
from pugnn.executors import Executor
from pugnn_paper.runner import LOOK_EVERY, run_tasks
from pugnn.sweep.space import Range, Space
from pugnn_paper.records import Record, RecordStore
from pugnn.methods import METHODS, make_method
from pugnn.task import PUTask
from pugnn.training import derive_seed
from pugnn.waiting import part, status_line

#: Rank of a trial that could not be trained, for the search: as if all unlabelled nodes were above the hidden ones.
FAILED = 1.0


@dataclass(frozen=True)
class Trial:
    """One trial of a sweep.

    Args:
        sweep: name of the sweep.
        number: of the trial, from 0.
        method: name of the method.
        settings: of the method and its training; others have their defaults.
        seed: of folds and trainings.
        pugnn: version that trains it.
    """

    sweep: str
    number: int
    method: str
    settings: Mapping[str, Any]
    seed: int
    pugnn: str = __version__

    @cached_property
    def key(self) -> str:
        """Name of the record. Settings are no part of it: another process may choose others for the same number."""
        return trial_key(self.sweep, self.number)

    def estimator(self) -> PUNodeClassifier:
        """The estimator with these settings."""
        own = {field.name for field in fields(METHODS[self.method])} & set(self.settings)
        method = make_method(self.method, **{name: self.settings[name] for name in own})
        training = {name: value for name, value in self.settings.items() if name not in own}
        return PUNodeClassifier(method, **training, seed=self.seed, progress=False)


@dataclass(frozen=True)
class Sweep:
    """What all trials share.

    Args:
        method: name of the method.
        space: what is searched.
        data: digest of graph and known positives.
        seed: of everything.
    """

    method: str
    space: Space
    data: str
    seed: int = 0

    def __post_init__(self) -> None:
        for where, settings in self._corners():  # mistakes are reported before any training
            try:
                Trial("", 0, self.method, settings, self.seed).estimator().check_parameters()
            except PugnnError as error:
                raise PugnnError(f"{where}: {error}") from None

    def _corners(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The given settings, alone and with each end and each choice of a searched one, and where they come from."""
        yield "--over", self.given
        for name, values in self.space.items():
            for value in values if isinstance(values, tuple) else (values.low, values.high):
                yield f"--over {name}", {**self.given, name: value}

    @property
    def given(self) -> dict[str, Any]:
        """Settings that are not searched, but are not the defaults either."""
        return {
            name: values[0] for name, values in self.space.items() if isinstance(values, tuple) and len(values) == 1
        }

    @cached_property
    def name(self) -> str:
        """The same for the same sweep, whatever the number of its trials."""
        space = {name: asdict(each) if isinstance(each, Range) else each for name, each in self.space.items()}
        return _digest([self.method, space, self.data, self.seed, __version__])

    def trial(self, number: int, finished: Sequence[Record]) -> Trial:
        """A trial with the settings that the finished ones make promising; trial 0 has the defaults.

        It depends on the seed, its number and the finished trials alone, so that a sweep of one job can be stopped and
        continued with the same result.

        Args:
            number: of the trial.
            finished: records of other trials, in the order of their numbers.
        """
        settings = self.given if number == 0 else {**self.given, **self._propose(number, finished)}
        return Trial(self.name, number, self.method, settings, self.seed)

    def _propose(self, number: int, finished: Sequence[Record]) -> dict[str, Any]:
        optuna = _optuna()
        space = {name: _distribution(values) for name, values in self.space.items() if name not in self.given}
        sampler = optuna.samplers.TPESampler(seed=derive_seed(self.seed, number) % 2**32)
        study = optuna.create_study(sampler=sampler)  # the lowest rank
        for record in finished:
            chosen = record["trial"]["settings"]
            if all(name in chosen for name in space):  # not the defaults
                parameters = {name: chosen[name] for name in space}
                value = FAILED if record["mean_rank"] is None else record["mean_rank"]
                study.add_trial(optuna.trial.create_trial(params=parameters, distributions=space, value=value))
        return dict(study.ask(space).params)


def run_sweep(
    sweep: Sweep,
    work: Callable[[Trial], Record],
    store: RecordStore,
    executor: Executor,
    *,
    trials: int,
    progress: bool = True,
) -> list[Record]:
    """Do the trials that have no record yet, and return all records, best first.

    Args:
        sweep: what to search.
        work: turns a trial into a record: :func:`judge`, with the task.
        store: the folder, which other processes may fill at the same time.
        executor: where trials run.
        trials: how many there are in all.
        progress: show a line on standard error.
    """
    require_whole("trials", trials, 1)
    _optuna()
    keys = [trial_key(sweep.name, number) for number in range(trials)]

    def records() -> dict[str, Record]:
        found = store.read(warn=False)
        return {key: found[key] for key in keys if key in found}

    def missing() -> Iterator[Trial]:
        for number, key in enumerate(keys):
            if key not in (finished := records()):
                yield sweep.trial(number, list(finished.values()))

    store.read()  # warns of damaged records
    if (first := len(records())) < trials:
        with executor, part(0, 1), status_line() if progress else nullcontext() as line:
            if line is not None:
                line.say(f"{first:,} of {trials:,} trials")
            results = run_tasks(work, missing(), store, executor)
            while (done := len(records())) < trials:
                if line is not None:
                    line.update(f"{done:,} of {trials:,} trials")
                with part((done - first) / (trials - first), (done + 1 - first) / (trials - first)):
                    _, result = next(results, (None, None))
                if isinstance(result, str):
                    raise PugnnError(result)
                if result is None:  # others are working on all that is left
                    time.sleep(LOOK_EVERY)
                    results = run_tasks(work, missing(), store, executor)
    found = sorted(records().values(), key=_quality)
    if found[0]["failed"] is not None:
        raise PugnnError(f"all {trials:,} trials failed; the first one: {found[0]['failed']}")
    return found


def judge(trial: Trial, task: PUTask) -> Record:
    """Hide the known positives in turn, train without them, and see how far down they rank.

    Settings that cannot be trained with are a result as well, and are recorded.
    """
    torch.set_num_threads(1)
    started = time.perf_counter()
    ranks, failed = None, None
    try:
        estimator = trial.estimator()
        method, settings = estimator.checked()
        # The folds go by the same prior: it is estimated once, from all known positives.
        estimator.set_params(method=method.settle(task, settings)[0])
        ranks, _ = cross_fit(estimator, task)
    except PugnnError as error:
        failed = str(error)
    return {
        "key": trial.key,
        "trial": asdict(trial),
        "mean_rank": None if ranks is None else float(ranks.mean()),
        "ranks": None if ranks is None else ranks.tolist(),
        "failed": failed,
        "seconds": round(time.perf_counter() - started, 3),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def gain(record: Record, defaults: Record) -> tuple[float, float] | None:
    """By how much a trial lowers the mean rank of the defaults, and its standard error; ``None`` if either failed.

    Both have ranked the same hidden positives, and differences of pairs vary much less than ranks.
    """
    if record["failed"] is not None or defaults["failed"] is not None:
        return None
    lower = np.subtract(defaults["ranks"], record["ranks"])
    return float(lower.mean()), float(lower.std(ddof=1) / math.sqrt(len(lower)))


def trial_key(sweep: str, number: int) -> str:
    """Name of the record of a trial."""
    return _digest([sweep, number])


def _quality(record: Record) -> tuple[float, int]:
    rank = record["mean_rank"]
    return math.inf if rank is None else rank, record["trial"]["number"]


def _distribution(values: Range | tuple[Any, ...]) -> Any:
    kinds = _optuna().distributions
    if isinstance(values, tuple):
        return kinds.CategoricalDistribution(values)
    kind = kinds.IntDistribution if values.whole else kinds.FloatDistribution
    return kind(values.low, values.high, log=values.logarithmic)


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise PugnnError("a sweep needs Optuna, which is not installed: pip install 'pugnn[sweep]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def _digest(parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]
