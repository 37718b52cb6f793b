import csv
import html
import json
import sys
import warnings
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pyarrow.parquet as pq
import pytest

import pugnn
from pugnn import (
    PUGNN,
    DegenerateWarning,
    Graph,
    LabelPropagation,
    Naive,
    PUBenchmark,
    PugnnError,
    PugnnWarning,
    PUNodeClassifier,
    PUTask,
    waiting,
)
from pugnn.checkup import check_up
from pugnn.errors import WriteError
from pugnn.graph.derived import forget_derived
from pugnn.runs.folder import RunFolder
from pugnn.runs.report import write_report
from pugnn.runs.run import InputData
from pugnn.runs.training_run import EXPLAINED, STOPPED, TRAINED, train_into_folder
from pugnn.runs.writers import score_table, write_scores
from pugnn.views import ViewSource
from stopping import watched_epochs

FILES = ["log.csv", "model.safetensors", "report.html", "run.json", "scores.csv", "scores.parquet"]
METHOD = PUGNN(near_prior=0.6, far_prior=0.3)
IDS = [f"n{i}" for i in range(10)] + ["alone, far", "off"]


@pytest.fixture(scope="module")
def task():
    """A path of ten nodes, the first two known, and a pair that nothing joins to it."""
    x = np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32)
    source, target = [*IDS[:9], "off"], [*IDS[1:10], "alone, far"]
    graph = Graph.from_edges(source, target, ids=IDS, features=x)
    return PUTask.from_positives(graph, np.array([0, 1]))


def classifier(**options):
    return PUNodeClassifier(**{"method": METHOD, "epochs": 4, "hidden": 4, "progress": False, **options})


def into_folder(estimator, task, folder, **more):
    data = InputData(name="toy", graph=task.graph, task=task, **{"options": {}, **more})
    return train_into_folder(estimator, data, folder, check_up(task))


@pytest.fixture(scope="module")
def benchmark(task):
    positive = np.arange(12) < 5
    nodes = np.arange(12)
    return PUBenchmark(task, positive, train=nodes[:4], test=nodes[4:], scored=nodes[4:11])


@pytest.fixture(scope="module")
def done(task, benchmark, tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "mine"
    estimator = classifier(epochs=25, learning_rate=0.1)
    run = into_folder(estimator, task, RunFolder(path), options={"dataset": "toy"}, benchmark=benchmark)
    return run, estimator


def rows(path):
    text = path.read_bytes().decode()
    assert "\r" not in text
    return list(csv.DictReader(text.splitlines()))


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


# ---------------------------------------------------------------------- a complete run


def test_the_folder_is_complete(done):
    run, _ = done
    assert run.path.name == "mine"
    assert names(run.path.parent) == ["mine", *(f"mine/{name}" for name in FILES)]


def test_what_is_left_is_that_of_the_whole_run(task, tmp_path, monkeypatch):
    now, done = [0.0], []
    monkeypatch.setattr(waiting, "monotonic", lambda: now[0])

    def watched(name, function):
        def call(*arguments, **options):
            now[0] = 100.0
            left = waiting.time_left()
            done.append((name, None if left is None else 100 / (100 + left)))
            return function(*arguments, **options)

        return call

    module = sys.modules["pugnn.runs.training_run"]
    for name in ("score_table", "explain_best", "write_report"):
        monkeypatch.setattr(module, name, watched(name, getattr(module, name)))
    with watched_epochs() as epochs, waiting.part(0.5, 1):
        into_folder(classifier(epochs=4), task, RunFolder(tmp_path / "mine"))
    assert len(epochs) == 4
    assert [name for name, _ in done] == ["score_table", "write_report", "explain_best", "write_report"]
    shares = [share for _, share in done]
    assert shares == pytest.approx([0.5 + 0.5 * share for share in (TRAINED, TRAINED, TRAINED, EXPLAINED)])


def test_scores(done):
    run, estimator = done
    table = rows(run.path / "scores.csv")
    assert list(table[0]) == ["id", "score", "log_odds", "decision", "rank", "known", "distance", "nearest"]
    expected = dict(zip(IDS, estimator.predict_proba()[:, 1].tolist(), strict=True))
    assert {row["id"]: float(row["score"]) for row in table} == expected, "every node, to the last bit"
    listed = [float(row["score"]) for row in table]
    assert listed == sorted(listed, reverse=True)
    assert [row["rank"] for row in table if row["known"] == "0"] == [str(i) for i in range(1, 11)]
    assert [row["rank"] for row in table if row["known"] == "1"] == ["", ""]
    stored = pq.read_table(run.path / "scores.parquet").to_pydict()
    assert [rank is None for rank in stored["rank"]] == [known == 1 for known in stored["known"]]
    assert all(row["decision"] == str(int(float(row["score"]) >= 0.5)) for row in table)
    assert {row["id"] for row in table if row["known"] == "1"} == {"n0", "n1"}
    hops = {row["id"]: row["distance"] for row in table}
    assert hops == {"n0": "0", **{f"n{i}": str(i - 1) for i in range(1, 10)}, "alone, far": "", "off": ""}
    nearest = {row["id"]: row["nearest"] for row in table}
    assert nearest == {"n0": "n0", **{f"n{i}": "n1" for i in range(1, 10)}, "alone, far": "", "off": ""}


def test_scores_as_parquet(done):
    run, _ = done
    table = pq.read_table(run.path / "scores.parquet").to_pydict()
    for row, number in zip(rows(run.path / "scores.csv"), range(12), strict=True):
        texts = {name: "" if column[number] is None else str(column[number]) for name, column in table.items()}
        assert texts == row


def test_model_and_scores_belong_together(done, task):
    run, _ = done
    loaded = PUNodeClassifier.load(run.path / "model.safetensors")
    assert np.array_equal(loaded.predict_proba(task.graph)[:, 1], run.scores)


def test_log(done):
    run, estimator = done
    table = rows(run.path / "log.csv")
    assert list(table[0]) == list(estimator.log_[0])
    assert [{name: float(value) for name, value in row.items()} for row in table] == estimator.log_
    assert [row["epoch"] for row in table] == [str(i) for i in range(1, 26)]


def test_record(done):
    run, estimator = done
    record = json.loads((run.path / "run.json").read_text(encoding="utf-8"))
    assert record == run.record
    assert record["pugnn"] == pugnn.__version__
    assert record["data"] | {"nodes": 12, "edges": 10, "features": 3, "components": 2} == record["data"]
    assert record["data"]["cleaning"] == {"rows": 10, "self_loops": 0, "duplicates": 0, "two_way": 0}
    assert (record["labelled"], record["unlabelled"]) == (2, 10)
    trained = {"dataset": "toy", "method": "pu-gnn", **vars(METHOD), "epochs": 25, "learning_rate": 0.1, "seed": 0}
    assert record["options"] | trained == record["options"]
    assert "progress" not in record["options"]
    assert record["threshold"] == 0.5
    assert record["prior"] == estimator.prior_
    assert record["warnings"] == []
    assert record["method_notes"] == []
    assert 0 < record["seconds"]["training"] <= record["seconds"]["total"]
    assert {"python", "torch", "numpy"} <= set(record["versions"])


def test_metrics(done):
    run, _ = done
    decided, truth, right, pairs = [], [], 0, []
    for node in range(4, 11):
        decided.append(bool(run.scores[node] >= 0.5))
        truth.append(node < 5)
        right += decided[-1] == truth[-1]
        if node != 4:
            pairs.append(float(run.scores[4] > run.scores[node]))

    def f1(wanted):
        hit = sum(t == d == wanted for t, d in zip(truth, decided, strict=True))
        return 2 * hit / (truth.count(wanted) + decided.count(wanted))

    metrics = run.record["metrics"]
    assert (metrics["test_nodes"], metrics["positive"], metrics["decided_positive"]) == (7, 1, sum(decided))
    assert metrics["precision_at_100"] is None, "there are seven nodes"
    assert metrics["accuracy"] == pytest.approx(100 * right / 7, abs=1e-3)
    assert metrics["roc_auc"] == pytest.approx(100 * np.mean(pairs), abs=1e-3)
    assert metrics["f1"] == pytest.approx(100 * f1(True), abs=1e-3)
    assert metrics["macro_f1"] == pytest.approx(50 * (f1(True) + f1(False)), abs=1e-3)
    rank = 1 + sum(run.scores[node] > run.scores[4] for node in range(5, 11))
    assert metrics["average_precision"] == pytest.approx(100 / rank, abs=1e-3)


def test_without_truth_there_are_no_metrics(task, tmp_path):
    run = into_folder(classifier(), task, RunFolder(tmp_path / "mine"))
    assert run.record["metrics"] is None
    assert json.loads((tmp_path / "mine" / "run.json").read_text())["metrics"] is None


def test_warnings_are_shown_and_written_down(task, tmp_path):
    method = PUGNN(delta=20, near_prior=0.5, far_prior=0.5)
    path = PUTask(task.graph, task.labelled, np.arange(2, 10))
    with pytest.warns(PugnnWarning) as shown:
        run = into_folder(classifier(method=method), path, RunFolder(tmp_path / "mine"))
    others = [each for each in shown if each.category is not DegenerateWarning]  # they have a place of their own
    assert run.record["warnings"] == [str(warning.message) for warning in others]
    assert [text.split()[0] for text in run.record["warnings"]] == ["near_prior=0.5", "delta=20"]


def test_a_collapse_is_written_down_and_shown_in_the_first_lines(task, tmp_path):
    with pytest.warns(DegenerateWarning, match=r"the result is degenerate\. All 10 unlabelled nodes"):
        run = into_folder(classifier(), task, RunFolder(tmp_path / "mine"))
    (reason,) = json.loads((tmp_path / "mine" / "run.json").read_text())["degenerate"]
    assert reason["code"] == "all-positive"
    assert reason["message"].startswith("All 10 unlabelled nodes are decided positive")
    assert run.record["warnings"] == []
    page = (tmp_path / "mine" / "report.html").read_text()
    notice = page.index("This result is degenerate")
    assert notice < page.index(reason["message"].replace("'", "&#39;")) < page.index('id="summary"')


def test_a_healthy_run_has_no_notice(task, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = into_folder(PUNodeClassifier(LabelPropagation(0.3)), task, RunFolder(tmp_path / "mine"))
    assert run.record["degenerate"] == []
    assert "degenerate" not in (tmp_path / "mine" / "report.html").read_text()


def test_notes_of_the_method_are_written_down_and_shown(task, tmp_path):
    class Talkative(Naive):
        def fit(self, task, settings, **run):
            return replace(super().fit(task, settings, **run), notes=("Words & links count.",))

    run = into_folder(classifier(method=Talkative()), task, RunFolder(tmp_path / "mine"))
    assert run.record["method_notes"] == ["Words & links count."]
    page = (tmp_path / "mine" / "report.html").read_text()
    assert page.index("What the method decided") < page.index("Words &amp; links count.")


def test_only_some_unlabelled_nodes(task, tmp_path):
    part = PUTask(task.graph, task.labelled, np.array([2, 3, 8, 9]))
    run = into_folder(classifier(), part, RunFolder(tmp_path / "mine"))
    assert run.record["unlabelled"] == 4
    assert run.record["prior"] == pytest.approx((2 * 0.6 + 2 * 0.3) / 4)
    assert len(run.scores) == 12


def test_a_list_that_is_too_long_for_a_spreadsheet_is_no_csv_file(task, tmp_path, monkeypatch):
    monkeypatch.setattr("pugnn.runs.training_run.MAX_IN_CSV", task.graph.num_nodes - 1)
    with pytest.warns(PugnnWarning, match=r"scores\.csv is left out: .* see scores\.parquet"):
        run = into_folder(classifier(), task, RunFolder(tmp_path / "mine"))
    assert names(run.path) == [name for name in FILES if name != "scores.csv"]
    assert run.record["warnings"][-1].startswith("scores.csv is left out")


# ---------------------------------------------------------------------- runs that go wrong


def test_a_failure_before_any_checkpoint_leaves_nothing(task, tmp_path):
    with pytest.raises(PugnnError, match="dropout"):
        into_folder(classifier(dropout=3), task, RunFolder(tmp_path / "runs" / "mine"))
    assert names(tmp_path) == []
    with pytest.raises(KeyboardInterrupt), watched_epochs(stop_after=19, error=KeyboardInterrupt):
        into_folder(classifier(epochs=30), task, RunFolder(tmp_path / "runs" / "mine"))
    assert names(tmp_path) == []


def test_a_stopped_run_keeps_its_checkpoint_and_goes_on_from_it(task, tmp_path):
    whole = into_folder(classifier(epochs=50), task, RunFolder(tmp_path / "whole"))
    with pytest.raises(KeyboardInterrupt), watched_epochs(stop_after=33, error=KeyboardInterrupt):
        into_folder(classifier(epochs=50), task, RunFolder(tmp_path / "mine"))
    partial = ["mine.partial", "mine.partial/checkpoint.safetensors"]
    assert [name for name in names(tmp_path) if "mine" in name] == partial

    with pytest.raises(PugnnError, match="other data or settings"):
        into_folder(classifier(epochs=51), task, RunFolder(tmp_path / "mine", resume=True))
    assert [name for name in names(tmp_path) if "mine" in name] == partial

    run = into_folder(classifier(epochs=50), task, RunFolder(tmp_path / "mine", resume=True))
    assert names(run.path) == FILES
    assert not (tmp_path / "mine.partial").exists()
    assert (run.path / "scores.csv").read_bytes() == (whole.path / "scores.csv").read_bytes()
    assert len(rows(run.path / "log.csv")) == 50


def test_a_failure_while_writing_leaves_no_half_run(task, tmp_path, monkeypatch):
    def full(*_):
        raise PugnnError("cannot write: No space left on device")

    monkeypatch.setattr("pugnn.runs.training_run.write_log", full)
    with pytest.raises(PugnnError, match="No space left"):
        into_folder(classifier(), task, RunFolder(tmp_path / "mine"))
    assert names(tmp_path) == []


# ---------------------------------------------------------------------- what a finished run can do without


@pytest.fixture
def folder(tmp_path):
    return RunFolder(tmp_path / "mine")


def assert_complete(path, task, *warned):
    assert names(path.parent) == ["mine", *(f"mine/{name}" for name in FILES)]
    record = json.loads((path / "run.json").read_text())
    assert record["explanations"] == []
    assert len(record["warnings"]) == len(warned)
    assert all(words in text for words, text in zip(warned, record["warnings"], strict=True))
    page = (path / "report.html").read_text()
    assert all(html.escape(text, quote=False) in page.replace("&#39;", "'") for text in record["warnings"])
    loaded = PUNodeClassifier.load(path / "model.safetensors").predict_proba(task.graph)[:, 1]
    assert {row["id"]: float(row["score"]) for row in rows(path / "scores.csv")} == dict(zip(IDS, loaded, strict=True))
    return record


@pytest.mark.parametrize("part", ["training_run.explain_best", "run.Run.suggest"])
def test_results_are_safe_before_anything_else_begins(task, folder, monkeypatch, part):
    def look(*_, **__):
        assert_complete(folder.path, task, STOPPED)
        seen.append(part)
        return []

    seen = []
    monkeypatch.setattr(f"pugnn.runs.{part}", look)
    run = into_folder(classifier(epochs=25, learning_rate=0.1), task, folder)
    assert seen == [part]
    assert run.record["warnings"] == []


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError("8 GiB"), "explanations are left out: there is not enough memory."),
        (RuntimeError("no such kernel"), "explanations are left out: no such kernel."),
        (KeyError(), "explanations are left out: KeyError."),
        (WriteError("cannot write x"), "explanations are left out: cannot write x."),
    ],
)
def test_explanations_that_fail_leave_the_run_complete(task, folder, monkeypatch, error, words):
    monkeypatch.setattr("pugnn.runs.training_run.explain_best", Mock(side_effect=error))
    with pytest.warns(PugnnWarning, match=words):
        run = into_folder(classifier(epochs=25, learning_rate=0.1), task, folder)
    record = assert_complete(folder.path, task, words)
    assert record == run.record
    assert record["suggestions"]


def test_suggestions_that_fail_leave_the_explanations(task, folder, monkeypatch):
    monkeypatch.setattr("pugnn.runs.run.Run.suggest", Mock(side_effect=MemoryError))
    with pytest.warns(PugnnWarning, match="suggestions are left out"):
        run = into_folder(classifier(epochs=25, learning_rate=0.1), task, folder)
    assert run.record["suggestions"] is None
    assert run.record["explanations"]


def test_a_full_disk_at_the_end_leaves_the_run_complete(task, folder, monkeypatch):
    written = []

    def full_later(path, content):
        written.append(path)
        if len(written) > 1:
            raise WriteError("cannot write report.html: No space left on device")
        write_report(path, content)

    monkeypatch.setattr("pugnn.runs.training_run.write_report", full_later)
    with pytest.warns(PugnnWarning, match="suggestions and explanations are left out: .* No space left"):
        into_folder(classifier(epochs=25, learning_rate=0.1), task, folder)
    assert_complete(folder.path, task, STOPPED)


def test_a_run_that_is_moved_meanwhile_stays_one(task, folder, monkeypatch):
    def move(*_, **__):
        folder.path.rename(folder.path.with_name("moved"))
        return []

    monkeypatch.setattr("pugnn.runs.training_run.explain_best", move)
    into_folder(classifier(epochs=25, learning_rate=0.1), task, folder)
    assert names(folder.path.parent) == ["moved", *(f"moved/{name}" for name in FILES)]


def test_explanations_that_would_not_fit_into_memory_are_left_out(task, folder, monkeypatch):
    monkeypatch.setattr("pugnn.runs.training_run.explanation_memory", lambda *_: 5 * 10**15)
    with pytest.warns(PugnnWarning, match="explanations are left out: .* 5000 TB of memory"):
        into_folder(classifier(epochs=25, learning_rate=0.1), task, folder)
    assert_complete(folder.path, task, "explanations are left out: the graph is large")


def test_an_interruption_of_explanations_leaves_the_run_complete(task, folder, monkeypatch):
    monkeypatch.setattr("pugnn.runs.training_run.explain_best", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        into_folder(classifier(epochs=25, learning_rate=0.1), task, folder)
    assert_complete(folder.path, task, STOPPED)


def test_warnings_as_errors_are_respected(task, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(PugnnWarning):
            into_folder(classifier(method=PUGNN(far_prior=0.7)), task, RunFolder(tmp_path / "mine"))
    assert names(tmp_path) == []


# ---------------------------------------------------------------------- scores on their own


def test_ties_keep_the_order_of_the_nodes(tmp_path):
    graph = Graph.from_edges(["a"], ["b"], ids=["a", "b", "c", "d"])
    write_scores(tmp_path / "scores.csv", score_table(graph, np.array([0.25, 1.0, 0.25, 0.5]), 0.5))
    assert (tmp_path / "scores.csv").read_text() == (
        "id,score,decision,rank\nb,1.0,1,1\nd,0.5,1,2\na,0.25,0,3\nc,0.25,0,4\n"
    )


def test_ids_that_a_spreadsheet_would_run_are_made_harmless(tmp_path):
    ids = ["=1+1", "@SUM(A1)", "+cmd", "-1", "+2.5", "-x", "\tx", "a=b", '=HYPERLINK("x","y")', "'=1+1"]
    graph = Graph.from_edges([ids[0]], [ids[1]], ids=ids)
    table = score_table(graph, np.linspace(1, 0, len(ids)), 0.5, PUTask.from_positives(graph, np.array([0])))
    with pytest.warns(PugnnWarning, match=r"7 ids begin like a spreadsheet formula .*'=1\+1'.* and 5 more"):
        write_scores(tmp_path / "scores.csv", table)
    written = rows(tmp_path / "scores.csv")
    assert [row["id"] for row in written] == [
        "'=1+1", "'@SUM(A1)", "'+cmd", "-1", "+2.5", "'-x", "'\tx", "a=b", "'=HYPERLINK(\"x\",\"y\")", "''=1+1",
    ]  # fmt: skip
    assert [row["nearest"] for row in written[:3]] == ["'=1+1", "'=1+1", ""]
    write_scores(tmp_path / "scores.parquet", table)
    assert pq.read_table(tmp_path / "scores.parquet")["id"].to_pylist() == ids


def test_odd_ids_read_back_as_they_were(tmp_path):
    ids = ["a\rb", "a\nb", 'a"b', "a,b", " a ", "", "ä"]
    graph = Graph.from_edges([ids[0]], [ids[1]], ids=ids)
    write_scores(tmp_path / "scores.csv", score_table(graph, np.linspace(1, 0, len(ids)), 0.5))
    with (tmp_path / "scores.csv").open(newline="", encoding="utf-8") as file:
        assert [row["id"] for row in csv.DictReader(file)] == ids
    numbers = Graph.from_edges([0.5, 2.5], [1.5, 3.5], ids=[0.5, 1.5, 2.5, 3.5])
    write_scores(
        tmp_path / "numbers.csv",
        score_table(numbers, np.linspace(1, 0, 4), 0.5, PUTask.from_positives(numbers, np.array([0]))),
    )
    assert [row["nearest"] for row in rows(tmp_path / "numbers.csv")] == ["0.5", "0.5", "", ""]


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("1")
    graph = Graph.from_edges([0], [1])
    for name in ("scores.csv", "scores.parquet"):
        with pytest.raises(PugnnError, match="cannot write"):
            write_scores(tmp_path / "file" / name, score_table(graph, np.array([0.5, 0.5]), 0.5))
    assert names(tmp_path) == ["file"]


# ---------------------------------------------------------------------- ties and suggestions


def test_scores_that_are_rounded_to_one_keep_their_order(tmp_path):
    graph = Graph.from_edges(["a", "b", "c"], ["b", "c", "d"], ids=["a", "b", "c", "d"])
    log_odds = np.array([40.0, 50.0, -1.0, 45.0])
    scores = 1 / (1 + np.exp(-log_odds))
    assert scores[[0, 1, 3]].tolist() == [1.0] * 3
    write_scores(tmp_path / "scores.csv", score_table(graph, scores, 0.5, log_odds=log_odds))
    table = rows(tmp_path / "scores.csv")
    assert [(row["id"], row["log_odds"]) for row in table] == [
        ("b", "50.0"),
        ("d", "45.0"),
        ("a", "40.0"),
        ("c", "-1.0"),
    ]


def test_a_run_says_whom_to_check(done, task):
    run, _ = done
    suggested = json.loads((run.path / "run.json").read_text())["suggestions"]
    assert list(suggested) == ["precision", "discovery", "learning"]
    table = {row["id"]: row for row in rows(run.path / "scores.csv")}
    for nodes in suggested.values():
        assert len({each["id"] for each in nodes}) == 5
        for each in nodes:
            row = table[each["id"]]
            assert (str(each["rank"]), str(each["score"]), row["known"]) == (row["rank"], row["score"], "0")
            assert each["reason"]


def test_a_run_whose_ranking_means_nothing_suggests_nobody(task, tmp_path):
    flat = PUTask.from_positives(
        Graph.from_edges([0, 1, 2], [1, 2, 3], features=np.ones((4, 2), np.float32)), np.array([0, 3])
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateWarning)
        run = into_folder(PUNodeClassifier(epochs=2, progress=False), flat, RunFolder(tmp_path / "flat"))
    codes = {reason["code"] for reason in run.record["degenerate"]}
    assert "equal-scores" in codes or "no-ranking" in codes
    assert run.record["suggestions"] is None


def test_a_run_computes_the_views_of_its_nodes_once(task, folder, monkeypatch):
    forget_derived()
    counted = Mock(side_effect=ViewSource)
    monkeypatch.setattr("pugnn.views.view_source.ViewSource", counted)
    run = into_folder(PUNodeClassifier(epochs=25, progress=False), task, folder)
    assert counted.call_count == 1
    assert run.record["suggestions"]
    assert run.record["explanations"]
