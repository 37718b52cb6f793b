import os
import platform
import subprocess
import sys
from dataclasses import fields, replace

import numpy as np
import pytest
import torch

import pugnn
from pugnn.datasets import load_dataset
from pugnn.estimator import PUNodeClassifier
from pugnn.task import draw_benchmark, draw_labels
from pugnn_paper import cells
from pugnn_paper.cells import Cell, measure
from pugnn_paper.rows import ABLATION, DELTAS, MORE_METHODS, PAPER_METHODS, PRIORS, READINGS, Row
from pugnn_paper.variants import PUGNNVariant

ROWS = {**PAPER_METHODS, **MORE_METHODS}
BRIEF = {"epochs": 3}


def cell(name="pu-gnn", reading="default", *, ratio=0.01, draw=3, **changes):
    found = Cell.of(ROWS[name], READINGS[reading], dataset="cora", ratio=ratio, draw=draw)
    return replace(found, **changes)


# ---------------------------------------------------------------------- keys


def test_keys_are_the_same_in_every_process():
    code = """
from pugnn_paper.cells import Cell
from pugnn_paper.rows import MORE_METHODS, PAPER_METHODS, READINGS
for row in (*PAPER_METHODS.values(), *MORE_METHODS.values()):
    print(Cell.of(row, READINGS["mean-mean"], dataset="cora", ratio=0.01, draw=3).key)
"""
    environment = {**os.environ, "PYTHONHASHSEED": "77"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split() == [cell(name, "mean-mean").key for name in ROWS]


CHANGES = {
    "dataset": "citeseer",
    "protocol": {"label_ratio": 0.01},
    "method": "naive",
    "options": {"delta": 3},
    "known_prior": True,
    "training": {"epochs": 3},
    "threshold": "prior",
    "seed": 4,
    "positive_classes": (2,),
    "prior_error": 0.1,
    "pugnn": "0.0.1",
}


def test_every_changed_field_is_another_cell():
    assert set(CHANGES) == {field.name for field in fields(Cell)}
    keys = {replace(cell(), **{name: value}).key for name, value in CHANGES.items()}
    assert len(keys | {cell().key}) == len(CHANGES) + 1


@pytest.mark.parametrize("field", ["protocol", "options", "training"])
def test_every_changed_setting_within_a_field_is_another_cell(field):
    settings = getattr(cell(), field)
    keys = {replace(cell(), **{field: {**settings, name: "other"}}).key for name in settings}
    assert len(keys | {cell().key}) == len(settings) + 1


def test_the_order_of_settings_does_not_matter():
    turned = replace(cell(), options=dict(reversed(cell().options.items())))
    assert list(turned.options) != list(cell().options)
    assert turned.key == cell().key


def test_a_key_is_long_enough_for_a_claim_and_has_nothing_but_digits():
    assert len(cell().key) == 24
    assert int(cell().key, 16) >= 0


# ---------------------------------------------------------------------- rows and readings


def test_a_cell_has_the_defaults_of_its_method():
    defaults = {field.name: field.default for field in fields(PUGNNVariant) if field.name != "prior"}
    assert cell().options == {**defaults, "near_prior": 0.6, "far_prior": 0.3}
    assert cell("nnpu-clamp").options == {**cell("nnpu").options, "correction": "clamp"}
    assert "prior" not in cell("nnpu").options
    assert cell().training["backbone"] == "gcn"
    assert cell("nnpu-mlp").training == {**cell("nnpu").training, "backbone": "mlp"}
    assert cell("grab").training["backbone"] == "gcn-linear"
    assert cell("label-propagation").training == {}
    assert cell().pugnn == pugnn.__version__
    assert cell().seed == cell().protocol["seed"] == 3


def test_the_rows_that_know_the_prior():
    assert {name for name, row in ROWS.items() if not row.known_prior} == {"naive", "grab", "pu-gnn"}


@pytest.mark.parametrize("name", ["literal-sum", "mean-mean"])
def test_readings_of_the_regulariser_change_nothing_but_pu_gnn(name):
    for row in ROWS:
        same = cell(row, name).key == cell(row).key
        assert same == (row != "pu-gnn")
    assert all(row.under(READINGS[name]) == row for row in ROWS.values() if row.method != "pu-gnn")


@pytest.mark.parametrize("name", ["training-u", "ratio-of-positives", "literal-ratio", "one-draw"])
def test_readings_of_the_protocol_change_every_row(name):
    assert not {cell(row, name).key for row in ROWS} & {cell(row).key for row in ROWS}


def test_readings_differ_from_the_default_in_what_they_say():
    found = {name: cell(reading=name) for name in READINGS}
    default = found["default"]
    assert default.protocol == {"label_ratio": 0.01, "label_ratio_of": "all_nodes", "unlabelled": "all", "seed": 3}
    assert found["training-u"] == replace(default, protocol={**default.protocol, "unlabelled": "train"})
    assert found["ratio-of-positives"].protocol["label_ratio_of"] == "all_positives"
    assert found["literal-ratio"].protocol["label_ratio_of"] == "train_positives"
    assert found["one-draw"] == replace(default, protocol={**default.protocol, "seed": 0})
    assert found["literal-sum"] == replace(default, options={**default.options, "reduction": "sum"})
    assert found["mean-mean"] == replace(
        default,
        options={**default.options, "reduction": "pair-mean"},
        training={**default.training, "backbone": "gcn-linear"},
    )
    assert len({each.key for each in found.values()}) == len(READINGS)


def test_what_a_row_is_about_goes_before_the_reading():
    row = Row("pu-gnn", {"reduction": "edge-mean", "alpha": 0.0}, training={"backbone": "gat"})
    under = row.under(READINGS["mean-mean"])
    assert under == row
    assert ABLATION["L_G only"].under(READINGS["literal-sum"]).options == {
        **{"reduction": "sum", "alpha": 0.0},
        **{"near_prior": 0.6, "far_prior": 0.3},
    }


def test_tables_share_cells_where_they_ask_the_same():
    def key(row):
        return Cell.of(row, READINGS["default"], dataset="cora", ratio=0.002, draw=0).key

    assert key(ABLATION["GCN"]) == key(PAPER_METHODS["naive"])
    same = [ABLATION["L_G + α R_S"], PAPER_METHODS["pu-gnn"], PRIORS["0.6, 0.3"], DELTAS["3"]]
    assert len({key(row) for row in same}) == 1
    assert len({key(row) for row in PRIORS.values()}) == len(PRIORS) == 20
    assert len({key(row) for row in DELTAS.values()}) == len(DELTAS) == 5


# ---------------------------------------------------------------------- measuring


@pytest.fixture
def seen(monkeypatch):
    """What a method is given when a cell is measured, and the scores that come out."""
    found = {}
    fit, predict_proba = PUNodeClassifier.fit, PUNodeClassifier.predict_proba

    def watched(self, *arguments, **more):
        found.update(estimator=self, arguments=arguments, more=more, threads=torch.get_num_threads())
        return fit(self, *arguments, **more)

    def scored(self, *arguments):
        found["scores"] = predict_proba(self, *arguments)
        return found["scores"]

    monkeypatch.setattr(PUNodeClassifier, "fit", watched)
    monkeypatch.setattr(PUNodeClassifier, "predict_proba", scored)
    return found


@pytest.mark.parametrize("reading", ["default", "training-u"])
@pytest.mark.parametrize("name", ["label-propagation", "naive"])
def test_a_method_gets_graph_positives_and_at_most_the_prior(seen, name, reading):
    asked = cell(name, reading, training={} if name == "label-propagation" else BRIEF)
    record = measure(asked)
    benchmark = asked.draw()
    graph, positives = seen["arguments"]
    assert graph is benchmark.task.graph
    assert list(positives) == list(graph.ids[benchmark.task.labelled])
    assert list(seen["more"]) == ["unlabelled"]
    assert np.array_equal(seen["more"]["unlabelled"], benchmark.task.unlabelled)
    share = benchmark.positive[benchmark.task.unlabelled].sum() / len(benchmark.task.unlabelled)
    method = seen["estimator"].method
    if name == "label-propagation":
        assert method.prior == pytest.approx(share, abs=1e-12)
        assert record["prior"] == method.prior
    else:
        assert getattr(method, "prior", None) is None
    assert record["labels"] == len(benchmark.task.labelled) == 27
    assert record["unlabelled"] == len(benchmark.task.unlabelled) == (2681 if reading == "default" else 244)


@pytest.mark.parametrize("name", ["label-propagation", "nnpu", "naive-balanced", "pu-gnn"])
def test_nothing_else_of_the_truth_changes_the_scores(seen, monkeypatch, name):
    asked = cell(name, training={} if name == "label-propagation" else BRIEF)
    record, scores = measure(asked), seen["scores"]

    def shuffled(dataset, **protocol):
        benchmark = draw_benchmark(dataset, **protocol)
        positive, unlabelled = benchmark.positive.copy(), benchmark.task.unlabelled
        positive[unlabelled] = np.random.default_rng(0).permutation(positive[unlabelled])
        return replace(benchmark, positive=positive)

    monkeypatch.setattr(cells, "draw_benchmark", shuffled)
    other = measure(asked)
    assert np.array_equal(seen["scores"], scores)
    assert other["prior"] == record["prior"]
    assert other["metrics"]["roc_auc"] < 60 < record["metrics"]["roc_auc"]  # the truth was another one indeed


@pytest.mark.parametrize("name", ["pu-gnn", "nnpu", "dist-pu", "pagerank"])
def test_the_same_cell_twice_gives_the_same(seen, name):
    asked = cell(name, training={} if name == "pagerank" else BRIEF)
    first, scores = measure(asked), seen["scores"]
    second = measure(asked)
    assert np.array_equal(seen["scores"], scores)
    volatile = ("seconds", "finished")
    assert {key: first[key] for key in first if key not in volatile} == {
        key: second[key] for key in second if key not in volatile
    }
    assert seen["threads"] == 1


def test_another_seed_gives_something_else(seen):
    measure(cell(training=BRIEF))
    scores = seen["scores"]
    measure(cell(training=BRIEF, seed=4))
    assert not np.array_equal(seen["scores"], scores)


def test_one_thread_however_many_there_were(seen):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        measure(cell("label-propagation"))
        assert seen["threads"] == 1
    finally:
        torch.set_num_threads(before)


def test_a_record_says_what_was_measured_and_how():
    asked = cell("naive", training=BRIEF, threshold=0.4)
    record = measure(asked)
    assert record["key"] == asked.key
    assert Cell(**{**record["cell"], "positive_classes": None}) == asked
    assert record["epochs"] == 3
    assert record["threshold"] == 0.4
    assert record["degenerate"] == ["no-ranking"]
    assert 0 <= record["seconds"]["training"] <= record["seconds"]["total"]
    assert set(record["metrics"]) >= {"macro_f1", "f1", "roc_auc"}
    assert record["metrics"]["test_nodes"] == 2437
    assert record["versions"]["python"] == platform.python_version()
    assert record["versions"]["torch"].split("+")[0] == torch.__version__.split("+")[0]


def test_the_protocol_of_a_share_with_classes_of_its_own():
    row = Row("label-propagation", known_prior=True)
    asked = Cell.of_protocol(row, {"share": 0.5, "seed": 1}, dataset="cora", seed=1, positive_classes=(2,))
    benchmark, record = asked.draw(), measure(asked)
    classes = load_dataset("cora", positive_classes=(2,)).positive
    assert record["labels"] == round(classes.sum() / 2)
    assert np.array_equal(benchmark.positive, classes)
    assert record["metrics"]["test_nodes"] == 2708 - record["labels"]


def test_the_protocol_of_a_number_of_labels():
    row = Row("label-propagation", known_prior=True)
    asked = Cell.of_protocol(row, {"labels": 40, "sampling": "by-degree", "seed": 1}, dataset="cora", seed=1)
    drawn = draw_labels(load_dataset("cora"), labels=40, sampling="by-degree", seed=1)
    assert asked.draw().task.labelled.tolist() == drawn.task.labelled.tolist()
    assert measure(asked)["labels"] == 40


@pytest.mark.parametrize(("error", "given"), [(0.1, 0.55), (-0.1, 0.35), (-0.9, 0.01), (0.9, 0.99)])
def test_a_wrong_prior(error, given):
    row = Row("label-propagation", known_prior=True, prior_error=error)
    record = measure(Cell.of(row, READINGS["default"], dataset="cora", ratio=0.01, draw=0))
    assert record["prior"] == pytest.approx(given, abs=0.01)


@pytest.mark.data("polblogs")
def test_a_graph_without_features_gets_those_of_its_structure():
    data = cells.named_dataset("polblogs", (1,))
    assert load_dataset("polblogs").graph.num_features == 0
    assert data.graph.num_features == 32
    assert data.positive_classes == {1}
    protocol = {"labels": 30, "sampling": "uniform", "seed": 0}
    record = measure(Cell.of_protocol(Row("dist-pu", known_prior=True), protocol, dataset="polblogs", seed=0))
    assert record["metrics"]["roc_auc"] > 80
