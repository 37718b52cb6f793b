from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from pugnn import waiting
from pugnn.datasets.planted import Planted
from pugnn.errors import PugnnError
from pugnn.evaluation import cross_fit
from pugnn.methods import LabelPropagation
from pugnn.sweep.executors import LocalExecutor
from pugnn.sweep.space import parse_space
from pugnn.sweep.sweep import Judgement, Sweep, Trial, finished, judge, run_sweep
from pugnn.task import PUTask

pytest.importorskip("optuna")
SPACE = parse_space("nnpu", ["learning_rate=1e-4..1e-1", "hidden=16,64", "prior=0.2"])
SWEEP = Sweep("nnpu", SPACE, data="the data")


class Stopped(Exception):
    pass


def bowl(estimator):
    """Best at a learning rate of 0.01; the defaults are no good."""
    rate = estimator.learning_rate or 1.0
    failed = "too fast" if 0.05 < rate < 1 else None
    return Judgement(None if failed else [abs(np.log10(rate) + 2) / 4], failed, 0.0)


def run(folder, *, trials=25, work=bowl, sweep=SWEEP, jobs=1):
    return run_sweep(sweep, work, folder, LocalExecutor(jobs), trials=trials)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return run(tmp_path_factory.mktemp("whole"))


def test_a_sweep_finds_the_bottom(whole):
    assert sorted(trial.number for trial in whole) == [*range(25)]
    ranks = [trial.mean_rank for trial in whole if trial.failed is None]
    assert ranks == sorted(ranks)
    assert 0.003 < whole[0].settings["learning_rate"] < 0.03
    later = [trial.mean_rank for trial in whole if trial.number > 15 and trial.failed is None]
    first = [trial.mean_rank for trial in whole if 0 < trial.number <= 10 and trial.failed is None]
    assert np.mean(later) < np.mean(first)
    assert all(trial.failed == "too fast" for trial in whole[len(ranks) :])


def test_settings_are_in_the_space_and_the_first_trial_has_the_defaults(whole):
    for trial in whole:
        if trial.number == 0:
            assert trial.settings == {"prior": 0.2}
        else:
            assert trial.settings["prior"] == 0.2
            assert trial.settings["hidden"] in (16, 64)
            assert 1e-4 <= trial.settings["learning_rate"] <= 1e-1


def test_a_stopped_sweep_goes_on_to_the_same_end(tmp_path, whole):
    tried = []

    def stopped(estimator):
        tried.append(estimator)
        if len(tried) == 14:
            raise Stopped
        return bowl(estimator)

    with pytest.raises(Stopped):
        run(tmp_path, work=stopped)
    assert len(finished(SWEEP.study(tmp_path))) == 13
    run(tmp_path, trials=20)
    assert run(tmp_path) == whole  # more trials go on as well


def test_a_journal_that_was_cut_short_goes_on(tmp_path, whole):
    run(tmp_path, trials=5)
    journal = tmp_path / "trials.journal"
    journal.write_bytes(journal.read_bytes()[:-20])  # the trial that was being told
    assert len(finished(SWEEP.study(tmp_path))) == 4
    assert run(tmp_path) == whole


def test_a_damaged_journal_is_named(tmp_path):
    run(tmp_path, trials=2)
    lines = (tmp_path / "trials.journal").read_bytes().splitlines(keepends=True)
    (tmp_path / "trials.journal").write_bytes(b"".join([lines[0], b"nonsense\n", *lines[1:]]))
    with pytest.raises(PugnnError, match=r"trials\.journal is damaged; choose another --out, or remove it"):
        run(tmp_path, trials=3)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(PugnnError, match=r"cannot write to .*trials\.journal: "):
        run(tmp_path / "file")


def test_what_is_left_is_that_of_all_trials(tmp_path, monkeypatch):
    now, left = [0.0], []
    monkeypatch.setattr(waiting, "monotonic", lambda: now[0])

    def in_two_folds(estimator):
        for fold in range(2):
            with waiting.part(fold / 2, (fold + 1) / 2):
                left.append(waiting.time_left())
                now[0] += 5
        return bowl(estimator)

    run(tmp_path, trials=2, work=in_two_folds)
    left.clear()
    run(tmp_path, trials=6, work=in_two_folds)
    assert left == [None, *(pytest.approx(5 * (8 - done)) for done in range(1, 8))]


def test_seeds_and_spaces_are_sweeps_of_their_own(tmp_path, whole):
    other = Sweep("nnpu", SPACE, data="the data", seed=1)
    assert run(tmp_path, trials=3, sweep=other)[0] not in whole
    names = [Sweep("nnpu", SPACE, data="others"), Sweep("upu", parse_space("upu"), data="the data"), other, SWEEP]
    assert len({each.name for each in names}) == 4
    assert len(run(tmp_path, trials=3)) == 3  # in the same folder


def test_only_failures_are_an_error(tmp_path):
    with pytest.raises(PugnnError, match="all 2 trials failed; the first one: no"):
        run(tmp_path, trials=2, work=lambda _: Judgement(None, "no", 0.0))


def test_what_is_no_fault_of_the_settings_stops_the_sweep(tmp_path):
    def unreadable(_):
        raise PugnnError("cannot read edges.csv")

    with pytest.raises(PugnnError, match=r"cannot read edges\.csv"):
        run(tmp_path, work=unreadable)
    assert finished(SWEEP.study(tmp_path)) == []


@pytest.mark.parametrize(
    ("over", "words"),
    [
        ("surrogate=sigmoid,magic", "surrogate must be one of sigmoid, logistic; got 'magic'"),
        ("learning_rate=-1..1", "learning_rate must be positive"),
        ("hidden=0..9", "--over: hidden must be a whole number, from 1"),
        ("dropout=0..1", r"--over: dropout must lie in \[0, 1\), got 1.0"),
        ("dropout=0.5,1", r"dropout must lie in \[0, 1\), got 1.0"),
        ("dropout=1", r"dropout must lie in \[0, 1\), got 1.0"),
        ("beta=-1..1", "--over: beta must be a number and not negative, got -1.0"),
        ("gamma=1,-1", "gamma must be a number and not negative, got -1.0"),
        ("prior=0.5..1", "prior is a share of the unlabelled nodes and must lie between 0 and 1; got 1.0"),
        ("backbone=gcn,cnn", "--over: there is no backbone 'cnn'"),
        ("weight_decay=1e-3..inf", "weight_decay must be a number"),
        ("epochs=0..10", "epochs must be a whole number, at least 1; got 0"),
    ],
)
def test_impossible_settings_are_refused_before_any_training(over, words):
    with pytest.raises(PugnnError, match=words):
        Sweep("nnpu", parse_space("nnpu", [over]), data="")


@pytest.mark.parametrize(
    ("method", "over", "words"),
    [
        ("views", "dropout=0..0.5", "dropout has no effect on views"),
        ("views", "backbone=mlp,gcn", "backbone has no effect on views"),
        ("lsdan", "hops=1..1000", "hops must be a whole number, from 1 to 100"),
        ("lsdan", "hidden=16,17", "hidden=17 must be a multiple"),
        ("pu-gnn", "delta=0..3", "delta must be a whole number, at least 1; got 0"),
        ("pu-gnn", "negatives=0,5", "negatives must be a whole number, at least 1; got 0"),
        ("pu-gnn", "near_prior=0.5..1", "near_prior must lie between 0 and 1, got 1.0"),
        ("pu-gnn", "alpha=-1..1", "alpha must be a number and not negative"),
        ("grab", "homophily=0..0.9", "homophily must lie between 0 and 1, got 0.0"),
        ("grab", "rounds=-1..3", "rounds must be a whole number, at least 0; got -1"),
        ("naive", "prior=0..0.5", "prior is a share of the unlabelled nodes"),
        ("smoothed-logistic", "inverse_penalty=0..1", "inverse_penalty must be positive"),
        ("label-propagation", "restart=0..0.5", "restart must lie between 0 and 1, got 0.0"),
    ],
)
def test_every_method_says_its_bounds_before_any_training(method, over, words):
    with pytest.raises(PugnnError, match=f"--over: .*{words}"):
        Sweep(method, parse_space(method, [over]), data="")


def test_without_optuna(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    with pytest.raises(PugnnError, match=r"needs Optuna, which is not installed: pip install 'pugnn\[sweep\]'"):
        run(tmp_path)


# ---------------------------------------------------------------------- how a trial is judged


@pytest.fixture(scope="module")
def task():
    graph, _, labelled = Planted(nodes=400, features=4, labels=12).graph()
    return PUTask.from_positives(graph, labelled)


def test_a_trial_is_judged_by_the_ranks_of_hidden_positives(task):
    estimator = Sweep("label-propagation", {}, data="", seed=5).estimator({"restart": 0.3, "prior": 0.1})
    assert estimator.method == LabelPropagation(prior=0.1, restart=0.3)
    assert estimator.seed == 5
    ranks = cross_fit(estimator, task).ranks
    found = judge(estimator, task)
    assert found.mean_rank == ranks.mean()
    assert found.ranks == ranks.tolist()


def test_several_jobs_share_a_journal(tmp_path, task):
    sweep = Sweep("label-propagation", parse_space("label-propagation", ["restart=0.1..0.5", "prior=0.1"]), data="")
    found = run(tmp_path, trials=6, work=partial(judge, task=task), sweep=sweep, jobs=2)
    assert sorted(trial.number for trial in found) == [*range(6)]


def test_a_gain_is_that_of_pairs():
    defaults = Trial([0.1, 0.5, 0.9], None, 0.0, number=0, settings={})
    better = replace(defaults, ranks=[0.0, 0.5, 0.7])
    failed = replace(defaults, ranks=None, failed="no")
    mean, error = better.gain(defaults)
    assert mean == pytest.approx(0.1)
    assert error == pytest.approx(0.1 / 3**0.5)  # the differences are 0.1, 0 and 0.2
    assert failed.gain(defaults) is None
    assert better.gain(failed) is None


def test_settings_of_the_training_reach_it():
    method, settings = SWEEP.estimator({"hidden": 4, "beta": 0.5}).check_parameters()
    assert (method.beta, settings.hidden) == (0.5, 4)


def test_a_training_that_fails_is_a_result(task):
    found = judge(Sweep("naive", {}, data="").estimator({"learning_rate": 1e30, "epochs": 20}), task)
    assert found.mean_rank is None
    assert "the loss became" in found.failed
