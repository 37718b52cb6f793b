"""What every method promises, through the estimator."""

from dataclasses import fields, replace

import numpy as np
import pytest
import torch

from conftest import random_graph
from pugnn import PugnnError, PUNodeClassifier
from pugnn.methods import (
    GRAB,
    LSDAN,
    METHODS,
    NNPU,
    PUGNN,
    UPU,
    Centroid,
    DistPU,
    GraphAny,
    LabelPropagation,
    Naive,
    SmoothedLogistic,
    Views,
    make_method,
)
from pugnn.models import BACKBONES
from pugnn.training import load_sealed
from stopping import Stopped, watched_epochs

GRAPH = random_graph(40, 0.08, seed=6, features=5)
LABELLED = [0, 1, 2]
CASES = {
    "pu-gnn": PUGNN(delta=1, negatives=3, near_prior=0.6, far_prior=0.3),
    "naive": Naive(),
    "naive, balanced": Naive(balanced=True, prior=0.3),
    "upu": UPU(0.3),
    "nnpu": NNPU(0.3),
    "dist-pu": DistPU(0.3),
    "dist-pu, full": DistPU(0.3, "full"),
    "lsdan": LSDAN(0.3),
    "grab": GRAB(rounds=2),
    "label-propagation": LabelPropagation(0.3),
    "graphany": GraphAny(0.3),
    "views": Views(),
    "centroid": Centroid(),
    "smoothed-logistic": SmoothedLogistic(),
}
TRAINED = {name: method for name, method in CASES.items() if method.trains}
every_method = pytest.mark.parametrize("method", CASES.values(), ids=CASES)
every_trained_method = pytest.mark.parametrize("method", TRAINED.values(), ids=TRAINED)
NETWORKS = {name: method for name, method in TRAINED.items() if name != "views"}  # it has a start of its own
every_network = pytest.mark.parametrize("method", NETWORKS.values(), ids=NETWORKS)
NEED_A_PRIOR = ("upu", "nnpu", "dist-pu", "lsdan", "label-propagation", "graphany")


def classifier(method, **options) -> PUNodeClassifier:
    few = {"epochs": 3} if method.trains else {}
    return PUNodeClassifier(method, **{**few, "progress": False, **options})


def test_no_method_is_forgotten():
    assert {method.name for method in CASES.values()} == set(METHODS)
    assert all(isinstance(method, METHODS[method.name]) for method in CASES.values())


@every_method
def test_scores_are_probabilities(method):
    estimator = classifier(method).fit(GRAPH, LABELLED)
    probabilities = estimator.predict_proba()
    assert probabilities.shape == (40, 2)
    assert np.isfinite(probabilities).all()
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    assert probabilities.sum(axis=1) == pytest.approx(1)
    assert estimator.predict().tolist() == (probabilities[:, 1] >= 0.5).astype(int).tolist()
    assert 0 <= estimator.prior_ <= 1
    assert [record["epoch"] for record in estimator.log_] == list(range(1, len(estimator.log_) + 1))
    assert all(np.isfinite(list(record.values())).all() for record in estimator.log_)


@every_method
def test_the_same_seed_gives_the_same_bits(method):
    one, two, other = (classifier(method, seed=seed).fit(GRAPH, LABELLED).predict_proba() for seed in (1, 1, 2))
    assert one.tobytes() == two.tobytes()
    assert (one.tobytes() == other.tobytes()) == (not method.trains), "nothing there is random"


@every_method
def test_a_saved_model_scores_alike(method, tmp_path):
    threshold = 0.4 if method == Naive() else "prior"
    estimator = classifier(method, threshold=threshold).fit(GRAPH, LABELLED)
    estimator.save(tmp_path / "model")
    loaded = PUNodeClassifier.load(tmp_path / "model")
    assert loaded.method == method
    assert loaded.predict_proba(GRAPH).tobytes() == estimator.predict_proba().tobytes()
    assert loaded.predict(GRAPH).tolist() == estimator.predict().tolist()
    assert (loaded.threshold_, loaded.prior_) == (estimator.threshold_, estimator.prior_)
    assert loaded.settings_ == estimator.settings_
    assert loaded.settings_["parameters"]["backbone"] == (
        method.training.get("backbone", "gcn") if method.trains else None
    )


# ---------------------------------------------------------------------- stopped and resumed


@every_trained_method
def test_stopped_and_resumed_gives_the_same_bits(method, tmp_path):
    """GRAB is stopped in its second round and the full Dist-PU in its second stage."""
    several = isinstance(method, GRAB) or method == DistPU(0.3, "full")
    checkpoint = tmp_path / "checkpoint"
    with watched_epochs() as everything:
        whole = classifier(method, epochs=25).fit(GRAPH, LABELLED)
    assert everything[:25] == list(range(1, 26))

    with pytest.raises(Stopped), watched_epochs(stop_after=47 if several else 22) as done:
        classifier(method, epochs=25).fit(GRAPH, LABELLED, checkpoint=checkpoint)
    assert done[-1] == 22
    parts = load_sealed(checkpoint)[1]["parts"]
    assert [(part["finished"], len(part["log"])) for part in parts] == [(True, 25)] * several + [(False, 20)]

    with watched_epochs() as done:
        resumed = classifier(method, epochs=25).fit(GRAPH, LABELLED, checkpoint=checkpoint)
    assert done == everything[45 if several else 20 :]
    assert resumed.predict_proba().tobytes() == whole.predict_proba().tobytes()
    without_time = [[{**record, "seconds": 0} for record in fit.log_] for fit in (whole, resumed)]
    assert without_time[0] == without_time[1]
    assert resumed.prior_ == whole.prior_

    if several:  # all parts are in the file now: nothing is left to train
        with watched_epochs() as done:
            again = classifier(method, epochs=25).fit(GRAPH, LABELLED, checkpoint=checkpoint)
        assert done == []
        assert again.predict_proba().tobytes() == whole.predict_proba().tobytes()


def test_label_propagation_needs_no_checkpoint(tmp_path):
    classifier(LabelPropagation(0.3)).fit(GRAPH, LABELLED, checkpoint=tmp_path / "checkpoint")
    assert not list(tmp_path.iterdir())


@every_trained_method
def test_a_checkpoint_of_another_method_is_refused(method, tmp_path):
    other = UPU(0.3) if isinstance(method, NNPU) else NNPU(0.3)
    classifier(other, epochs=21).fit(GRAPH, LABELLED, checkpoint=tmp_path / "checkpoint")
    with pytest.raises(PugnnError, match="belongs to a run with other data or settings"):
        classifier(method, epochs=21).fit(GRAPH, LABELLED, checkpoint=tmp_path / "checkpoint")


# ---------------------------------------------------------------------- backbones


@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("name", ["pu-gnn", "naive", "upu", "nnpu", "dist-pu", "grab"])
def test_every_backbone_trains(name, backbone):
    estimator = classifier(CASES[name], backbone=backbone, epochs=2).fit(GRAPH, LABELLED)
    assert estimator.settings_["parameters"]["backbone"] == backbone
    scores = estimator.predict_proba()[:, 1]
    assert np.isfinite(scores).all()
    assert len(np.unique(scores)) > 1


# ---------------------------------------------------------------------- options


@pytest.mark.parametrize("name", NEED_A_PRIOR)
def test_a_prior_is_estimated_before_training(name):
    classifier = PUNodeClassifier(name, epochs=None if not METHODS[name].trains else 2).fit(GRAPH, LABELLED)
    settled = classifier.settled_prior_
    assert settled.source in ("estimated", "assumed")
    assert classifier.prior_ == settled.value
    assert settled.low <= settled.value <= settled.high
    assert classifier.settings_["method"]["prior"] == "auto"
    with pytest.raises(PugnnError, match="needs the prior as a number; PUNodeClassifier estimates it first"):
        METHODS[name]().known_prior  # noqa: B018


@pytest.mark.parametrize("prior", [0.2, "0.2", "0.2..0.2"])
@pytest.mark.parametrize("name", NEED_A_PRIOR)
def test_a_prior_that_is_given_is_used(name, prior):
    classifier = PUNodeClassifier(make_method(name, prior=prior), epochs=None if not METHODS[name].trains else 2)
    assert classifier.fit(GRAPH, LABELLED).prior_ == 0.2
    assert classifier.settled_prior_.source == "given"


@pytest.mark.parametrize("name", NEED_A_PRIOR)
@pytest.mark.parametrize("prior", [0.0, 1.0, -0.5, float("nan"), None, "1.3"])
def test_a_prior_is_a_share(name, prior):
    with pytest.raises(PugnnError, match=r"prior (must be a number|is a share of .* must lie between 0 and 1)"):
        classifier(replace(make_method(name, prior=0.5), prior=prior)).fit(GRAPH, LABELLED)


@pytest.mark.parametrize("name", METHODS)
def test_an_unknown_option_is_explained(name):
    known = ", ".join(field.name for field in fields(METHODS[name]))
    with pytest.raises(PugnnError, match=f"{name} has no option 'pior'; it has {known}"):
        make_method(name, pior=0.3)


def test_an_option_of_another_method_is_explained():
    with pytest.raises(PugnnError, match="nnpu has no option 'delta'; it has prior"):
        make_method("nnpu", delta=3)
    with pytest.raises(PugnnError, match="upu has no option 'beta'; it has prior, surrogate"):
        make_method("upu", prior=0.3, beta=0.1)


@pytest.mark.parametrize("option", [{"epochs": 3}, {"backbone": "gcn"}, {"dropout": 0.5}])
def test_settings_of_a_training_that_there_is_not(option):
    with pytest.raises(PugnnError, match=f"label-propagation trains no network, so {next(iter(option))} has no effect"):
        PUNodeClassifier(LabelPropagation(0.3), **option).fit(GRAPH, LABELLED)


def test_a_threshold_at_a_prior_that_nobody_knows():
    with pytest.raises(PugnnError, match="give naive a prior"):
        classifier(Naive(), threshold="prior").fit(GRAPH, LABELLED)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@every_method
def test_a_gpu_gives_about_the_same(method):
    settings = {"dropout": 0.0} if method.trains and "dropout" not in method.unused else {}
    cpu, gpu = (classifier(method, device=device, **settings).fit(GRAPH, LABELLED) for device in ("cpu", "cuda"))
    assert gpu.predict_proba() == pytest.approx(cpu.predict_proba(), abs=1e-3)


@every_method
def test_known_negatives_score_0_and_change_the_others(method):
    estimator = classifier(method, threshold=0.0).fit(GRAPH, LABELLED, negatives=[7, 30])
    scores = estimator.predict_proba()[:, 1]
    assert scores[[7, 30]].tolist() == [0.0, 0.0]
    assert estimator.negative_.tolist() == [7, 30]
    assert (estimator.predict() == 0).nonzero()[0].tolist() == [7, 30]
    if method != Naive():  # which takes all unlabelled nodes as negative anyway
        without = classifier(method).fit(GRAPH, LABELLED).predict_proba()[:, 1]
        assert scores[8:29].tolist() != without[8:29].tolist()
    if method.trains:
        assert "known_negative" in estimator.log_[0]


@every_network
def test_a_training_goes_on_from_an_earlier_one(method, tmp_path):
    earlier = classifier(method).fit(GRAPH, LABELLED)
    fresh, one, two = (
        classifier(method).fit(GRAPH, LABELLED, negatives=[30], start=start) for start in (None, earlier, earlier)
    )
    assert one.warm_
    assert not fresh.warm_
    assert one.predict_proba().tobytes() == two.predict_proba().tobytes()
    assert one.predict_proba().tobytes() != fresh.predict_proba().tobytes()
    earlier.save(tmp_path / "model")
    loaded = classifier(method).fit(GRAPH, LABELLED, negatives=[30], start=PUNodeClassifier.load(tmp_path / "model"))
    assert loaded.predict_proba().tobytes() == one.predict_proba().tobytes()


@every_method
def test_what_does_not_fit_starts_afresh_and_says_so(method):
    other = classifier(Naive() if method.name != "naive" else UPU(0.3)).fit(GRAPH, LABELLED)
    plain, found = (classifier(method).fit(GRAPH, LABELLED, start=start) for start in (None, other))
    assert found.predict_proba().tobytes() == plain.predict_proba().tobytes()
    assert not found.warm_
    assert found.notes_[-1].startswith("Nothing of the earlier model is taken over: ")


@every_network
def test_other_sizes_start_afresh(method):
    earlier = classifier(method, hidden=4).fit(GRAPH, LABELLED)
    found = classifier(method, hidden=8).fit(GRAPH, LABELLED, start=earlier)
    assert not found.warm_
    assert "sizes" in found.notes_[-1]


@every_network
def test_a_checkpoint_belongs_to_its_start(method, tmp_path):
    earlier = classifier(method).fit(GRAPH, LABELLED)
    whole = classifier(method, epochs=45).fit(GRAPH, LABELLED, start=earlier)
    with watched_epochs(stop_after=25), pytest.raises(Stopped):
        classifier(method, epochs=45).fit(GRAPH, LABELLED, start=earlier, checkpoint=tmp_path / "state")
    with pytest.raises(PugnnError, match="belongs to a run with other data or settings"):
        classifier(method, epochs=45).fit(GRAPH, LABELLED, checkpoint=tmp_path / "state")
    resumed = classifier(method, epochs=45).fit(GRAPH, LABELLED, start=earlier, checkpoint=tmp_path / "state")
    assert resumed.predict_proba().tobytes() == whole.predict_proba().tobytes()
